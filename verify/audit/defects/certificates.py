"""Errors in certificate files, against the checker and against the fast check.

Both stop at the first thing they find wrong. To see every check that notices a defect, the one that
fired is switched off and the file is checked again, until it is accepted or cannot be read. A
certificate has no steps: here the equality of outputs and labels is a check like the others.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from attncert.constructions.data.dataset import Dataset
from attncert.verify import checker, checker_data, checker_labelling, checker_near, checker_rank
from attncert.verify.audit.defects.defect import Defect, Family, Fired
from attncert.verify.audit.defects.runs import paper
from attncert.verify.certificate import canonical_bytes
from attncert.verify.fast import check as fast
from attncert.verify.fast import full_rank
from attncert.verify.prove import Settings, prove

Certificate = dict[str, Any]

# Checks, by what their message says.
MESSAGES = {
    "digest": "^digest is stale",
    "input digest": "^input_sha256 is stale",
    "format": "the format is not attncert/1",
    "claim": "the claim must be one of|can be checked this way",
    "keys": "with the keys|a key occurs twice",
    "sizes": "^dims.* must be",
    "lengths": "must be nested lists of the lengths",
    "numbers": "must hold strings",
    "logit unit": "logit_unit must be",
    "groups": "groups must hold",
    "whole logits": "a logit / ln 2 is not an integer",
    "output": "the output of example .* is not its label",
    "prime": "rank.prime is not an odd prime",
    "rank value": "rank.value is not",
    "value width": "dims.value_width is less",
    "denominators": "is 0 mod p",
    "rank": "depend on earlier ones",
    "indices": "relation.indices must be distinct",
    "coefficients": "a coefficient is 0",
    "combination": "the combination is not 0",
    "ties": "some weights break the relation",
    "violation": "the labels obey the relation",
    "further keys": "saturation.bits must be|saturation must be null",
    "heads of groups": "more groups than heads",
    "saturation": "1-p >= 2",
    "grid": "are not rounded to the grid|grid must be above 0",
    "labels kept": "rounding changed the labels",
    "contexts kept": "rounding changed the number of contexts",
    "largest change": "rounding.largest_change is another",
}


# Where `need` is called: the files of the checker, and the fast check of full-rank.
_FILES = (checker, checker_data, checker_labelling, checker_near, checker_rank, fast, full_rank)


def fired(
    content: bytes,
    messages: Mapping[str, str] = MESSAGES,
    check: Callable[[str], checker.Verdict] = checker.check_file,
) -> Fired:
    """Names of the checks that notice, one after the other; messages: by name, what each says."""
    off, need = set[str](), checker.need

    def named(message: str) -> str | None:
        return next((name for name, words in messages.items() if re.search(words, message)), None)

    def lenient(condition: object, message: str, status: str = "unusable") -> None:
        if not condition and named(message) not in off:
            need(False, message, status)

    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        path = Path(folder) / "certificate.json"
        path.write_bytes(content)
        for module in _FILES:
            stack.enter_context(patch.object(module, "need", lenient))
        while True:
            try:
                verdict = check(str(path))
            except (LookupError, TypeError, AttributeError):  # nothing is left to stop it
                return frozenset(off)
            name = named(verdict.message.removeprefix("fast check: "))
            if verdict.status == "holds" or name is None:
                return frozenset(off)
            off.add(name)


# True certificates.


@cache
def _true(name: str) -> Certificate:
    match name:
        case "interpolation":
            proof = prove(paper("interior").data, Settings())
        case "full-rank":
            proof = prove(paper("shared").data, Settings(claim="full-rank"))
        case "saturated":
            proof = prove(paper("shared").data, Settings(claim="full-rank", saturate=6))
        case "rounded":
            return _rounded_to_halves()
        case "two tokens":
            return _two_tokens(1, "2147483579")
        case "impossible":
            return _turned_tokens()
        case _:
            vectors = [["1", "0"], ["0", "1"], ["2", "-1/2"]]
            relation = {"indices": [0, 1, 2], "coefficients": ["-2", "1/2", "1"]}
            return sealed({"format": "attncert/1", "claim": "dependent-set",
                           "construction": "three vectors", "dims": {"vectors": 3, "width": 2},
                           "data": {"vectors": vectors}, "relation": relation,
                           "produced_by": {"version": "0", "command": "", "seed": 0}})  # fmt: skip
    assert proof.certificate is not None
    return dict(proof.certificate)


def true(name: str) -> bytes:
    """A certificate that holds, as its file: "interpolation", "full-rank", ..."""
    return written(_true(name))


def _two_tokens(difference: int, prime: str) -> Certificate:
    """Contexts I_2 and two queries; their logits are (1, 0) and (1 + difference, 0)."""
    data = Dataset.of([[1, 0], [0, 1]], [[1, 0], [1 + difference, 0]], [0, 1])
    return sealed({
        "format": "attncert/1", "claim": "full-rank", "construction": "by hand",
        "dims": {"examples": 2, "context": 2, "width": 2, "labels": 1, "heads": 1,
                 "head_width": 1, "value_width": 1},
        "data": data.canonical(), "groups": [[0, 1]],
        "layer": {"logit_unit": "ln 2",
                  "heads": [{"key": [["1"], ["0"]], "query": [["1"], ["0"]]}]},
        "rank": {"prime": prime, "value": 2},
        "produced_by": {"version": "0", "command": "", "seed": 0},
    })  # fmt: skip


def _rounded_to_halves() -> Certificate:
    """The interpolation, of data that were a quarter larger: a tie, for halves, at every number."""
    found = _true("interpolation")
    before = copy.deepcopy(found["data"])
    before["queries"] = [[_quarter_off(x) for x in row] for row in before["queries"]]
    told = {"grid": "1/2", "largest_change": "1/4", "data": before}
    more = {"format": "attncert/2", "saturation": None, "rounding": told, "data_file": None}
    return sealed(dict(found) | more)


def _quarter_off(x: str) -> str:
    """A tie between this whole number, an even number of halves, and the next half."""
    return f"{4 * int(x) + 1}/4"


def _half_off(told: Certificate) -> Certificate:
    """Every query as if it had been half larger, and rounded down to a whole number."""
    before = told["data"]
    queries = [[f"{int(x.split('/')[0]) // 2 + 1}/2" for x in row] for row in before["queries"]]
    return {"grid": "1", "largest_change": "1/2", "data": before | {"queries": queries}}


def _turned_tokens() -> Certificate:
    """Two examples, equal up to the order of their tokens, with different labels."""
    data = Dataset.of([[[1, 0], [0, 2]], [[0, 2], [1, 0]]], [[1, 1], [1, 1]], [0, 1])
    return sealed({
        "format": "attncert/1", "claim": "impossible", "construction": "by hand",
        "dims": {"examples": 2, "context": 2, "width": 2, "labels": 1},
        "data": data.canonical(), "relation": ["1", "-1"],
        "produced_by": {"version": "0", "command": "", "seed": 0},
    })  # fmt: skip


def sealed(body: Certificate) -> Certificate:
    """Both digests computed afresh, as a forger would."""
    data = hashlib.sha256(canonical_bytes(body["data"])).hexdigest()
    return digested(body | {"input_sha256": data})


def digested(body: Certificate) -> Certificate:
    body = {key: value for key, value in body.items() if key != "digest"}
    return body | {"digest": hashlib.sha256(canonical_bytes(body)).hexdigest()}


def written(certificate: Certificate) -> bytes:
    return json.dumps(certificate).encode()


# Defects.


def edited(
    name: str,
    place: str,
    change: Callable[[Any], Any],
    seal: Callable[[Certificate], Certificate] = sealed,
) -> bytes:
    """The value at a dotted place changed, then sealed."""
    return spoilt(_true(name), (place, change), seal=seal)


def spoilt(
    right: Certificate,
    *places: tuple[str, Callable[[Any], Any]],
    seal: Callable[[Certificate], Certificate] = sealed,
) -> bytes:
    """A certificate with the values at dotted places changed, then sealed as a forger would."""
    certificate = copy.deepcopy(right)
    for place, change in places:
        inner: Any = certificate
        *steps, last = (int(step) if step.isdigit() else step for step in place.split("."))
        for step in steps:
            inner = inner[step]
        inner[last] = change(inner[last])
    return written(seal(certificate))


def stale(name: str, place: str, value: Any) -> bytes:
    return edited(name, place, lambda _: value, lambda certificate: certificate)


def to(name: str, place: str, value: Any) -> bytes:
    return edited(name, place, lambda _: value)


def plus_one(text: str) -> str:
    """One added to the numerator."""
    top, *below = text.split("/")
    return "/".join([str(int(top) + 1), *below])


def values_exchanged() -> bytes:
    """The readouts of two heads."""

    def exchanged(heads: list[Any]) -> list[Any]:
        first, second, *rest = heads
        swapped = first | {"value": second["value"]}, second | {"value": first["value"]}
        return [*swapped, *rest]

    return edited("interpolation", "layer.heads", exchanged)


def labels_of_width(width: int, said: int, value_width: int = 2) -> bytes:
    certificate = copy.deepcopy(_true("full-rank"))
    certificate["dims"] |= {"labels": said, "value_width": value_width}
    certificate["data"]["labels"] = [["1"] * width for _ in certificate["data"]["labels"]]
    return written(sealed(certificate))


def relation(indices: list[int], coefficients: list[str]) -> bytes:
    found = {"indices": indices, "coefficients": coefficients}
    return to("dependent-set", "relation", found)


_RANK_DEFECTS = (
    Defect("a query changed under the old digests", "digest",
           partial(stale, "full-rank", "data.queries.0.0", "77")),
    Defect("another author under the old digest", "digest",
           partial(stale, "full-rank", "produced_by.command", "by hand")),
    Defect("data changed, only the outer digest computed afresh", "input digest",
           partial(edited, "full-rank", "data.labels.0.0", plus_one, digested)),
    Defect("another version of the format", "format",
           partial(to, "full-rank", "format", "attncert/3")),
    Defect("a claim that cannot be checked", "claim", partial(to, "full-rank", "claim", "true")),
    Defect("a key twice, with the same value", "keys",
           lambda: true("full-rank").replace(b'"claim":', b'"claim": "full-rank", "claim":', 1)),
    Defect("a key too many", "keys",
           partial(edited, "full-rank", "layer", lambda layer: layer | {"bias": []})),
    Defect("labels of width 0", "sizes", partial(labels_of_width, 0, 0)),
    Defect("one head fewer than there are", "lengths", partial(to, "full-rank", "dims.heads", 2)),
    Defect("labels of width 1 where dims say 2", "lengths", partial(labels_of_width, 1, 2)),
    Defect("a number as int() takes it: 1_0", "numbers",
           partial(to, "full-rank", "data.labels.0.0", "1_0")),
    Defect("logits in another unit", "logit unit",
           partial(to, "full-rank", "layer.logit_unit", "1")),
    Defect("an example in two groups", "groups",
           partial(edited, "full-rank", "groups", lambda groups: [*groups, [0]])),
    Defect("an example in no group", "groups",
           partial(edited, "full-rank", "groups", lambda groups: groups[:-1])),
    Defect("logits not whole", "whole logits",  # rounded down, 1/2 and 1 would still tell apart
           partial(to, "two tokens", "layer.heads.0.key.0.0", "1/2")),
    Defect("composite prime", "prime", partial(to, "full-rank", "rank.prime", "2147483577")),
    Defect("a prime above 2^62", "prime",
           partial(to, "full-rank", "rank.prime", str(2**89 - 1))),
    Defect("rank claimed one too high", "rank value", partial(to, "full-rank", "rank.value", 8)),
    Defect("rank claimed one too low", "rank value", partial(to, "full-rank", "rank.value", 6)),
    Defect("values narrower than labels", "value width", partial(labels_of_width, 2, 2, 1)),
    Defect("a prime that divides a softmax sum", "denominators",  # 1 + 2 = 0 modulo 3
           lambda: written(_two_tokens(2, "3"))),
    Defect("an example repeated", "rank",
           partial(edited, "full-rank", "data.queries", lambda rows: [*rows[:-1], rows[0]])),
    Defect("a prime modulo which 2 has order 61", "rank",  # logits 1, 62: one power of two
           lambda: written(_two_tokens(61, str(2**61 - 1)))),
)  # fmt: skip

_SATURATION_DEFECTS = (
    Defect("one bit of saturation more than there is", "saturation",
           partial(edited, "saturated", "saturation.bits", lambda bits: bits + 1)),
    Defect("the groups' own examples called saturated", "saturation",
           partial(to, "saturated", "saturation.own", True)),
    Defect("the last group first: other examples are earlier", "saturation",
           partial(edited, "saturated", "groups", lambda groups: groups[::-1])),
    Defect("bits of saturation that are no number", "further keys",
           partial(to, "saturated", "saturation.bits", "6")),
    Defect("a data file without a name", "keys",
           partial(to, "saturated", "data_file", {})),
    Defect("every example in a group of its own", "heads of groups",
           partial(edited, "saturated", "groups", lambda groups: [[t] for g in groups for t in g])),
)  # fmt: skip

_ROUNDING_DEFECTS = (
    Defect("data rounded to a finer grid than is said", "grid",
           partial(to, "rounded", "rounding.grid", "2")),
    Defect("ties rounded down, to odd multiples, too", "grid",
           partial(edited, "rounded", "rounding", _half_off)),
    Defect("a label rounded, too", "labels kept",
           partial(edited, "rounded", "rounding.data.labels.0.0", lambda y: f"{y}1")),
    Defect("one context for all before, one for each now", "contexts kept",
           partial(edited, "rounded", "rounding.data.contexts", lambda E: E[:1])),
    Defect("a smaller change than there was", "largest change",
           partial(to, "rounded", "rounding.largest_change", "1/8")),
)  # fmt: skip

_OTHER_DEFECTS = (
    Defect("a label changed, digests computed afresh", "output",
           partial(edited, "interpolation", "data.labels.0.0", plus_one)),
    Defect("a key entry changed, digests computed afresh", "output",
           partial(edited, "interpolation", "layer.heads.1.key.0.0", plus_one)),
    Defect("values of two heads exchanged", "output", values_exchanged),
    Defect("contexts of two examples exchanged", "output",
           partial(edited, "interpolation", "data.contexts", lambda E: [E[1], E[0], *E[2:]])),
    Defect("a vector dependent on itself", "indices", partial(relation, [0, 0], ["1", "-1"])),
    Defect("a relation of zeros", "coefficients", partial(relation, [0, 1], ["0", "0"])),
    Defect("a false witness", "combination",
           partial(edited, "dependent-set", "relation.coefficients.1", plus_one)),
    Defect("called impossible by a relation that some weights break", "ties",
           partial(to, "impossible", "relation", ["1", "1"])),
    Defect("called impossible by a relation that the labels obey", "violation",
           partial(to, "impossible", "data.labels", [["3"], ["3"]])),
)  # fmt: skip

CERTIFICATES = Family(
    name="certificate",
    title="Certificate files, by the checker",
    checks=tuple(MESSAGES),
    fired=fired,
    correct={name: partial(true, name) for name in
             ("interpolation", "full-rank", "two tokens", "dependent-set", "impossible",
              "saturated", "rounded")},
    defects=(*_RANK_DEFECTS, *_SATURATION_DEFECTS, *_ROUNDING_DEFECTS, *_OTHER_DEFECTS),
)  # fmt: skip

_OTHER_CLAIMS = ("output", "indices", "coefficients", "combination", "ties", "violation",
                 "grid", "labels kept", "contexts kept", "largest change")  # fmt: skip

FAST = Family(
    name="fast",
    title="Full-rank certificates, by the fast check",
    checks=tuple(name for name in MESSAGES if name not in _OTHER_CLAIMS),
    fired=partial(fired, check=fast.check_file),
    correct={name: partial(true, name) for name in ("full-rank", "two tokens", "saturated")},
    defects=(*_RANK_DEFECTS, *_SATURATION_DEFECTS),
)
