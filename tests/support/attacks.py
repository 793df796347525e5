"""Tests statements of a page on random small cases, and counts the trials and failures."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping

Outcome = dict[str, bool]  # a statement, and whether it held
Targets = Mapping[str, Callable[[random.Random], Outcome]]


def attack(targets: Targets, target: str, cases: int) -> tuple[Counter[str], list[tuple[int, str]]]:
    """The number of trials of each part, and the failures as pairs of case number and part. Case k
    of a target depends on (target, 0, k) alone."""
    tried, failures = Counter[str](), list[tuple[int, str]]()
    for number in range(cases):
        outcome = targets[target](random.Random(f"{target} 0 {number}"))
        tried.update(list(outcome))
        failures += [(number, part) for part, held in outcome.items() if not held]
    return tried, failures
