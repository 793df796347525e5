"""Small sets of vectors with every kind of dependency, and large ones with one planted circuit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st
from support.oracles import kruskal_rank, rank
from support.rank_cases import holds

from attncert.verify.kruskal.bounds import RankBound
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.rational import Relation

ENTRIES = {
    "small": st.integers(-2, 2),
    "sparse": st.sampled_from([0, 0, 0, 1, -1, 2]),
    "positive": st.integers(0, 64),
    "wide": st.sampled_from([0, 1, 10**30, -(10**20), 65267, 65147, 11863067]),
    "dyadic": st.sampled_from([0.0, 0.5, -1.25, 2.0**-60, 3.0, 1e20]),
}


@st.composite
def small_vectors(draw: st.DrawFn, max_N: int = 8, max_d: int = 5) -> Vectors:
    """Up to 8 vectors of width up to 5; often one of them is a combination of others."""
    N, d = draw(st.integers(1, max_N)), draw(st.integers(1, max_d))
    entries = ENTRIES[draw(st.sampled_from(sorted(ENTRIES)))]
    rows: list[list[Any]] = [[draw(entries) for _ in range(d)] for _ in range(N)]
    if N > 1 and draw(st.booleans()):
        chosen = draw(st.lists(st.integers(0, N - 2), unique=True, max_size=3))
        factors = [draw(st.integers(-3, 3)) for _ in chosen]
        rows[-1] = [
            sum((f * Fraction(rows[i][j]) for i, f in zip(chosen, factors, strict=True)), start=0)
            for j in range(d)
        ]
        rows = draw(st.permutations(rows))
    return Vectors.of([[Fraction(x) for x in row] for row in rows])


def vandermonde(N: int, d: int) -> Vectors:
    """Vectors in general position: any d of them have a Vandermonde determinant."""
    return Vectors.of([[x**j for j in range(d)] for x in range(1, N + 1)], "vandermonde")


def planted(
    N: int, d: int, size: int, seed: int = 0, dtype: str = "float32"
) -> tuple[Vectors, tuple[int, ...]]:
    """Random dyadic vectors, one of which is a combination of `size` - 1 others: a circuit."""
    rng = np.random.default_rng([seed, size])
    table = np.round(rng.standard_normal((N, d)) * 1024) / 1024
    members = rng.choice(N, size, replace=False)
    factors = rng.integers(1, 4, size - 1) * rng.choice([-1, 1], size - 1)
    table[members[-1]] = factors @ table[members[:-1]]
    return Vectors.of(table.astype(dtype), "planted"), tuple(sorted(members.tolist()))


def truth(vectors: Vectors) -> int:
    """The Kruskal rank, by enumeration in Fractions."""
    return kruskal_rank([[Fraction(x) for x in row] for row in vectors.array.tolist()])


def is_sound(bound: RankBound, vectors: Vectors, true: int) -> bool:
    """Whether a bound is true and its witness is valid."""
    if bound.end == "lower":
        return bound.value <= true and bound.dependency is None
    if bound.dependency is None or bound.dependency.size != bound.value + 1:
        return False
    rows = [[Fraction(x) for x in vectors.array[i].tolist()] for i in bound.dependency.indices]
    zero = all(
        sum(c * x for c, x in zip(bound.dependency.coefficients, column, strict=True)) == 0
        for column in zip(*rows, strict=True)
    )
    return zero and rank(rows) == len(rows) - 1 and bound.value >= true


def is_circuit(found: Relation, vectors: Vectors) -> bool:
    """Decides exactly whether these are dependent and every proper subset is independent.

    The relation has no zero coefficient, so this holds if and only if there is no other relation.
    """
    return holds(found, vectors.array) and vectors.rows(found.indices).rank() == found.size - 1
