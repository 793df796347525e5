"""Two layers, the first of which mixes: one query for all, memorized; and where it fails."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

import attncert
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.mixing import mean

CLS = [1, 0, 2, 0, 0, 1, 0, 0, 0, 0, 3, 0, 0, 0, 0, 1]


def one_query(examples: int) -> Dataset:
    """Digits, each with its own context and label, and one query for all."""
    digits = attncert.load("digits").take(range(examples))
    queries = [CLS] * examples
    return Dataset.of(digits.contexts.fractions(), queries, digits.labels.fractions(), "digits")


def test_the_layer_is_uniform_attention_with_a_skip() -> None:
    """Against the definition, in fractions, token by token."""
    draw = random.Random(2)
    E = [[[Fraction(draw.randint(-5, 5), 3) for _ in range(4)] for _ in range(3)] for _ in range(5)]
    e = [[Fraction(draw.randint(-5, 5), 7) for _ in range(4)] for _ in range(5)]
    behind = mean(4).behind(Dataset.of(E, e))
    for t in range(5):
        means = [sum(column) / 3 for column in zip(*E[t], strict=True)]
        added = [[x + m for x, m in zip(row, means, strict=True)] for row in [*E[t], e[t]]]
        assert behind.contexts.fractions()[t] == added[:3]
        assert behind.queries.fractions()[t] == added[3]


def test_two_layers_memorize_what_one_does_not() -> None:
    """Digits with one query: A1 is refuted; after the first layer the second one is exact."""
    data, settings = one_query(7), attncert.Prove(heads=2, head_width=4)
    assert attncert.prove(data, settings).standing.value != "proved"
    proof = attncert.prove(mean(16).behind(data), settings)
    assert proof.standing.value == "proved" and proof.certificate is not None
    assert proof.trace["hypothesis.A2"].level.value == "proved"


@pytest.mark.slow
def test_25_digits_in_two_layers() -> None:
    proof = attncert.prove(mean(16).behind(one_query(25)), attncert.Prove(heads=8, head_width=4))
    assert proof.standing.value == "proved" and proof.certificate is not None


def test_a_shared_context_stays_shared() -> None:
    data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, 1, 7])
    behind = mean(2).behind(data)
    assert behind.shared and behind.queries.strings()[0] == ["3/2", "5/2"]


def test_permuted_contexts_stay_tied() -> None:
    """Equal means, equal queries: the same input up to the order of its tokens, refuted."""
    rows = [[1, 0, 0], [0, 2, 0]]
    data = Dataset.of([rows, rows[::-1]], [[1, 1, 1]] * 2, [0, 1])
    behind = mean(3).behind(data)
    assert behind.queries.strings()[0] == behind.queries.strings()[1]
    assert attncert.prove(behind, attncert.Prove(heads=2)).standing.value == "refuted"
