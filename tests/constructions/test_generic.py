"""Random small weights and given weights have full rank, or are refused with the true reason."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import exact_data
from support.built import Built, claims
from support.gaussian import gaussian
from support.oracles import SAFE_PRIME, features_mod, hypotheses_hold, rank_mod
from support.strategies import families

from attncert.constructions import construction
from attncert.constructions.data import generators
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.exact.primes import PRIMES_21
from attncert.constructions.from_layer import from_layer
from attncert.constructions.generic import build
from attncert.constructions.layer import Layer


def rank_of(data: Dataset, **options: int) -> int:
    return rank_mod(features_mod(data, build(data, **options).layer), SAFE_PRIME)


DATA = {
    "distinct": exact_data.family(7, 3, 4, seed=1),
    "shared": exact_data.family(7, 3, 4, shared=True, seed=1),
    "rational": generators.random(7, 3, 4, denominator=6, seed=2),
    "permuted": exact_data.family(9, 3, 4, contexts="permuted", seed=2),
    "two tokens": exact_data.family(5, 2, 2, shared=True, queries="moment-curve", seed=2),
    "one dimension": Dataset.of([[[2]], [[3]]][:1], [[1]], [4]),
    "floats": gaussian(5, 3, 4, seed=1),
}


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("width", [1, 3])
def test_records_and_rank(name: str, width: int) -> None:
    data = DATA[name]
    built = build(data, head_width=width, seed=5)
    assert (built.name, built.layer.head_width) == ("generic", width)
    assert all(claim.level.holds for claim in claims(Built(data, built)))
    z = features_mod(data, built.layer)
    used = [h * data.d + j for h, head in enumerate(built.heads) for j in head.pivots]
    assert rank_mod([[row[j] for j in used] for row in z], SAFE_PRIME) == data.T == len(used)


@settings(max_examples=40, deadline=None)
@given(families(max_T=7), st.integers(1, 3))
def test_full_rank_wherever_the_theorem_has_room(data: Dataset, width: int) -> None:
    """By Corollary 2 of docs/width-one.md, almost all weights give full rank; small ones do."""
    if hypotheses_hold(data, data.n, None) and (data.n > 1 or data.T == 1):
        heads = -(-(data.T - 1) // max(1, data.n - 1)) or 1
        if hypotheses_hold(data, data.n, heads):
            assert rank_of(data, head_width=width, heads=heads) == data.T


def test_weights_grow_when_small_ones_fail() -> None:
    """The rows are unit vectors in 5 of 40 columns, so sparse draws give them equal logits."""
    contexts = np.zeros((1, 5, 40), dtype=np.int64)
    contexts[0, :, :5] = np.eye(5)
    data = Dataset.of(contexts, exact_data.family(9, 5, 40, seed=1).queries, np.arange(9))
    built = build(data)
    assert max(head.draws for head in built.heads) > 6
    assert rank_mod(features_mod(data, built.layer), SAFE_PRIME) == 9


def test_a_prime_that_divides_a_sum_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    data = exact_data.family(9, 3, 4, shared=True, queries="moment-curve", seed=1)
    monkeypatch.setattr(construction, "PRIMES_21", (3,))  # 1 + 1 + 1 = 0
    with pytest.raises(HypothesisFails) as refusal:
        build(data)
    assert refusal.value.decided is False
    monkeypatch.setattr(construction, "PRIMES_21", (3, 2096867))
    assert rank_of(data) == 9


LAYER = Layer.of_weights([([[1], [0]], [[1], [0]])])


def one_token(x: int) -> Dataset:
    """Contexts of one token, so that the features are (1, 0) and (0, x)."""
    return Dataset.of([[[1, 0]], [[0, x]]], [[1, 0], [0, 1]], [3, 4])


@pytest.mark.parametrize("unlucky", [PRIMES_21[:1], PRIMES_21[:2]])
def test_a_prime_that_hides_the_rank_is_not_the_last_word(unlucky: tuple[int, ...]) -> None:
    x = 1
    for prime in unlucky:
        x *= prime
    assert from_layer(LAYER, one_token(x), "mine").groups == ((0, 1),)


def test_a_logit_that_is_not_whole_is_refused_with_its_place() -> None:
    half = Layer.of_weights([([[1], [0]], [[1], [0]]), ([["1/2"], [0]], [[1], [0]])])
    with pytest.raises(HypothesisFails, match="of head 2 do not fit: a logit of example 0"):
        from_layer(half, one_token(0), "mine")


def test_features_of_too_small_a_rank_are_refused_with_it() -> None:
    twice, said = (
        Layer.of_weights([([[1], [0]], [[1], [0]])] * 2),
        r"have rank 1 mod .* rank 2 is needed: ",
    )
    said += "example 1 depends on the others"
    with pytest.raises(HypothesisFails, match=said) as refusal:
        from_layer(twice, one_token(0), "mine")
    assert not refusal.value.decided and refusal.value.witness == {"rank": 1, "examples": 2}
