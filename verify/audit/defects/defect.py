"""A planted defect, the checks that must see it, and the matrix of both.

A `Family` is a kind of run with its checks. `fired` runs them all, *but the final one*: that the
layer's outputs equal the labels would catch nearly every error and hide which of the others see
anything. Each defect must be caught by the check of its own step; and a check that is never the
only one to catch a defect is not needed, unless `implied` says what it is there for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from attncert.constructions.progress import Progress, silent
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.ids import head_and_step

Fired = frozenset[str]


@dataclass(frozen=True)
class Defect:
    """name: what is wrong. check: the id that must fire. plant: the spoilt run."""

    name: str
    check: str
    plant: Callable[[], Any]


@dataclass(frozen=True)
class Family:
    """Runs of one kind.

    checks: every column of the matrix. fired: ids of the checks that fire on a run. correct: runs
    in which none may. implied: checks that others imply, with the reason they are kept.
    """

    name: str
    title: str
    checks: tuple[str, ...]
    fired: Callable[[Any], Fired]
    correct: Mapping[str, Callable[[], Any]]
    defects: tuple[Defect, ...]
    implied: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Caught:
    """One row: the columns that fired, and whether the defect's own check was among them."""

    defect: Defect
    columns: Fired
    own: bool


@dataclass(frozen=True)
class Result:
    """What became of a family.

    false_alarms: checks that fired on a correct run, by its name.
    """

    family: Family
    rows: tuple[Caught, ...]
    false_alarms: Mapping[str, Fired]

    @property
    def missed(self) -> tuple[str, ...]:
        """Defects that their own step's check did not see."""
        return tuple(row.defect.name for row in self.rows if not row.own)

    @property
    def needed(self) -> Fired:
        """Checks without which some defect here would pass unseen."""
        return frozenset(next(iter(row.columns)) for row in self.rows if len(row.columns) == 1)

    @property
    def unneeded(self) -> tuple[str, ...]:
        """Checks of which neither that nor a reason is known."""
        known = self.needed | set(self.family.implied)
        return tuple(check for check in self.family.checks if check not in known)


def failing(claims: Iterable[Claim]) -> Fired:
    """Ids of the claims that do not hold."""
    return frozenset(claim.id for claim in claims if not claim.level.holds)


def column(claim_id: str) -> str:
    """The check that an id belongs to: that of one step, whatever the head.

    >>> column("head.2.selector"), column("hypothesis.A2")
    ('selector', 'hypothesis.A2')
    """
    return of[1] if (of := head_and_step(claim_id)) else claim_id


def examine(family: Family, progress: Progress = silent) -> Result:
    """Plant each defect of the family in turn and see what fires; and on the correct runs."""
    rows = []
    for done, defect in enumerate(family.defects):
        progress(done, len(family.defects))
        fired = family.fired(defect.plant())
        rows.append(Caught(defect, frozenset(map(column, fired)), defect.check in fired))
    alarms = {name: family.fired(run()) for name, run in family.correct.items()}
    return Result(family, tuple(rows), {name: fired for name, fired in alarms.items() if fired})
