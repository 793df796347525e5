"""Several layers of attention as a network, and its Jacobian in floating point.

The weights form one vector, numbered as in certificates. The Jacobian is only used to choose
unknowns; the enclosures of `network_enclosure.py` do not use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from attncert.constructions.arrays import FloatArray, ObjectArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.given.attention import Shape
from attncert.constructions.layer import Head
from attncert.constructions.network.blocks import Attention
from attncert.constructions.network.network import Network
from attncert.verify.depth.law import Architecture
from attncert.verify.derivatives import engine, networks
from attncert.verify.derivatives.engine import Arithmetic
from attncert.verify.derivatives.engine import Attention as Arrays


@dataclass(frozen=True)
class Model:
    """Attention layers with base e. All layers but the last change every token and the query, with
    a skip connection; the last layer computes the outputs at the query."""

    data: Dataset
    shape: Architecture

    @classmethod
    def of(cls, data: Dataset, shape: Shape | Architecture) -> Model:
        if isinstance(shape, Shape):
            shape = Architecture(1, shape.heads, shape.head_width, shape.value_width)
        return cls(data, shape)

    @property
    def parameters(self) -> int:
        return self.shape.parameters(self.data)

    def arrays(self, weights: Any) -> list[Arrays]:
        """Views of the weights, layer by layer."""
        layers, start = list[Arrays](), 0
        H, d, w, v = self.shape.heads, self.data.d, self.shape.head_width, self.shape.value_width
        for number in range(1, self.shape.layers + 1):
            last = number == self.shape.layers
            sizes, each = (d * w, d * w, d * v), d * (2 * w + v)
            by_head = weights[start : start + H * each].reshape(H, each)
            ends = np.cumsum([0, *sizes])
            parts = [by_head[:, a:b].reshape(H, d, -1) for a, b in pairwise(ends)]
            start += H * each
            m = self.data.m if last else d
            parts.append(weights[start : start + H * v * m].reshape(H, v, m))
            start += H * v * m
            key, query, value, output = parts
            layers.append(Arrays(key, query, value, output, whole=not last, residual=not last))
        return layers

    def exact(self, weights: FloatArray | ObjectArray) -> Network:
        blocks = []
        for number, layer in enumerate(self.arrays(np.asarray(weights)), 1):
            last = number == self.shape.layers
            key, query, value, output = (ExactArray.of(x) for x in layer.weights)
            heads = [Head(*(x[h].matrix() for x in (key, query, value))) for h in range(len(key))]
            width = int(layer.output.shape[2])
            readout = output.reshape((-1, width)).matrix()
            of = "query" if last else "all"
            blocks.append(Attention(tuple(heads), readout, of=of, unit="1", residual=not last))
        return Network(tuple(blocks))

    def run(self, weights: Any, tokens: Any, queries: Any, times: Any = None) -> engine.Run:
        """The network evaluated in NumPy floats."""
        return engine.run(self.arrays(weights), tokens, queries, FLOATS, times)

    def rows(self, done: engine.Run) -> FloatArray:
        """The Jacobian of all outputs, (T·m, parameters)."""
        rows: FloatArray = engine.jacobian(done, lambda table: table.astype(float))
        return rows

    def jacobian(self, weights: FloatArray) -> FloatArray:
        return self.rows(self.run(weights, *floats_of(self.data)))


def floats_of(data: Dataset) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Tokens, queries and how often each token occurs in its context, as arrays for the engine."""
    tokens, queries, times = networks.tokens_of(data, 0, data.T)
    scale = data.contexts.denominator, data.queries.denominator
    arrays = [x.astype(np.float64) / q for x, q in zip((tokens, queries), scale, strict=True)]
    return arrays[0], arrays[1], None if times is None else times.astype(np.float64)


def _softmax(logits: Any, times: Any) -> Any:
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    powers = powers if times is None else powers * times
    return powers / powers.sum(axis=-1, keepdims=True)


def _relu(sums: Any) -> tuple[Any, Any]:
    return np.maximum(sums, 0), (sums > 0).astype(float)


def _joined(parts: Sequence[Any], axis: int) -> Any:
    return np.concatenate(parts, axis)


FLOATS = Arithmetic(_softmax, _relu, 1.0, _joined)
