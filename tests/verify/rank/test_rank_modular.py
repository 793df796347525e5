"""Subsets and prefixes certified modulo primes: planted answers, FLINT, and soundness."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.rank_cases import exact_rank, planted

from attncert.constructions.errors import InputError
from attncert.constructions.exact.primes import PRIME_FLOAT32, PRIMES_FLOAT64
from attncert.verify.rank import modular
from attncert.verify.rank.modular import IndependenceTester
from attncert.verify.rank.rational import find_relation


def gaussian(vectors: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((vectors, width)).astype(np.float32)


def decaying(vectors: int, width: int, seed: int = 0) -> np.ndarray:
    """A table with singular values down to 1e-12 of the largest, on which float32 rank tests
    fail."""
    rng = np.random.default_rng(seed)
    spectrum = np.logspace(0, -12, width)
    mixing = np.linalg.qr(rng.standard_normal((width, width)))[0]
    return ((rng.standard_normal((vectors, width)) * spectrum) @ mixing).astype(np.float32)


def random_subsets(vectors: int, k: int, count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(vectors)[:k] for _ in range(count)])


@pytest.mark.parametrize("make", [gaussian, decaying])
def test_independent_subsets_are_all_certified(make: Any) -> None:
    tester = IndependenceTester(make(150, 60), device="cpu")
    for k in (1, 8, 37, 60):
        assert tester.subsets(random_subsets(150, k, 40)).all()


def mixed_table(rng: np.random.Generator) -> np.ndarray:
    """A small table of one of eight kinds, most of them with some dependent subsets."""
    largest = 40 if rng.random() < 0.1 else 9
    n, d = int(rng.integers(2, largest + 2)), int(rng.integers(1, largest))
    kind = int(rng.integers(8))
    if kind == 0:
        return rng.integers(-1, 2, (n, d))
    if kind == 1:
        return planted(n, d, int(rng.integers(0, min(n, d) + 1)), seed=int(rng.integers(1 << 30)))
    if kind == 2:
        return rng.standard_normal((n, d)).astype(np.float32)
    if kind == 3:
        return rng.standard_normal((n, d)) * 10.0 ** rng.integers(-150, 150, (n, 1))
    if kind == 4:
        table = rng.standard_normal((n, d))
        table[0] = 2 * table[n - 1]
        return table
    if kind == 5:
        return np.array(rng.integers(-9, 10, (n, d)).tolist(), dtype=object) * 7**150
    if kind == 6:  # multiples of the primes in use: the first ladder steps are misled
        return rng.integers(-2, 3, (n, d)) * PRIME_FLOAT32 * PRIMES_FLOAT64[0]
    return (rng.random((n, d)) < 0.3).astype(np.float16)


def disagreements(tables: int, subsets_each: int, seed: int) -> tuple[int, int, int]:
    """The number of cases, of dependent cases, and of settled modular answers that FLINT
    contradicts."""
    rng = np.random.default_rng(seed)
    cases = dependent = wrong = 0
    for _ in range(tables):
        table = mixed_table(rng)
        k = int(rng.integers((min(table.shape) + 1) // 2, min(table.shape) + 1))
        subsets = np.array([rng.permutation(len(table))[:k] for _ in range(subsets_each)])
        tester = IndependenceTester(table, device="cpu", threads=1)
        ranks = tester.subsets(subsets)
        answers = ranks.copy()
        for i in np.flatnonzero(~ranks):
            answers[i] = find_relation(table[subsets[i]]) is None
        for subset, certified, answer in zip(subsets, ranks, answers, strict=True):
            truth = exact_rank(table[subset]) == k
            cases, dependent = cases + 1, dependent + (not truth)
            wrong += answer != truth or (certified and not truth)
    return cases, dependent, wrong


@pytest.mark.parametrize("tables", [50, pytest.param(500, marks=pytest.mark.slow)])
def test_no_disagreement_with_flint_on_ten_thousand_mixed_cases(
    tables: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(modular, "_FLOAT32_FROM", 0)
    cases, dependent, wrong = disagreements(tables=tables, subsets_each=20, seed=2)
    assert (cases, wrong) == (20 * tables, 0)
    assert 3 * tables < dependent < 16 * tables


def test_the_result_is_the_same_whatever_the_threads() -> None:
    table, subsets = gaussian(90, 40), random_subsets(90, 40, 60)
    first = IndependenceTester(table, device="cpu", threads=1).subsets(subsets)
    again = IndependenceTester(table, device="cpu", threads=3).subsets(subsets)
    assert np.array_equal(first, again)


def test_a_memory_budget_that_is_too_small_is_refused() -> None:
    with pytest.raises(InputError, match=r"memory: must be at least [0-9]+ bytes"):
        IndependenceTester(gaussian(40, 32), memory=100).subsets(random_subsets(40, 16, 50))


def test_tables_of_many_rows_are_prepared_in_blocks() -> None:
    table = np.random.default_rng(0).integers(-9, 10, (9000, 40))
    table[8999] = table[0] + table[4500]
    subsets = np.vstack([np.arange(9000).reshape(-1, 8), [[0, 4500, 8999, 1, 2, 3, 4, 5]]])
    ranks = IndependenceTester(table).subsets(subsets)
    assert np.flatnonzero(~ranks).tolist() == [1125]


def test_empty_and_repeated_subsets() -> None:
    table = gaussian(5, 3)
    assert IndependenceTester(table, device="cpu").subsets(np.zeros((4, 0), int)).all()
    none = IndependenceTester(table, device="cpu").subsets(np.zeros((0, 2), int))
    assert len(none) == 0
    tester = IndependenceTester(table, device="cpu")
    assert not tester.subsets([[0, 1, 2, 3]]).any(), "more than there are columns"
    assert not tester.subsets([[1, 1], [0, 0], [4, 4]]).any()


def test_a_basis_of_the_table_gives_the_same_answers() -> None:
    rng = np.random.default_rng(4)
    table = rng.integers(-9, 10, size=(60, 12))
    table[7] = table[3] + table[5]
    subsets = np.array([rng.permutation(60)[:12] for _ in range(400)])
    subsets[:3, :3], subsets[4, 1] = [3, 5, 7], subsets[4, 0]
    by_basis = IndependenceTester(table, device="cpu", expected=10**6)
    assert by_basis._by_systematic_form(subsets).mean() > 0.9
    one_by_one = IndependenceTester(table, device="cpu", memory=10**4)
    assert not one_by_one._by_systematic_form(subsets).any()
    expected = [exact_rank(table[s]) == 12 for s in subsets]
    assert by_basis.subsets(subsets).tolist() == expected
    assert one_by_one.subsets(subsets).tolist() == expected
