"""An attack on the statements about given labels, and on what is built for them.

Case k of a seed depends on (target, seed, k) alone: it can be drawn again without the others, and a
search can be resumed at any k. That no failure is found proves nothing beyond the cases counted.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from attncert.constructions.errors import InputError
from attncert.constructions.progress import Progress, silent
from attncert.verify.audit.attack.given import built, cases
from attncert.verify.audit.attack.given.cases import Outcome
from attncert.verify.audit.attack.given.near import near_case
from attncert.verify.audit.attack.search import require_range

__all__ = ["TARGETS", "StatementReport", "attack_statement"]

TARGETS: dict[str, Callable[[random.Random], Outcome]] = {
    # statements of docs/given-labels.md
    "law": cases.law_case,
    "queries": cases.queries_case,
    "coordinates": cases.coordinates_case,
    "pairs": cases.pairs_case,
    "groups": cases.groups_case,
    "conjecture": cases.conjecture_case,
    # what is built, claimed and certified
    "capacity": built.capacity_case,
    "every-labelling": built.labelling_case,
    "pairs-built": built.pairs_case,
    "near": near_case,
}


@dataclass(frozen=True)
class StatementReport:
    """tried: how often each part was tried. failures: number of the case, part."""

    target: str
    seed: int
    start: int
    stop: int
    tried: Counter[str] = field(default_factory=Counter)
    failures: tuple[tuple[int, str], ...] = ()

    def __str__(self) -> str:
        """
        >>> print(StatementReport("law", 0, 0, 2, Counter({"equality": 2})))
        0 failures in cases 0 to 1 of law: equality 2
        """
        parts = ", ".join(f"{part} {count:,}" for part, count in sorted(self.tried.items()))
        where = f"in cases {self.start} to {self.stop - 1} of {self.target}"
        return f"{len(self.failures)} failures {where}: {parts}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "seed": self.seed,
            "start": self.start,
            "stop": self.stop,
            "tried": dict(sorted(self.tried.items())),
            "failures": [f"case {number}: {part}" for number, part in self.failures],
        }


def attack_statement(
    target: str, *, cases: int, seed: int = 0, start: int = 0, progress: Progress = silent
) -> StatementReport:
    """Draw cases start, ..., start + cases - 1. Raises InputError."""
    if target not in TARGETS:
        raise InputError("--target", f"one of {', '.join(TARGETS)}", target)
    require_range(cases, seed, start)
    tried, failures = Counter[str](), list[tuple[int, str]]()
    for number in range(start, start + cases):
        progress(number - start, cases)
        outcome = TARGETS[target](random.Random(f"{target} {seed} {number}"))
        tried.update(outcome)
        failures += [(number, part) for part, held in outcome.items() if not held]
    return StatementReport(target, seed, start, start + cases, tried, tuple(failures))
