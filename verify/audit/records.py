"""The audit: the toolkit and, where given, a user's data and layer, looked at from every side.

An audit is a list of sections. A section is a function of a `Scope` that computes what it says and
returns an `AuditSection`: tables and matrices for a reader, numbers for a program, and findings.
Its standing is derived from its findings, and the audit's from its sections: the worst counts.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from attncert.constructions.brief import in_brief
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.methods import registry
from attncert.verify.methods.method import Method

__all__ = [
    "Audit",
    "AuditSection",
    "Finding",
    "HeatMap",
    "Matrix",
    "Scope",
    "Standing",
    "Table",
    "audit",
]

Row = tuple[str, ...]


class Standing(enum.Enum):
    """What came out, best first; the value is the word that reports use."""

    OK = "as expected"
    UNDECIDED = "undecided"  # or: the theorem does not apply to the user's data
    AGAINST = "against"  # a defect not caught, a case not as expected, the user's data refuted

    @property
    def exit_status(self) -> int:
        """0 as expected; 1 a finding against; 3 undecided."""
        return {Standing.OK: 0, Standing.UNDECIDED: 3, Standing.AGAINST: 1}[self]


_WORSE = {standing: k for k, standing in enumerate(Standing)}


def worst(standings: Iterable[Standing]) -> Standing:
    """The worst of them; OK where there is none.

    >>> worst([Standing.OK, Standing.AGAINST, Standing.UNDECIDED])
    <Standing.AGAINST: 'against'>
    """
    return max(standings, key=_WORSE.__getitem__, default=Standing.OK)


@dataclass(frozen=True)
class Finding:
    """One thing that a reader must not miss: a sentence (LaTeX between dollars), its witness.

    yours: it is about the user's data or layer, of which nothing was expected beforehand.
    """

    statement: str
    standing: Standing
    witness: Mapping[str, Any] | None = None
    yours: bool = False

    @classmethod
    def of(cls, claim: Claim, said: str = "") -> Finding:
        """A claim about the user's data or layer: refuted counts against it, what is open is
        undecided. said: in place of its statement."""
        if claim.level.holds:
            return cls(said or claim.statement, Standing.OK, yours=True)
        against = claim.level is Level.REFUTED
        standing = Standing.AGAINST if against else Standing.UNDECIDED
        return cls(said or claim.statement, standing, claim.witness, yours=True)


@dataclass(frozen=True)
class Table:
    """Rows of cells, each a sentence in the form of `reports/words/text.py`. note: what stands
    below.
    """

    title: str
    columns: Row
    rows: tuple[Row, ...]
    note: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(
                    f"{self.title}: {len(row)} cells under {len(self.columns)} columns"
                )


@dataclass(frozen=True)
class Matrix:
    """Rows against columns, one mark in each cell ("" for nothing); drawn and tabulated.

    name: of its figure (`reports/report.py` lists them). meanings: of every mark that occurs; the
    marks in `bad` are drawn as such.
    """

    name: str
    title: str
    corner: str
    columns: Row
    rows: tuple[tuple[str, Row], ...]
    meanings: Mapping[str, str]
    bad: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for label, cells in self.rows:
            if len(cells) != len(self.columns):
                raise ValueError(f"{self.name}: {label} has not one cell for each column")
            for mark in cells:
                if mark and mark not in self.meanings:
                    raise ValueError(f"{self.name}: nothing says what {mark!r} means")


@dataclass(frozen=True)
class HeatMap:
    """Saturation of a layer: bits[h][t] is -log2 of the softmax weight of head h on example t
    outside the largest; infinite where there is none. name: of its figure."""

    name: str
    title: str
    bits: tuple[tuple[float, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class AuditSection:
    """What one part of the audit found. JSON-able but for the records in it.

    id: stable name; title: heading. text: paragraphs above the tables. numbers: for programs.
    claims: with their evidence, where the section has some of its own. answer: what came out for
    the user's data, in a sentence; "" in sections on bundled cases.
    """

    id: str
    title: str
    text: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    matrices: tuple[Matrix, ...] = ()
    findings: tuple[Finding, ...] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    answer: str = ""

    def __repr__(self) -> str:
        return in_brief(
            self, self.id, self.standing, findings=len(self.findings), claims=len(self.claims)
        )

    @property
    def standing(self) -> Standing:
        return worst(finding.standing for finding in self.findings)


@dataclass(frozen=True)
class Scope:
    """What is audited, and how much time there is.

    data: the user's, or None: the bundled cases alone.
    construction: the one that is audited; None: those that use Assumptions 1 and 2.
    quick: seconds instead of minutes: fewer cases of the same kinds. seed: of all searches.
    """

    data: Dataset | None = None
    quick: bool = False
    seed: int = 0
    progress: StageProgress = silent
    construction: str | None = None

    @property
    def methods(self) -> tuple[Method, ...]:
        if self.construction is not None:
            return (registry.method(self.construction),)
        return tuple(method for method in registry.methods() if method.uses_a1_a2)


Section = Callable[[Scope], AuditSection]


@dataclass(frozen=True)
class Audit:
    """A finished audit. `data` and `quick` say what it was about."""

    sections: tuple[AuditSection, ...]
    data: Dataset | None = None
    quick: bool = False
    seed: int = 0

    def __repr__(self) -> str:
        return in_brief(
            self, self.standing, sections=tuple(section.id for section in self.sections)
        )

    @property
    def standing(self) -> Standing:
        return worst(section.standing for section in self.sections)

    @property
    def exit_status(self) -> int:
        return self.standing.exit_status

    def __getitem__(self, section_id: str) -> AuditSection:
        """By id. Raises KeyError."""
        return {section.id: section for section in self.sections}[section_id]


def audit(scope: Scope, sections: Iterable[Section]) -> Audit:
    """Run the sections in order. Deterministic for a scope. Raises InputError where one does."""
    done = tuple(section(scope) for section in sections)
    if not done:
        raise ValueError("no sections: an audit of nothing finds nothing")
    return Audit(done, scope.data, scope.quick, scope.seed)
