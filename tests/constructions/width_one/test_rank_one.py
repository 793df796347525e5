"""Heads of width one: records have the stated properties, ranks are as promised, searches stop."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import exact_data
from support.built import Built, claims
from support.gaussian import gaussian
from support.oracles import (
    SAFE_PRIME,
    features_mod,
    hypotheses_hold,
    meets_partition_condition,
    rank_mod,
)
from support.planted import scaled
from support.strategies import families

from attncert.constructions import construction
from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.layer import Head, Layer
from attncert.constructions.readout.solve import predicted_bits
from attncert.constructions.width_one import coordinates, theorem
from attncert.constructions.width_one import head as head_module
from attncert.constructions.width_one.head import WidthOneBuilder
from attncert.constructions.width_one.short import ShortHeads
from attncert.constructions.width_one.theorem import WidthOneHead, build

SQUARE = exact_data.family(7, 3, 3, queries="moment-curve", m=2, seed=4)


def regroupable() -> Dataset:
    """A1 is false: query 0 lies in the span of 3 and 4, the second group of the given order."""
    queries = [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0], [1, 1, 0, 0]]
    plain = exact_data.family(5, 3, 4, seed=8)
    return Dataset.of(plain.contexts, queries, [1, 2, 3, 4, 5])


def long() -> Dataset:
    """Distinct contexts of 80 bits: E⁽ᵗ⁾u is beyond int64 in every basis."""
    plain = exact_data.family(7, 3, 4, queries="moment-curve", seed=9)
    contexts = plain.contexts.numerators.astype(object) * 3**50
    contexts += np.arange(contexts.size).reshape(contexts.shape) ** 3
    return Dataset.of(contexts.tolist(), plain.queries, plain.labels)


def curve(T: int, n: int, d: int, **options: Any) -> Dataset:
    return exact_data.family(T, n, d, queries="moment-curve", **options)


# data, options
CASES: dict[str, tuple[Dataset, dict[str, Any]]] = {
    "distinct": (curve(7, 3, 4, seed=1), {}),
    "shared": (curve(7, 3, 4, shared=True, seed=1), {}),
    "permuted": (curve(7, 3, 4, contexts="permuted", seed=1), {}),
    # large denominators; n = d, so that the lattices are not trivial
    "rational": (scaled(SQUARE, Fraction(1, 10007), Fraction(5, 6)), {}),
    "long": (long(), {}),
    "short last group": (curve(6, 3, 4, seed=2), {}),
    "fewer examples than tokens": (curve(2, 3, 4, seed=2, m=2), {}),
    "n = d": (curve(10, 4, 4, shared=True, seed=5), {}),
    "one head": (exact_data.family(3, 3, 4, seed=5), {"heads": 1}),
    "idle heads": (exact_data.family(4, 3, 4, seed=5), {"heads": 5}),
    "one token": (Dataset.of([[2, -1]], [[3, 1]], [5]), {"heads": 3}),
    "two tokens": (curve(6, 2, 3, shared=True, seed=6), {}),
    "step seven": (exact_data.step_seven_trap(), {"heads": 2}),
    "regrouped": (regroupable(), {"heads": 2}),
    "identity": (Dataset.of(np.eye(2, dtype=int), np.eye(2, dtype=int), [1, 2]), {"heads": 1}),
}
Case = tuple[Dataset, dict[str, Any], BuiltLayer]


@pytest.fixture(
    scope="module",
    params=[(name, saturated) for name in CASES for saturated in (False, True)],
    ids=lambda p: f"{p[0]}, {'proof' if p[1] else 'short'}",
)
def case(request: pytest.FixtureRequest) -> Case:
    name, saturated = request.param
    data, options = CASES[name]
    return (
        data,
        options | {"saturated": saturated},
        build(data, short_heads=not saturated, **options),
    )


def proof_heads(built: BuiltLayer) -> list[WidthOneHead]:
    return [head for head in built.heads if not head.short]


def test_every_step_of_the_proof_holds(case: Case) -> None:
    """The steps compare the record with the finished weights; step_defects.py plants errors."""
    data, options, built = case
    assert all(claim.level.holds for claim in claims(Built(data, built)))
    assert built.partition is not None
    assert meets_partition_condition(data.queries.fractions(), built.partition)
    assert len(built.layer.heads) == options.get("heads", len(built.partition))
    if options["saturated"]:
        assert built.groups == built.partition
        assert not any(head.short for head in built.heads)


def test_no_smaller_c_would_do(case: Case) -> None:
    """At c - 1, the rows of the examples placed so far, in the columns in use, are dependent."""
    data, _, built = case
    for number, head in enumerate(built.heads):
        if not head.c:
            continue
        weights = list(built.layer.heads[: number + 1])
        weights[number] = Head(head.separator, head.query - head.selector)
        z = features_mod(data, Layer(tuple(weights)))
        used = [h * data.d + j for h in range(number) for j in built.heads[h].pivots]
        used += range(number * data.d, (number + 1) * data.d)
        placed = [*head.earlier, *head.group]
        assert rank_mod([[z[t][j] for j in used] for t in placed], SAFE_PRIME) < len(placed)


def test_the_pivots_are_invertible(case: Case) -> None:
    data, _, built = case
    z = features_mod(data, built.layer)
    used = [h * data.d + j for h, head in enumerate(built.heads) for j in head.pivots]
    assert len(used) == data.T
    assert rank_mod([[row[j] for j in used] for row in z], SAFE_PRIME) == data.T


@pytest.mark.parametrize("saturated", [False, True])
def test_subnormals_and_the_largest_floats(saturated: bool) -> None:
    plain = gaussian(5, 2, 3, dtype=np.float64, seed=1)
    E, e = plain.contexts.floats(), plain.queries.floats()
    data = Dataset.of(E * np.array([1e300, 1e-300, 1])[None, None, :], e, [1, 2, 3, 4, 5])
    built = build(data, short_heads=not saturated)
    assert rank_mod(features_mod(data, built.layer), SAFE_PRIME) == 5


@settings(max_examples=60, deadline=None)
@given(families(max_T=7), st.booleans(), st.integers(0, 3))
def test_builds_exactly_where_the_hypotheses_hold(
    data: Dataset, saturated: bool, heads: int
) -> None:
    """An oracle tries every grouping: the rank is T, or the refusal names what fails."""
    wanted = heads or None
    if hypotheses_hold(data, data.n, wanted):
        built = build(data, heads=wanted, short_heads=not saturated)
        assert rank_mod(features_mod(data, built.layer), SAFE_PRIME) == data.T
        assert all(head.key.rank() <= 1 and head.width == 1 for head in built.layer.heads)
    else:
        with pytest.raises(HypothesisFails) as refusal:
            build(data, heads=wanted, short_heads=not saturated)
        assert refusal.value.hypothesis in ("capacity", "some-partition")


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


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("without", [False, True])
def test_large_layers(name: str, without: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One pair is tried for each head: short heads for the proof's groups, or the proof's own heads
    if no short ones are found."""
    monkeypatch.setattr(head_module, "_LARGE", 0)
    monkeypatch.setattr(ShortHeads, "place", lambda _: None)
    if not without:
        monkeypatch.setattr(WidthOneBuilder, "_without_selector", lambda *_: None)
    data, options = CASES[name]
    built = build(data, **options)
    assert rank_mod(features_mod(data, built.layer), SAFE_PRIME) == data.T
    assert built.groups == built.partition
    short = [head.short for head in built.heads]
    placing = without and name != "two tokens"  # with a single α, its heads are all alike
    assert short == [placing and h > 0 for h in range(len(short))]
    for head in proof_heads(built)[1:]:
        assert head.selector is not None and len(head.targets) == len(head.earlier)


def test_an_unlucky_prime_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modulo 3, nine examples cannot be independent with so few values; the next prime is taken."""
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
    data = exact_data.family(13, 4, 6, seed=2)
    short, proof = (predicted_bits(build(data, short_heads=not s), data) for s in (False, True))
    assert 4 * short < proof
