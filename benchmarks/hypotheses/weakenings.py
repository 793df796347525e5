"""Weakens each hypothesis to just below what the proof uses, and keeps all others.

A weakening is a condition on instances, with a way to draw some that meet it. `breaks` are the
steps that must fail on some of these instances; no other step may fail on any.

    A1            every r queries independent -> every r - 1
    A2            contexts of rank n -> n - 1; with and without rows that are affinely independent
    n ≤ d         n = d + 1, with A1 and A2 as far as they can hold there
    d_v ≥ m       d_v = m - 1
    T ≤ H(r-1)+1  one example more
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attncert.constructions.arrays import IntArray
from hypotheses.instance import Instance, affine_rank, every_subset_independent, rank

_DRAWS = 20_000  # the most instances drawn to find one that meets the condition


@dataclass(frozen=True)
class Sizes:
    """The fixed sizes n and r = min(n, d_h), and how to draw d, H and T."""

    n: int
    r: int
    widths: tuple[int, ...]  # d
    heads: tuple[int, ...] = (1, 2)
    surplus: int = 0  # by how much T exceeds the capacity
    m: int = 1
    values: int = 1


@dataclass(frozen=True)
class Weakening:
    """One hypothesis weakened.

    breaks: steps that must fail on some instances; no others may. condition: what remains of the
    hypotheses, for an instance with the right n and r. why: the argument for `breaks`.
    """

    id: str
    hypothesis: str
    title: str
    sizes: Sizes
    breaks: frozenset[str]
    condition: Callable[[Instance], bool]
    why: str

    def met(self, x: Instance) -> bool:
        """Whether the instance has the right sizes and meets all remaining hypotheses."""
        sizes = self.sizes
        fits = (x.n, x.r, x.m, x.values) == (sizes.n, sizes.r, sizes.m, sizes.values)
        over = x.T - x.capacity
        within = over == sizes.surplus if sizes.surplus else over <= 0
        return fits and within and self.condition(x)


def draw(weakening: Weakening, rng: np.random.Generator) -> Instance:
    """A random instance of small integers, often with planted dependent queries or rows."""
    sizes = weakening.sizes
    for _ in range(_DRAWS):
        d, heads = int(rng.choice(sizes.widths)), int(rng.choice(sizes.heads))
        capacity = heads * (sizes.r - 1) + 1
        T = capacity + sizes.surplus if sizes.surplus else int(rng.integers(1, capacity + 1))
        count = 1 if rng.random() < 0.5 else T
        x = Instance(
            contexts=_contexts(rng, count, sizes.n, d),
            queries=_queries(rng, T, d),
            heads=heads,
            width=sizes.r,
            kind=weakening.id,
            m=sizes.m,
            values=sizes.values,
        )
        if weakening.met(x):
            return x
    raise AssertionError(f"no instance of {weakening.id} in {_DRAWS} draws")


def _contexts(rng: np.random.Generator, count: int, n: int, d: int) -> IntArray:
    table = rng.integers(-2, 3, (count, n, d))
    for context in table:
        if n > 1 and rng.random() < 0.5:
            i, j = rng.permutation(n)[:2]
            context[i] = rng.choice((0, 1, 2)) * context[j]
    return table


def _queries(rng: np.random.Generator, T: int, d: int) -> IntArray:
    table = rng.integers(-2, 3, (T, d))
    if T > 1 and rng.random() < 0.5:
        i, *others = rng.permutation(T)[: int(rng.integers(2, min(T, 3) + 1))]
        table[i] = rng.integers(-1, 2, len(others)) @ table[others]
    return table


def _a1(x: Instance, strength: int) -> bool:
    return every_subset_independent(x.queries, strength)


def _a2(x: Instance, least: int, most: int, affine: int = 0) -> bool:
    """Whether contexts have rank >= least and affine rank >= affine, and one has rank <= most."""
    ranks = [rank(x.context(t)) for t in range(len(x.contexts))]
    flat = all(affine_rank(x.context(t)) >= affine for t in range(len(x.contexts)))
    return flat and least <= min(ranks) <= most


def _all(x: Instance) -> bool:
    return _a1(x, x.n) and _a2(x, x.n, x.n)


WEAKENINGS = (
    Weakening("A1-below-r-2", "A1", "every $r-1$ queries independent, $r=2$",
              Sizes(n=2, r=2, widths=(2, 3)), frozenset({"duals", "selector"}),
              lambda x: _a1(x, 1) and not _a1(x, 2) and _a2(x, 2, 2),
              "duals and selector compare $r$ queries, so $r-1$ are not enough; nothing else looks "
              "at the queries"),
    Weakening("A1-below-r-3", "A1", "every $r-1$ queries independent, $r=3$",
              Sizes(n=3, r=3, widths=(3, 4)), frozenset({"duals", "selector"}),
              lambda x: _a1(x, 2) and not _a1(x, 3) and _a2(x, 3, 3),
              "the same; with one shared context and $n\\ge3$ distinct queries are memorized anyway"
              " (docs/tightness.md, section 4)"),
    Weakening("A1-at-r", "A1", "every $r$ queries independent, not every $n$; $r=2<n=3$",
              Sizes(n=3, r=2, widths=(3,), heads=(2, 3)), frozenset(),
              lambda x: _a1(x, 2) and not _a1(x, 3) and _a2(x, 3, 3),
              "a group has at most $r$ queries, a later group and one earlier query are $r$ "
              "together: A1 is never compared at $n$"),
    Weakening("A2-below-n-2", "A2", "contexts of rank $n-1$, $r=n=2$",
              Sizes(n=2, r=2, widths=(2, 3)), frozenset({"steering", "separator", "independence"}),
              lambda x: _a1(x, 2) and _a2(x, 1, 1),
              "equal rows cannot be told apart; a first group needs $r$ independent rows to "
              "choose from"),
    Weakening("A2-below-n-3", "A2", "contexts of rank $n-1$, $r=n=3$",
              Sizes(n=3, r=3, widths=(3, 4)), frozenset({"steering", "separator", "independence"}),
              lambda x: _a1(x, 3) and _a2(x, 2, 2),
              "the same with three tokens"),
    Weakening("A2-affine", "A2", "rank $n-1$, rows affinely independent, $r=n=2$",
              Sizes(n=2, r=2, widths=(2, 3)), frozenset({"independence"}),
              lambda x: _a1(x, 2) and _a2(x, 1, 1, affine=2),
              "softmax ignores a shift: steering and separator need only affinely independent "
              "rows; the first group needs $r$ independent ones"),
    Weakening("A2-at-r", "A2", "contexts of rank $r=n-1$, $r=2<n=3$",
              Sizes(n=3, r=2, widths=(3,)), frozenset({"steering", "separator"}),
              lambda x: _a1(x, 3) and _a2(x, 2, 2),
              "rank $r$ outgrows the span of $r-1$ rows, and a flat of dimension $r-2$; repeated "
              "rows still tie"),
    Weakening("A2-at-r-affine", "A2", "rank $r=n-1$, rows affinely independent, $r=2<n=3$",
              Sizes(n=3, r=2, widths=(3,)), frozenset(),
              lambda x: _a1(x, 3) and _a2(x, 2, 2, affine=3),
              "rank $r$ and affinely independent rows are all that the steps use of A2 if $r<n$"),
    Weakening("n-above-d", "n ≤ d",
              "$n=d+1$, $r=n$: contexts of rank $d$, affinely independent; every $d$ queries "
              "independent",
              Sizes(n=3, r=3, widths=(2,)), frozenset({"duals", "selector", "independence"}),
              lambda x: _a1(x, x.d) and _a2(x, x.d, x.d, affine=x.n),
              "$r=d+1$ queries, or rows, of width $d$ are dependent; at capacity $T=H(n-1)+1=Hd+1$ "
              "exceeds the $Hd$ columns of $Z$"),
    Weakening("n-above-d-narrow", "n ≤ d", "$n=d+1$, $r=2\\le d$: the same contexts and queries",
              Sizes(n=3, r=2, widths=(2,)), frozenset(),
              lambda x: _a1(x, x.d) and _a2(x, x.d, x.d, affine=x.n),
              "for $r\\le d$ no step compares more than $r\\le d$ vectors, and $d+1$ rows can be "
              "affinely independent"),
    Weakening("d_v-below-m", "d_v ≥ m", "$d_v=m-1=1$, $H=1$",
              Sizes(n=2, r=2, widths=(2, 3), heads=(1,), m=2), frozenset({"readout"}),
              _all,
              "outputs of one head of width $d_v$ have rank at most $d_v$; labels of that rank "
              "can still "
              "be reached"),
    Weakening("T-above-capacity", "T ≤ H(r-1)+1", "one example more, $r=n$",
              Sizes(n=2, r=2, widths=(2, 3), surplus=1), frozenset({"groups"}),
              _all,
              "$H$ groups hold no more; with one shared context no weights do better, with distinct"
              " contexts some do"),
    Weakening("T-above-capacity-narrow", "T ≤ H(r-1)+1", "one example more, $r=2<n=3$",
              Sizes(n=3, r=2, widths=(3,), surplus=1), frozenset({"groups"}),
              _all,
              "$H$ groups hold no more, but heads of width one reach $H(n-1)+1$ "
              "(docs/width-one.md)"),
)  # fmt: skip
