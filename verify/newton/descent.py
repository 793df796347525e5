"""A search for weights of several layers by Levenberg-Marquardt steps. It proves nothing.

Vectors and labels are scaled to about unit size by powers of two, so that scaling back causes no
rounding: keys and queries are divided by the unit of the vectors, and the last values are
multiplied by the unit of the labels divided by the unit of the vectors. Initial weights are normal
random numbers, scaled so that logits are about 1/2 and each layer changes its tokens by about their
own size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attncert.constructions.arrays import FloatArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.law import Law, Spans, law
from attncert.constructions.given.least_squares import Descent, minimise, unit
from attncert.verify.depth.law import Architecture, DeepSpans
from attncert.verify.newton.models import Model, floats_of

DEEP_STEPS = 400
_AT_ONCE = 2**23  # entries of the Jacobian and the states computed at a time


@dataclass(frozen=True)
class DeepLaw:
    """The bound N_L for these data, with the interface of the bound for one layer. one: the bound
    for one layer."""

    layers: int
    spans: DeepSpans
    one: Law

    @classmethod
    def of(cls, data: Dataset, layers: int) -> DeepLaw:
        return cls(layers, DeepSpans.of(data), law(data))

    @property
    def whole(self) -> Spans:
        return self.one.whole

    @property
    def parts(self) -> tuple[tuple[int, Spans], ...]:
        return self.one.parts[:1]

    def bound(self, heads: int, head_width: int, value_width: int) -> int:
        return self.spans.bound(Architecture(self.layers, heads, head_width, value_width))

    def fewest_heads(self, head_width: int, value_width: int) -> int | None:
        return self.spans.fewest_heads(self.layers, head_width, value_width)


def descend_deep(
    data: Dataset,
    shape: Architecture,
    seed: int,
    max_steps: int = DEEP_STEPS,
    progress: Callable[[int, float], None] = lambda step, error: None,
) -> Descent:
    """Weights whose outputs are the labels up to rounding, or the last weights tried, in the order
    of `Model`. Arithmetic: float64; deterministic on one machine.
    """
    model = Model(data, shape)
    tokens, queries, times = floats_of(data)
    labels = data.labels.floats()
    E, y = (unit(np, x) for x in (np.concatenate([tokens.reshape(-1, data.d), queries]), labels))
    tokens, queries, labels = tokens / E, queries / E, labels / y
    inner = len(tokens[0]) * max(len(tokens[0]), data.d) * shape.heads * shape.layers
    step = max(1, _AT_ONCE // (model.parameters * data.m + 8 * inner))
    blocks = [slice(start, start + step) for start in range(0, data.T, step)]

    def part(rows: slice) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        some = slice(None) if len(tokens) == 1 else rows
        return tokens[some], queries[rows], None if times is None else times[some]

    def errors(x: FloatArray) -> FloatArray:
        outputs = [model.run(x, *part(rows)).outputs for rows in blocks]
        return (np.concatenate(outputs) - labels).ravel()

    def slopes(x: FloatArray) -> FloatArray:
        return np.concatenate([model.rows(model.run(x, *part(rows))) for rows in blocks])

    with np.errstate(all="ignore"):  # numbers beyond the range of float64 end the search
        found = minimise(
            errors, slopes, random_weights(model, seed), max_steps=max_steps, patience=max_steps,
            progress=progress,
        )  # fmt: skip
        weights = found.weights * unscaling(model, E, y)
    finite = bool(np.isfinite(weights).all())
    why = found.why if finite else "the weights are beyond the range of float64"
    return Descent(shape, weights, found.error * y, found.steps, why)


def random_weights(model: Model, seed: int) -> FloatArray:
    """Random initial weights."""
    draw, d, shape = np.random.default_rng(seed), model.data.d, model.shape
    weights: FloatArray = draw.standard_normal(model.parameters)
    inner = (4.0 * d**2 * shape.head_width) ** -0.25
    outer = (d * shape.heads * shape.value_width) ** -0.25
    for layer in model.arrays(weights):  # views
        layer.key[:] *= inner
        layer.query[:] *= inner
        layer.value[:] *= outer
        layer.output[:] *= outer
    return weights


def unscaling(model: Model, E: float, y: float) -> FloatArray:
    """Factors that turn weights for the scaled data into weights for the data."""
    factors: FloatArray = np.ones(model.parameters)
    *_, last = layers = model.arrays(factors)
    for layer in layers:
        layer.key[:], layer.query[:] = 1 / E, 1 / E
    last.value[:] = y / E
    return factors
