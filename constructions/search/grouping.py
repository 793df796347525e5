"""Groups of examples, one per head: the hypothesis on queries that the construction needs.

The partition condition (ours, docs/mathematics.md, section 2): with groups G_1, ..., G_H in order,

    the queries of each group are independent, and no earlier query lies in the span of a later
    group.

A1 implies it for every grouping into r, r-1, r-1, ... examples: it concerns at most r queries at a
time, never n. It is decided exactly for a given grouping; if the given order fails, a search looks
for another grouping.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from flint import fmpz_mat, nmod_mat

from attncert.constructions.arrays import BoolArray, FloatArray, IntArray, IntegerArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.exact.hashing import Hashed, direction
from attncert.constructions.exact.integers import null_relation
from attncert.constructions.exact.modular import (
    matmul_mod,
    monic_mod,
    residues,
    row_reduced,
)
from attncert.constructions.exact.primes import PRIME_62, PRIMES_21, PRIMES_31
from attncert.constructions.numerals import numeral

_P = PRIMES_31[0]  # products of two residues fit in int64
_RESTARTS = 12
Group = tuple[int, ...]


def consecutive(examples: Sequence[int], first: int, further: int) -> tuple[tuple[int, ...], ...]:
    """The first `first` examples, then `further` at a time; the last group may be short.

    >>> consecutive(range(8), 3, 2)
    ((0, 1, 2), (3, 4), (5, 6), (7,))
    """
    examples = list(examples)
    groups = [tuple(examples[:first])]
    for start in range(first, len(examples), max(further, 1)):
        groups.append(tuple(examples[start : start + further]))
    return tuple(groups)


def violation(
    data: Dataset, groups: Sequence[Sequence[int]], placed: Sequence[int] = ()
) -> dict[str, Any] | None:
    """The first way in which the partition condition fails, as an exact relation; None if it holds.

    placed: examples placed before all groups.
    Returns {"kind", "group", "examples", "coefficients"}: Σ coefficient · query = 0 with integer
    coefficients, not all zero. kind: "dependent group" or "earlier query in span".
    """
    queries = data.queries.numerators
    reduced_queries = residues(queries, PRIMES_21[0])
    earlier = list(placed)
    for h, group in enumerate(groups):
        if not group:
            continue
        doubtful: Sequence[int] | None = suspects(reduced_queries, group, earlier)
        if doubtful is None:  # dependent mod p
            relation = _relation(queries, group)
            if relation:
                return _witness("dependent group", h, group, relation)
            doubtful = earlier
        for s in doubtful:
            relation = _relation(queries, (*group, s))
            if relation:
                return _witness("earlier query in span", h, (*group, s), relation)
        earlier += group
    return None


def find(data: Dataset, first: int, further: int, heads: int, seed: int) -> list[tuple[int, ...]]:
    """A grouping into at most `heads` groups that meets the partition condition.

    It is built from the last group backwards: a last group must be independent and *closed* (no
    other remaining query in its span); what remains is a smaller problem of the same kind. The
    search is greedy with restarts. Raises HypothesisFails, which is undecided unless there are too
    many examples, or zero or parallel queries exclude every grouping.
    """
    excluded = excludes_every_grouping(data)
    if excluded:
        raise HypothesisFails("some-partition", excluded["reason"], excluded)
    in_order = consecutive(range(data.T), first, further)
    rank = int(data.queries.integer_matrix().rank())
    first, further = min(first, rank), min(further, rank - 1)  # `rank` queries span all others
    spans, rng, order = QuerySpans(data), random.Random(seed), list(range(data.T))

    def up_to(size: int) -> Callable[[Sequence[int]], Group | None]:
        return lambda group: tuple(sorted(group)) if len(group) <= size else None

    for _ in range(_RESTARTS):
        groups = backwards(spans, order, up_to(first), up_to(further), heads)
        if groups:
            return groups
        rng.shuffle(order)
    witness = violation(data, in_order) or {}
    most = first + (heads - 1) * further
    decided = most < data.T
    why = f"they hold at most {most} examples" if decided else "not all orders were tried"
    reason = (
        f"no order of the examples gives, for H = {heads}, groups with independent queries and no "
        f"earlier query in the span of a later group ({why})"
    )
    raise HypothesisFails("some-partition", reason, witness, decided=decided)


class QuerySpans:
    """Spans of queries, compared mod p first: independence mod p implies independence over Q."""

    def __init__(self, data: Dataset) -> None:
        queries = data.queries.numerators
        self.table = [[int(x) for x in row] for row in queries.tolist()]
        self.residues = [[x % PRIME_62 for x in row] for row in self.table]
        self.short = np.mod(queries, _P).astype(np.int64)

    def independent(self, group: Sequence[int]) -> bool:
        rows = [self.residues[t] for t in group]
        if nmod_mat(len(rows), len(rows[0]), [x for r in rows for x in r], PRIME_62).rank() == len(
            rows
        ):
            return True
        return int(fmpz_mat([self.table[t] for t in group]).rank()) == len(rows)

    def last_closed(
        self, remaining: Sequence[int], admits: Callable[[Sequence[int]], object]
    ) -> list[int]:
        """An independent closed group of remaining queries, found from the end backwards: each
        query joins if the group is still admitted with it.

        The other queries are reduced mod p and modulo the span of the group: a query may join if it
        is then nonzero and no other is a multiple of it. If this holds mod p, it holds over Q.
        """
        rest, place, group = self.short[list(remaining)], len(remaining), list[int]()
        if not rest.any(axis=1).all():  # every span contains 0
            return group
        while True:
            alone = np.flatnonzero(_alone(rest)[:place])
            joining = (i for i in alone[::-1].tolist() if admits([*group, remaining[i]]))
            place = next(joining, -1)
            if place < 0:
                return group
            group.append(remaining[place])
            rest = _modulo(rest, rest[place])


def _modulo(rows: IntArray, row: IntArray) -> IntArray:
    """The rows mod _P minus multiples of a nonzero row that make them 0 where it is largest."""
    column = int(row.argmax())
    unit = row * pow(int(row[column]), -1, _P) % _P
    reduced: IntArray = (rows - rows[:, column, None] * unit) % _P
    return reduced


def _alone(rows: IntArray) -> BoolArray:
    """Which rows of residues mod _P are neither 0 nor multiples of another row: (N,)."""
    units = np.ascontiguousarray(monic_mod(rows, _P))
    whole = units.view(f"V{8 * rows.shape[1]}")[:, 0]
    _, kind, counts = np.unique(whole, return_inverse=True, return_counts=True)
    return np.asarray((counts[kind] == 1) & rows.any(axis=1))


def backwards(
    spans: QuerySpans,
    order: Sequence[int],
    first: Callable[[Sequence[int]], Group | None],
    later: Callable[[Sequence[int]], Group | None],
    most: float = math.inf,
) -> list[Group] | None:
    """At most `most` groups that meet the partition condition, from the last one backwards; None if
    the greedy choice fails. first, later: return a group in its order, or None to reject it."""
    remaining, groups = list(order), list[Group]()
    while True:
        group = first(remaining)
        if group is not None and spans.independent(remaining):
            return [group, *reversed(groups)]
        group = later(spans.last_closed(remaining, later)) if len(groups) + 1 < most else None
        if not group:
            return None
        groups.append(group)
        remaining = [t for t in remaining if t not in group]


def excludes_every_grouping(data: Dataset) -> dict[str, Any] | None:
    """A zero query or two parallel ones: in any grouping, some group is dependent or spans both."""
    first_of: dict[Hashed, int] = {}
    for t, row in enumerate(data.queries.numerators.tolist()):
        primitive, _ = direction(row)
        if primitive is None:
            witness = _witness("zero query", None, (t,), [1])
            return witness | {"reason": f"query {t} is zero, so no group may contain it"}
        if primitive in first_of:
            s = first_of[primitive]
            relation = _relation(data.queries.numerators, (s, t))
            assert relation
            return _witness("parallel queries", None, (s, t), relation) | {
                "reason": f"queries {s} and {t} are parallel: in one group they are dependent, in "
                "two groups the later one spans the earlier query"
            }
        first_of[primitive] = t
    return None


def suspects(queries: FloatArray, group: Sequence[int], earlier: list[int]) -> list[int] | None:
    """Earlier examples that may lie in the span of the group, from all queries mod PRIMES_21[0];
    None if the group is dependent mod p."""
    outside = outside_span(queries, group, np.random.default_rng(0))
    if outside is None:
        return None
    others = set(np.flatnonzero(~outside).tolist()) - set(group)
    return [s for s in earlier if s in others]


def outside_span(
    queries: FloatArray, group: Sequence[int], rng: np.random.Generator
) -> BoolArray | None:
    """Queries (as for `suspects`) outside the span of the group; a few such queries may be missing;
    None if the group is dependent mod p.

    If the group is independent mod p, a query in its span over Q is in its span mod p, so that
    every v with v·e_t = 0 mod p on the group has v·e_s = 0 mod p too: one v with v·e_s ≠ 0 excludes
    s.
    """
    p, d = PRIMES_21[0], queries.shape[1]
    form, pivots = row_reduced(queries[list(group)], p)
    if len(pivots) < len(group):
        return None
    free = np.setdiff1d(np.arange(d), pivots)
    v = np.zeros(d, dtype=np.int64)
    v[free] = rng.integers(1, p, len(free))
    products = form * nmod_mat(d, 1, v.tolist(), p)
    v[pivots] = [int(-x) for x in products.entries()]
    return np.asarray(matmul_mod(queries, v[:, None].astype(np.float64), p)[:, 0] != 0)


def _relation(queries: IntegerArray, examples: Sequence[int]) -> list[int] | None:
    return null_relation(fmpz_mat([[int(x) for x in queries[t].tolist()] for t in examples]))


def _witness(
    kind: str, group: int | None, examples: Sequence[int], coefficients: Sequence[int]
) -> dict[str, Any]:
    terms = [(int(t), numeral(c)) for t, c in zip(examples, coefficients, strict=True) if c]
    return {
        "kind": kind,
        "group": None if group is None else group + 1,
        "examples": [t for t, _ in terms],
        "coefficients": [c for _, c in terms],
    }
