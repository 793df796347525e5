"""How heads of width one are searched: coordinates, pieces, primes, which heads come first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.oracles import SAFE_PRIME, features_mod, rank, rank_mod
from test_rank_one import CASES, curve

from attncert.constructions import construction
from attncert.constructions.data import generators
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.exact import contexts as exact_contexts
from attncert.constructions.readout.solve import predicted_bits
from attncert.constructions.search import feature_blocks
from attncert.constructions.search.placement import Placement
from attncert.constructions.width_one import coordinates, short, theorem
from attncert.constructions.width_one.coordinates import GroupQueries, UnluckyPrime
from attncert.constructions.width_one.theorem import build


@pytest.fixture
def plain_coordinates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinates, "_LATTICE_WORK", 0)
    monkeypatch.setattr(coordinates, "_SUPPORT", 2)


@pytest.mark.usefixtures("plain_coordinates")
@pytest.mark.parametrize("name", [name for name in CASES if name != "rational"])
@pytest.mark.parametrize("saturated", [False, True])
def test_without_lattices(name: str, saturated: bool) -> None:
    data, options = CASES[name]
    built = build(data, saturated=saturated, **options)
    assert rank_mod(features_mod(data, built.layer), SAFE_PRIME) == data.T


@pytest.mark.usefixtures("plain_coordinates")
def test_u_gets_as_many_coordinates_as_it_needs() -> None:
    """The rows differ in the last column alone: two random columns may not tell them apart."""
    contexts = np.ones((4, 2, 6), dtype=np.int64)
    contexts[:, 1, 5] = 2
    contexts[:, 0, 0] = 2
    contexts[:, 1, 0] = 2
    data = Dataset.of(contexts, np.eye(4, 6, dtype=int), [1, 2, 3, 4])
    keys = coordinates.key_coordinates(data, 0)
    assert any(int(keys.basis[5, j]) for j in range(keys.basis.ncols()))
    assert (keys.images[:, 0] != keys.images[:, 1]).any(axis=1).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 4), st.integers(0, 3), st.booleans(), st.integers(0, 10**6))
def test_group_solvers(size: int, extra: int, lattice: bool, seed: int) -> None:
    """R·kernel = 0, R·solve(j) = f·j; a dependent group is called unlucky or refused."""
    rng = np.random.default_rng(seed)
    images = rng.integers(-4, 5, (size + 4, size + extra))
    group = list(range(2, 2 + size))
    rows = images[group].tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coordinates, "_LATTICE_WORK", 2**25 if lattice else 0)
        if rank(rows) < size:
            with pytest.raises((UnluckyPrime, ValueError)):
                GroupQueries(images, group, 2096867, 0)
            return
        solver = GroupQueries(images, group, 2096867, 0)
        multiples = rng.integers(-3, 4, size).tolist()
        y = solver.solve(multiples)
    kernel = solver.kernel.tolist()
    for row, multiple, factor in zip(rows, multiples, solver.factors, strict=True):
        assert sum(a * int(b) for a, b in zip(row, y, strict=True)) == multiple * factor
        assert factor >= 1
        for k in zip(*kernel, strict=True):
            assert sum(a * int(b) for a, b in zip(row, k, strict=True)) == 0
    assert (solver.kernel.shape[1] > 0) == (extra > 0)


@pytest.mark.parametrize(
    "name", ["distinct", "shared", "rational", "contexts of very different scale"]
)
def test_contexts_in_pieces_give_the_same_features(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, _ = CASES[name]
    logits = np.random.default_rng(0).integers(-9, 10, (data.T, data.n))
    whole = feature_blocks.FeatureBlocks(data, 2096867)
    monkeypatch.setattr(feature_blocks, "_CACHED", data.n * data.d * 2)
    pieces = feature_blocks.FeatureBlocks(data, 2096867)
    for a, b in (
        (whole.of(logits), pieces.of(logits)),
        (whole.points(1, logits), pieces.points(1, logits)),
        (whole.rows([2, 0], np.array([1, 0])), pieces.rows([2, 0], np.array([1, 0]))),
    ):
        assert (a.mod == b.mod).all() and np.allclose(a.float, b.float)
    monkeypatch.setattr(exact_contexts, "_TOGETHER", data.n * data.d * 2)
    columns = np.random.default_rng(1).integers(-9, 10, (data.d, 2))
    expected = data.contexts.numerators.astype(object) @ columns.astype(object)
    assert (exact_contexts.context_products(data, columns) == expected).all()


def test_narrow_integers_are_not_overflowed() -> None:
    rng = np.random.default_rng(0)
    contexts = rng.integers(-128, 128, (9, 4, 5), dtype=np.int8)
    queries = rng.integers(-128, 128, (9, 5), dtype=np.int8)
    data = Dataset.of(contexts, queries, np.arange(9))
    for saturated in (False, True):
        built = build(data, saturated=saturated)
        assert rank_mod(features_mod(data, built.layer), SAFE_PRIME) == 9


def test_an_unlucky_prime_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modulo 3 nine examples cannot be independent on so few values; the next prime is taken."""
    tried: list[int] = []
    original = theorem.HeadBuilder

    def spy(data: Dataset, *, prime: int, **settings: Any) -> Any:
        tried.append(prime)
        return original(data, prime=prime, **settings)

    monkeypatch.setattr(theorem, "HeadBuilder", spy)
    monkeypatch.setattr(construction, "PRIMES", (3, 2096867))
    data = curve(9, 3, 4, shared=True, seed=1)
    built = build(data, saturated=True)
    assert tried == [3, 2096867]
    assert rank_mod(features_mod(data, built.layer), SAFE_PRIME) == 9
    monkeypatch.setattr(construction, "PRIMES", (3,))
    with pytest.raises(HypothesisFails) as refusal:
        build(data, saturated=True)
    assert (refusal.value.hypothesis, refusal.value.decided) == ("search", False)


def test_where_short_heads_stop_the_proof_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    place, calls = short.ShortHeads.place, []

    def once(self: short.ShortHeads) -> Any:
        calls.append(1)
        return place(self) if len(calls) == 1 else None

    monkeypatch.setattr(short.ShortHeads, "place", once)
    data = curve(13, 4, 5, seed=2)
    built = build(data)
    assert [head.short for head in built.heads] == [True] + [False] * (len(built.heads) - 1)
    assert len(built.heads) > 1
    assert rank_mod(features_mod(data, built.layer), SAFE_PRIME) == 13


def test_short_heads_are_shorter() -> None:
    data = generators.family(13, 4, 6, seed=2)
    short, proof = (predicted_bits(build(data, saturated=s), data) for s in (False, True))
    assert 4 * short < proof


@pytest.mark.slow
@pytest.mark.parametrize("saturated", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_621_examples_of_32_tokens(shared: bool, saturated: bool) -> None:
    """H = 20, n = 32, d = 64, d_h = 1; the rank again with verify's own features and primes."""
    from attncert.verify.steps.conclusions import full_rank

    rng = np.random.default_rng(0)
    contexts = rng.integers(-127, 128, (1 if shared else 621, 32, 64), dtype=np.int8)
    data = Dataset.of(contexts, rng.integers(-127, 128, (621, 64)), np.arange(621) % 10)
    built = build(data, heads=20, saturated=saturated)
    assert len(built.layer.heads) == 20
    assert full_rank(data, built.layer).numbers["rank"] == 621


def test_what_the_placed_rows_say_of_a_group_is_worked_out_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Λ costs the square of the examples: once for all drafts of a head. A draft is looked at by Λ
    alone."""
    calls = {"multipliers": 0, "remainder": 0}
    for name in calls:
        original = getattr(Placement, name)

        def counted(self: Placement, *args: Any, _as: str = name, _run: Any = original) -> Any:
            calls[_as] += 1
            return _run(self, *args)

        monkeypatch.setattr(Placement, name, counted)
    data = generators.width_one_shape(5, 3, 4, shared=True, seed=1)
    built = build(data, saturated=True)
    assert rank_mod(features_mod(data, built.layer), SAFE_PRIME) == data.T
    assert calls == {"multipliers": len(built.heads), "remainder": len(built.heads)}
