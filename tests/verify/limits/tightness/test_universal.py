"""Universal memorization by H heads: bounds for all weights, tested on particular weights."""

from __future__ import annotations

from fractions import Fraction

import pytest
from support.exact_data import family
from support.oracles import SAFE_PRIME, features_mod, rank_mod

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import random, signed_pairs
from attncert.verify.limits.tightness.limits import largest_rank
from attncert.verify.limits.tightness.relations.probes import best_rank

EYE = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]

IMPOSSIBLE = {
    "equal inputs": (Dataset.of(EYE, [[1, 2, 0]] * 2, [1, 2]), 3, 1, "relation"),
    "e, -e, f, -f": (signed_pairs(), 5, 3, "relation"),
    "too few columns": (family(5, 2, 2, seed=4), 2, 4, "S"),
    "a small flat": (family(6, 3, 4, shared=True, seed=5), 2, 5, "S"),
    "three tokens of which two differ": (
        Dataset.of([[0, 0, 0], [0, 0, 0], [1, 0, 0]], EYE, [1, 2, 3]), 2, 2, "S",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_no_weights_exceed_the_bound(name: str) -> None:
    data, heads, rank, reason = IMPOSSIBLE[name]
    bound, witness = largest_rank(data, heads)
    assert bound == rank and reason in witness


@pytest.mark.parametrize("n", [1, 2, 3])
def test_where_contexts_are_shared_the_bound_is_the_largest_rank(n: int) -> None:
    """The rank is the one in the table of docs/tightness.md, section 4; random weights reach it."""
    for seed in range(12):
        queries = random(6, n, 3, bound=1, seed=seed).queries.fractions()
        data = Dataset.of([[int(i == j) for j in range(3)] for i in range(n)], queries, [0] * 6)
        for heads in (1, 2, 4):
            largest = min(heads * (n - 1) + 1, told_apart(set(map(tuple, queries)), n))
            assert largest_rank(data, heads)[0] == largest
            layer = best_rank(data, heads, largest).layer
            assert rank_mod(features_mod(data, layer), SAFE_PRIME) == largest


def told_apart(queries: set[tuple[Fraction, ...]], n: int) -> int:
    """The largest rank with any number of heads over one context of rank n."""
    if n == 1:
        return 1
    if n > 2:
        return len(queries)
    opposite = {tuple(-x for x in e) for e in queries}
    zero_or_pair = bool(queries & opposite)
    lines = len({max(e, tuple(-x for x in e)) for e in queries if any(e)})
    return lines + zero_or_pair
