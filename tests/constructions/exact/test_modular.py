"""Features modulo small primes agree with plain Python integers."""

from __future__ import annotations

import numpy as np
import pytest
from flint import nmod_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from attncert.constructions.exact.modular import (
    SumVanishes,
    matmul_mod,
    mix,
    reduced,
    row_reduced,
    softmax_float,
    softmax_mod,
)
from attncert.constructions.exact.primes import PRIMES_21

EDGE = [0, 1, -1, 2**53 + 1, 2**62, 2**63 - 1, -(2**63) + 1, 2**64, -(3**100)]
primes = st.sampled_from(PRIMES_21)


@pytest.mark.parametrize("inner", [0, 1, 2047, 2048, 2049, 5000])
def test_matmul_at_the_edge_of_the_mantissa(inner: int) -> None:
    """All residues are p - 2, an odd number congruent to -2: row times column is 4·inner, and sums
    above 2^53 would be rounded."""
    p = PRIMES_21[0]
    a = np.full((2, inner), p - 2, dtype=np.float64)
    b = np.full((inner, 1), p - 2, dtype=np.float64)
    assert matmul_mod(a, b, p).tolist() == [[4 * inner % p]] * 2


@pytest.mark.parametrize("p", [3, 7, *PRIMES_21])
def test_reduced_at_multiples_and_at_the_edge_of_the_mantissa(p: int) -> None:
    most = 2**53 - 2 * p - 1
    multiples = [k * p for k in (0, 1, 2, most // p // 3, most // p - 1, most // p)]
    values = [s * (x + e) for x in [*multiples, most] for e in (-1, 0, 1) for s in (1, -1)]
    values = [x for x in values if abs(x) <= most]
    found = reduced(np.array(values, dtype=np.float64), p)
    assert found.tolist() == [x % p for x in values]


@settings(max_examples=40, deadline=None)
@given(
    primes, st.integers(0, 20), st.integers(1, 20), st.integers(1, 20), st.integers(0, 2**32 - 1)
)
def test_pivots_are_the_columns_at_which_the_rank_grows(
    p: int, N: int, d: int, rank: int, seed: int
) -> None:
    """The rank is at most `rank`; half the matrices are sparse, with distant pivots and zero
    rows."""
    rng = np.random.default_rng(seed)
    left = rng.integers(0, p, (N, rank)) * (rng.random((N, rank)) < rng.choice([0.05, 1]))
    table = left @ rng.integers(0, p, (rank, d)) % p
    ranks = [nmod_mat(N, j, table[:, :j].ravel().tolist(), p).rank() for j in range(d + 1)]
    _, pivots = row_reduced(table.astype(np.float64), p)
    assert pivots == [j for j in range(d) if ranks[j + 1] > ranks[j]]


exponents = st.one_of(st.integers(-20, 20), st.sampled_from(EDGE))


@settings(max_examples=80, deadline=None)
@given(st.data(), primes, st.integers(1, 4), st.integers(1, 3), st.booleans())
def test_features(data: st.DataObject, p: int, T: int, n: int, shared: bool) -> None:
    """Features are Σ 2^k E / Σ 2^k mod p for exponents of any size; `pow` handles small ones."""
    table = [[data.draw(exponents) for _ in range(n)] for _ in range(T)]
    cells = st.integers(0, p - 1)
    contexts = [
        [[data.draw(cells) for _ in range(2)] for _ in range(n)] for _ in range(1 if shared else T)
    ]
    wide = any(abs(k) >= 2**62 for row in table for k in row)
    logits = np.array(table, dtype=object if wide else np.int64)
    given_contexts = np.array(contexts, dtype=np.float64)
    weights = [[pow(2, k % (p - 1), p) for k in row] for row in table]
    if any(sum(row) % p == 0 for row in weights):
        with pytest.raises(SumVanishes):
            softmax_mod(logits, p)
        return
    wanted = [
        [
            sum(w * x for w, x in zip(row, column, strict=True)) * pow(sum(row), -1, p) % p
            for column in zip(*contexts[0 if shared else t], strict=True)
        ]
        for t, row in enumerate(weights)
    ]
    assert mix(softmax_mod(logits, p), given_contexts, p).tolist() == wanted


def test_a_vanishing_sum_is_refused() -> None:
    """2^((p-1)/2) = -1 for a non-residue 2, so 2^((p-1)/2) + 2^0 = 0 mod p."""
    p = PRIMES_21[0]
    with pytest.raises(SumVanishes):
        softmax_mod(np.array([[(p - 1) // 2, 0]]), p)


@pytest.mark.parametrize("tokens", [2047, 2049, 4095])
def test_many_tokens(tokens: int) -> None:
    """Equal weights 1/tokens and entries -2: the mean is -2, and its sum needs several exact
    chunks."""
    p = PRIMES_21[2]
    for count in (1, 2):
        contexts = np.full((count, tokens, 1), p - 2, dtype=np.float64)
        logits = np.zeros((2, tokens), dtype=np.int64)
        assert mix(softmax_mod(logits, p), contexts, p).tolist() == [[p - 2.0]] * 2


@pytest.mark.parametrize("shared", [True, False])
def test_float_features_follow_the_exact_ones(shared: bool) -> None:
    """There are planted weights 1/4 and 3/4, a saturated row, and exponents beyond the range of
    floats."""
    contexts = np.array([[[4.0, 0.0], [0.0, 8.0]]] * (1 if shared else 3))
    logits = np.array([[0, 0], [3**700, 0], [-(3**700), 1]], dtype=object)
    assert mix(softmax_float(logits), contexts, None).tolist() == [[2, 4], [4, 0], [0, 8]]
