"""Compares one run over each sequence with a run for each example."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from flint import fmpq_mat

from attncert import Attention, Dataset, FeedForward, Head, Network, of_sequences, readout
from attncert.constructions.network.along import Along
from attncert.constructions.network.arithmetic import BALLS, RATIONAL, Arithmetic
from attncert.constructions.network.composed import Group
from attncert.constructions.network.positional import Positions
from attncert.constructions.network.states import States


def matrix(draw: random.Random, rows: int, columns: int) -> fmpq_mat:
    return fmpq_mat([[draw.randint(-3, 3) for _ in range(columns)] for _ in range(rows)])


def attention(draw: random.Random, of: str, mask: Any, rule: str) -> Attention:
    heads = tuple(Head(*(matrix(draw, 2, 2) for _ in range(3))) for _ in range(2))
    unit = "1" if rule == "softmax" else None
    return Attention(heads, matrix(draw, 4, 2), of, rule, unit, mask, residual=True)


def blocks(seed: int, rule: str, mask: Any = "causal") -> tuple[Any, ...]:
    draw = random.Random(seed)
    twice = FeedForward(matrix(draw, 2, 2), matrix(draw, 1, 2), "all", "relu")
    return (
        attention(draw, "all", mask, rule),
        Group((twice, attention(draw, "all", mask, rule)), "all", residual=True),
        attention(draw, "query", None, rule),
        attention(draw, "query", None, rule),
        readout(matrix(draw, 2, 2)),
    )


def texts(seed: int, positions: bool) -> Dataset:
    draw = random.Random(seed)
    words = ["".join(draw.choices("abc", k=draw.randint(2, 5))) for _ in range(3)]
    embedding = {x: [draw.randint(-3, 3), draw.randint(-3, 3)] for x in "abc"}
    shifts = [[draw.randint(-3, 3), 1] for _ in range(5)] if positions else None
    return of_sequences(words, embedding, positions=shifts)


def one_by_one(network: Network, data: Dataset, arithmetic: Arithmetic) -> list[list[Any]]:
    """For each block, its name and the queries and contexts of all examples after it."""
    alone = [list(network.states(data.take([t]), arithmetic)) for t in range(data.T)]
    return [
        [entries(state.queries) + entries(state.contexts[0]) for state in states]
        for states in zip(*alone, strict=True)
    ]


def entries(matrix: Any) -> list[Any]:
    return list(matrix.entries())


@pytest.mark.parametrize("positions", [False, True])
@pytest.mark.parametrize("mask", ["causal", None])
@pytest.mark.parametrize("seed", range(4))
def test_states_are_those_of_each_example(seed: int, mask: Any, positions: bool) -> None:
    data = texts(seed, positions).expanded()
    for rule, arithmetic in (("hardmax", RATIONAL), ("linear", RATIONAL), ("softmax", BALLS)):
        network = Network(blocks(seed, rule, mask))
        together = [
            [
                entry + entries(context)
                for entry, context in zip(
                    map(list, states.queries.tolist()), states.contexts, strict=True
                )
            ]
            for states in network.states(data, arithmetic)
        ]
        for some, others in zip(together, one_by_one(network, data, arithmetic), strict=True):
            for x, y in zip(some, others, strict=True):
                pairs = zip(x, y, strict=True)
                assert all(a.overlaps(b) if arithmetic is BALLS else a == b for a, b in pairs)


def test_each_sequence_is_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, made = [], Attention._made

    def counted(self: Attention, states: Any, **of: Any) -> Any:
        rows.append(int(states.queries.nrows()))
        return made(self, states, **of)

    monkeypatch.setattr(Attention, "_made", counted)
    data = of_sequences(["abab"], {"a": [1, 0], "b": [0, 1]}).expanded()
    list(Network(blocks(0, "hardmax")).states(data))
    assert rows == [3, 3] * 2 + [3, 3]  # tokens, which are also queries; then three examples
    rows.clear()
    list(Network(blocks(0, "hardmax", None)).states(data))
    assert rows == [1, 2, 3, 3] * 2 + [3, 3]


def test_other_blocks_and_data_end_the_run() -> None:
    data, (first, group, query, *_) = texts(0, False).expanded(), blocks(0, "linear")
    along = Along.of(data, States.of(data, RATIONAL))
    assert along is not None and along.after(first) is not None and along.after(group) is not None
    inner = replace(group, blocks=(Group(group.blocks, "query"),))
    moved = Positions(fmpq_mat(9, 2), "all", "next")
    for block in (query, moved, replace(first, mask=None), replace(group, of="query"), inner):
        assert along.after(block) is None
    for other in (data.take([0]), Dataset.of([[1, 2]], [[1, 2]], [3])):
        assert Along.of(other, States.of(other, RATIONAL)) is None
