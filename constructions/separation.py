"""Selector v and separator u (steps 3 and 4): short integer combinations that tell examples apart.

Both must avoid finitely many hyperplanes: v·e_s = 0 for an earlier s, (E_i - E_j)u = 0 for two rows
of an earlier context. None of these contains the whole lattice (v: the partition condition; u: the
rows of E are distinct, by A2), so random combinations with coefficients in a box that doubles until
something is found succeed with probability tending to 1 (Schwartz-Zippel), and the search ends.

Among those found, the pair with the shortest total logit range is wanted:
Σ_s |v·e_s| · range(E_s u), which is how many bits the head adds to the softmax denominators.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_POOL = 2048  # combinations tried per round
_KEEP = 48  # of those, the shortest that are paired
_CELLS = 2**23  # array cells worked on at once
_MAX_DOUBLINGS = 48


@dataclass(frozen=True)
class Pair:
    """Coefficients of u and v in their lattice bases; `cost` is the total range, float64."""

    u: np.ndarray
    v: np.ndarray
    cost: float


def separating_pairs(
    context_images: np.ndarray,
    query_images: np.ndarray,
    earlier: list[int],
    others: list[int],
    count: int,
    rng: np.random.Generator,
) -> list[Pair]:
    """The `count` cheapest pairs found, best first.

    context_images: (T or 1, n, k) integers, E_s times the basis that u is written in.
    query_images:   (T, q) integers, e_s times the basis that v is written in (v ⊥ group).
    earlier:        examples that must be separated; others: all whose logits the pair moves.
    """
    shared = len(context_images) == 1
    us = _pool(context_images if shared else context_images[earlier], _separates, rng)
    vs = _pool(query_images[earlier], _selects, rng)
    rows = context_images if shared else context_images[others]
    ranges = _in_chunks(us, rows, lambda image: np.ptp(image, axis=-1))
    reach = _in_chunks(vs, query_images[others], np.abs)
    ranges = np.broadcast_to(ranges, (len(us), len(others))) if shared else ranges
    keep_u = np.argsort(ranges.sum(axis=1), kind="stable")[:_KEEP]
    keep_v = np.argsort(reach.sum(axis=1), kind="stable")[:_KEEP]
    cost = reach[keep_v] @ ranges[keep_u].T
    best = np.argsort(cost, axis=None, kind="stable")[:count]
    pairs = []
    for place in best:
        i, j = np.unravel_index(place, cost.shape)
        pairs.append(Pair(us[keep_u[j]], vs[keep_v[i]], float(cost[i, j])))
    return pairs


def _pool(images: np.ndarray, accept: object, rng: np.random.Generator) -> np.ndarray:
    """Coefficient vectors (P, k) that `accept`s every example's image; at least one."""
    k = images.shape[-1]
    found: list[np.ndarray] = []
    for doubling in range(_MAX_DOUBLINGS):
        bound = 2**doubling
        if doubling == 0:
            tried = _sparse_combinations(k)
        else:
            terms = min(k, 2 + doubling)
            tried = _random_combinations(k, terms, bound, rng)
        good = _in_chunks(tried, images, accept).all(axis=1)  # type: ignore[arg-type]
        if good.any():
            found.append(tried[good])
        if sum(map(len, found)) >= _KEEP or (found and doubling >= 6):
            return np.concatenate(found)
    raise RuntimeError("no separating combination in a box of 2^48: the precondition is broken")


def _separates(images: np.ndarray) -> np.ndarray:
    """(P, S, n) -> (P, S): a unique maximum and a unique minimum among the n entries."""
    if images.shape[-1] == 1:
        return np.ones(images.shape[:-1], dtype=bool)
    ordered = np.sort(images, axis=-1)
    gap = np.minimum(ordered[..., -1] - ordered[..., -2], ordered[..., 1] - ordered[..., 0])
    return gap > _rounding(images)


def _selects(images: np.ndarray) -> np.ndarray:
    """(P, S) -> (P, S): nonzero."""
    return np.abs(images) > _rounding(images)


def _rounding(images: np.ndarray) -> float:
    # Below 2^52 the products are exact integers. Above, ask for a gap far beyond the rounding.
    top = float(np.abs(images).max(initial=0.0))
    return 0.5 if top < 2**52 else top * 2.0**-24


def _in_chunks(combinations: np.ndarray, images: np.ndarray, function: object) -> np.ndarray:
    """function(combinations · images) over the lattice axis, a bounded number of cells at a time."""
    table = images.astype(np.float64)
    step = max(1, _CELLS // max(1, table[..., 0].size))
    flat = table.reshape(-1, table.shape[-1]).T
    parts = []
    for start in range(0, len(combinations), step):
        chunk = combinations[start : start + step].astype(np.float64) @ flat
        parts.append(function(chunk.reshape(-1, *table.shape[:-1])))  # type: ignore[operator]
    return np.concatenate(parts)


def _sparse_combinations(k: int) -> np.ndarray:
    """Unit vectors, and sums and differences of two of them."""
    one = np.eye(k, dtype=np.int64)
    i, j = np.triu_indices(k, 1)
    return np.concatenate([one, one[i] + one[j], one[i] - one[j]])[: 4 * _POOL]


def _random_combinations(k: int, terms: int, bound: int, rng: np.random.Generator) -> np.ndarray:
    """Coefficients in ±1..±bound at `terms` random places."""
    places = np.argsort(rng.random((_POOL, k)), axis=1)[:, :terms]
    values = rng.integers(1, bound + 1, (_POOL, terms)) * rng.choice([-1, 1], (_POOL, terms))
    out = np.zeros((_POOL, k), dtype=np.int64)
    np.put_along_axis(out, places, values, axis=1)
    return out
