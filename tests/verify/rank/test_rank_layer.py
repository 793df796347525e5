"""Ranks of whole layers in blocks: features, retries and the memory budget. The oracles are FLINT
and verify/features/features.py, which share no code with what is tested."""

from __future__ import annotations

import json
import tracemalloc
from fractions import Fraction
from pathlib import Path
from typing import Any

import array_api_strict
import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from attncert.constructions.data import generators
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.exact.modular import SumVanishes
from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.constructions.layer import Head, Layer
from attncert.verify import checker
from attncert.verify.checking.fast import check as fast
from attncert.verify.claims.evidence import Level
from attncert.verify.features import features
from attncert.verify.prove.prove import prove
from attncert.verify.questions.prove import Prove
from attncert.verify.rank.whole_layer import sizes
from attncert.verify.rank.whole_layer.feature_rows import FeatureRows
from attncert.verify.rank.whole_layer.layer import layer_rank
from attncert.verify.statements.steps import conclusions

P = PRIMES_FLOAT64[0]


def random_layer(
    heads: int, d: int, width: int = 1, size: int = 9, scale: int = 1, seed: int = 0
) -> Layer:
    """Heads with integer logits: integer keys divided by `scale`, and queries multiplied by it."""
    rng = np.random.default_rng(seed)

    def matrix(factor: fmpq) -> fmpq_mat:
        entries = [int(x) for x in rng.integers(-size, size, d * width, endpoint=True)]
        return fmpq_mat(d, width, entries) * factor

    return Layer(tuple(Head(matrix(fmpq(1, scale)), matrix(fmpq(scale))) for _ in range(heads)))


def by_head(rows: Any, heads: int) -> np.ndarray:
    """Columns ordered as in verify/features/features.py: one head after the other."""
    table = np.asarray(rows)
    count = len(table)
    return table.reshape(count, -1, heads).transpose(0, 2, 1).reshape(count, -1)


def features_mod(data: Dataset, layer: Layer, p: int) -> np.ndarray:
    return features.features_mod(data, [features.logits(head, data) for head in layer.heads], p)


def flint_rank(data: Dataset, layer: Layer, p: int) -> int:
    return features.residue_rank(features_mod(data, layer, p), p)


# Features.


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 9),
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(1, 3),
    st.booleans(),
    st.sampled_from([1, 6, 2**70]),
    st.sampled_from([1, 12]),
    st.sampled_from([9, 2**62, 10**400]),
    st.integers(0, 2**32),
)
def test_rows_are_the_features_modulo_p(
    T: int, n: int, d: int, heads: int, width: int, shared: bool, scale: int, denominator: int,
    size: int, seed: int,
) -> None:  # fmt: skip
    """Rows equal the features entry by entry, for logits of up to 800 digits, even when computed in
    another library."""
    data = generators.random(T, n, d, shared=shared, denominator=denominator, seed=seed)
    layer = random_layer(heads, d, width, min(size, 2**62), scale, seed)
    if size > 2**62:
        layer = Layer(tuple(Head(h.key * size, h.query * size) for h in layer.heads))
    unit = data.contexts.denominator * data.queries.denominator
    layer = Layer(tuple(Head(h.key * unit, h.query) for h in layer.heads))
    try:
        want = features_mod(data, layer, P)
    except ArithmeticError:
        return
    want = want * (data.contexts.denominator % P) % P
    rows = FeatureRows(data, layer, P)
    got = np.vstack([rows.rows(start, min(start + 5, T)) for start in range(0, T, 5)])
    assert np.array_equal(by_head(got, heads) % P, want)
    assert np.abs(got).max() <= P / 2 + 4
    strict = FeatureRows(data, layer, P, xp=array_api_strict).rows(0, T)
    assert np.array_equal(np.asarray(strict), got)
    assert layer_rank(data, layer, primes=(P,)).rank == flint_rank(data, layer, P)


def test_logits_whose_integrality_the_head_alone_does_not_show() -> None:
    """Tokens (1, 1) and (3, 1) with the key (1/2, 1/2) have integer logits, because of the data."""
    data = Dataset.of([[1, 1], [3, 1]], [[1, 0], [1, 1], [2, 5]], [0, 1, 2])
    half = Layer((Head(fmpq_mat(2, 1, [fmpq(1, 2)] * 2), fmpq_mat(2, 1, [1, 3])),))
    want = features_mod(data, half, P)
    assert np.array_equal(FeatureRows(data, half, P).rows(0, 3) % P, want)
    assert layer_rank(data, half).rank == flint_rank(data, half, P)
    third = Layer((Head(fmpq_mat(2, 1, [fmpq(1, 3)] * 2), fmpq_mat(2, 1, [1, 3])),))
    with pytest.raises(features.NotIntegral):
        layer_rank(data, third)


# Failures that are detected.


def test_a_planted_dependence_is_never_certified() -> None:
    """Equal examples have equal features for all weights, so every attempt gives rank T - 1."""
    rng = np.random.default_rng(1)
    data = generators.random(30, 5, 40, seed=2)
    contexts, queries = data.contexts.numerators.copy(), data.queries.numerators.copy()
    contexts[17], queries[17] = contexts[4], queries[4]
    planted = Dataset.of(contexts, queries, rng.integers(0, 9, 30))
    layer = random_layer(9, 40, size=1000)
    found = layer_rank(planted, layer)
    assert found.rank == 29
    assert [p for p, _, _ in found.tried] == list(PRIMES_FLOAT64)
    assert [(width, rank) for _, width, rank in found.tried] == [(11, 29), (40, 29), (40, 29)]
    assert layer_rank(data, layer).rank == 30


def test_one_head_that_carries_all_examples_is_found_with_all_columns() -> None:
    """Nine heads see all examples alike; the first has rank 30 > c and needs a second attempt."""
    data = generators.random(30, 3, 40, seed=2)
    zero = fmpq_mat(40, 1)
    contexts = np.broadcast_to(data.contexts.numerators[:1], (30, 3, 40))
    mixed = Dataset.of(
        np.concatenate([data.contexts.numerators[:, :, :32], contexts[:, :, 32:]], axis=2),
        data.queries,
        data.labels,
    )
    heads = [random_layer(1, 40).heads[0], *(Head(zero, zero) for _ in range(9))]
    found = layer_rank(mixed, Layer(tuple(heads)))
    assert [width for _, width, _ in found.tried] == [10, 40]
    assert found.rank == 30 == flint_rank(mixed, Layer(tuple(heads)), P)


def test_a_denominator_that_vanishes_costs_a_prime() -> None:
    """2^((p-1)/2) + 1 = 0 mod p, because 2 is not a square there."""
    data = Dataset.of([[1, 0], [0, 1]], [[1, 0], [0, 1]], [0, 1])
    layer = Layer((Head(fmpq_mat(2, 1, [(P - 1) // 2, 0]), fmpq_mat(2, 1, [1, 2])),))
    with pytest.raises(SumVanishes):
        FeatureRows(data, layer, P).rows(0, 2)
    found = layer_rank(data, layer)
    assert found.tried[0] == (P, 2, None)
    assert (found.rank, found.prime) == (2, PRIMES_FLOAT64[1])


def test_a_prime_that_divides_the_contexts_denominator_is_passed_over() -> None:
    data = generators.random(4, 2, 3, shared=True, seed=1)
    small = Dataset.of(
        [[Fraction(int(x), P) for x in row] for row in data.contexts.numerators[0].tolist()],
        data.queries,
        data.labels,
    )
    layer = Layer(tuple(Head(h.key * P, h.query) for h in random_layer(4, 3).heads))
    found = layer_rank(small, layer)
    assert [p for p, _, _ in found.tried] == [PRIMES_FLOAT64[1]] and found.rank == 4
    with pytest.raises(ZeroDivisionError):
        FeatureRows(small, layer, P)


def test_inexact_products_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Rounding(np.ndarray):
        def __matmul__(self, other: Any) -> Any:
            return np.matmul(self, other, dtype=np.float32).astype(np.float64)

    data = generators.random(4, 2, 3, seed=1)
    full = np.full
    monkeypatch.setattr(np, "full", lambda *a: full(*a).view(Rounding))
    with pytest.raises(RuntimeError, match="not exact"):
        layer_rank(data, random_layer(2, 3))


# Budget.


@pytest.mark.parametrize("shared", [True, False])
def test_the_peak_stays_below_the_bound(shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "_TEMPORARY", 2**17)
    data = generators.random(401, 41, 64, shared=shared, seed=1)
    layer = random_layer(10, 64, size=10**5)
    layer_rank(data.take(5), layer)  # compiles
    tracemalloc.start()
    rank = layer_rank(data, layer)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    bound = sizes.elimination_bytes(401, 10 * rank.width)
    assert bound / 4 < peak <= bound
    assert (rank.rank, rank.prime) == (401, P)
    assert layer_rank(data, layer, memory=bound) == rank
    with pytest.raises(InputError, match="DATA: must be small enough"):
        layer_rank(data, layer, memory=bound - 1)


# The rank as a claim, in a proof and in a certificate.

DATA = generators.random(25, 4, 6, seed=4)


@pytest.fixture
def blocks_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conclusions, "BLOCKS_FROM", 0)


@pytest.mark.slow
@pytest.mark.usefixtures("blocks_always")
def test_proof_and_certificate_carry_the_prime_that_succeeded(tmp_path: Path) -> None:
    seen = []
    asked = Prove(construction="width-one", claim="full-rank")
    proof = prove(DATA, asked, lambda *stage: seen.append(stage))
    assert proof.standing is Level.PROVED
    assert proof.setup.device == "cpu"
    assert proof.versions["device"] == "CPU threads" and "numba" in proof.versions
    assert ("rank", 25, 25) in seen
    assert proof.certificate is not None
    assert proof.certificate["rank"] == {"prime": str(P), "value": 25}
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(proof.certificate))
    assert checker.check_file(str(path)).status == "holds"
    assert fast.check_file(str(path)).status == "holds"


@pytest.mark.usefixtures("blocks_always")
def test_equal_bytes_whatever_the_number_of_threads() -> None:
    outputs = []
    for threads in (1, 3):
        with threadpool_limits(threads):
            proof = prove(DATA, Prove(construction="width-one", claim="full-rank"))
        outputs.append(json.dumps([proof.certificate, proof.trace.as_dict()["claims"]]))
    assert outputs[0] == outputs[1]


@pytest.mark.usefixtures("blocks_always")
def test_logits_that_are_not_whole_leave_the_rank_undecided() -> None:
    half = Layer((Head(fmpq_mat(6, 1, [fmpq(1, 7)] * 6), fmpq_mat(6, 1, [1] * 6)),))
    assert conclusions.full_rank(DATA, half).level is Level.UNDECIDED


def test_memory_too_small_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attncert.verify.prove.prove.DEFAULT_MEMORY", 10**7)
    data = generators.random(3000, 2, 3, shared=True, seed=1)
    seen: list[Any] = []
    with pytest.raises(InputError, match="DATA: must be small enough"):
        prove(data, None, lambda *stage: seen.append(stage))
    assert seen == []
