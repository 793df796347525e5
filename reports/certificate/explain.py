"""A certificate in words, for someone who has never seen the project; and two compared.

What the file claims, about what, how the claim is proved, what it leaves open, and whether it was
checked just now. Everything said is taken from the file, never from what the file says of itself:
`construction` and `produced_by` are quoted as what they are, not judged.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from attncert.constructions.brief import in_brief
from attncert.constructions.errors import InputError
from attncert.constructions.foreign import printable
from attncert.constructions.numerals import fraction, numeral
from attncert.reports.words.numbers import count
from attncert.verify import checker

__all__ = ["Explanation", "explain", "text"]

_NO_WORDS = "This cannot be explained: a part of the file is not what the format asks for."
_TERMS = 6  # of a relation that is written out
_LENGTH = 24  # characters of a number that is written out
_WIDTH = 88
MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
_TRUST = (
    "To believe it, you have to trust Python's integers and a checker of under 400 lines "
    "(verify/checker.py, standard library only), and to compare the SHA-256 of the data with that "
    "of the data you mean. {argument} You need not trust whoever made the file."
)
# What no checker runs: the mathematics between what is computed and what is claimed.
_ARGUMENTS = {
    "interpolation": "Not computed, but taken on trust: the paper's definition of an attention "
    "layer, and that exp(k ln 2) is 2 to the power of k.",
    "full-rank": "Not computed, but argued in a few lines (docs/mathematics.md): "
    "that rows which are independent modulo a prime are independent over the rational "
    "numbers, and that independent rows serve every labelling. Also taken on trust: the paper's "
    "definition of an attention layer, and that exp(k ln 2) is 2 to the power of k.",
    "dependent-set": "The sum is the claim: no further argument is needed.",
    "impossible": "Not computed, but argued on half a page (docs/tightness.md, section "
    "3): that inputs tied in this way force this relation between the outputs of every attention "
    "layer. The checker confirms the tie and that the labels break the relation; you have to read "
    "and believe the argument, and take on trust the paper's definition of an attention layer.",
}


@dataclass(frozen=True)
class Explanation:
    """parts: headings with one paragraph each, in the order to read them. status: "holds", "wrong",
    "over limit", or "only read"; message: the checker's line."""

    file: str
    claim: str
    status: str
    message: str
    parts: tuple[tuple[str, str], ...]
    certificate: Mapping[str, Any]

    def __repr__(self) -> str:
        return in_brief(self, self.claim, self.status, self.message, file=self.file)

    @property
    def exit_status(self) -> int:
        """The checker's; 0 where the file was only read."""
        return checker.EXIT.get(self.status, 0)

    def as_dict(self) -> dict[str, Any]:
        keys = ("claim", "construction", "dims", "input_sha256", "produced_by")
        return {
            "file": self.file,
            "status": self.status,
            "message": self.message,
            "explanation": {heading.lower(): body for heading, body in self.parts},
        } | {key: self.certificate[key] for key in keys}


def explain(path: str, *, check: bool = True, limit_seconds: float = 600.0) -> Explanation:
    """The certificate at `path`. check: run the checker (else the digests alone are compared).

    The status is the checker's. Raises InputError where the file is no certificate.
    """
    try:
        content = checker.parse(path, checker.Work(math.inf, checker.LIMIT_MIB))
    except checker.Rejected as rejected:
        raise InputError(path, "an attncert/1 certificate", rejected.args[1]) from None
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise InputError(path, "an attncert/1 certificate", f"unreadable ({reason})") from None
    status, message = _checked_now(path, limit_seconds) if check else _read(content)
    if status == "unusable":
        raise InputError(path, "an attncert/1 certificate", message)
    try:
        claims, about, proved, open_ = _CLAIMS[content["claim"]](content)
    except MALFORMED:
        if status == "only read":
            got = "one with a part of another type"
            raise InputError(path, "an attncert/1 certificate", got) from None
        claims = about = proved = open_ = _NO_WORDS
    parts = (
        ("What it claims", claims),
        ("What it is about", about),
        ("Why that can be proved", proved),
        ("What it does not say", open_),
        ("What to trust", _TRUST.format(argument=_ARGUMENTS[content["claim"]])),
        ("Where it comes from", _origin(content)),
        ("Checked now", _checked(status, message)),
    )
    return Explanation(path, content["claim"], status, message, parts, content)


def _checked_now(path: str, limit_seconds: float) -> tuple[str, str]:
    verdict = checker.check_file(path, limit_seconds)
    return verdict.status, verdict.message


def _read(content: dict[str, Any]) -> tuple[str, str]:
    try:
        checker.same_digests(content)
    except checker.Rejected as rejected:
        return rejected.args[0], rejected.args[1]
    return "only read", "the claim was not checked; the digests are fresh"


def text(explanation: Explanation) -> list[str]:
    """Lines for a terminal: headings and wrapped paragraphs, blank lines between."""
    lines: list[str] = []
    for heading, body in explanation.parts:
        lines += ["", heading] if lines else [heading]
        lines += textwrap.wrap(body, _WIDTH, initial_indent="  ", subsequent_indent="  ")
    return lines


# The claims, each as: what it claims, about what, why that can be proved, what it leaves open.

Words = tuple[str, str, str, str]


def _interpolation(cert: Mapping[str, Any]) -> Words:
    dims = cert["dims"]
    return (
        f"The file holds the weights of an attention layer that outputs exactly the wanted label "
        f"on each of {count(dims['examples'], 'example')}. Exactly: not up to rounding, but as "
        "fractions that are equal.",
        f"{_inputs(cert)} {_layer(cert)}",
        "Attention mixes the tokens with softmax weights, usually irrational numbers. Here every "
        "score (logit) is a whole multiple of ln 2, so that each weight is a power of two over a "
        "sum of powers of two: a fraction. Everything the layer computes is then a fraction, "
        "computed without rounding and compared with the label.",
        "Nothing about other inputs or other labels, about training, or about what the layer does "
        "in floating point, where every step rounds.",
    )


def _full_rank(cert: Mapping[str, Any]) -> Words:
    dims = cert["dims"]
    T = dims["examples"]
    return (
        f"The keys and queries in the file let an attention layer memorize {count(T, 'example')} "
        "whatever their labels: for every choice of labels some values and output matrix make the "
        "layer output exactly these.",
        f"{_inputs(cert)} {_layer(cert)} The labels in the file play no part.",
        f"Before its last, linear step the layer turns each example into one row of numbers "
        f"(its features). If these {T} rows are linearly independent, every labelling is a "
        f"solvable system of {T} equations. Independence is shown modulo p = "
        f"{printable(cert['rank']['prime'], 200)}: a determinant that is not 0 modulo p is not 0. "
        "These two arguments are on paper; the rank modulo p is what is computed.",
        "It does not give the values and outputs for any particular labels, nor say how long their "
        "numbers are; nothing about other inputs, training or floating point.",
    )


def _dependent_set(cert: Mapping[str, Any]) -> Words:
    dims, relation = cert["dims"], cert["relation"]
    members = relation["indices"]
    sum_ = _sum(list(zip(members, relation["coefficients"], strict=True)), "x")
    return (
        f"Of {count(dims['vectors'], 'vector')}, the {len(members)} with the numbers "
        f"{listed(members)} are linearly dependent, so that not every {len(members)} of the "
        f"vectors are independent (their Kruskal rank is below {len(members)}).",
        f"{count(dims['vectors'], 'vector')} of {count(dims['width'], 'number')}, in the file.",
        f"By a sum that is zero, with coefficients that are not: {sum_} = 0. It is added up "
        "without rounding.",
        "Nothing about smaller sets: these vectors without one of them may be independent or not.",
    )


def _impossible(cert: Mapping[str, Any]) -> Words:
    terms = [(t, c) for t, c in enumerate(cert["relation"]) if c.partition("/")[0].strip("-0")]
    members = [t for t, _ in terms]
    gap = _gap(cert["data"]["labels"], terms)
    return (
        f"No attention layer outputs the labels in the file on all of "
        f"{count(cert['dims']['examples'], 'example')}: whatever its weights, the number of its "
        "heads and their widths, and even if the weights are chosen for these labels.",
        f"{_inputs(cert)} The conflict is between {count(len(members), 'example')}: "
        f"{listed(members)}.",
        "Attention does not see the order of the tokens of a context, nor a shift of all scores, "
        "and inputs that differ only by these (or by scaling the query against the tokens) give "
        "equal outputs. It follows that for every layer "
        f"{_sum(terms, 'output')} = 0, while for the labels {_sum(terms, 'label')} = {gap}. That "
        "the inputs are tied in this way is checked on the numbers; that tied inputs give tied "
        "outputs is a written argument (docs/tightness.md, section 3).",
        "Nothing about other labels for the same inputs; nothing about layers that see more than "
        "these contexts and queries, such as positions or a second layer.",
    )


_CLAIMS: dict[str, Callable[[Mapping[str, Any]], Words]] = {
    "interpolation": _interpolation,
    "full-rank": _full_rank,
    "dependent-set": _dependent_set,
    "impossible": _impossible,
}


def _inputs(cert: Mapping[str, Any]) -> str:
    dims, contexts = cert["dims"], cert["data"]["contexts"]
    shared = len(contexts) == 1 and dims["examples"] > 1
    tokens = f"{count(dims['context'], 'token')} of {count(dims['width'], 'number')} each"
    return (
        f"{count(dims['examples'], 'example').capitalize()}, numbered from 0. Each has a context "
        f"({tokens}{', the same one for all' if shared else ''}), a query of "
        f"{count(dims['width'], 'number')}, and a label of "
        f"{count(dims['labels'], 'number')}."
    )


def _layer(cert: Mapping[str, Any]) -> str:
    dims = cert["dims"]
    return (
        f"The layer has {count(dims['heads'], 'head')}; keys and queries have width "
        f"{dims['head_width']}, values {dims['value_width']}."
    )


def _origin(cert: Mapping[str, Any]) -> str:
    said = ", ".join(f"{key} {value}" for key, value in origins(cert).items()) or "nothing"
    construction = printable(cert["construction"], 200)
    return (
        f"The file says of itself: construction {construction!r}; {said}. None of this was "
        f"checked. SHA-256 of the data: {cert['input_sha256']}."
    )


def origins(cert: Mapping[str, Any]) -> dict[str, str]:
    made = cert["produced_by"]
    items = made.items() if isinstance(made, dict) else {"by": made}.items()
    return {printable(key, 200): printable(value, 200) for key, value in items}


def _checked(status: str, message: str) -> str:
    words = {
        "holds": "Yes, from the file alone, and the claim holds: ",
        "wrong": "Yes, and the claim is WRONG: ",
        "over limit": "No: that would take too much time or memory, ",
        "only read": "No, as asked: ",
    }
    return f"{words[status]}{message}."


def _sum(terms: list[tuple[int, str]], symbol: str) -> str:
    """2·x(3) - x(5) ... with the first few terms."""
    shown = ""
    for k, (index, coefficient) in enumerate(terms[:_TERMS]):
        negative = coefficient.startswith("-")
        size = coefficient.removeprefix("-")
        factor = "" if size == "1" else f"{short(size)}·"
        sign = ("-" if negative else "") if k == 0 else (" - " if negative else " + ")
        shown += f"{sign}{factor}{symbol}({index})"
    more = len(terms) - _TERMS
    return f"{shown} + ... ({count(more, 'more term')})" if more > 0 else shown


def _gap(labels: list[list[str]], terms: list[tuple[int, str]]) -> str:
    """What the labels add up to, exactly where that is short.

    A sum has no more digits, above and below, than its fractions have together and one of them
    alone, but for the carries: below 1,000 it can be added up and written without a thought.
    """
    numbers = [x for t, c in terms for x in (c, *labels[t])]
    if sum(len(x) for x in numbers if "/" in x) + 2 * max(map(len, numbers)) > 1000:
        return "something else than 0"
    rows = [[fraction(c) * fraction(y) for y in labels[t]] for t, c in terms]
    sums = [short(numeral(sum(column))) for column in zip(*rows, strict=True)]
    more = ", ..." if len(sums) > _TERMS else ""
    return sums[0] if len(sums) == 1 else f"({', '.join(sums[:_TERMS])}{more})"


def listed(members: list[int]) -> str:
    return ", ".join(map(str, members[:12])) + (", ..." if len(members) > 12 else "")


def short(x: str) -> str:
    return x if len(x) <= _LENGTH else f"{x[: _LENGTH - 9]}... ({len(x)} characters)"


# Comparing.
