"""Every rejection by the checker: one case for each call of `need`, and the caps."""

from __future__ import annotations

import ast
import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support.small_certificates import (
    CASES,
    Certificate,
    changed,
    digested,
    layer_certificate,
    sealed,
    written,
)

from attncert.verify import checker
from attncert.verify.checker import (
    Verdict,
    check_file,
    claims,
    full_rank,
    layer,
    origin,
    reading,
    relations,
)

# Every rejection. Each entry names the call of `need` that it reaches by its message; a test
# compares them with the checker's source, so that none is missing.

LAYER = CASES["interpolation"]()
RANK = CASES["full-rank"]()
SET = CASES["dependent-set"]()
TIED = CASES["impossible"]()
STEERED = CASES["interpolation, steered"]()
LENGTHS = CASES["interpolation, lengths"]()
Content = Certificate | bytes | str


def repeated_row() -> Certificate:
    certificate = layer_certificate("full-rank")
    for name in ("contexts", "queries"):
        certificate["data"][name][3] = certificate["data"][name][1]
    return sealed(certificate)


def zero_softmax_sum() -> Certificate:
    """One logit is 1 above the other, so the sum of powers is 1 + 2 = 3."""
    certificate = layer_certificate("full-rank", T=1, n=2, d=2, H=1)
    certificate["data"]["contexts"] = [[["1", "0"], ["0", "1"]]]
    certificate["data"]["queries"] = [["1", "0"]]
    head = {"key": [["1"], ["0"]], "query": [["1"], ["0"]], "value": None}
    certificate["network"][0]["heads"] = [head]
    certificate["rank"]["prime"] = "3"
    return sealed(certificate)


def one_head() -> Certificate:
    certificate = layer_certificate("full-rank")
    certificate["dims"]["heads"] = 1
    del certificate["network"][0]["heads"][1:]
    return sealed(certificate)


def halves_below(certificate: Certificate) -> Any:
    """Every query lies 1/2 below its rounded value: some tie was rounded to an odd number."""
    rows = certificate["data"]["queries"]
    return [[str(Fraction(x) - Fraction(1, 2)) for x in row] for row in rows]


def on_domain(contexts: Any, queries: Any) -> Certificate:
    """One context and one query, four times, with the claim that these are all pairs of the
    domain."""
    content = {
        "contexts": LAYER["data"]["contexts"][:1],
        "queries": LAYER["data"]["queries"][:1] * 4,
    }
    origin = {"kind": "domain", "contexts": contexts, "queries": queries}
    return sealed(LAYER | {"data": LAYER["data"] | content, "origin": origin})


def outside(name: str, size: int) -> dict[str, Any]:
    """The certificate with its data in this file."""
    return digested(STEERED | {"data": None, "data_file": {"name": name, "bytes": size}})


UNUSABLE: dict[str, tuple[Content, str]] = {
    "no file of JSON": ("{", "the file is not JSON (line 1, column 2)"),
    "empty": ("", "not JSON"),
    "not UTF-8": (b'{"format": "\xff"}', "not text in UTF-8"),
    "UTF-16": (json.dumps(LAYER).encode("utf-16"), "not text in UTF-8"),
    "byte order mark": (b"\xef\xbb\xbf{}", "not JSON"),
    "nested too deeply": ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
    "nested objects": ('{"format":' * 100_000, "nested too deeply"),
    "nested in free text": (
        json.dumps(LAYER).replace('"random"', "[" * 100 + "]" * 100),
        "nests brackets",
    ),
    "a key twice": ('{"format": "attncert/3", "format": "attncert/3"}', "twice"),
    "a float": (json.dumps(changed(LAYER, "produced_by.seed", 1.5)), ": 1.5"),
    "a float exponent": (json.dumps(LAYER).replace('"seed": 0', '"seed": 1e400000'), "1e4"),
    "NaN": (json.dumps(changed(LAYER, "produced_by.seed", float("nan"))), ": NaN"),
    "a JSON integer of 5,000 digits": (
        json.dumps(LAYER).replace('"seed": 0', '"seed": ' + "1" * 5000),
        "an integer has over 4300 digits",
    ),
    "not an object": ("[]", "format must be attncert/3"),
    "another format": (changed(LAYER, "format", "attncert/2"), "format must be attncert/3"),
    "an unknown claim": (changed(LAYER, "claim", "everything"), "must be one of"),
    "a claim that is not a string": (changed(LAYER, "claim", ["full-rank"]), "one of"),
    "an unknown key": (changed(LAYER, "extra", 1), "must not have the key 'extra'"),
    "a missing key": (
        {key: value for key, value in LAYER.items() if key != "groups"},
        "the certificate must have the key 'groups'",
    ),
    "unknown data": (changed(LAYER, "data.more", []), "data must not have the key 'more'"),
    "a boolean size": (changed(LAYER, "dims.labels", True), "type int"),
    "a size of 0": (changed(LAYER, "dims.heads", 0), "dims.heads must be 1 to 8388608"),
    "10^9 examples": (changed(LAYER, "dims.examples", 10**9), "must be 1 to"),
    "dims that lie": (changed(LAYER, "dims.width", 2), "nested lists of the lengths"),
    "ragged rows": (changed(LAYER, "data.queries.1", ["1"]), "queries must be nested"),
    "no contexts": (changed(LAYER, "data.contexts", []), "contexts must be nested"),
    "contexts for some": (
        changed(LAYER, "data.contexts", LAYER["data"]["contexts"][:2]),
        "contexts must be nested",
    ),
    "contexts of another type": (changed(LAYER, "data.contexts", "1"), "nested lists"),
    "a row that is a string": (changed(LAYER, "data.queries.0", "123"), "nested lists"),
    "a network of another type": (changed(LAYER, "network", {}), "of type list"),
    "a block of another type": (changed(LAYER, "network.0", []), "of type dict"),
    "heads of another type": (changed(LAYER, "network.0.heads", {}), "of type list"),
    "a head of another type": (
        changed(LAYER, "network.0.heads.0", []),
        "each of heads must be an object",
    ),
    "a head with more": (
        changed(LAYER, "network.0.heads.0.bias", "0"),
        "heads must not have the key 'bias'",
    ),
    "another unit": (changed(LAYER, "network.0.logit_unit", "ln 3"), "must be 'ln 2'"),
    "groups of another type": (changed(LAYER, "groups", "01"), "groups must be of type list"),
    "a group of another type": (changed(LAYER, "groups.0", 0), "each group must be of type list"),
    "a member of another type": (changed(LAYER, "groups.0.1", True), "each member"),
    "an empty group": (changed(LAYER, "groups.1", [[2, 3], []]), "each member"),
    "no block": (changed(LENGTHS, "network", []), "network must have at least one block"),
    "two blocks": (
        changed(LENGTHS, "network", LENGTHS["network"] * 2),
        "the blocks before the last must make tokens and queries of width",
    ),
    "a first block without an output": (
        changed(LENGTHS, "network", [LENGTHS["network"][0] | {"output": []}, *LENGTHS["network"]]),
        "output must not be empty",
    ),
    "a mask": (changed(LENGTHS, "network.0.mask", "causal"), "without mask"),
    "a residual of 0": (changed(LENGTHS, "network.0.residual", 0), "without mask"),
    "hardmax": (changed(LENGTHS, "network.0.rule", "hardmax"), "softmax attention"),
    "all tokens attend": (changed(LENGTHS, "network.0.of", "all"), "of the query"),
    "a readout in full-rank": (
        changed(RANK, "network.0.output", [["1"]] * 3),
        "value and output must be null",
    ),
    "no readout in interpolation": (
        changed(LENGTHS, "network.0.output", None),
        "output must be nested lists",
    ),
    "an origin of another kind": (
        changed(STEERED, "origin.kind", "guessed"),
        "origin.kind must be rounded or domain",
    ),
    "tokens that are all equal": (changed(LAYER, "tokens", [2] * 4), "tokens must"),
    "too few tokens": (changed(LENGTHS, "tokens", [3, 1, 2]), "tokens must have"),
    "no token": (changed(LENGTHS, "tokens", [3, 0, 2, 2]), "tokens must have"),
    "tokens below dims.context": (changed(LENGTHS, "tokens", [2, 1, 2, 2]), "tokens must have"),
    "tokens of another context": (
        changed(LENGTHS, "tokens", [3, 2, 1, 2]),
        "lengths (4, 'tokens', 3)",
    ),
    "tokens of vectors": (sealed(SET | {"tokens": [1, 2]}), "tokens must be null"),
    "rank of another type": (changed(RANK, "rank", 4), "rank must be of type dict"),
    "a prime of letters": (changed(RANK, "rank.prime", "p"), "rank.prime must hold"),
    "labels of full-rank malformed": (changed(RANK, "data.labels.0.0", ""), "labels must"),
    "a value in full-rank": (
        changed(RANK, "network.0.heads.0.value", [["1"]] * 3),
        "value and output must be null",
    ),
    "relation of another type": (changed(SET, "relation", 4), "relation must be of"),
    "indices of another type": (changed(SET, "relation.indices", 4), "indices must be"),
    "an index of another type": (changed(SET, "relation.indices.0", "0"), "each index"),
    "a coefficient too many": (
        changed(SET, "relation.coefficients", ["1"] * 5),
        "coefficients must be nested",
    ),
    "a relation for some": (changed(TIED, "relation", ["1", "-1"]), "relation must be"),
    "a relation of another type": (changed(TIED, "relation", {}), "relation must be"),
    "a data file": (changed(STEERED, "data_file", {}), "data_file, if not null"),
    "bits that are not a number": (changed(STEERED, "saturation.bits", "1"), "saturation.bits"),
    "no bits": (changed(STEERED, "saturation.bits", 0), "saturation.bits must"),
    "neither true nor false": (changed(STEERED, "saturation.own", 0), "saturation.own"),
    "saturated vectors": (changed(SET, "saturation", {}), "must be null"),
    "saturation without heads": (changed(TIED, "saturation", {}), "must be null"),
    "rounded vectors": (changed(SET, "origin", STEERED["origin"]), "data with an origin"),
    "a grid of 0": (changed(STEERED, "origin.grid", "0"), "grid must be above 0"),
}
WRONG: dict[str, tuple[Content, str]] = {
    "a stale digest": (LAYER | {"construction": "other"}, "digest is stale"),
    "a stale input digest": (digested(LAYER | {"input_sha256": "0" * 64}), "input_sha256 is stale"),
    "groups that overlap": (
        changed(LAYER, "groups.0.1", 0),
        "each example must be in exactly one group",
    ),
    "groups that leave one out": (
        changed(LAYER, "groups.1", [3]),
        "each example must be in exactly one group",
    ),
    "a group of none": (changed(LAYER, "groups", [[0, 1, 2, 3], []]), "exactly one group"),
    "a logit between integers": (changed(LAYER, "data.queries.0.0", "1/7"), "not an integer"),
    "a false equality": (changed(LAYER, "data.labels.2.0", "100"), "output of example 2"),
    "a false value": (
        changed(LAYER, "network.0.output", [["2"], ["3"], ["5"]]),
        "is not its label",
    ),
    "a domain without a pair": (on_domain([], []), "one pair for each example"),
    "a domain of other pairs": (
        on_domain([LAYER["data"]["contexts"][0]], [["9", "9", "9"]] * 4),
        "not exactly the pairs",
    ),
    "a domain that holds a pair twice": (
        on_domain([LAYER["data"]["contexts"][0]], [LAYER["data"]["queries"][0]] * 4),
        "a pair twice",
    ),
    "a composite": (changed(RANK, "rank.prime", "2147483581"), "not an odd prime"),
    "a prime above 2^62": (changed(RANK, "rank.prime", str(2**89 - 1)), "below 2^62"),
    "a rank below T": (changed(RANK, "rank.value", 3), "rank.value is not 4"),
    "values too narrow": (layer_certificate("full-rank", m=2, d_v=1), "dims.value_width is less"),
    "more examples than features": (one_head(), "there are more examples than features"),
    "a context denominator of 0 mod p": (
        changed(layer_certificate("full-rank", rational=True), "rank.prime", "3"),
        "a denominator of the contexts is 0 mod p",
    ),
    "a softmax sum of 0 mod p": (zero_softmax_sum(), "a denominator of example 0"),
    "rank too low": (repeated_row(), "the features of example 3 depend on earlier ones"),
    "an index out of range": (changed(SET, "relation.indices.0", 5), "must be distinct"),
    "an index twice": (
        changed(SET, "relation.indices.0", SET["relation"]["indices"][1]),
        "must be distinct",
    ),
    "no index": (changed(SET, "relation", {"indices": [], "coefficients": []}), "distinct"),
    "a coefficient of 0": (changed(SET, "relation.coefficients.3", "-0/5"), "is 0"),
    "labels that obey": (changed(TIED, "data.labels.0.0", "6"), "the labels obey"),
    "a relation of zeros": (changed(TIED, "relation", ["0"] * 3), "the labels obey"),
    "another query": (changed(TIED, "data.queries.2.1", "-3"), "some weights break"),
    "another token": (changed(TIED, "data.contexts.2.1.0", "9"), "some weights break"),
    "one example alone": (changed(TIED, "relation.2", "0"), "some weights break"),
    "more bits than there are": (changed(STEERED, "saturation.bits", 99), "1-p >= 2^-99"),
    "more groups than heads": (
        changed(STEERED, "groups", [[0], [1], [2], [3]]),
        "more groups than heads",
    ),
    "another grid": (changed(STEERED, "origin.grid", "2"), "contexts are not rounded"),
    "a tie to the odd": (
        changed(STEERED, "origin.data.queries", halves_below(STEERED)),
        "queries are not rounded",
    ),
    "labels rounded too": (changed(STEERED, "origin.data.labels.0.0", "1/7"), "changed the labels"),
    "one context for all": (
        changed(STEERED, "origin.data.contexts", STEERED["origin"]["data"]["contexts"][:1]),
        "number of contexts",
    ),
    "a smaller change": (changed(STEERED, "origin.largest_change", "1/3"), "is wrong"),
    "no relation": (changed(SET, "relation.coefficients.3", "-2"), "combination is not 0"),
}
OVER_LIMIT: dict[str, tuple[Content, str]] = {
    "a logit of 10^400,000": (
        changed(LAYER, "network.0.heads.1.key.0.0", "1" + "0" * 400_000),
        "a number of over 16777216 bits",
    ),
}
REJECTIONS: dict[str, tuple[Content, str, str]] = {
    name: (content, status, message)
    for status, cases in (("unusable", UNUSABLE), ("wrong", WRONG), ("over limit", OVER_LIMIT))
    for name, (content, message) in cases.items()
}


# The data are in files next to it: data.json and data.npz (test_data_file.py has more).
OUTSIDE: dict[str, tuple[Content, str, str]] = {
    "data inside, too": (
        changed(STEERED, "data_file", {"name": "a", "bytes": 1}),
        "unusable",
        "data must be null",
    ),
    "a data file elsewhere": (outside("../a.json", 2), "unusable", "data_file.name must be"),
    "no data file": (outside("a.json", 2), "unusable", "a.json is missing"),
    "a longer data file": (outside("data.json", 1), "wrong", "size of data.json is not"),
    "another data file": (outside("data.json", 2), "wrong", "does not match input_sha256"),
    "arrays": (outside("data.npz", 2), "over limit", "needs attncert check --fast"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def data_files(tmp_path: Path) -> None:
    for kind in ("json", "npz"):
        (tmp_path / f"data.{kind}").write_text("[]")


@pytest.mark.parametrize("name", REJECTIONS | OUTSIDE)
def test_rejections(name: str, tmp_path: Path) -> None:
    content, status, fragment = (REJECTIONS | OUTSIDE)[name]
    verdict = check_file(written(content, tmp_path))
    assert verdict.status == status, verdict.message
    assert fragment in verdict.message
    assert "\n" not in verdict.message and len(verdict.message) < 300


NO_NUMBERS = ["", "-", "/", "+1", "--1", " 1", "1 ", "1\n", "\x001", "1_0", "١", "½", "0x1", "NaN"]
NO_NUMBERS += ["1.0", "1e3", "1e400000", "1/", "/2", "1/0", "1/-2", "1/02", "1//2", "1/2/3"]
NO_NUMBERS += ["1" * 500_001, "1/" + "1" * 500_001]


@pytest.mark.parametrize("number", NO_NUMBERS, ids=range(len(NO_NUMBERS)))
def test_the_number_grammar(number: str, tmp_path: Path) -> None:
    for certificate, path in ((LAYER, "data.labels.0.0"), (SET, "relation.coefficients.0")):
        verdict = check_file(written(changed(certificate, path, number), tmp_path))
        assert verdict.status == "unusable"
        assert "must hold strings 'p' or 'p/q', q > 0, up to 500000 digits each" in verdict.message


def too_large(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Verdict]:
    """The two caps on the size of a file, lowered so far that a small file exceeds them."""
    verdicts = []
    for cap, value in (("MAX_FILE_BYTES", 1000), ("MAX_ITEMS", 50)):
        with monkeypatch.context() as patch:
            patch.setattr(reading, cap, value)
            verdicts.append(check_file(written(LAYER, folder)))
    return verdicts


def test_caps_on_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [(x.status, x.message) for x in too_large(tmp_path, monkeypatch)] == [
        ("unusable", "the file has over 1000 bytes"),
        ("unusable", "the file has over 50 items"),
    ]


def test_a_file_of_300_megabytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "zeros.json"
    with path.open("wb") as file:
        file.truncate(300 * 10**6)
    assert check_file(str(path)).message == f"the file has over {2**28} bytes"


def test_every_rejection_is_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call of `need` in the checker rejects a case above."""
    lines: set[tuple[str, int]] = set()
    need = checker.need

    def noting(condition: object, message: str, status: str = "unusable") -> None:
        if not condition:
            caller = sys._getframe(1)
            lines.add((Path(caller.f_code.co_filename).name, caller.f_lineno))
        need(condition, message, status)

    files = (claims, reading, layer, origin, full_rank, relations)
    for file in files:
        monkeypatch.setattr(file, "need", noting)
    for content, _, _ in (REJECTIONS | OUTSIDE).values():
        assert check_file(written(content, tmp_path)).status != "holds"
    too_large(tmp_path, monkeypatch)
    check_file(str(tmp_path))
    calls = [
        {(path.name, line) for line in range(node.lineno, (node.end_lineno or 0) + 1)}
        for path in (Path(file.__file__) for file in files)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "need"
    ]
    assert len(calls) > 30
    assert [call for call in calls if not call & lines] == []
