"""Planted defects and the checks that catch them, as a matrix.

A `Family` is a kind of run with its checks. `fired` runs all checks *but the final one*, that the
layer's outputs equal the labels, which would catch nearly every error and hide which other checks
see it. `complaints` checks that each defect is caught by the check of its own step, that nothing
fires on a correct run, and that each check is the only one to catch some defect, or is known to
be implied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.ids import head_and_step

Fired = frozenset[str]


class Defect(NamedTuple):
    """name: what is wrong. check: the id that must fire. plant: a function that makes the run."""

    name: str
    check: str
    plant: Callable[[], Any]


@dataclass(frozen=True)
class Family:
    """Runs of one kind.

    fired: ids of the checks that fire on a run. correct: runs in which none may. checks: all
    checks. implied: checks that others imply, with the reason for keeping them.
    """

    checks: tuple[str, ...]
    fired: Callable[[Any], Fired]
    correct: Mapping[str, Callable[[], Any]]
    defects: tuple[Defect, ...]
    implied: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def caught(self) -> list[tuple[Defect, Fired]]:
        """Each defect with the ids that fired."""
        return [(defect, self.fired(defect.plant())) for defect in self.defects]

    @property
    def complaints(self) -> list[str]:
        """The faults of the checks: an empty list if there are none."""
        missed = [f"not seen: {d.name}" for d, fired in self.caught if d.check not in fired]
        alarms = [f"on {name}: {self.fired(make())}" for name, make in self.correct.items()]
        columns = [frozenset(map(column, fired)) for _, fired in self.caught]
        alone = frozenset().union(*(fired for fired in columns if len(fired) == 1))
        unknown = frozenset().union(*columns) ^ set(self.checks)
        unneeded = set(self.checks) - alone - set(self.implied) | alone & set(self.implied)
        return [
            *missed,
            *(alarm for alarm in alarms if not alarm.endswith(": frozenset()")),
            *(f"in the list or seen, not both: {check}" for check in sorted(unknown)),
            *(f"not needed, or not implied: {check}" for check in sorted(unneeded)),
        ]


def failing(claims: Iterable[Claim]) -> Fired:
    """Ids of the claims that do not hold."""
    return frozenset(claim.id for claim in claims if not claim.level.holds)


def column(claim_id: str) -> str:
    """The check to which an id belongs: that of one step, for every head."""
    return of[1] if (of := head_and_step(claim_id)) else claim_id
