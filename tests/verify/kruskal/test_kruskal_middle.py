"""Meeting in the middle modulo 5 against the quotients of `exhaustive.py` and planted sets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.kruskal_cases import planted, vandermonde
from support.oracles import rank_mod

from attncert.verify.kruskal.methods import middle
from attncert.verify.kruskal.methods.exhaustive import decide
from attncert.verify.kruskal.methods.middle import five, worth_trying
from attncert.verify.kruskal.methods.middle_kernels import pairs_of, quadruples, slices
from attncert.verify.kruskal.vectors import Vectors


def words(rows: np.ndarray) -> np.ndarray:
    places = np.uint64(4) * np.arange(rows.shape[1], dtype=np.uint64)
    multiples = [(rows * c % 5).astype(np.uint64) << places for c in range(1, 5)]
    return np.stack([np.bitwise_or.reduce(m, axis=1) for m in multiples], axis=1)


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6), st.integers(4, 7))
def test_every_minimal_dependent_set_modulo_five_is_listed(seed: int, width: int) -> None:
    rows = np.random.default_rng(seed).integers(0, 5, (14, width))
    rows = rows[np.any(rows != 0, axis=1)]
    scaled = words(rows)
    listed = {tuple(s) for s in middle._pairs_and_triples(scaled)}
    by_slice = slices(scaled)
    for target in range(125):
        table = pairs_of(target, scaled, *by_slice)
        out = np.zeros((5000, 4), dtype=np.int64)
        count = quadruples(target, table, scaled, *by_slice, out)
        listed |= {tuple(sorted(s)) for s in out[:count].tolist()}
    for k in (2, 3, 4):
        for subset in itertools.combinations(range(len(rows)), k):
            part = [rows[i].tolist() for i in subset]
            circuit = rank_mod(part, 5) == k - 1 and all(
                rank_mod(less, 5) == k - 1 for less in itertools.combinations(part, k - 1)
            )
            assert not circuit or subset in listed
            assert subset not in listed or rank_mod(part, 5) < k


@pytest.mark.parametrize("factor", [1, 5, 25])
@pytest.mark.parametrize("multiples", [0, 1, 2, 3])
def test_a_planted_set_is_found_whatever_five_divides(factor: int, multiples: int) -> None:
    """Coefficients divisible by 5 leave a smaller dependent set modulo 5: those are extended."""
    rng = np.random.default_rng(multiples)
    table = rng.integers(-60, 60, (60, 14))
    members = np.sort(rng.choice(60, 5, replace=False))
    factors = np.array([5] * multiples + [2, -1, 3, 7][multiples:])
    table[members[-1]] = factors @ table[members[:-1]]
    table[members[0]] *= factor
    vectors = Vectors.of(table)
    assert decide(vectors, 4).independent
    found = five(vectors)
    witness = found.dependency
    assert found.independent is False
    assert witness is not None
    assert witness.indices == tuple(members.tolist())
    assert witness.is_circuit(vectors)


@pytest.mark.parametrize("seed", [0, 1])
def test_independent_vectors_are_certified_as_by_quotients(seed: int) -> None:
    vectors = Vectors.of(np.random.default_rng(seed).integers(0, 64, (70, 13)))
    found = five(vectors, seed=seed, threads=2)
    assert (found.independent, found.dependency) == (True, None)
    assert decide(vectors, 5).independent


def test_a_vector_that_is_zero_modulo_five_is_made_primitive_first() -> None:
    table = np.random.default_rng(0).integers(0, 64, (40, 13))
    table[7] *= 25
    assert five(Vectors.of(table)).independent


def test_floats_in_many_dimensions() -> None:
    vectors, members = planted(80, 40, 5, seed=4)
    witness = five(vectors).dependency
    assert witness is not None
    assert witness.indices == members


def test_a_search_that_is_stopped_claims_nothing() -> None:
    assert five(vandermonde(40, 14), stop=lambda: True).independent is None


def test_too_many_sets_to_list_end_in_no_claim() -> None:
    """In three coordinates nearly all sets of four are dependent modulo 5."""
    rows = np.random.default_rng(0).integers(0, 5, (80, 3))
    assert five(Vectors.of(rows + 5)).independent is not True
    assert not worth_trying(80, 3)


def test_decide_chooses_it_where_it_is_cheaper() -> None:
    vectors, members = planted(210, 14, 5, seed=5)
    found = decide(vectors, 5)
    assert found.dependency is not None
    assert found.dependency.indices == members
    independent = decide(vectors.take([i for i in range(210) if i != members[2]]), 5)
    assert independent.independent
    assert independent.primes[0] == 5
    bound = independent.bound()
    assert bound is not None
    assert (bound.end, bound.value) == ("lower", 5)


def test_decide_finds_smaller_sets_first() -> None:
    vectors, members = planted(210, 14, 4, seed=6)
    found = decide(vectors, 5)
    assert found.dependency is not None
    assert found.dependency.indices == members
    assert found.k == 5
