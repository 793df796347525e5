"""Groups for contexts of any rank, as the width-one proof needs them (ours).

The partition condition P' is that of `grouping.py` without its sizes: the queries of each group are
independent, and no earlier query lies in the span of a later group. The dimension condition D
bounds each context from below: in some order of a group's members, the j-th one has

    rank E ≥ j               in the first group,
    affine dimension ≥ j     in a later one,

where the affine dimension is that of the span of the differences of rows. If any order meets D, the
order by ascending dimensions does (docs/width-one.md, section 8).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from flint import fmpz_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.search.grouping import QuerySpans, backwards, excludes_every_grouping

_RESTARTS = 24
Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Dimensions:
    """Rank and affine dimension of each example's context."""

    ranks: tuple[int, ...]
    affine: tuple[int, ...]

    def ordered(self, group: Sequence[int], first: bool) -> tuple[int, ...] | None:
        """The group in an order that meets D; None if there is none.

        >>> Dimensions((2, 2, 1), (1, 2, 0)).ordered((1, 0, 2), first=True) is None
        True
        >>> Dimensions((2, 2, 1), (1, 2, 0)).ordered((1, 0), first=False)
        (0, 1)
        """
        counted = self.ranks if first else self.affine
        order = sorted(group, key=lambda t: (counted[t], t))
        return tuple(order) if all(counted[t] > j for j, t in enumerate(order)) else None


def dimensions(data: Dataset) -> Dimensions:
    """The ranks and affine dimensions of all contexts. Exact, over ℚ."""
    pairs = []
    for context in data.contexts.numerators.tolist():
        between = [[x - y for x, y in zip(row, context[0], strict=True)] for row in context]
        pairs.append((int(fmpz_mat(context).rank()), int(fmpz_mat(between).rank())))
    pairs *= data.T if data.shared else 1
    return Dimensions(*(tuple(column) for column in zip(*pairs, strict=True)))


def by_dimension(data: Dataset, heads: int | None = None, seed: int = 0) -> Groups:
    """At most `heads` groups that meet P' and D, each in the order of D: the fewest that a greedy
    search finds, working backwards from the last group. Raises HypothesisFails, which is undecided
    unless no grouping is possible.
    """
    excluded = excludes_every_grouping(data)
    if excluded:
        raise HypothesisFails("dimensions", excluded["reason"], excluded)
    sizes = dimensions(data)
    constant = [t for t in range(data.T) if sizes.affine[t] == 0]
    if len(constant) > 1 or any(sizes.ranks[t] == 0 for t in constant):
        raise HypothesisFails(
            "dimensions",
            "only one example may have a context of equal rows, which may not be zero",
            {"examples": constant},
        )
    spans, rng, best = QuerySpans(data), random.Random(seed), list[tuple[int, ...]]()
    for attempt in range(_RESTARTS):
        order = list(range(data.T))
        if attempt > 1:
            rng.shuffle(order)
        if attempt % 2:
            order.sort(key=lambda t: -sizes.affine[t])
        first, later = (partial(sizes.ordered, first=x) for x in (True, False))
        groups = backwards(spans, order, first, later)
        if groups and (not best or len(groups) < len(best)):
            best = groups
    if not best or (heads is not None and len(best) > heads):
        least = f"the fewest found are {len(best)}" if best else "none was found"
        most = "" if heads is None else f" for H = {heads}"
        raise HypothesisFails(
            "dimensions", f"no grouping{most} was found: {least}", {}, decided=False
        )
    return tuple(best)
