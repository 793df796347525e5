"""Selector v and separator u: short integer combinations that distinguish examples.

Both must avoid finitely many hyperplanes: v·e_s = 0 for an earlier example s, (E_i - E_j)u = 0 for
two rows of a context. None of these contains the whole lattice (for v by the partition condition,
for u because the rows of E are distinct, by A2), so random combinations with coefficients in a box
that doubles succeed with probability tending to 1 (Schwartz-Zippel), and the search ends.
Combinations of few terms come first, and then combinations of all terms: the images of n
independent rows of a context may be unit vectors, which only combinations of n - 1 or more terms
distinguish.

The best pair has the shortest total logit range Σ_s |v·e_s| · range(E_s u): the bits that the head
adds to the softmax denominators.

Acceptance is decided exactly. Costs are float64 and used only to rank accepted combinations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from attncert.constructions.arrays import AnyArray, BoolArray, FloatArray, IntArray, IntegerArray
from attncert.constructions.data.conversion import narrow
from attncert.constructions.exact import integers
from attncert.constructions.exact.hashing import Hashed

_POOL = 512  # combinations tried in each round for each pair
_KEEP = 12  # the number of shortest combinations paired for each pair
_PAIRS = 4  # the default number of pairs
_CELLS = 2**22  # array cells processed at once
_ROUND = 2**25  # cells of a round, so that large data get fewer combinations
_EXACT_ROUND = 2**15  # cells of a round if sums do not fit in float64
_FIRST = 32  # examples on which every combination is tried first
_MAX_DOUBLINGS = 64

Accept = Callable[[AnyArray], BoolArray]


@dataclass(frozen=True)
class Pair:
    """Coefficients of u and v in their lattice bases."""

    u: IntArray
    v: IntArray


def separating_pairs(
    us: IntArray,
    context_images: IntegerArray,
    query_images: IntegerArray,
    earlier: Sequence[int],
    others: Sequence[int],
    count: int,
    rng: np.random.Generator,
) -> list[Pair]:
    """The `count` cheapest pairs found, best first, from coefficients of u that separate. No v is
    orthogonal to an earlier example; `others` are the examples whose logits the pair moves. Images
    are the data times the bases of u and v: (T or 1, n, k) and (T, q)."""
    keep = _KEEP * count
    vs = _pool([(query_images[list(earlier)][:, None, :], selects)], rng, count)
    ranges = spread(us, context_images, others)
    reach = magnitude(vs, query_images, others)
    keep_u = np.argsort(ranges.sum(axis=1), kind="stable")[:keep]
    keep_v = np.argsort(reach.sum(axis=1), kind="stable")[:keep]
    if len(context_images) == 1:  # one range for all
        cost = np.outer(reach[keep_v].sum(axis=1), ranges[keep_u, 0])
    else:
        cost = reach[keep_v] @ ranges[keep_u].T
    best = np.argsort(cost, axis=None, kind="stable")[:count]
    pairs = []
    for place in best:
        i, j = np.unravel_index(place, cost.shape)
        pairs.append(Pair(us[keep_u[j]], vs[keep_v[i]]))
    return pairs


def separators(
    context_images: IntegerArray,
    earlier: Sequence[int],
    rng: np.random.Generator,
    distinct: Sequence[int] = (),
    pairs: int = _PAIRS,
) -> IntArray:
    """Coefficients (P, k) of one or more vectors u that separate: E_s u has one maximum and one
    minimum for earlier examples, and distinct entries for those in `distinct`."""
    if len(context_images) == 1:
        return _pool([(context_images, differs if distinct else separates)], rng, pairs)
    demands = [
        (context_images[list(distinct)], differs),
        (context_images[list(earlier)], separates),
    ]
    return _pool([(table, accept) for table, accept in demands if len(table)], rng, pairs)


def apart(context_images: IntegerArray, rng: np.random.Generator) -> IntArray:
    """Coefficients (P, k) of vectors u that give different rows of E_t different entries of E_t u,
    for all t."""
    k = context_images.shape[-1]
    between = [
        [x - y for x, y in zip(row, other, strict=True)]
        for rows in context_images.tolist()
        for row, other in combinations(dict.fromkeys(map(Hashed, rows)), 2)
    ]
    if not between:
        return sparse_combinations(k, 1)
    flat = [x for row in between for x in row]
    return _pool([(narrow(flat, (len(between), 1, k)), selects)], rng, _PAIRS)


def separates(images: AnyArray) -> BoolArray:
    """(P, S, n) -> (P, S): whether the n entries have one maximum and one minimum."""
    if images.shape[-1] == 1:
        return np.ones(images.shape[:-1], dtype=bool)
    ordered = np.sort(images, axis=-1)
    top: BoolArray = ordered[..., -1] > ordered[..., -2]
    bottom: BoolArray = ordered[..., 1] > ordered[..., 0]
    return top & bottom


def differs(images: AnyArray) -> BoolArray:
    """(P, S, n) -> (P, S): whether the n entries are distinct."""
    ordered = np.sort(images, axis=-1)
    distinct: BoolArray = np.all(ordered[..., 1:] > ordered[..., :-1], axis=-1)
    return distinct


def selects(images: AnyArray) -> BoolArray:
    """(P, S, 1) -> (P, S): whether the entry is nonzero."""
    nonzero: BoolArray = images[..., 0] != 0
    return nonzero


def spread(us: IntArray, context_images: IntegerArray, examples: Sequence[int]) -> FloatArray:
    """The ranges of E_t u up to a common factor, (P, S) float64."""
    shared = len(context_images) == 1
    table = context_images if shared else context_images[list(examples)]
    step = max(1, _CELLS // (len(us) * table.shape[1]))
    parts = [
        np.ptp(combine(us, table[start : start + step]), axis=-1)
        for start in range(0, len(table), step)
    ]
    ranges = _as_float(np.hstack(parts))
    return np.broadcast_to(ranges, (len(us), len(examples))) if shared else ranges


def magnitude(vs: IntArray, query_images: IntegerArray, examples: Sequence[int]) -> FloatArray:
    """|v·e_t| up to a common factor, (P, S) float64; rounded sums of rounded long integers."""
    table = query_images[list(examples)]
    if table.dtype == object:
        return np.abs(vs.astype(np.float64) @ _as_float(table).T)
    return _as_float(np.abs(combine(vs, table)))


def combine(combinations: IntArray, table: IntegerArray) -> AnyArray:
    """(P, k) times (..., k) over the last axis: (P, ...) exact integers, in float64 if they fit."""
    k = table.shape[-1]
    flat = table.reshape(-1, k).T
    if integers.largest(combinations) * integers.largest(table) * k < 2**53:
        images: AnyArray = combinations.astype(np.float64) @ flat.astype(np.float64)
    else:
        images = integers.product(combinations, flat)
    return images.reshape(len(combinations), *table.shape[:-1])


def sparse_combinations(k: int, most: int, terms: int = 2) -> IntArray:
    """Unit vectors, then ± combinations of two and more of them, up to sign: (most or fewer, k).

    >>> sparse_combinations(2, 9).tolist()
    [[1, 0], [0, 1], [1, 1], [1, -1]]
    """
    rows: list[list[int]] = []
    for size in range(1, min(terms, k) + 1):
        for places in combinations(range(k), size):
            for signs in product((1, -1), repeat=size - 1):
                if len(rows) == most:
                    return np.array(rows)
                row = [0] * k
                for place, sign in zip(places, (1, *signs), strict=True):
                    row[place] = sign
                rows.append(row)
    return np.array(rows, dtype=np.int64).reshape(-1, k)


def _pool(
    demands: Sequence[tuple[IntegerArray, Accept]], rng: np.random.Generator, pairs: int
) -> IntArray:
    """Coefficient vectors (P, k) that every demand, a table (S, n, k) with its test, accepts."""
    k = demands[0][0].shape[-1]
    cells = sum(table.size for table, _ in demands) // k
    largest = max(integers.largest(table) for table, _ in demands)
    pool: list[IntArray] = []
    rounds = product((False, True), range(_MAX_DOUBLINGS))  # few terms, then all k
    for number, (full, doubling) in enumerate(rounds):
        bound = 2**doubling
        exact = bound * largest * k < 2**53
        tries = min(_POOL * pairs, max(8, (_ROUND if exact else _EXACT_ROUND) // cells))
        if number == 0:
            batch = sparse_combinations(k, 4 * tries)
        else:
            terms = k if full else min(k, 2 + doubling)
            batch = _random_combinations(k, terms, min(bound, 2**62), tries, rng)
        for table, accept in demands:
            batch = batch[_accepted(batch, table, accept)]
        pool += [batch] if len(batch) else []
        choice = pairs > 1 and tries == _POOL * pairs
        enough = sum(map(len, pool)) >= (_KEEP * pairs if choice else 1)
        if enough or (pool and number >= 6):
            return np.concatenate(pool)
    raise RuntimeError("no separating combination in a box of 2^62: the precondition is violated")


def _accepted(batch: IntArray, table: IntegerArray, accept: Accept) -> IntArray:
    """Indices of accepted combinations. Each step tests those left on twice as many examples."""
    alive, start, step = np.arange(len(batch)), 0, _FIRST
    while start < len(table) and len(alive):
        step = max(1, min(step, _CELLS // (len(alive) * table.shape[1])))
        images = combine(batch[alive], table[start : start + step])
        alive = alive[accept(images).all(axis=1)]
        start, step = start + step, 2 * step
    return alive


def _random_combinations(
    k: int, terms: int, bound: int, count: int, rng: np.random.Generator
) -> IntArray:
    """Coefficients in ±1..±bound at `terms` random places."""
    places = np.argsort(rng.random((count, k)), axis=1)[:, :terms]
    values = rng.integers(1, bound + 1, (count, terms)) * rng.choice([-1, 1], (count, terms))
    out = np.zeros((count, k), dtype=np.int64)
    np.put_along_axis(out, places, values, axis=1)
    return out


def _as_float(values: AnyArray) -> FloatArray:
    """Float64 up to a common power of two: sums of products of two entries stay finite."""
    if values.dtype == object:
        values = values >> max(0, integers.largest(values).bit_length() - 400)
    return values.astype(np.float64, copy=False)
