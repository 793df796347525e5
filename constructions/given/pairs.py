"""Every labelling by pairs of heads of width one (ours; docs/given-labels.md, Theorem 4), explicit.

Pair h = 1..p has two heads with one key u, one query q_h, and values u and -u: a zero of the
outputs. Moving the query of the first by b changes the output of example t by κ_h(t) e_t·b, where
κ_h(t) is the variance of E_t u under the softmax weights of the pair. So J has the columns

    (κ_1(t) e_t, ..., κ_p(t) e_t),                                                              (1)

and is onto if these are. Choose

    1. u such that in every context distinct rows have distinct values E_t u: the separator;
    2. q̂ such that the rates ĉ_t = |q̂·e_t| γ_t are positive, and blocks can be formed: γ_t is the
       gap between the two largest distinct entries of E_t u if q̂·e_t > 0, else between the two
       smallest. Sorted by rate, consecutive examples form blocks G_1, ..., G_p of independent
       queries, and rates are greater in a later block;
    3. q_h = τ(p+1-h) q̂ with τ large enough.

*Why some τ is large enough.* As τ → ∞, κ_h(t) is k_t 2^(-τ(p+1-h)ĉ_t) (1 + o(1)) with k_t > 0 free
of h. Restrict b_h to vectors dual to the queries of G_h: J is square. Laplace's expansion writes
its determinant as a sum over the partitions of the examples into p blocks of these sizes. By the
rearrangement inequality the exponent Σ_h (p+1-h) Σ_{t in block h} ĉ_t is least for (G_h); another
partition has the same only if some example changes places with one of equal rate in another block,
and there is none. Its coefficient is not 0, for the blocks are independent. So the determinant is
not 0 for large τ. Kruskal rank κ is used in the theorem for one thing alone: that any blocks of κ
are independent. Here the blocks are looked at, so that they may be as long as they are independent.

*Odd H.* One more head has value 0 and a key and query of its own; its features z_t are further
columns, and its block G_0 the examples of the greatest rates: one with z_t ≠ 0; or, if all contexts
have rank n, up to n with independent queries (docs/width-one.md, H = 1). The same determinant,
with weight 0 for that block. Its key and query are drawn; almost all do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from flint import fmpq_mat

from attncert.constructions.arrays import IntegerArray
from attncert.constructions.construction import Groups
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails, require_positive
from attncert.constructions.exact import integers
from attncert.constructions.exact.keys import distinct
from attncert.constructions.exact.modular import echelon_mod, residues
from attncert.constructions.exact.primes import PRIMES_21
from attncert.constructions.given.zeros import Zero
from attncert.constructions.layer import Head, Layer, scaled_head

_DOUBLINGS = 40  # of the integers that u and q̂ are drawn from
_DIRECTIONS = 12  # directions with positive rates that are compared
_SCALES = 64  # values 1, 2, 4, ... of τ


@dataclass(frozen=True, kw_only=True)
class Pairs(Zero):
    """separator: u (d,); direction: q̂ (d,); integers in units of the data's denominators.

    rates: ĉ_t in those units, (T,). scale: τ. groups: the blocks G_1, ..., G_p, for odd H then G_0.
    """

    separator: tuple[int, ...]
    direction: tuple[int, ...]
    rates: tuple[int, ...]
    scale: int

    @property
    def pairs(self) -> int:
        return self.heads // 2


def build(
    data: Dataset,
    enough: Callable[[Pairs], bool],
    *,
    heads: int | None = None,
    seed: int = 0,
) -> Pairs:
    """Pairs for scalar labels, with the least τ = 1, 2, 4, ... of which `enough` is true.

    enough: whether the Jacobian has rank T. heads: H; default: two for every block found. Exact.
    Raises HypothesisFails: "contexts" where a context has equal rows only, "queries" where a query
    is 0 or two are parallel (on one line, and no direction tells them apart), "capacity" where more
    blocks are needed than there are pairs, "search" where all τ were tried.
    """
    if heads is not None:
        require_positive(heads=heads)
    rng = np.random.default_rng(seed)
    u, values = separator(data, rng)
    first = None if heads is None else heads % 2
    free = _last_block(data) if first else 0
    direction, found, blocks = _direction(data, values, free, rng)
    pairs = len(blocks) - (1 if free else 0)
    count = 2 * pairs if heads is None else heads
    if pairs > count // 2:
        raise HypothesisFails(
            "capacity",
            f"the examples form {pairs} blocks of independent queries along the directions tried, "
            f"more than the {count // 2} pairs that there are",
            {"blocks": pairs, "pairs": count // 2},
            decided=False,
        )
    spare = [rng.integers(-9, 10, (data.d, 1)) for _ in range(2)]
    for k in range(_SCALES):
        layer = _layer(data, u, direction, 2**k, count, spare)
        sets: Groups = tuple((h, h + 1) for h in range(0, count - 1, 2))
        sets += ((count - 1,),) if count % 2 else ()
        made = Pairs(
            layer,
            sets,
            blocks,
            separator=tuple(u.tolist()),
            direction=tuple(direction.tolist()),
            rates=tuple(found),
            scale=2**k,
        )
        if enough(made):
            return made
    raise HypothesisFails(
        "search", f"rank below T for every scale up to 2^{_SCALES}", {}, decided=False
    )


def separator(data: Dataset, rng: np.random.Generator) -> tuple[IntegerArray, IntegerArray]:
    """u (d,) and E_t u (T or 1, n): distinct rows of a context have distinct values there.

    Raises HypothesisFails for a context without two distinct rows.
    """
    E = data.contexts.numerators
    kinds = [len(distinct(context)) for context in E.tolist()]
    if min(kinds) < 2:
        t = kinds.index(1)
        raise HypothesisFails("contexts", f"all rows of context {t} are equal", {"context": t})
    for k in range(_DOUBLINGS):
        u = rng.integers(-(2**k), 2**k + 1, data.d)
        values = integers.product(E.reshape(-1, data.d), u[:, None]).reshape(E.shape[:2])
        seen = (len(distinct(row)) for row in values.tolist())
        if all(a == b for a, b in zip(seen, kinds, strict=True)):
            return u, values
    raise HypothesisFails("search", "no separator was found", {}, decided=False)


def rates(data: Dataset, values: IntegerArray, direction: IntegerArray) -> list[int]:
    """ĉ_t = |q̂·e_t| γ_t, in units of the denominators of the data. values: E_t u."""
    gaps = []
    for row in values.tolist():
        levels = distinct(row)
        gaps.append((levels[1] - levels[0], levels[-1] - levels[-2]))
    reach = integers.product(data.queries.numerators, direction[:, None])[:, 0].tolist()
    gaps = gaps * data.T if len(gaps) == 1 else gaps
    return [abs(x) * gap[x > 0] for x, gap in zip(reach, gaps, strict=True)]


def blocks_by_rate(data: Dataset, found: list[int], last: int) -> Groups | None:
    """Consecutive blocks of independent queries by rate, and at the end one of up to `last`
    examples for an odd head; None where a rate is 0 or one that two blocks share."""
    order = sorted(range(data.T), key=lambda t: found[t])
    if found[order[0]] == 0:
        return None
    p = PRIMES_21[0]
    rows = residues(data.queries.numerators, p)
    kept = len(order) - (_independent(rows[order[::-1][:last]], p) if last else 0)
    blocks: list[tuple[int, ...]] = []
    start = 0
    while start < kept:
        reached = _independent(rows[order[start : min(start + data.d, kept)]], p)
        if reached == 0:
            return None
        blocks.append(tuple(order[start : start + reached]))
        start += reached
    if kept < len(order):
        blocks.append(tuple(order[kept:]))
    if any(found[one[-1]] == found[other[0]] for one, other in pairwise(blocks)):
        return None
    return tuple(blocks)


def _independent(rows: IntegerArray, p: int) -> int:
    """How many of the first rows are independent modulo p, hence over ℚ."""
    _, pivots = echelon_mod(rows.T, p)
    leading = 0
    while leading < len(pivots) and pivots[leading] == leading:
        leading += 1
    return leading


def _last_block(data: Dataset) -> int:
    """ω of Theorem 4: n where every context has rank n, else 1; at most what the queries allow."""
    full = not data.ragged and all(
        int(data.contexts[t].integer_matrix().rank()) == data.n for t in range(len(data.contexts))
    )
    return min(data.T, data.n, data.d) if full else 1


def _direction(
    data: Dataset, values: IntegerArray, last: int, rng: np.random.Generator
) -> tuple[IntegerArray, list[int], Groups]:
    """q̂, the rates, and the fewest blocks among the directions looked at."""
    best: tuple[IntegerArray, list[int], Groups] | None = None
    seen = 0
    for k in range(1, _DOUBLINGS):
        for _ in range(3):
            direction = rng.integers(-(2**k), 2**k + 1, data.d)
            found = rates(data, values, direction)
            blocks = blocks_by_rate(data, found, last)
            if blocks is None:
                continue
            seen += 1
            if best is None or len(blocks) < len(best[2]):
                best = direction, found, blocks
            if seen == _DIRECTIONS or len(blocks) <= -(-data.T // data.d):
                return best
    if best is not None:
        return best
    zero = np.flatnonzero(~data.queries.numerators.astype(bool).any(axis=1)).tolist()
    raise HypothesisFails(
        "queries",
        f"query {zero[0]} is 0" if zero else "no direction orders the examples into blocks",
        {"query": zero[0]} if zero else {},
        decided=bool(zero),
    )


def _layer(
    data: Dataset,
    u: IntegerArray,
    direction: IntegerArray,
    scale: int,
    heads: int,
    spare: list[IntegerArray],
) -> Layer:
    key, made, pairs = u[:, None], list[Head](), heads // 2
    for h in range(pairs):
        steps = np.full((1, 1), scale * (pairs - h), dtype=object)
        query = direction[:, None].astype(object) * steps
        made += [scaled_head(data, key, query, key), scaled_head(data, key, query, -key)]
    if heads % 2:
        made.append(scaled_head(data, spare[0], spare[1], 0 * key))
    ones = fmpq_mat(heads, 1, [1] * heads)
    return Layer(tuple(made), ones)
