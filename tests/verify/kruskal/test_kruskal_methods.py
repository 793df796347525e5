"""Compares each method of the Kruskal interval with enumeration in Fractions: no bound is false,
and the planted set is found."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.kruskal_cases import is_circuit, is_sound, planted, small_vectors, truth
from support.oracles import rank, rank_mod
from support.rank_cases import holds

from attncert.verify.claims.evidence import Level
from attncert.verify.kruskal.budget import Budget
from attncert.verify.kruskal.kruskal import kruskal
from attncert.verify.kruskal.methods import circuits
from attncert.verify.kruskal.methods.circuits import meeting_probability, small_circuits
from attncert.verify.kruskal.methods.coherence import coherence_bound
from attncert.verify.kruskal.methods.exhaustive import decide
from attncert.verify.kruskal.methods.graphs import graph_bounds
from attncert.verify.kruskal.methods.quotient_compiled import HITS, inverses, search, search_primes
from attncert.verify.kruskal.methods.supports import support_bounds
from attncert.verify.kruskal.vectors import Vectors

quick = settings(deadline=None, max_examples=40)


# --- dependencies --------------------------------------------------------------------------------


@quick
@given(small_vectors())
def test_a_circuit_is_found_just_where_the_vectors_are_dependent(vectors: Vectors) -> None:
    rows = [[Fraction(x) for x in row] for row in vectors.array.tolist()]
    found = vectors.relation(range(vectors.N))
    assert (found is None) == (rank(rows) == vectors.N)
    if found is not None:
        part = [rows[i] for i in found.indices]
        assert rank(part) == found.size - 1
        assert all(rank(s) == len(s) for s in itertools.combinations(part, found.size - 1))
        assert is_circuit(found, vectors)


# --- exhaustive ----------------------------------------------------------------------------------


@quick
@given(small_vectors(), st.integers(1, 5), st.integers(0, 3))
def test_decide_agrees_with_enumeration(vectors: Vectors, k: int, seed: int) -> None:
    k = min(k, vectors.N, vectors.d)
    true = truth(vectors)
    bound = decide(vectors, k, seed=seed)
    assert bound is not None
    assert (bound.end == "lower") == (true >= k)
    assert is_sound(bound, vectors, true)


@settings(deadline=None, max_examples=30)
@given(
    st.integers(2, 4),
    st.sampled_from([11, 59]),
    st.lists(st.lists(st.integers(0, 10), min_size=5, max_size=5), min_size=5, max_size=9),
)
def test_the_kernel_reports_every_dependent_set(k: int, p: int, rows: list[list[int]]) -> None:
    """With a tiny prime, coincidences, zeros and repeated directions are common."""
    table = np.array(rows, dtype=np.float64)
    hits = np.zeros((HITS, k), dtype=np.int64)
    modulus = (inverses(p), float(p))
    narrow = np.ascontiguousarray(table[:, :k].T)
    count, _ = search(narrow, table, 0, len(rows), k, modulus, modulus, hits)
    expected = {
        subset
        for subset in itertools.combinations(range(len(rows)), k)
        if rank_mod([rows[i] for i in subset], p) < k
    }
    found = {tuple(row) for row in hits[: max(count, 0)].tolist()}
    assert found <= expected
    if 0 <= count < HITS:
        assert found == expected
        assert len(found) == count
    elif count < 0:  # some k - 2 of them are dependent in k coordinates
        assert any(
            rank_mod([rows[i][:k] for i in subset], p) < k - 2
            for subset in itertools.combinations(range(len(rows)), k - 2)
        )
    else:
        assert len(expected) >= HITS


def test_dependence_modulo_both_primes_is_a_false_alarm() -> None:
    p, q = search_primes(5)
    vectors = Vectors.of([[1, 0, 0], [0, 1, 0], [1, 1, p * q], [1, 2, 1], [3, 1, 2]])
    bound = decide(vectors, 3)
    assert bound is not None
    assert (bound.end, bound.numbers["dependent modulo both"]) == ("lower", 1)
    assert "but for 1" in bound.statement


# --- graphs --------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=9),
    st.lists(st.sampled_from([1, 2, -3, Fraction(1, 2)]), min_size=6, max_size=6),
    st.sampled_from([1, 1, 1, -1]),
)
def test_the_kruskal_rank_of_edges(
    edges: list[tuple[int, int]], scales: list[Fraction], sign: int
) -> None:
    """Node 5 is the ground. If the last sign is +, the edges may belong to no graph."""
    rows = [[Fraction(0)] * 6 for _ in edges]
    for t, (u, w) in enumerate(edges):
        rows[t][u] += (t + 1) * scales[u]
        rows[t][w] -= (t + 1) * scales[w] * (sign if t == len(edges) - 1 else 1)
    vectors = Vectors.of([row[:5] for row in rows])
    true = truth(vectors)
    bounds = list(graph_bounds(vectors))
    assert bounds or sign < 0
    assert all(bound.value == true and is_sound(bound, vectors, true) for bound in bounds)


def test_the_cage_of_girth_12() -> None:
    jumps = [17, 27, -13, -59, -35, 35, -11, 13, -53, 53, -27, 21, 57, 11, -21, -57, 59, -17]
    edges = nx.LCF_graph(126, jumps, 7).edges
    vectors = np.zeros((len(edges), 126), dtype=np.int64)
    for row, (u, w) in zip(vectors, edges, strict=True):
        row[u], row[w] = 1, -1
    answer = kruskal(vectors)
    assert answer.interval.decided and answer.interval.lower.value == 11
    assert answer.standing is Level.PROVED


# --- coherence -----------------------------------------------------------------------------------


@quick
@given(small_vectors())
def test_the_coherence_bound_is_true(vectors: Vectors) -> None:
    bound = coherence_bound(vectors)
    true = truth(vectors)
    assert (bound is None) == (not np.all(np.any(vectors.array != 0, axis=1)))
    if bound is not None:
        assert is_sound(bound, vectors, true)
        short = all(x % 1 == 0 and abs(x) <= 200 for x in vectors.array.ravel().tolist())
        assert not short or bound.level is Level.PROVED


def test_an_equiangular_frame_is_proved_exactly() -> None:
    """Sixteen vectors of signs in six dimensions, any two at an angle whose cosine is 1/3, so that
    three entries sum to one exactly: with a rounded Gram matrix this could go either way."""
    points = np.array(list(itertools.product([0, 1], repeat=4)))
    curve = [(x[0] * x[1] + x[2] * x[3]) % 2 == 1 for x in points]
    vectors = Vectors.of(np.where(points @ points[curve].T % 2, -1, 1))
    gram = vectors.array @ vectors.array.T
    assert set(np.abs(gram[~np.eye(16, dtype=bool)])) == {2} and set(gram.diagonal()) == {6}
    bound = coherence_bound(vectors)
    assert bound is not None and (bound.value, bound.level) == (3, Level.PROVED)


@pytest.mark.parametrize("order", [4, pytest.param(8, marks=pytest.mark.slow)])
@quick
@given(st.lists(st.sampled_from([1, 2, 3]), min_size=16, max_size=16), st.sets(st.integers(0, 15)))
def test_two_orthogonal_sets(order: int, scales: list[int], left_out: set[int]) -> None:
    """Unit vectors and a Hadamard matrix, of any lengths; some are left out."""
    signs = np.array([[1]])
    while len(signs) < order:
        signs = np.kron(signs, [[1, 1], [1, -1]])
    rows = np.vstack([np.eye(order, dtype=int), signs]) * np.array(scales[: 2 * order])[:, None]
    rows = np.delete(rows, [k for k in sorted(left_out)[: order + 1] if k < 2 * order], axis=0)
    bound = coherence_bound(Vectors.of(rows))
    assert bound is not None and bound.level is Level.PROVED
    assert is_sound(bound, Vectors.of(rows), truth(Vectors.of(rows)))


@pytest.mark.parametrize(("order", "rank"), [(4, 3), (16, 7)])
def test_the_bound_for_two_bases_is_attained(order: int, rank: int) -> None:
    signs = np.array([[1]])
    while len(signs) < order:
        signs = np.kron(signs, [[1, 1], [1, -1]])
    vectors = Vectors.of(np.vstack([np.eye(order, dtype=int), signs]))
    bound = coherence_bound(vectors)
    half = math.isqrt(order)
    flat = [*range(half), *range(order, 2 * order, half)]
    assert bound is not None and bound.value == rank == 2 * half - 1
    relation = vectors.relation(flat)
    assert relation is not None and relation.indices == tuple(flat)


# --- circuits and supports -----------------------------------------------------------------------


@quick
@given(small_vectors(), st.integers(0, 5))
def test_circuits_are_circuits(vectors: Vectors, seed: int) -> None:
    true = truth(vectors)
    below = vectors.N + 1
    three = Budget(work=0.01)
    for circuit in small_circuits(vectors, below=below, budget=three, seed=seed):
        assert true < circuit.dependency.size < below
        assert is_circuit(circuit.dependency, vectors)
        below = circuit.dependency.size


@pytest.mark.slow
def test_the_probability_of_meeting_a_circuit_is_what_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(circuits, "_DEEPEST", 2)
    vectors, _ = planted(60, 24, 5, seed=3)
    expected = meeting_probability(5, 60, 24, 2)
    met = sum(
        any(small_circuits(vectors, below=6, budget=Budget(work=1e-9), seed=s)) for s in range(200)
    )
    assert abs(met / 200 - expected) < 4 * math.sqrt(expected * (1 - expected) / 200)


def test_five_of_two_thousand_vectors_in_dimension_768() -> None:
    vectors, members = planted(2000, 768, 5)
    circuit = next(small_circuits(vectors, below=768, budget=Budget(60), seed=0))
    assert circuit.dependency.indices == members
    assert holds(circuit.dependency, vectors.array)


@quick
@given(small_vectors())
def test_support_bounds_are_true(vectors: Vectors) -> None:
    true = truth(vectors)
    upper = min(vectors.N, vectors.d)
    for bound in support_bounds(vectors, upper, Budget(work=0.5)):
        assert is_sound(bound, vectors, true)
        assert bound.value < upper
        upper = bound.value


def test_the_circuit_inside_a_subspace_is_the_smallest_one() -> None:
    """Five of seven vectors of a 5-dimensional subspace satisfy a relation among them."""
    rng = np.random.default_rng(7)
    table = rng.integers(1, 50, (60, 9))
    table[10:17, 5:] = 0
    table[16] = 0
    table[16, :5] = 2 * table[10, :5] - table[11, :5] + 3 * table[12, :5]
    bounds = list(support_bounds(Vectors.of(table), 9, Budget(work=5)))
    assert bounds[-1].dependency is not None
    assert bounds[-1].dependency.indices == (10, 11, 12, 16)
