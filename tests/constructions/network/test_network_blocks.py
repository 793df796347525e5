"""Blocks with every rule, mask, `of` and residual agree with plain fractions; so do mixtures."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from flint import ctx, fmpq, fmpq_mat
from support import networks

import attncert
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.layer import Head
from attncert.constructions.network.arithmetic import Inexact
from attncert.constructions.network.blocks import Attention, FeedForward
from attncert.constructions.network.file import of_json
from attncert.constructions.network.mixing import mean
from attncert.constructions.network.network import Network, readout

ONE, ZERO = fmpq_mat([[1]]), fmpq_mat([[0]])
PLAIN = Attention((Head(ONE, ONE, ONE),), ONE)


def test_random_networks_are_exact_or_inexact_as_plain_fractions_are() -> None:
    """Each rule, mask, `of`, activation and residual occurs; balls enclose the exact values."""
    words: Counter[Any] = Counter()
    for seed in range(200):
        blocks, data, _ = networks.network(seed)
        network = of_json(blocks)
        try:
            exact = networks.outputs(blocks, data)
        except networks.Irrational:
            with pytest.raises(Inexact):
                network.outputs(networks.dataset(data))
            continue
        outputs = network.outputs(networks.dataset(data))
        assert [[str(x) for x in row] for row in outputs.tolist()] == [
            [str(x) for x in row] for row in exact
        ], seed
        for block in blocks:
            mask = block.get("mask")
            kind = block.get("rule") or block["activation"]
            words[kind, block["of"], block["residual"]] += 1
            words["mask", "rows" if isinstance(mask, list) else mask] += 1
        try:
            balls = network.enclosures(networks.dataset(data)).entries()
        except Inexact:
            continue
        with ctx.workprec(512):
            assert all(b.contains(x) for b, x in zip(balls, outputs.entries(), strict=True)), seed
    attention = {(r, o, x) for r in ("softmax", "hardmax", "linear") for o in ("query", "all")
                 for x in (True, False)}  # fmt: skip
    feed = {(a, o, x) for a in ("identity", "relu", "threshold") for o in ("query", "all", "row")
            for x in (True, False)}  # fmt: skip
    assert attention | feed | {("mask", x) for x in (None, "causal", "rows")} <= set(words)


@pytest.mark.parametrize(
    ("attempt", "line"),
    [
        (lambda: Attention((Head(ONE, fmpq_mat(1, 2), ONE),), ONE), "query: must be of 1 columns"),
        (lambda: Attention((), ONE), "heads: must be one or more"),
        (lambda: Attention((Head(ONE, ONE),), ONE), "heads: must be one or more"),
        (lambda: Attention((Head(ONE, ONE, ONE),), fmpq_mat(2, 1)), "output: must be of 1 rows"),
        (lambda: replace(PLAIN, of="row"), "of: must be 'query' or 'all'"),
        (lambda: replace(PLAIN, rule="max"), "rule: must be 'softmax'"),
        (lambda: replace(PLAIN, unit=None), "logit_unit: must be 'ln 2' or '1'"),
        (lambda: replace(PLAIN, rule="hardmax"), "logit_unit: must be None"),
        (lambda: replace(PLAIN, mask=((True,), (False,))), "mask: must be rows with a 1"),
        (lambda: FeedForward(ONE, fmpq_mat(1, 2)), "bias: must be of 1 numbers"),
        (lambda: FeedForward(ONE, ZERO, activation="mish"), "activation: must be 'identity'"),
        (lambda: Network(()), "network: must be made of one or more blocks"),
        (lambda: run(FeedForward(fmpq_mat(3, 1), ZERO)), "block 1: weights: must be of 1 rows"),
        (lambda: run(FeedForward(fmpq_mat(1, 2), fmpq_mat(1, 2), residual=True)),
         "block 1: residual: must be false"),
        (lambda: run(replace(PLAIN, mask=((True,),))), "block 1: mask: must be 1 rows of 2"),
        (lambda: run(replace(PLAIN, mask=((True,) * 2,), of="all")), "mask: must be 3 rows of 2"),
        (lambda: run(Attention((Head(fmpq_mat(2, 1), ONE, ONE),), ONE)), "key: must be of 1 rows"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_line(attempt: Any, line: str) -> None:
    with pytest.raises(InputError) as error:
        attempt()
    assert line in str(error.value) and "\n" not in str(error.value)


def run(block: Any) -> Any:
    return Network((block,)).outputs(Dataset.of([[1], [2]], [[1]]))


def test_rows_of_different_lengths_are_refused() -> None:
    row = readout(fmpq_mat(2, 1), of="row")
    with pytest.raises(InputError, match="'query' or 'all' for contexts of different lengths"):
        Network((row,)).outputs(Dataset.of([[[1]], [[1], [2]]], [[1], [2]]))


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        (replace(PLAIN, unit="1"), "irrational"),
        (Attention((Head(ONE * fmpq(1, 2), ONE, ONE),), ONE), "integers in units"),
        (Attention((Head(ONE * fmpq(2**30), ONE, ONE),), ONE), "logits differ by over"),
    ],
)
def test_what_is_not_rational_is_inexact(block: Attention, reason: str) -> None:
    with pytest.raises(Inexact, match=reason):
        run(block)


def test_counts() -> None:
    """Counts nonzero numbers, the bits of numerators and of denominators > 1, and hidden units."""
    relu = FeedForward(fmpq_mat(1, 3, [fmpq(1, 3), 0, -4]),
                       fmpq_mat(1, 3, [0, 5, 0]), activation="relu")  # fmt: skip
    network = Network((relu, readout(fmpq_mat(3, 1, [1, 1, 1]))))
    assert (network.parameters, network.bits, network.longest) == (6, 1 + 2 + 3 + 3 + 3, 3)
    assert (network.units, network.depth, network.stored) == (3, 2, 9)
    again = Network((*network.blocks, readout(fmpq_mat(1, 3, [1, 1, 1])), network.blocks[-1]))
    assert (again.parameters, again.stored) == (12, 9)  # also if it is transposed


CLS = [1, 0, 2, 0, 0, 1, 0, 0, 0, 0, 3, 0, 0, 0, 0, 1]


def one_query(examples: int) -> Dataset:
    """Digits, each with its own context and label, and one shared query."""
    digits = attncert.load("digits").take(range(examples))
    queries = [CLS] * examples
    return Dataset.of(digits.contexts.fractions(), queries, digits.labels.fractions(), "digits")


def test_the_layer_is_uniform_attention_with_a_skip() -> None:
    """The layer agrees with the definition, evaluated in fractions token by token."""
    draw = random.Random(2)
    E = [[[Fraction(draw.randint(-5, 5), 3) for _ in range(4)] for _ in range(3)] for _ in range(5)]
    e = [[Fraction(draw.randint(-5, 5), 7) for _ in range(4)] for _ in range(5)]
    mixed = mean(4).apply(Dataset.of(E, e))
    for t in range(5):
        means = [sum(column) / 3 for column in zip(*E[t], strict=True)]
        added = [[x + m for x, m in zip(row, means, strict=True)] for row in [*E[t], e[t]]]
        assert mixed.contexts.fractions()[t] == added[:3]
        assert mixed.queries.fractions()[t] == added[3]


def test_two_layers_memorize_what_one_does_not() -> None:
    """For digits with one query, A1 is refuted, but the second of two layers is exact."""
    data, settings = one_query(7), attncert.Prove(heads=2, head_width=4)
    assert attncert.prove(data, settings).standing.value != "proved"
    proof = attncert.prove(mean(16).apply(data), settings)
    assert proof.standing.value == "proved" and proof.certificate is not None
    assert proof.trace["hypothesis.A2"].level.value == "proved"


def test_a_shared_context_stays_shared() -> None:
    data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, 1, 7])
    mixed = mean(2).apply(data)
    assert mixed.shared and mixed.queries.strings()[0] == ["3/2", "5/2"]


def test_permuted_contexts_stay_tied() -> None:
    """Means and queries are equal: memorizing permuted copies of an input is refuted."""
    rows = [[1, 0, 0], [0, 2, 0]]
    data = Dataset.of([rows, rows[::-1]], [[1, 1, 1]] * 2, [0, 1])
    mixed = mean(3).apply(data)
    assert mixed.queries.strings()[0] == mixed.queries.strings()[1]
    assert attncert.prove(mixed, attncert.Prove(heads=2)).standing.value == "refuted"
