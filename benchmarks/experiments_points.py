"""The points of the paper's experiments: settings, bounds, data, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from attncert.constructions.construction import places
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.attention import Shape
from attncert.constructions.given.law import Spans

SHARES = (10, 20, 30, 40, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 98, 100)  # percent of N
LARGE = 1000  # a larger N has fewer shares, with one start each
OF_SHARED = tuple(range(10, 101, 2))  # the shares for one shared context
COARSE = (20, 25, 30, 35, 40, 50, 60, 70, 80, 90, 95)
STEPS = {"random": 40, "fixed": 150}  # rough total for all searches at a point
MOST_SECONDS = 3600.0  # points estimated to take longer are not run
FLOPS = 12e9  # per second, on one processor of the machine that made the rows


@dataclass(frozen=True)
class Point:
    """One setting; contexts: "random" (one for each example) or "fixed" (one for all).

    labels: "real", "classes" (a number from 0 to 99) or "one-hot" (m classes).
    """

    series: str
    contexts: str
    labels: str
    n: int
    d: int
    heads: int
    head_width: int = 1
    value_width: int = 1
    m: int = 1

    @property
    def shared(self) -> bool:
        return self.contexts == "fixed"

    @property
    def spans(self) -> Spans:
        """The spans of almost all data of this kind, for n ≤ d. They are compared with the spans
        of the data drawn."""
        if self.shared:
            return Spans(self.n - 1, 1, self.d, self.m)
        return Spans(self.d, 0, self.d, self.m)

    @property
    def law(self) -> int:
        """N, which bounds T·m for almost all labels in ℝᵐ (but not for classes)."""
        return self.spans.bound(self.heads, self.head_width, self.value_width)

    def shape(self) -> Shape:
        return Shape(self.d, self.m, self.heads, self.head_width, self.value_width)

    def bounds(self) -> dict[str, int | None]:
        """The other bounds, for almost all data of the kind: every labelling by pairs (Theorem 13
        of docs/given-labels.md, m = 1), universal (Theorem U), and the paper's bound. All but
        N count examples."""
        s, H, every = self.spans, self.heads, None
        if self.m == 1:
            rho = min(self.head_width, s.differences)
            pairs = H // 2 * (rho * (s.differences + self.d - rho) + s.differences)
            every = pairs + H % 2 * s.differences + s.common
        return {
            "N": self.law,
            "every_labelling": every,
            "universal": H * s.differences + s.common,
            "paper": places(H, min(self.n, self.head_width)),
        }

    def candidates(self) -> list[int]:
        """The values of T that may be tried, in ascending order."""
        shares = OF_SHARED if self.shared else COARSE if self.law > LARGE else SHARES
        return sorted({max(1, self.law * share // (100 * self.m)) for share in shares})

    def seconds(self) -> float:
        """The estimated CPU time of all searches (STEPS steps together) and of the enclosures."""
        N, P = self.law, self.shape().parameters
        one_step = (N * N * P + 2 / 3 * N**3) / FLOPS
        return STEPS[self.contexts] * one_step + 1e-6 * N * self.heads * self.n * self.d

    def mebibytes(self) -> int:
        """The estimated memory: three arrays the size of the Jacobian, and four the size of its
        square block."""
        N, P = self.law, self.shape().parameters
        return int(8 * (3 * N * P + 4 * N * N + 2 * N * self.n * self.d) / 2**20)


def points() -> list[Point]:
    """Every point, fastest first.

    The point n = 32 at H = 10 is in the series "heads".
    """
    found = []
    for contexts in ("random", "fixed"):
        for labels in ("real", "classes"):
            kind = contexts, labels
            found += [Point("heads", *kind, 32, 64, H) for H in (1, 2, 5, 10, 20, 30, 60)]
            found += [Point("context", *kind, n, 64, 10) for n in (2, 4, 8, 16, 48, 60)]
            found += [Point("heads, small", *kind, 8, 16, H) for H in (1, 2, 4, 8, 16)]
            found += [Point("context, small", *kind, n, 16, 4) for n in (2, 3, 4, 6, 8, 12, 16)]
            found += [Point("head width", *kind, 8, 16, 4, w) for w in (1, 2, 4, 6, 7, 8, 12, 16)]
            found += [Point("head width, small", *kind, 4, 8, 4, w) for w in range(1, 9)]
        found += [Point("one-hot", contexts, "one-hot", 8, 16, H, 1, 10, 10) for H in (1, 2, 4)]
        found += [Point("one-hot", contexts, "one-hot", 8, 16, 1, 1, 16, 100)]
    return sorted(found, key=Point.seconds)


def data_of(point: Point, T: int) -> Dataset:
    """The first T examples; a longer draw begins with the same examples."""
    draws = [np.random.default_rng([k, 2024]) for k in range(3)]
    contexts = draws[0].integers(0, 65, (1 if point.shared else T, point.n, point.d)) / 64
    queries = draws[1].integers(0, 65, (T, point.d)) / 64
    if point.labels == "real":
        labels = draws[2].integers(0, 1025, (T, 1)) / 1024
    else:
        classes = draws[2].integers(0, 100 if point.m == 1 else point.m, T)
        labels = classes[:, None].astype(float) if point.m == 1 else np.eye(point.m)[classes]
    return Dataset.of(contexts, queries, labels)


def estimate(point: Point) -> dict[str, Any]:
    return {"estimated_seconds": round(point.seconds()), "estimated_MiB": point.mebibytes()}


def key(row: dict[str, Any]) -> Point:
    return Point(**{name: row[name] for name in Point.__dataclass_fields__})
