"""A network in NumPy's float32 or float64, with the order of each sum drawn at random.

Nothing is shared with verify/outputs/rounding.py: blocks are read directly from their JSON form,
numbers are NumPy scalars, and each operation is rounded by NumPy.
"""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np


class Machine:
    """dtype: np.float32 or np.float64."""

    def __init__(self, dtype: Any, seed: int) -> None:
        self.dtype, self.draw = dtype, random.Random(seed)

    def number(self, text: Any) -> Any:
        x = Fraction(text)
        return self.dtype(x.numerator / x.denominator)

    def total(self, terms: list[Any]) -> Any:
        """The sum: two random terms are replaced by their sum until one term is left."""
        rest = list(terms)
        while len(rest) > 1:
            a = rest.pop(self.draw.randrange(len(rest)))
            b = rest.pop(self.draw.randrange(len(rest)))
            rest.append(self.dtype(a + b))
        return rest[0]

    def dot(self, x: Any, y: Any, more: Any = ()) -> Any:
        return self.total([*(self.dtype(a * b) for a, b in zip(x, y, strict=True)), *more])

    def times(self, x: list[Any], rows: Any, bias: Any = None) -> list[Any]:
        columns = list(zip(*rows, strict=True))
        numbers = [[self.number(a) for a in column] for column in columns]
        starts = [()] * len(columns) if bias is None else [(self.number(b),) for b in bias]
        return [self.dot(x, c, more) for c, more in zip(numbers, starts, strict=True)]

    def softmax(self, logits: list[Any]) -> list[Any]:
        top = max(logits)
        powers = [np.exp(self.dtype(x - top)) for x in logits]
        total = self.total(powers)
        return [self.dtype(x / total) for x in powers]

    def activated(self, name: str, z: Any) -> Any:
        one, half = self.dtype(1), self.dtype(0.5)
        if name == "relu":
            return max(z, self.dtype(0))
        if name == "silu":
            return self.dtype(z / self.dtype(one + np.exp(-z)))
        if name == "gelu-tanh":
            root = self.dtype(np.sqrt(2 / np.pi))
            inner = self.dtype(root * self.dtype(z + self.dtype(0.044715) * z * z * z))
            return self.dtype(self.dtype(half * z) * self.dtype(one + np.tanh(inner)))
        assert name == "identity"
        return z

    def attention(self, block: Any, x: list[Any], tokens: list[list[Any]], place: int) -> list[Any]:
        read = []
        factor = self.dtype(np.log(2)) if block["logit_unit"] == "ln 2" else self.dtype(1)
        for h, head in enumerate(block["heads"]):
            query = self.prepared(block, self.times(x, head["query"]), "query", place)
            keys = [
                self.prepared(block, self.times(y, head["key"]), "key", i)
                for i, y in enumerate(tokens)
            ]
            values = [self.times(y, head["value"]) for y in tokens]
            if block["kind"] == "attention" and self.draw.random() < 0.5:
                scaled = [self.dtype(factor * a) for a in query]  # the factor multiplies the query
                logits = [self.dot(scaled, key) for key in keys]
            else:
                logits = [
                    self.dtype(factor * self.score(block, h, self.dot(query, key), place, i))
                    for i, key in enumerate(keys)
                ]
            more = [self.dtype(factor * self.number(block["sinks"][h]))] if "sinks" in block else []
            weights = self.softmax([*logits, *more])[: len(tokens)]
            read += [self.dot(weights, column) for column in zip(*values, strict=True)]
        return self.times(read, block["output"])

    def prepared(self, block: Any, x: list[Any], name: str, place: int) -> list[Any]:
        if block["kind"] == "attention":
            return x
        gain = block["norm"][f"{name}_gain"]
        norm = {"centred": False, "epsilon": block["norm"]["epsilon"], "gain": gain}
        y, made = self.normalized(norm | {"bias": ["0"] * len(x)}, x), []
        for j, text in enumerate(block["rotary"]["frequencies"]):
            angle = self.dtype(self.number(text) * self.dtype(place))
            (a, b), cos, sin = y[2 * j : 2 * j + 2], np.cos(angle), np.sin(angle)
            made += [self.dot([a, b], [cos, -sin]), self.dot([a, b], [sin, cos])]
        return made

    def score(self, block: Any, h: int, x: Any, place: int, token: int) -> Any:
        if block["kind"] == "attention":
            return x
        cap, slope = self.number(block["cap"]), self.number(block["slopes"][h])
        x = self.dtype(x / np.sqrt(self.dtype(block["root"])))
        x = self.dtype(cap * np.tanh(self.dtype(x / cap)))
        x = self.dtype(x - self.dtype(slope * self.dtype(abs(place - token))))
        return self.dtype(x + self.number(block["tables"][h][place][token]))

    def normalized(self, block: Any, x: list[Any]) -> list[Any]:
        n = self.dtype(len(x))
        if block["centred"]:
            mean = self.dtype(self.total(x) / n)
            x = [self.dtype(a - mean) for a in x]
        square = self.dtype(self.dtype(self.dot(x, x) / n) + self.number(block["epsilon"]))
        scale = self.dtype(self.dtype(1) / np.sqrt(square))
        scaled = [self.dtype(a * scale) for a in x]
        gain, bias = ([self.number(a) for a in block[key]] for key in ("gain", "bias"))
        return [
            self.dtype(self.dtype(a * g) + b) for a, g, b in zip(scaled, gain, bias, strict=True)
        ]

    def changed(self, block: Any, x: list[Any], tokens: list[list[Any]], place: int) -> list[Any]:
        if block["kind"] == "positions":
            return [self.number(a) for a in block["table"][place]]
        if block["kind"].endswith("attention"):
            return self.attention(block, x, tokens, place)
        if block["kind"] == "normalization":
            return self.normalized(block, x)
        sums = self.times(x, block["weights"], block["bias"])
        if block["kind"] == "feed-forward":
            return [self.activated(block["activation"], z) for z in sums]
        gates = self.times(x, block["gate"], block["gate_bias"])
        gates = [self.activated(block["activation"], z) for z in gates]
        return [self.dtype(a * b) for a, b in zip(gates, sums, strict=True)]

    def state(self, blocks: Any, state: list[list[Any]]) -> list[list[Any]]:
        """Tokens and query, the query last, after the blocks."""
        for block in blocks:
            if block["kind"] == "group":
                new = self.state(block["blocks"], state)
            else:
                places = [
                    *range(len(state) - 1),
                    len(state) - 2,
                ]  # the query is at the last token's position
                pairs = zip(state, places, strict=True)
                new = [self.changed(block, x, state[:-1], place) for x, place in pairs]
            if block["residual"]:
                pairs = zip(new, state, strict=True)
                new = [[self.dtype(a + b) for a, b in zip(*pair, strict=True)] for pair in pairs]
            state = new if block["of"] == "all" else [*state[:-1], new[-1]]
        return state

    def outputs(self, blocks: Any, data: Any) -> list[list[Any]]:
        """The outputs for all examples of a certificate's `data`."""
        found = []
        for t, query in enumerate(data["queries"]):
            context = data["contexts"][t if len(data["contexts"]) > 1 else 0]
            state = [[self.number(a) for a in row] for row in (*context, query)]
            found.append(self.state(blocks, state)[-1])
        return found
