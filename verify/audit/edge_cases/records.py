"""What a case of the catalogue is: data, what must happen, why, and who says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.ids import ClaimId

__all__ = [
    "RUNS", "EdgeCase", "Expect", "FileCase", "at_most", "both", "dependent", "hypothesis",
    "impossible", "labels", "limits", "relation", "rows", "weights",
]  # fmt: skip

PROVED_BY = ("paper", "width-one")  # constructions that the catalogue expects something of
RUNS = (
    *PROVED_BY, "universal", "impossibility", "labels", "label rank", "given labels",
    "uniform", "later ties",
)  # fmt: skip


@dataclass(frozen=True)
class Expect:
    """What one run must say.

    run:     one of RUNS. Those of PROVED_BY are `prove`; "universal" is some weights against
             all weights, "impossibility" counts numbers, too; "labels", "label rank" and "given
             labels" are about the labels of the case (verify/tightness/);
             "uniform" is the rank with all weights 0; "later ties" lists (head, later example)
             where the paper's separator ties.
    answer:  the standing of its conclusion.
    fails:   every claim that does not hold on its own, with what its witness must contain: no
             other claim may fail, the conclusion apart.
    limits:  every statement about all weights that does not hold (tightness/limits.py), with its
             level; no other of these may fail.
    shows:   numbers or witness entries that a claim must contain, by claim id.
    options: of the run: settings of `prove`, or heads, head_width, value_width.
    """

    run: str
    answer: Level
    fails: Mapping[ClaimId, Mapping[str, Any]] = field(default_factory=dict)
    limits: Mapping[ClaimId, Level] = field(default_factory=dict)
    shows: Mapping[ClaimId, Mapping[str, Any]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.run not in RUNS:
            raise ValueError(f"{self.run!r} is not one of {RUNS}")


@dataclass(frozen=True)
class EdgeCase:
    """A named case. name: stable, for tests and the command. must: one sentence, what must happen.

    why: the argument; source: the theorem or the place of the argument.
    """

    name: str
    group: str
    must: str
    why: str
    source: str
    data: Callable[[], Dataset]
    expect: tuple[Expect, ...]

    @classmethod
    def of(
        cls,
        group: str,
        name: str,
        must: str,
        why: str,
        source: str,
        data: Callable[[], Dataset],
        *expect: Expect,
    ) -> EdgeCase:
        """The same with what is expected at the end, as the tables are read."""
        return cls(name, group, must, why, source, data, expect)


@dataclass(frozen=True)
class FileCase:
    """An input file that must be refused in one line (exit status 2) before any work, or accepted.

    file: its name, for the format that its ending says. content: its bytes. line: how the error
    line begins, FILE standing for the path; None: this file must be accepted.
    """

    name: str
    group: str
    must: str
    why: str
    source: str
    file: str
    content: Callable[[], bytes]
    line: str | None


def both(
    answer: Level,
    fails: Mapping[ClaimId, Mapping[str, Any]] | None = None,
    by: Mapping[ClaimId, Level] | None = None,
    **options: Any,
) -> list[Expect]:
    """The same of the paper's construction and of heads of width one."""
    return [Expect(run, answer, fails or {}, by or {}, options=options) for run in PROVED_BY]


def impossible(
    by: Mapping[ClaimId, Level],
    fails: Mapping[ClaimId, Mapping[str, Any]] | None = None,
    **options: Any,
) -> list[Expect]:
    """`both`, refuted for every choice of weights by these limits."""
    return both(Level.REFUTED, fails, by, **options)


def limits(*names: str, labels: bool = False) -> dict[ClaimId, Level]:
    """Limits that refute, "rows" and "flat" for universal memorization; labels: whether the given
    labels are impossible too, else that is undecided."""
    known = {
        "rows": ids.ROWS_UNIVERSAL,
        "flat": ids.TIGHTNESS_UNIVERSAL,
        "label rank": ids.LABELS_RANK,
        "value width": ids.VALUES_UNIVERSAL,
    }
    out = {known[name]: Level.REFUTED for name in names}
    if labels and "rows" in names:
        out[ids.ROWS_LABELS] = Level.REFUTED
    return out | {ids.GIVEN_LABELS: Level.REFUTED if labels else Level.UNDECIDED}


def hypothesis(name: str, **witness: Any) -> dict[ClaimId, Mapping[str, Any]]:
    """The hypothesis of this name must be refuted, with this in its witness."""
    return {ids.hypothesis(name): witness}


def dependent(
    examples: list[int], coefficients: list[int], *names: str
) -> dict[ClaimId, Mapping[str, Any]]:
    """These hypotheses (default: A1 and every grouping) must be refuted by this relation between
    queries."""
    witness = {"examples": examples, "coefficients": [str(c) for c in coefficients]}
    names = names or ("A1", "partition", "some-partition")
    return {ids.hypothesis(name): witness for name in names}


def rows(context: int, coefficients: list[int]) -> dict[ClaimId, Mapping[str, Any]]:
    """A2 must be refuted by this relation between the rows of this context."""
    return hypothesis("A2", context=context, coefficients=[str(c) for c in coefficients])


def weights(answer: Level, heads: int, width: int = 1, **witness: Any) -> Expect:
    """Whether some weights, or none at all, serve all labels; refuted: with this witness."""
    options = {"heads": heads, "width": width}
    shows = {ids.UNIVERSAL: witness} if witness else {}
    return Expect("universal", answer, shows=shows, options=options)


def at_most(rank: int) -> dict[str, Any]:
    """A bound on rank Z for all weights, in the form of `verify/tightness/universal.py`."""
    return {"no weights exceed rank": rank}


def labels(answer: Level, *gap: int) -> Expect:
    """Whether the labels obey the relations between rows; refuted: by this combination of them."""
    shown = {"combination of the labels": [str(x) for x in gap]}
    return Expect("labels", answer, shows={ids.ROWS_LABELS: shown} if gap else {})


def relation(examples: list[int], coefficients: list[int]) -> dict[str, Any]:
    """A relation between rows of Z, in the form of `verify/tightness/universal.py`."""
    terms = [str(c) for c in coefficients]
    return {"relation": {"indices": examples, "coefficients": terms}}
