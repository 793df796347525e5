"""A search that places as many examples as possible in groups that meet the partition condition.

Each example is put into the first group that admits it. Several orders are tried; examples that
were left out before come first. Decisions modulo a prime can be wrong only in one direction:
"independent" and "outside the span" are exact, while their negations may be wrong by chance (about
1 in 10^6 each); then an example is left out. verify/limits/partition/claims.py proves the grouping
again exactly.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from attncert.constructions.arrays import BoolArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.modular import residues
from attncert.constructions.exact.primes import PRIMES_21
from attncert.constructions.search.grouping import outside_span
from attncert.verify.limits.partition.bound import Sizes

_ORDERS = 12  # how many orders are tried
_FEW_ORDERS = 3  # how many are tried with more than _LARGE cells (examples · groups)
_LARGE = 10**5

Groups = tuple[tuple[int, ...], ...]


def place(data: Dataset, examples: Sequence[int], sizes: Sizes, enough: int, seed: int) -> Groups:
    """Groups of these sizes with as many examples as the search could place.

    The search ends when `enough` examples are placed. The same seed gives the same result.
    """
    rng = random.Random(seed)
    order = list(examples)
    best: Groups = ()
    for _ in range(_FEW_ORDERS if len(order) * sizes.heads > _LARGE else _ORDERS):
        attempt = _Attempt(data, sizes)
        unplaced = [t for t in order if not attempt.insert(t)]
        if attempt.placed > sum(map(len, best)):
            best = attempt.groups()
        if attempt.placed >= enough:
            break
        placed = [t for t in order if t not in unplaced]
        rng.shuffle(placed)
        order = unplaced + placed
    return best


class _Attempt:
    """Groups that always meet the condition while examples are added.

    outside[h][t]: query t is proved to lie outside the span of group h.
    """

    def __init__(self, data: Dataset, sizes: Sizes) -> None:
        self.sizes = [sizes.first] + [sizes.further] * (sizes.heads - 1)
        self.queries = residues(data.queries.numerators, PRIMES_21[0])
        self.members: list[list[int]] = [[] for _ in self.sizes]
        nonzero = np.asarray(self.queries.any(axis=1))
        self.outside = [nonzero.copy() for _ in self.sizes]
        self.rng = np.random.default_rng(0)

    @property
    def placed(self) -> int:
        return sum(map(len, self.members))

    def groups(self) -> Groups:
        return tuple(tuple(sorted(group)) for group in self.members if group)

    def insert(self, t: int) -> bool:
        """Put t into the first group that admits it."""
        seen_empty = False
        for h, group in enumerate(self.members):
            if not group and h > 0:
                if seen_empty:
                    break  # further empty groups would give the same answer
                seen_empty = True
            outside = self._with(h, t)
            if outside is not None:
                group.append(t)
                self.outside[h] = outside
                return True
        return False

    def _with(self, h: int, t: int) -> BoolArray | None:
        """outside[h] after t is added to group h; None if the condition would fail."""
        if len(self.members[h]) >= self.sizes[h] or not self.outside[h][t]:
            return None
        if not all(self.outside[j][t] for j in range(h + 1, len(self.members)) if self.members[j]):
            return None
        outside = outside_span(self.queries, [*self.members[h], t], self.rng)
        earlier = [s for group in self.members[:h] for s in group]
        return outside if outside is not None and outside[earlier].all() else None
