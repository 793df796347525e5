"""Dimensions of Henry, Marchetti and Kohn (2408.17221), by ranks modulo a tower of primes.

One head of width a in each of L layers of width d, without skip connections. The functions depend
on the product of all value matrices, d × d, and for each layer on one matrix of rank a that gives
the logits between the values before it. Linear attention can move a factor from each such matrix to
the product. So the dimension is at most L a (2d - a) + d² with softmax, L less for linear
attention; they prove equality for linear attention, and conjecture it for softmax if L > 1 (their
program NeuroDim covers both).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq_mat
from support.shares import share

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Head
from attncert.constructions.network.blocks import Attention, Block
from attncert.constructions.network.network import Network
from attncert.verify.claims.evidence import Level
from attncert.verify.depth.ranks import deep_rank
from attncert.verify.newton.ranks import ranks

THEIRS = {(2, d, 2) for d in range(3, 11)}  # their experiment
OURS = {(L, d, a) for L in (1, 2, 3, 4) for d in (2, 3, 5) for a in range(1, d + 1)}


def dimension(rule: str, layers: int, d: int, a: int) -> int:
    return layers * a * (2 * d - a) + d * d - layers * (rule == "linear")


def sequences(T: int, d: int) -> Dataset:
    """Three tokens each; the query is the last one."""
    tokens = np.random.default_rng(d).integers(-50, 51, (T, 3, d))
    return Dataset.of(tokens.tolist(), tokens[:, -1].tolist(), np.zeros((T, d), int).tolist())


def stack(rule: str, layers: int, d: int, a: int) -> Network:
    rng, unit = np.random.default_rng([layers, a]), "ln 2" if rule == "softmax" else None

    def draw(columns: int) -> fmpq_mat:
        return fmpq_mat(rng.integers(1, 1000, (d, columns)).tolist())

    blocks = [
        Attention(
            (Head(draw(a), draw(a), draw(d)),), draw(d),
            of="query" if layer == layers else "all", rule=rule, unit=unit,
        )
        for layer in range(1, layers + 1)
    ]  # fmt: skip
    return Network(tuple(blocks))


@pytest.mark.parametrize("rule", ["linear", "softmax"])
@pytest.mark.parametrize(("layers", "d", "a"), share(sorted(THEIRS | OURS), 9))
def test_the_published_dimension(rule: str, layers: int, d: int, a: int) -> None:
    expected = dimension(rule, layers, d, a)
    data = sequences(expected + 3, d)
    assert deep_rank(data, stack(rule, layers, d, a)).rank == expected


def test_the_claim_about_a_network_with_linear_attention() -> None:
    """The rank is computed modulo a tower for powers of two, else in balls; tokens repeat."""
    data = Dataset.of([[1, 0], [0, 1], [1, 0]], [[1, 2], [3, 1], [1, 1]], [0, 0, 0])
    first, last = stack("linear", 2, 2, 1).blocks
    for unit, level in (("ln 2", Level.PROVED), ("1", Level.ENCLOSED)):
        reads = replace(_small(last), rule="softmax", unit=unit, output=fmpq_mat(2, 1, [1, -2]))
        for mask in (None, "causal"):
            found, _ = ranks(
                data, Network((replace(_small(first), mask=mask, residual=True), reads))
            )
            assert found.level is level
    alone = replace(_small(last), output=fmpq_mat(2, 1, [1, -2]))
    found, _ = ranks(data.take([0, 1]), Network((alone,)))
    assert found.level is Level.PROVED


def _small(block: Block) -> Attention:
    """The same block with logits of size 1."""
    assert isinstance(block, Attention)
    heads = (replace(head, key=head.key / 10**5, query=head.query / 10) for head in block.heads)
    return replace(block, heads=tuple(heads), output=block.output / 10**6)
