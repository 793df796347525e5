"""Generators and the digits: the same seed gives the same data, every promised property holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from support.oracles import kruskal_rank, rank
from support.strategies import families

from attncert.constructions.data import generators
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import (
    CONTEXTS,
    QUERIES,
    family,
    random,
)
from attncert.constructions.errors import InputError

ALL: list[tuple[str, dict[str, Any]]] = [
    ("random", {}),
    ("random", {"denominator": 7, "m": 2}),
    ("random", {"shared": True, "bound": 1}),
    *(("family", {"contexts": kind, "m": 2}) for kind in CONTEXTS),
    *(("family", {"queries": kind, "shared": True}) for kind in QUERIES),
]


@pytest.mark.parametrize(("name", "options"), ALL)
def test_shapes_and_seeds(name: str, options: dict[str, Any]) -> None:
    make = getattr(generators, name)
    data = make(6, 2, 4, seed=3, **options)
    count = 1 if options.get("shared") else 6
    assert data.contexts.shape == (count, 2, 4)
    assert data.queries.shape == (6, 4)
    assert data.labels.shape == (6, options.get("m", 1))
    assert make(6, 2, 4, seed=3, **options).sha256 == data.sha256
    assert make(6, 2, 4, seed=4, **options).sha256 != data.sha256


def test_the_streams_are_frozen() -> None:
    """A seed in an old report must still give the same data."""
    assert random(2, 1, 2, denominator=3, seed=1).canonical() == {
        "contexts": [[["-1", "0"]], [["5/3", "3"]]],
        "queries": [["-5", "-4/3"], ["7", "-1/2"]],
        "labels": [["3"], ["1"]],
    }
    kinds = {"contexts": "sparse", "queries": "near-collinear"}
    assert family(2, 1, 2, seed=1, **kinds).canonical() == {
        "contexts": [[["7", "0"]], [["8", "0"]]],
        "queries": [["-44993", "-36001"], ["-45004", "-35994"]],
        "labels": [["-5"], ["-2"]],
    }


@settings(deadline=None, max_examples=80)
@given(families())
def test_contexts_of_families_have_full_rank(data: Dataset) -> None:
    assert all(rank(context) == data.n for context in data.contexts.fractions())


def test_contexts_are_of_their_kind() -> None:
    permuted = family(99, 3, 4, contexts="permuted").contexts.strings()
    assert len({tuple(map(tuple, sorted(context))) for context in permuted}) == 1
    assert len({tuple(map(tuple, context)) for context in permuted}) == 6  # all orders of 3 rows
    scaled = family(30, 2, 3, contexts="scaled").contexts.stored
    sizes = np.abs(scaled).max(axis=(1, 2))
    assert sizes.max() > 10**11 and sizes.min() < 100
    sparse = family(30, 3, 6, contexts="sparse").contexts.stored
    assert set(np.count_nonzero(sparse, axis=2).ravel().tolist()) == {1, 2}


@pytest.mark.parametrize(("T", "n", "d"), [(5, 2, 3), (6, 3, 3), (3, 2, 4), (1, 1, 1), (6, 2, 4)])
def test_kruskal_ranks_of_queries(T: int, n: int, d: int) -> None:
    def of(kind: str) -> int:
        return kruskal_rank(family(T, n, d, queries=kind, seed=T).queries.fractions())

    assert of("moment-curve") == min(T, d)
    assert of("one-subspace") == min(T, n)


def test_queries_are_of_their_kind() -> None:
    collinear = family(20, 2, 3, queries="near-collinear").queries.floats()
    unit = collinear / np.linalg.norm(collinear, axis=1, keepdims=True)
    assert np.abs(unit @ unit[0]).min() > 0.999
    assert rank(family(20, 2, 3, queries="near-collinear").queries.fractions()) == 3
    sparse = family(30, 2, 5, queries="sparse").queries.stored
    assert set(np.count_nonzero(sparse, axis=1).tolist()) == {1, 2}


def test_a_bound_too_small_for_full_rank() -> None:
    with pytest.raises(InputError, match="bound: must be large enough for 2×2 matrices of full"):
        family(1, 2, 2, bound=0)
