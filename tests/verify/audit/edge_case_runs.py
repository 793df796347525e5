"""One line for each run of an edge case: its standing, and all claims that do not hold.

A line begins with the standing of the conclusion. Then come the claims whose own level does not
hold, with their witnesses (relations have a positive first coefficient), the statements that are
false for all weights, and those that stay open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.limits.tightness.limits import largest_rank
from attncert.verify.limits.tightness.relations.probes import best_rank
from attncert.verify.limits.tightness.relations.rows import row_bound
from attncert.verify.prove.prove import prove
from attncert.verify.questions.prove import Prove

_NUMBERS = ("T", "capacity", "n", "d", "d_v", "m")


def line(run: str, data: Dataset, **options: Any) -> str:
    """What this run says about the data."""
    return RUNS[run](data, **options)


def _proof(construction: str, data: Dataset, **options: Any) -> str:
    proof = prove(data, Prove(construction=construction, **options))
    open_ = [c for c in proof.trace if not c.level.holds and c.id != ids.MEMORIZATION]
    failing: dict[str, list[str]] = {}
    for claim in (c for c in open_ if c.about is None):
        failing.setdefault(_witness(claim), []).append(ids.hypothesis_name(claim.id) or claim.id)
    parts = [" ".join([", ".join(names), text]).strip() for text, names in failing.items()]
    limits = [c for c in open_ if c.about is not None]
    for words, level in (("no weights", Level.REFUTED), ("open", Level.UNDECIDED)):
        names = sorted(c.id for c in limits if c.level is level)
        parts += [f"{words}: {', '.join(names)}"] if names else []
    return "; ".join([proof.standing.value, *parts])


def _witness(claim: Claim) -> str:
    facts = {**claim.numbers, **(claim.witness or {})}
    if claim.id == ids.THEOREM:
        return "without " + ", ".join(facts["hypotheses that do not hold"])
    if "coefficients" not in facts:
        return ", ".join(f"{key}={facts[key]}" for key in _NUMBERS if key in facts)
    if "context" in facts:
        rows = range(len(facts["coefficients"]))
        return f"in context {facts['context']}: {combination('E', rows, facts['coefficients'])}"
    return combination("e", facts["examples"], facts["coefficients"])


def combination(name: str, places: Sequence[int], coefficients: Sequence[str]) -> str:
    """The relation with its first coefficient positive.

    >>> combination("e", [0, 2, 5], ["-1", "0", "1/2"])
    'e0 - 1/2 e5'
    """
    terms = [(str(c), f"{name}{k}") for c, k in zip(coefficients, places, strict=True) if c != "0"]
    turned = terms[0][0].startswith("-")
    words = []
    for c, what in terms:
        negative = c.startswith("-") != turned
        size = c.removeprefix("-")
        words.append(("- " if negative else "+ ") + (what if size == "1" else f"{size} {what}"))
    return " ".join(words).removeprefix("+ ")


def _universal(data: Dataset, heads: int, width: int) -> str:
    """Whether some weights, or none at all, serve all labels."""
    bound, witness = largest_rank(data, heads)
    if bound == data.T:
        reached = best_rank(data, heads, data.T, width=width, draws=12)
        return "proved" if reached.rank == data.T else "undecided"
    if relation := witness.get("relation"):
        return f"refuted: {combination('z', relation['indices'], relation['coefficients'])}"
    return f"refuted: no weights exceed rank {bound}"


def _labels(data: Dataset) -> str:
    """Whether the labels obey the relations between rows; if not, how far off they are."""
    claims = {claim.id: claim for claim in row_bound(data)}
    claim = claims[ids.ROWS_LABELS]
    gap = [Fraction(x) for x in (claim.witness or {}).get("combination of the labels", ())]
    sign = 1 if not gap or gap[0] > 0 else -1
    return " ".join([claim.level.value, *(str(sign * x) for x in gap)])


RUNS: dict[str, Callable[..., str]] = {
    "paper": partial(_proof, "paper"),
    "width-one": partial(_proof, "width-one"),
    "weights": _universal,
    "labels": _labels,
}
