"""The ranks of Jacobian and features of a given network: proved, enclosed, refuted or open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import random
from attncert.constructions.layer import Head
from attncert.constructions.network.blocks import Attention, FeedForward
from attncert.constructions.network.network import Network, readout
from attncert.verify.claims.evidence import Level
from attncert.verify.newton.ranks import ranks


def matrix(rng: np.random.Generator, rows: int, columns: int, over: int = 8) -> fmpq_mat:
    return fmpq_mat(rows, columns, rng.integers(-9, 10, rows * columns).tolist()) / over


def network(unit: str, *, relu: bool = False, seed: int = 1) -> Network:
    rng = np.random.default_rng(seed)

    def attention(m: int, of: str) -> Attention:
        heads = tuple(Head(*(matrix(rng, 3, 1) for _ in range(3))) for _ in range(2))
        return Attention(heads, matrix(rng, 2, m), of=of, unit=unit, residual=of == "all")

    between = FeedForward(matrix(rng, 3, 3), matrix(rng, 1, 3), "all", "relu", residual=True)
    blocks = [attention(3, "all"), *([between] if relu else []), attention(1, "query")]
    return Network(tuple(blocks))


def data(T: int) -> Dataset:
    return random(T=T, n=3, d=3, seed=2)


@pytest.mark.parametrize(
    ("unit", "relu", "level"),
    [("ln 2", False, Level.PROVED), ("1", False, Level.ENCLOSED), ("ln 2", True, Level.ENCLOSED),
     ("1", True, Level.ENCLOSED)],
)  # fmt: skip
def test_generic_networks_move_in_every_direction(unit: str, relu: bool, level: Level) -> None:
    of_jacobian, of_features = ranks(data(6), network(unit, relu=relu))
    assert of_jacobian.level is of_features.level is level
    assert of_features.numbers == {"rows": 6, "columns": 6}


@pytest.mark.parametrize(
    ("T", "levels"), [(90, [Level.REFUTED] * 2), (7, [Level.ENCLOSED, Level.REFUTED])]
)
def test_fewer_columns_than_rows_are_refuted(T: int, levels: list[Level]) -> None:
    claims = ranks(data(T), network("1"))
    assert [claim.level for claim in claims] == levels
    assert claims[1].witness == {"rows": T, "columns": 6}


@pytest.mark.parametrize("unit", ["1", "ln 2"])
def test_equal_examples_leave_it_open(unit: str) -> None:
    twice = data(8).take([0, 1, 2, 3, 0])
    for claim in ranks(twice, network(unit)):
        assert claim.level is Level.UNDECIDED and claim.witness


def test_a_readout_of_0_leaves_it_open() -> None:
    first, last = network("1").blocks
    assert isinstance(last, Attention)
    still = replace(last, output=fmpq_mat(2, 1), heads=tuple(
        Head(head.key, head.query, fmpq_mat(3, 1)) for head in last.heads
    ))  # fmt: skip
    of_jacobian, of_features = ranks(data(6), Network((first, still)))
    assert of_jacobian.level is Level.UNDECIDED and of_features.level is Level.ENCLOSED


@pytest.mark.parametrize("unit", ["1", "ln 2"])
@pytest.mark.parametrize(("third", "full"), [(3, False), (4, True)])
def test_planted_features(unit: str, third: int, full: bool) -> None:
    """The first block adds 0, and the last attends to all tokens alike: features are means."""
    contexts = [[[1, 0, 0], [1, 2, 0]], [[0, 1, 0], [2, 1, 2]], [[1, 1, 0], [3, third, 2]]]
    means = Dataset.of(contexts, [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [1, 2, 3])
    none, some = fmpq_mat(3, 1), fmpq_mat(3, 1, [1, 2, 5])
    first = Attention((Head(some, some, none),), fmpq_mat(1, 3), "all", unit=unit, residual=True)
    last = Attention((Head(none, some, some),), fmpq_mat(1, 1, [1]), "query", unit=unit)
    _, of_features = ranks(means, Network((first, last)))
    assert of_features.level.holds is full


def test_other_networks_have_no_such_claim() -> None:
    assert ranks(data(4), Network((readout(fmpq_mat(3, 1, [1, 2, 3])),))) == []
    first, last = network("1").blocks
    assert isinstance(last, Attention)
    hard = replace(last, rule="hardmax", unit=None)
    assert ranks(data(4), Network((first, hard))) == []
