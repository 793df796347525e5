"""The elimination on CPU threads; the oracle is FLINT's rank over Z/p."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.rank_cases import balanced, flint_rank, of_rank

from attncert.constructions.exact.primes import PRIME_FLOAT32, PRIMES_FLOAT64
from attncert.verify.rank.engines import cpu, cpu_compiled

P = PRIMES_FLOAT64[0]


matrices = st.tuples(
    st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.integers(0, 2**32)
)
small_fields = st.sampled_from([11, 13, 59, PRIME_FLOAT32])


@settings(max_examples=150, deadline=None)
@given(matrices, small_fields, st.sampled_from(["float32", "float64"]), st.booleans())
def test_profile_and_echelon_against_flint(
    shape: tuple[int, int, int, int], p: int, dtype: str, sparse: bool
) -> None:
    m, n, rank, seed = shape
    rng = np.random.default_rng(seed)
    matrix = of_rank(rng, m, n, min(rank, m, n), p)
    if sparse:
        matrix *= rng.random((m, n)) < 0.2
    a = balanced(matrix, p, dtype)
    independent, columns = cpu.profile(a, p)
    true = flint_rank(a, p)
    assert independent.sum() == len(columns) == len(set(columns.tolist())) == true
    assert flint_rank(a[independent][:, columns], p) == true  # a nonzero minor of this size
    for i in range(min(m, 10)):
        assert independent[i] == (flint_rank(a[: i + 1], p) > flint_rank(a[:i], p))
    pivots, rows = cpu.echelon(a, p)
    assert len(pivots) == true
    assert np.array_equal(rows[:, pivots] % p, np.eye(true))
    assert flint_rank(np.vstack([a, rows]), p) == true  # the same row space


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 5), st.integers(1, 140), st.integers(0, 20), st.integers(0, 2**32), small_fields
)
def test_prefixes_end_where_the_profile_does(
    count: int, m: int, extra: int, seed: int, p: int
) -> None:
    """Small fields make missing pivots common."""
    rng = np.random.default_rng(seed)
    n = m + extra
    a = balanced(rng.integers(0, p, (count * m, n)), p)
    a[rng.integers(0, count * m)] = a[rng.integers(0, count * m)]  # sometimes a repeated row
    subsets = np.arange(count * m).reshape(count, m)
    want = []
    for rows in subsets:
        independent, _ = cpu.profile(a[rows], p)
        want.append(int(np.argmin(independent)) if not independent.all() else m)
    assert cpu.prefixes(a, subsets, p).tolist() == want
    assert cpu.prefixes(a.astype(np.float32), subsets, p, threads=2).tolist() == want


@pytest.mark.parametrize(("p", "dtype"), [(PRIME_FLOAT32, "float32"), (P, "float64")])
def test_large_matrices_full_rank_and_one_short(p: int, dtype: str) -> None:
    """There are many panels and many lazy reductions; a rank deficit of one in 300 must be
    detected."""
    rng = np.random.default_rng(5)
    matrix = balanced(rng.integers(0, p, (300, 310)), p, dtype)
    assert cpu.profile(matrix, p)[0].all()
    weights = rng.integers(0, p, 299)
    matrix[299] = balanced(weights.astype(object) @ matrix[:299].astype(int).astype(object), p)
    independent, _ = cpu.profile(matrix, p)
    assert independent[:299].all() and not independent[299]


def test_extreme_residues_stay_exact_and_a_broken_bound_is_caught() -> None:
    """A dependent last row, combined with coefficients that make every partial sum large.

    With the proved interval between reductions, the dependence is recognised; with an interval far
    beyond the bound, sums are rounded and the row looks independent, which the oracle notices.
    """
    p, m = P, 400
    rng = np.random.default_rng(1)
    a = np.eye(m, m + 80, dtype=np.int64)
    a[:, m:] = p // 2  # every eliminated entry receives products of the largest size
    a[m - 1, : m - 1] = p // 2
    a[m - 1, m - 1] = 0
    a[m - 1, m:] = (m - 1) * (p // 2) ** 2 % p
    order = np.r_[rng.permutation(m - 1), m - 1]
    matrix = balanced(a[order], p)
    independent, _ = cpu.profile(matrix, p)
    assert independent.sum() == flint_rank(matrix, p) == m - 1

    prime, over, lazy = cpu._arithmetic(p, matrix.dtype)
    out = np.zeros(1, np.int64)
    subset = np.arange(m)[None]
    cpu_compiled.prefix_range(matrix, subset, 0, 1, out, (prime, over, lazy))
    assert out[0] == m - 1
    cpu_compiled.prefix_range(matrix, subset, 0, 1, out, (prime, over, 10**6))
    assert out[0] == m  # a wrong answer, as expected: the bound is needed
