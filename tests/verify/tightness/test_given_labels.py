"""Labels: what their rank excludes, and what given ones allow beyond the universal bound."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.oracles import rank
from support.small_layers import right_inverse
from support.tightness_cases import EYE, found, shared

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.verify import checker
from attncert.verify.certificate import canonical_bytes, certificate
from attncert.verify.claims.evidence import Level
from attncert.verify.tightness import given_labels
from attncert.verify.tightness.given_labels import fit_given_labels
from attncert.verify.tightness.labels import label_rank


def test_labels_of_too_large_rank() -> None:
    data = Dataset.of(EYE[:2], EYE[:4], [[1, 0, 1], [0, 1, 1], ["1/2", 0, 0], [1, 1, 1]])
    refuted = label_rank(data, heads=1, value_width=2)
    assert refuted.level is Level.REFUTED and refuted.witness is not None
    table = data.labels.fractions()
    minor = [[table[t][j] for j in refuted.witness["columns"]] for t in refuted.witness["rows"]]
    assert rank(minor) == 3 and len(minor) == 3
    assert label_rank(data, heads=1, value_width=3).level is Level.PROVED
    assert label_rank(data, heads=2, value_width=2).level is Level.PROVED
    with pytest.raises(InputError):
        label_rank(data, heads=0, value_width=2)


def by_mpmath(data: Dataset, witness: Any) -> list[Any]:
    """Outputs of one head from the numbers in the claim, with real logarithms."""
    queries = data.queries.fractions()
    gram = [[sum(x * y for x, y in zip(a, b, strict=True)) for b in queries] for a in queries]
    inverse = right_inverse(gram)
    assert inverse is not None

    def real(x: Fraction | str) -> Any:
        return mpmath.mpf(Fraction(x).numerator) / Fraction(x).denominator

    logs = [mpmath.log(real(q)) for q in witness["q"]]
    w = [
        sum(
            (real(queries[s][j] * inverse[s][t]) * logs[t]
             for s in range(data.T) for t in range(data.T)),
            mpmath.mpf(0),
        )
        for j in range(data.d)
    ]  # fmt: skip
    outputs = []
    for query in queries:
        asked = sum(x * real(y) for x, y in zip(w, query, strict=True))
        tokens = data.contexts.fractions()[0]
        scores = [sum(x * Fraction(k) for x, k in zip(row, witness["key"], strict=True))
                  for row in tokens]  # fmt: skip
        values = [sum(x * Fraction(k) for x, k in zip(row, witness["value"], strict=True))
                  for row in tokens]  # fmt: skip
        powers = [mpmath.exp(asked * real(score)) for score in scores]
        outputs.append(sum(p * real(v) for p, v in zip(powers, values, strict=True)) / sum(powers))
    return outputs


@pytest.mark.parametrize("T", [3, 4, 6])
@pytest.mark.parametrize("n", [2, 3])
def test_given_labels_beyond_the_bound(T: int, n: int) -> None:
    """T independent queries, one head of width one; universally it memorizes n at most."""
    rng = random.Random(T)
    queries = [[int(i == j) * 2 + rng.randint(0, 1) for j in range(T)] for i in range(T)]
    labels = [Fraction(rng.randint(-9, 9), rng.randint(1, 9)) for _ in range(T)]
    data = shared(queries, n, labels)
    fit = fit_given_labels(data)
    claims = found(fit.claims)
    assert claims["given.output"].level is Level.PROVED
    assert claims["given.balls"].level is Level.ENCLOSED
    assert claims["given.universal"].level is (Level.REFUTED if n < T else Level.ARGUED)
    with mpmath.workdps(60):
        outputs = by_mpmath(data, claims["given.output"].witness)
        for y, output in zip(labels, outputs, strict=True):
            assert abs(output - mpmath.mpf(y.numerator) / y.denominator) < mpmath.mpf(10) ** -50


@settings(max_examples=25, deadline=None)
@given(st.lists(st.fractions(-50, 50, max_denominator=30), min_size=1, max_size=5))
def test_any_rational_labels(labels: list[Fraction]) -> None:
    T = len(labels)
    width = max(T, 2)
    data = Dataset.of([row[:width] for row in EYE[:2]], [row[:width] for row in EYE[:T]], labels)
    assert found(fit_given_labels(data).claims)["given.output"].level is Level.PROVED


@pytest.mark.parametrize("T", [3, 4, 6])
def test_dyadic_labels_give_a_rational_layer_and_a_certificate(T: int, tmp_path: Path) -> None:
    """Labels 1 + 3·2^k/(1 + 2^k): the layer is exact in units of ln 2, and a file proves it."""
    odds = [Fraction(2) ** k for k in (0, 3, -2, 5, -7, 1)[:T]]
    data = shared([row[:T] for row in EYE[:T]], 2, [1 + 3 * q / (1 + q) for q in odds])
    fit = fit_given_labels(data, low=1, high=4)
    assert found(fit.claims)["interpolation.rational"].level is Level.PROVED
    assert fit.layer is not None
    body = certificate(
        data, fit.layer, [list(range(T))], construction="given-labels",
        produced_by={"version": "0", "command": "test", "seed": 0}, value_width=1,
    )  # fmt: skip
    file = tmp_path / "certificate.json"
    file.write_bytes(canonical_bytes(body))
    assert checker.check_file(str(file)).status == "holds"
    assert fit_given_labels(data).layer is None  # other bounds: logarithms, no powers of two


def test_a_wrong_label_is_noticed() -> None:
    """The equality is computed from the weights, not assumed: with a wrong dual it is refuted."""
    data = shared([row[:3] for row in EYE[:3]], 2, [1, 5, 2])
    weights = given_labels._weights(data, given_labels._exact(0), given_labels._exact(6))
    assert given_labels._equality(data, weights).level is Level.PROVED
    weights.duals[0, 0] += 1
    assert given_labels._equality(data, weights).level is Level.REFUTED
    assert given_labels._enclosed(data, weights).level is Level.UNDECIDED


def test_given_labels_that_cannot_be_fitted_this_way() -> None:
    dependent = shared([[1, 0, 0], [2, 0, 0]], 2, [1, 2])
    claims = found(fit_given_labels(dependent).claims)
    assert claims["given.applies"].level is Level.NOT_APPLICABLE
    two = shared([[1, 0, 0]], 2, [[1, 2]])
    with pytest.raises(InputError, match="labels"):
        fit_given_labels(two)
    with pytest.raises(InputError, match="low, high"):
        fit_given_labels(shared([[1, 0, 0]], 2, [1]), low=1, high=2)
