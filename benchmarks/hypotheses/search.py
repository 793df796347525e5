"""Finds the steps that each weakening breaks, on minimal data, and whether those are memorized.

Instances are drawn until there are enough and every step that must fail has failed. The first
failing instance of a step is shrunk until nothing can be taken away: on every instance that
`smaller` makes from it, the step succeeds or more than one hypothesis is weakened. The first
failing instance with the other verdict on memorization is shrunk in the same way.

If a step fails on none of the instances drawn, that proves nothing; the definition of the weakening
explains why it cannot fail. Every verdict is exact.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attncert.verify.audit.attack.search import shrink
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.limits.tightness.limits import label_rank
from hypotheses.instance import Instance
from hypotheses.steps import STEPS, ProofStep
from hypotheses.universal import universal
from hypotheses.weakenings import Weakening, draw

__all__ = ["Exploration", "Minimal", "StepFailures", "explore", "memorized"]

_MOST = 4000  # the most instances drawn for a step that should fail


@dataclass(frozen=True)
class Minimal:
    """An instance from which nothing can be taken away, why the step fails on it, and whether
    memorization holds there."""

    instance: Instance
    witness: dict[str, Any]
    memorization: Claim


@dataclass
class StepFailures:
    """A step that failed. verdicts: how often it failed with each verdict on memorization."""

    verdicts: Counter[Level] = field(default_factory=Counter)
    minimal: dict[Level, Minimal] = field(default_factory=dict)

    @property
    def mark(self) -> str:
        """Which verdicts occurred: is the hypothesis necessary or only sufficient?"""
        survived, impossible = self.verdicts[Level.PROVED], self.verdicts[Level.REFUTED]
        if survived and impossible:
            return "both"
        if survived:
            return "memorized"
        return "impossible" if impossible else "undecided"


@dataclass(frozen=True)
class Exploration:
    """One weakening: instances drawn, and the steps that failed on some of them, by id."""

    weakening: Weakening
    drawn: int
    broken: dict[str, StepFailures]

    @property
    def unexpected(self) -> frozenset[str]:
        """The steps that failed but should not have."""
        return frozenset(self.broken) - self.weakening.breaks

    @property
    def unmet(self) -> frozenset[str]:
        """The steps that should fail but did not fail on any draw."""
        return self.weakening.breaks - frozenset(self.broken)


def explore(weakening: Weakening, draws: int, seed: int) -> Exploration:
    """Draw, decide and shrink. Deterministic for a seed; each verdict is exact."""
    rng = np.random.default_rng([seed, *weakening.id.encode()])
    broken: dict[str, StepFailures] = {}
    drawn = 0
    while drawn < draws or (weakening.breaks - set(broken) and drawn < _MOST):
        x = draw(weakening, rng)
        drawn += 1
        failing = [step for step in STEPS if step.fails(x)]
        if not failing:
            continue
        level = memorized(x).level
        for step in failing:
            failures = broken.setdefault(step.id, StepFailures())
            failures.verdicts[level] += 1
            if not failures.minimal:
                first = minimal(weakening, step, x, None)
                failures.minimal[first.memorization.level] = first
            if level not in failures.minimal:
                failures.minimal[level] = minimal(weakening, step, x, level)
    return Exploration(weakening, drawn, broken)


def minimal(weakening: Weakening, step: ProofStep, x: Instance, verdict: Level | None) -> Minimal:
    """Shrink x while the step fails and memorization still has the verdict, if one is given."""

    def fails(y: Instance) -> bool:
        if not (weakening.met(y) and step.fails(y)):
            return False
        return verdict is None or memorized(y).level is verdict

    small = shrink(x, fails)
    return Minimal(small, step.fails(small) or {}, memorized(small))


def memorized(x: Instance) -> Claim:
    """Whether memorization holds for this instance with H heads of width d_h; if d_v < m, whether
    its labels are possible."""
    if x.values < x.m:
        return label_rank(x.dataset, x.heads, x.values)
    return universal(x.dataset, x.heads, x.width)
