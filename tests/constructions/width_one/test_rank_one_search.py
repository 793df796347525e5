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
from attncert.constructions.readout.solve import predicted_bits
from attncert.constructions.width_one import coordinates, theorem
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
    built = build(data, short_heads=not saturated, **options)
    assert rank_mod(features_mod(data, built.layer), SAFE_PRIME) == data.T


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


def test_narrow_integers_are_not_overflowed() -> None:
    rng = np.random.default_rng(0)
    contexts = rng.integers(-128, 128, (9, 4, 5), dtype=np.int8)
    queries = rng.integers(-128, 128, (9, 5), dtype=np.int8)
    data = Dataset.of(contexts, queries, np.arange(9))
    for saturated in (False, True):
        built = build(data, short_heads=not saturated)
        assert rank_mod(features_mod(data, built.layer), SAFE_PRIME) == 9


def test_an_unlucky_prime_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modulo 3 nine examples cannot be independent on so few values; the next prime is taken."""
    tried: list[int] = []
    original = theorem.WidthOneBuilder

    def spy(data: Dataset, *, prime: int, **settings: Any) -> Any:
        tried.append(prime)
        return original(data, prime=prime, **settings)

    monkeypatch.setattr(theorem, "WidthOneBuilder", spy)
    monkeypatch.setattr(construction, "PRIMES_21", (3, 2096867))
    data = curve(9, 3, 4, shared=True, seed=1)
    built = build(data, short_heads=False)
    assert tried == [3, 2096867]
    assert rank_mod(features_mod(data, built.layer), SAFE_PRIME) == 9
    monkeypatch.setattr(construction, "PRIMES_21", (3,))
    with pytest.raises(HypothesisFails) as refusal:
        build(data, short_heads=False)
    assert (refusal.value.hypothesis, refusal.value.decided) == ("search", False)


def test_short_heads_are_shorter() -> None:
    data = generators.family(13, 4, 6, seed=2)
    short, proof = (predicted_bits(build(data, short_heads=not s), data) for s in (False, True))
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
    built = build(data, heads=20, short_heads=not saturated)
    assert len(built.layer.heads) == 20
    assert full_rank(data, built.layer).numbers["rank"] == 621
