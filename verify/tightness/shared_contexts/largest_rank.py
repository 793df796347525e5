"""Shared contexts: the largest rank of Z over all weights, exactly (ours; docs/tightness.md, 4).

Contexts equal up to the order of their rows, of rank n: Z depends on the queries alone.

    n = 1    rank Z = 1
    n = 2    at most min(H + 1, c + z): c nonzero queries up to sign, z = 1 if there is a zero query
             or a pair e, -e, else 0
    n ≥ 3    at most min(H (n-1) + 1, distinct queries)

and some weights of width one reach it. So A1 is not needed here: for n ≥ 3 distinct queries are
enough. The upper bounds are those of columns.py and rows.py; the weights are those of separated.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.keys import Key
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import About, Claim, Level, counted
from attncert.verify.tightness.relations.probes import Reached, best_rank
from attncert.verify.tightness.relations.rows import same_rows
from attncert.verify.tightness.shared_contexts.separated import separated_layer

_SOURCE = "ours; docs/tightness.md, section 4"


@dataclass(frozen=True)
class Largest:
    """rank: the largest over all weights, of this many heads. by_heads: H(n-1) + 1. by_queries: the
    largest with any number of heads. examples: with queries that are distinct (n = 2: up to sign),
    at most by_heads of them."""

    rank: int
    by_heads: int
    by_queries: int
    examples: tuple[int, ...]


def applies(data: Dataset) -> bool:
    """Contexts equal up to the order of their rows, of rank n."""
    return same_rows(data) and int(data.contexts[0].integer_matrix().rank()) == data.n


def largest_rank(data: Dataset, heads: int) -> Largest:
    """The table above. data: contexts equal up to the order of their rows, of rank n. Exact.

    >>> from attncert.constructions.data.generators import signed_pairs
    >>> largest_rank(signed_pairs(), 7)
    Largest(rank=3, by_heads=8, by_queries=3, examples=(0, 2))
    """
    by_heads = heads * (data.n - 1) + 1
    queries = list(map(Key, data.queries.numerators.tolist()))
    if data.n == 1:
        return Largest(1, 1, 1, (0,))
    if data.n == 2:
        up_to_sign = {max(e, _minus(e)): t for t, e in reversed(list(enumerate(queries)))}
        occur = set(queries)
        pair = all(map(any, occur)) and any(_minus(e) in occur for e in occur)
        by_queries, first = len(up_to_sign) + pair, sorted(up_to_sign.values())
    else:
        first = sorted({query: t for t, query in reversed(list(enumerate(queries)))}.values())
        by_queries = len(first)
    return Largest(min(by_heads, by_queries), by_heads, by_queries, tuple(first[:by_heads]))


def _minus(query: Key) -> Key:
    return Key(-x for x in query)


def shared_capacity(
    data: Dataset, heads: int, *, draws: int = 8, seed: int = 0
) -> tuple[Claim, ...]:
    """The largest rank of Z for this many heads of any width, and the verdict that it gives.

    Claims: that no weights exceed it (argued); that weights of width one reach it: small random
    ones where these do, else the proof's (proved on the data); and universal memorization, here
    decided either way. Not applicable where contexts differ or have rank below n.
    """
    if not applies(data):
        rank = int(data.contexts[0].integer_matrix().rank())
        found = {"equal up to order": same_rows(data), "rank of the first": rank, "n": data.n}
        return (_applies(Level.NOT_APPLICABLE, found),)
    largest = largest_rank(data, heads)
    reached = best_rank(data, heads, largest.rank, draws=draws, seed=seed)
    random = reached.rank == largest.rank
    if not random:
        reached = separated_layer(data, heads, largest.examples, largest.rank)
    return (
        _applies(Level.PROVED, {"n": data.n}),
        _bound(largest, heads),
        _reached(reached, random, seed),
        _universal(data, largest),
    )


def _applies(level: Level, numbers: dict[str, int]) -> Claim:
    return Claim(
        ids.SHARED_APPLIES,
        "The contexts are equal up to the order of their rows and have rank $n$.",
        level,
        numbers=numbers,
        arithmetic="exact comparison; rank over ℚ (FLINT)",
        source=_SOURCE,
    )


def _bound(largest: Largest, heads: int) -> Claim:
    return Claim(
        ids.SHARED_BOUND,
        f"$\\operatorname{{rank}}Z\\le{largest.rank}$ for every choice of weights of "
        f"{counted(heads, 'head')} of any width.",
        Level.ARGUED,
        numbers={
            "rank": largest.rank,
            "by the heads, H(n-1)+1": largest.by_heads,
            "by the queries, any number of heads": largest.by_queries,
        },
        arithmetic="exact comparison of queries",
        rests_on=(ids.SHARED_APPLIES,),
        source=_SOURCE,
    )


def _reached(reached: Reached, random: bool, seed: int) -> Claim:
    return Claim(
        ids.SHARED_REACHED,
        f"Some weights of width one have $\\operatorname{{rank}}Z\\ge{reached.rank}$.",
        Level.PROVED,
        numbers={
            "rank": reached.rank,
            "prime": reached.prime,
            "weights": f"random, draw {reached.draws}, seed {seed}" if random else "the proof's",
        },
        arithmetic=f"features and rank mod {reached.prime}; the rank over ℚ is at least that",
        source=_SOURCE,
    )


def _universal(data: Dataset, largest: Largest) -> Claim:
    full = largest.rank == data.T
    found = {"T": data.T, "largest rank": largest.rank}
    return Claim.checked(
        ids.SHARED_UNIVERSAL,
        "Universal memorization: some keys and queries of these heads serve every labelling of "
        f"{counted(data.T, 'example', 'the')}.",
        full,
        found,
        numbers=found,
        rests_on=(ids.SHARED_REACHED,) if full else (ids.SHARED_BOUND,),
        source=_SOURCE,
        about=About.UNIVERSAL,
    )
