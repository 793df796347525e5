"""Third-party weights (trained, built and rounded, or wrong), compared with plain NumPy."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from support.exact_data import family
from support.trained_layer import Arrays, forward, trained

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.digits import digits
from attncert.constructions.data.sequences import of_sequences
from attncert.constructions.errors import InputError
from attncert.constructions.layer import Head, Layer
from attncert.constructions.network.arithmetic import RATIONAL
from attncert.constructions.network.states import States
from attncert.constructions.weights.own import of_arrays
from attncert.constructions.weights.stored import StoredLayer
from attncert.reports.answers import report
from attncert.verify.claims.evidence import Level
from attncert.verify.features.attention import Attention
from attncert.verify.outputs.error import Limit, default_limit, share
from attncert.verify.prove.prove import prove
from attncert.verify.questions.layer import LayerQuestion
from attncert.verify.questions.prove import Prove
from attncert.verify.third_party.layer.layer import LayerAnswer, layer
from attncert.verify.third_party.layer.mask import causal_mask, visible_rows

RNG = np.random.default_rng(5)
CONTEXTS = RNG.integers(-2, 3, (6, 3, 4)).astype(float)
QUERIES = RNG.integers(-2, 3, (6, 4)).astype(float)
LABELS = RNG.integers(-3, 4, (6, 1)).astype(float)
DATA = Dataset.of(CONTEXTS, QUERIES, LABELS, "six")


@cache
def gradient_descent(steps: int = 1500) -> Arrays:
    return trained(CONTEXTS, QUERIES, LABELS, heads=2, width=2, steps=steps)


def answered(weights: StoredLayer, data: Dataset = DATA, **options: Any) -> LayerAnswer:
    return layer(weights, data, LayerQuestion(**options))


def audited(arrays: Arrays, data: Dataset = DATA, **options: Any) -> LayerAnswer:
    return answered(of_arrays(arrays), data, **options)


def page(answer: LayerAnswer) -> str:
    return report(answer).files["report.md"].decode()


# A trained layer.


def test_a_trained_layer_memorizes() -> None:
    """Errors, largest weights and the singular value are enclosed, and agree with float64."""
    arrays = gradient_descent()
    found = audited(arrays)
    outputs, weights, features = forward(CONTEXTS, QUERIES, arrays)
    assert found.trace["layer.memorizes"].level is Level.ENCLOSED
    assert found.trace["layer.rank"].level is Level.ENCLOSED
    for t, (low, high) in enumerate(found.trace["layer.error"].numbers["errors"]):
        error = abs(outputs[t] - LABELS[t]).max()
        assert float(low) - 1e-12 <= error <= float(high) + 1e-12
        assert float(high) < 1e-9, "trained to the end"
    audit = found.audit
    assert audit is not None
    for h, head in enumerate(audit.heads):
        for t, off in enumerate(head.off_peak):
            assert abs(float(off.mid()) + weights[h, t].max() - 1) < 1e-12 > float(off.rad())
    Z = np.concatenate(list(features), axis=1)
    smallest = np.linalg.svd(Z, compute_uv=False)[-1]
    assert audit.sigma.lower <= smallest * (1 + 1e-9) and smallest <= audit.sigma.upper * (1 + 1e-9)


def test_half_trained_it_does_not() -> None:
    found = audited(gradient_descent(20))
    assert found.trace["layer.memorizes"].level is Level.REFUTED
    witness = found.trace["layer.memorizes"].witness
    assert witness is not None
    outputs = forward(CONTEXTS, QUERIES, gradient_descent(20))[0]
    far = abs(outputs - LABELS.T)  # distances from outputs to labels
    others = np.where(LABELS == LABELS.T, np.inf, far).min(axis=1)
    margin = (others**2 - far.diagonal() ** 2) / 2
    low, high = map(float, witness["margin"])
    assert low - 1e-9 <= margin[witness["example"]] == margin.min() <= high + 1e-9 < 0
    assert found.trace["layer.rank"].level is Level.ENCLOSED, "the readout alone is to blame"


# Our own weights, exact and rounded.


@cache
def built(T: int = 13) -> tuple[Dataset, Layer]:
    data = digits().take(T)
    proof = prove(data, Prove(heads=4, head_width=4))
    assert proof.layer is not None
    return data, proof.layer


def test_exact_weights_are_exact() -> None:
    data, layer = built()
    found = answered(StoredLayer(layer, "exact", unit="ln2"), data, tolerance=0)
    assert found.trace["layer.memorizes"].level is Level.PROVED
    assert found.trace["layer.rank"].level is Level.PROVED
    assert all(list(error) == ["0", "0"] for error in found.trace["layer.error"].numbers["errors"])


@pytest.mark.parametrize(
    ("dtype", "memorizes", "error"),
    [("float64", True, 1e-11), ("float32", True, 1e-3), ("float16", False, 100)],
)
def test_at_which_precision_memorization_survives(
    dtype: str, memorizes: bool, error: float
) -> None:
    """The features keep full rank at every precision, but a readout rounded to float16 is too
    inaccurate."""
    data, layer = built()
    arrays = {key: value.astype(dtype) for key, value in layer.to_numpy().items()}
    found = audited(arrays, data)
    assert found.trace["layer.memorizes"].level is (Level.ENCLOSED if memorizes else Level.REFUTED)
    assert found.trace["layer.rank"].level is Level.ENCLOSED
    low, high = (float(x) for x in found.trace["layer.error"].numbers["error"])
    assert 0 < low <= high < error
    exactly = audited(arrays, data, tolerance=0)
    assert exactly.trace["layer.memorizes"].level is Level.REFUTED, "rounded weights are not exact"


# Wrong weights.


def test_without_one_head_no_weights_have_the_rank() -> None:
    """With a shared context, rank Z is at most H(n-1)+1 < T."""
    data = family(7, 3, 7, shared=True, seed=1)
    proof = prove(data, Prove(heads=3))
    assert proof.layer is not None
    rounded = Layer(
        tuple(Head(h.key * fmpq(1, 3), h.query, h.value) for h in proof.layer.heads[:2]),
        fmpq_mat(proof.layer.output.tolist()[: 2 * data.m]),
    )
    rank = answered(StoredLayer(rounded, "float64"), data).trace["layer.rank"]
    assert rank.level is Level.REFUTED and rank.witness and rank.witness["no weights exceed"] == 5


def test_full_rank_is_not_enough_for_values_narrower_than_the_labels() -> None:
    """Here rank Z = 2 = T, but one head with values of width one cannot output labels of rank 2."""
    unit: Any = [[1, 0], [0, 1]]
    data, narrow = Dataset.of(unit, unit, unit), np.array([[1.0], [0.0]])
    weights = {"key": narrow, "query": narrow, "value": narrow, "output": np.array([[1.0, 0.0]])}
    answer = answered(of_arrays(weights), data, tolerance=1)
    rank = answer.trace["layer.rank"]
    assert rank.level.holds and rank.statement.endswith("labelling with values of width 2.")
    assert "keys and queries with values of width 2 outputs" in page(answer)
    assert "width" not in audited(gradient_descent(0)).trace["layer.rank"].statement


def test_equal_inputs_tie_two_rows_whatever_the_weights() -> None:
    """In base e nothing is exact; the relation that holds for all weights still refutes the
    rank."""
    contexts = CONTEXTS.copy()
    contexts[3], queries = contexts[1][[2, 0, 1]], QUERIES.copy()
    queries[3] = queries[1]
    claim = audited(gradient_descent(), Dataset.of(contexts, queries, LABELS)).trace["layer.rank"]
    assert claim.level is Level.REFUTED
    assert claim.witness is not None
    assert claim.witness["relation"] == {"indices": [1, 3], "coefficients": ["1", "-1"]}


def test_a_rank_that_nothing_decides_is_undecided() -> None:
    """With two equal heads, rank Z = 4 < T = 6, but no bound for all weights shows it, and balls
    cannot prove a deficit."""
    doubled = {name: np.stack([x[0], x[0]]) for name, x in gradient_descent().items()}
    found = audited(doubled)
    assert found.trace["layer.rank"].level is Level.UNDECIDED
    assert found.audit.sigma.lower == 0 and found.audit.sigma.upper < 1e-9


# Conventions.


def test_a_causal_query_sees_its_own_row_and_those_before() -> None:
    contexts = [[[1, 0], [2, 1], [0, 3]]] * 3
    data = Dataset.of(contexts, contexts[0], [1, 2, 3])
    assert causal_mask(data).tolist() == [
        [True, False, False], [True, True, False], [True, True, True]
    ]  # fmt: skip
    with pytest.raises(
        InputError, match=r"mask: must be .* causal with query 2, which equals none"
    ):
        causal_mask(Dataset.of(contexts, [[1, 0], [2, 1], [5, 5]], [1, 2, 3]))


def uniform_head() -> StoredLayer:
    one = {name: np.ones((1, 1, 1)) for name in ("query", "value", "output")}
    return of_arrays(one | {"key": np.zeros((1, 1, 1))})


def test_a_causal_query_among_equal_tokens() -> None:
    """Real causal outputs of "aba" are not refuted; a query that could be either of two tokens is
    refused."""
    rows = [[3], [0], [3]]
    uniform = uniform_head()
    means = ["3", "3/2", "2"]
    shared = Dataset.of(rows, rows, means)
    embedded = {"a": [3], "b": [0]}
    sequence = of_sequences(["aba"], embedded, examples=[[0, 0], [0, 1], [0, 2]], labels=means)
    for data in (shared, sequence, sequence.expanded()):
        for first in (None, 1):
            answer = answered(uniform, data, mask="causal", examples=first, tolerance="1e-9")
            assert answer.holds
    assert causal_mask(sequence.expanded()).sum(axis=1).tolist() == [1, 2, 3]
    for contexts in (rows, [rows] * 2):
        queries = [[3]] * (2 if len(contexts) == 2 else 1)
        with pytest.raises(InputError, match=r"query 0, which equals 2 tokens: give a mask"):
            causal_mask(Dataset.of(contexts, queries))


def test_a_mask_from_a_file_is_of_the_tokens_in_their_order(tmp_path: Path) -> None:
    uniform = uniform_head()
    data = of_sequences(["abaa"], {"a": [3], "b": [0]}, examples=[[0, 3]], labels=["3/2"])
    np.savez(tmp_path / "mask.npz", mask=np.array([0, 1, 0, 1]))
    assert answered(uniform, data, mask=str(tmp_path / "mask.npz"), tolerance="1e-9").holds


@pytest.mark.parametrize(
    ("mask", "line"),
    [
        (np.ones((2, 2), dtype=bool), r"of shape \(6, 3\), not \(2, 2\)"),
        (np.eye(6, 3, dtype=bool), "one that leaves each query a row, not none for 3"),
    ],
)
def test_bad_masks(mask: np.ndarray, line: str) -> None:
    with pytest.raises(InputError, match=f"mask: must be {line}"):
        visible_rows(DATA, mask)


def test_exact_masked_features() -> None:
    """If a mask leaves one row, the feature is that row."""
    data, layer = built(4)
    mask = np.zeros((4, 4), dtype=bool)
    mask[range(4), [3, 0, 2, 1]] = True
    attention = Attention(visible_rows(data, mask), layer, unit="ln2")
    features = attention.block.features(States.of(attention.data, RATIONAL))[0].tolist()
    for t, row in enumerate([3, 0, 2, 1]):
        assert features[t] == data.context(t).tolist()[row]


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (Dataset.of([[1] * 6], [[1] * 6], [0]), "query of head 1: must be of d = 6 rows, "),
        (Dataset.of([[1] * 4], [[1] * 4], [[0, 1]]), "output: must be of m = 2 columns, "),
    ],
)
def test_bad_conventions(data: Dataset, line: str) -> None:
    with pytest.raises(InputError, match=f"^layer: {line}"):
        audited(gradient_descent(20), data)


def labelled(*labels: Any) -> Dataset:
    return Dataset.of([[1]], [[k] for k in range(1, len(labels) + 1)], list(labels))


def test_the_default_limit() -> None:
    """Integer labels are classes; real labels must be met within a hundredth of their spread."""
    nearer = Limit(None, "is nearer to its own label than to any other", True)
    assert default_limit(DATA) == nearer
    real = default_limit(labelled([0, 0], [0, 3], [1, "1/2"]))
    assert real.bound == Fraction(3, 100), "the largest spread is 3"
    assert default_limit(labelled(0.0, 1000.0, 2.0)) == nearer, "whole, though stored as floats"
    with pytest.raises(InputError, match="tolerance: must be given if all labels are equal"):
        default_limit(labelled(4, 4))


@pytest.mark.parametrize(
    ("size", "spread", "text"),
    [
        ("0.5", 1, "50 %"), ("0.123001", 1, "12.4 %"), ("1", "1/3", "300 %"), ("0", 5, "0 %"),
        pytest.param("1e-301029", 1, "1e-301027 %", marks=pytest.mark.slow),
        ("1e+400", 1, "1e+402 %"), ("7", 1, "700 %"),
    ],
)  # fmt: skip
def test_errors_relative_to_the_labels_are_rounded_up(size: str, spread: Any, text: str) -> None:
    assert share(size, Fraction(spread)) == f"{text} of the labels' spread"
    assert share(size, Fraction(0)) == share("inf", Fraction(1)) == ""


@pytest.mark.parametrize("unit", ["ln2", "e"])
def test_half_way_between_two_labels_is_not_told_apart(unit: str) -> None:
    """Both outputs are 1/2, as near to the label 0 as to the label 1."""
    data = Dataset.of([[1, 1], [1, 2]], [[1, 0], [0, 1]], [0, 1])
    zero = [[0], [0]]
    arrays = {"query": zero, "key": zero, "value": [["1/2"], [0]], "output": [[1]]}
    stored = of_arrays(arrays)
    asked = answered(stored, data, logit_unit=unit)
    claim = asked.trace["layer.memorizes"]
    assert "than to any other" in claim.statement
    assert claim.level is Level.REFUTED and claim.witness is not None
    assert asked.reason == (
        "not on 0, 1; the least margin is 0, of example 0; the largest error is 0.5, 50 % of the "
        "labels' spread"
    )
    within = answered(stored, data, logit_unit=unit, tolerance="1/2").claim
    assert within.level.holds and "by at most 1/2" in within.statement
    above = replace(data, stated=Dataset.of([[1]], [[1], [1]], [0, "101/100"]).labels)
    assert not answered(stored, above, logit_unit=unit).holds
