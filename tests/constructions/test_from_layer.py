"""A given layer as a construction."""

from __future__ import annotations

import pytest

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.exact.primes import PRIMES_21
from attncert.constructions.from_layer import from_layer
from attncert.constructions.layer import Layer

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


def test_features_of_too_small_a_rank_are_refused_with_it() -> None:
    with pytest.raises(HypothesisFails, match=r"have rank 1 mod .* need 2") as refusal:
        from_layer(LAYER, one_token(0), "mine")
    assert not refusal.value.decided and refusal.value.witness == {"rank": 1, "examples": 2}
