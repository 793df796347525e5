"""The arithmetics in which `network.py` evaluates blocks. Their functions act on vectors.

Exact vectors are defined in `exact.py`. Vectors of balls are pairs (centres, radii) as in
`near.py`; they use the true exponential. `Mixed` works with both kinds: results from exact vectors
are exact, unless they are irrational or too long.
"""

if __name__ == "__main__":
    print("unusable: run the folder, not this file: python checker certificate.json")
    raise SystemExit(2)

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from math import isqrt
from typing import Any

from .exact import Exact, Map
from .functions import Functions, around, centred, normalized
from .limits import SHORT, Limits, Rejected, need
from .near import Balls

LONGEST = 2**14  # the most bits an exact number may have if balls may replace it


class Enclosed:
    def __init__(self, P: int, limits: Limits) -> None:
        self.balls, self.one = Balls(P, limits), 1 << P
        limits.long |= 4 * P > SHORT
        self.functions = Functions(P, limits)
        # ln 2 is the sum of 1 / (k 2^k). P terms are rounded down; the rest is below 2^-P.
        self.ln_2 = sum(self.one // (k << k) for k in range(1, P + 1)), P + 1

    def vector(self, entries: list[int], unit: int) -> Any:
        quotients = [divmod(x << self.balls.P, unit) for x in entries]
        return [c for c, _ in quotients], [int(rest > 0) for _, rest in quotients]

    def mapped(self, vector: Any, by: Map) -> Any:
        wide = [*vector[0], self.one], [*vector[1], 0]
        return pairs([self.balls.combination(c, by.unit, wide) for c in by.columns])

    def joined(self, vectors: list[Any]) -> Any:
        return tuple([x for vector in vectors for x in vector[k]] for k in (0, 1))

    def added(self, vectors: list[Any]) -> Any:
        return tuple([sum(c) for c in zip(*(v[k] for v in vectors), strict=True)] for k in (0, 1))

    def times(self, one: Any, other: Any) -> Any:
        both = zip(zip(*one, strict=True), zip(*other, strict=True), strict=True)
        return pairs([self.balls.product(*pair) for pair in both])

    def products(self, vector: Any, rows: list[Any]) -> Any:
        return pairs([self.balls.inner(vector, row) for row in rows])

    def mean(self, weights: Any, rows: list[Any]) -> Any:
        columns = [list(zip(*(row[k] for row in rows), strict=True)) for k in (0, 1)]
        return pairs([self.balls.inner(weights, c) for c in zip(*columns, strict=True)])

    def softmax(self, logits: Any, in_ln_2: bool) -> Any:
        rows = list(zip(*logits, strict=True))
        if in_ln_2:
            rows = [self.balls.product(x, self.ln_2) for x in rows]
        return self.balls.softmax(rows, [1] * len(rows))

    def hardmax(self, logits: Any) -> Any:
        """Balls cannot show a tie, so there must be a single largest logit."""
        low = max(c - r for c, r in zip(*logits, strict=True))
        leads = [c + r >= low for c, r in zip(*logits, strict=True)]
        need(sum(leads) == 1, "balls are too wide to tell which logit is the largest", "over limit")
        return [self.one * lead for lead in leads], [0] * len(leads)

    def relu(self, vector: Any) -> Any:
        pairs = zip(*vector, strict=True)
        return [max(c, 0) for c in vector[0]], [r if c + r > 0 else 0 for c, r in pairs]

    def threshold(self, vector: Any) -> Any:
        decided = all(abs(c) > r or c == r for c, r in zip(*vector, strict=True))
        need(decided, "balls are too wide to decide the sign at a threshold", "over limit")
        return [self.one * (c >= 0) for c in vector[0]], [0] * len(vector[0])

    def smooth(self, vector: Any, name: str) -> Any:
        longest = max(x.bit_length() for x in (*vector[0], *vector[1]))
        self.balls.limits.allow(3 * longest, len(vector[0]))
        function = getattr(self.functions, name.replace("-", "_"))
        return pairs([function(ball) for ball in zip(*vector, strict=True)])

    def over_root(self, vector: Any, square: int) -> Any:
        """Divide by sqrt(square): 2^P / sqrt(square) is between an integer root and the next
        integer."""
        low = isqrt((1 << 2 * self.balls.P) // square)
        factor = around(low, low + 1)
        return pairs([self.balls.product(x, factor) for x in zip(*vector, strict=True)])

    def capped(self, vector: Any, cap: Any) -> Any:
        longest = max(x.bit_length() for x in (*vector[0], *vector[1], *cap))
        self.balls.limits.allow(3 * longest, len(vector[0]))
        return pairs([self.functions.capped(x, *cap) for x in zip(*vector, strict=True)])

    def rotation(self, radians: bool, angles: Any) -> Any:
        turns = [self.functions.turn(p, q, radians) for p, q in angles]
        cosines, sines = zip(*turns, strict=True)
        return pairs(cosines), pairs(sines)

    def normalized(self, balls: Any, one: Any) -> Any:
        """balls: (centres, radii, unit), with one unit for both."""
        balls = centred(*balls) if one.centred else balls
        scaled = normalized(balls, one.epsilon, self.balls.P, self.balls.limits)
        return pairs(
            [
                self.balls.combination(factors, one.unit, ((c, self.one), (r, 0)))
                for (c, r), *factors in zip(scaled, one.gain, one.bias, strict=True)
            ]
        )


def pairs(balls: Any) -> Any:
    return tuple(map(list, zip(*balls, strict=True)))


class Mixed:
    """Vectors are exact up to `longest` bits, and balls of P bits otherwise. Balls of radius 0
    become exact again, so that ties and signs at exact points are decided."""

    def __init__(self, P: int, limits: Limits, longest: int = LONGEST) -> None:
        self.exact, self.P, self.limits, self.longest = Exact(limits, longest), P, limits, longest

    @cached_property
    def balls(self) -> Enclosed:
        return Enclosed(self.P, self.limits)

    def vector(self, entries: list[int], unit: int) -> Any:
        return self.shortened(self.exact.vector(entries, unit))

    def shortened(self, vector: Any) -> Any:
        entries, unit = vector
        short = max(x.bit_length() for x in (unit, *entries)) <= self.longest
        return vector if short else self.balls.vector(entries, unit)

    def enclosed(self, vector: Any) -> Any:
        return self.balls.vector(*vector) if is_exact(vector) else vector

    def exact_points(self, vector: Any) -> Any:
        points = not is_exact(vector) and not any(vector[1])
        return self.vector(vector[0], self.balls.one) if points else vector

    def on_all(self, vectors: list[Any], operation: Callable[[Any, list[Any]], Any]) -> Any:
        if all(map(is_exact, vectors)):
            return self.shortened(operation(self.exact, vectors))
        return operation(self.balls, [self.enclosed(x) for x in vectors])

    def mapped(self, vector: Any, by: Map) -> Any:
        return self.on_all([vector], lambda on, x: on.mapped(*x, by))

    def joined(self, vectors: list[Any]) -> Any:
        return self.on_all(vectors, lambda on, x: on.joined(x))

    def added(self, vectors: list[Any]) -> Any:
        return self.on_all(vectors, lambda on, x: on.added(x))

    def times(self, one: Any, other: Any) -> Any:
        return self.on_all([one, other], lambda on, x: on.times(*x))

    def products(self, vector: Any, rows: list[Any]) -> Any:
        return self.on_all([vector, *rows], lambda on, x: on.products(x[0], x[1:]))

    def mean(self, weights: Any, rows: list[Any]) -> Any:
        return self.on_all([weights, *rows], lambda on, x: on.mean(x[0], x[1:]))

    def exact_or(self, balls: Any, vector: Any, operation: Callable[[Any, Any], Any]) -> Any:
        """Apply the operation exactly, or to balls if its exact result is irrational or too
        long."""
        if is_exact(vector):
            with suppress(Rejected):
                return self.shortened(operation(self.exact, vector))
        return operation(self.balls, balls(vector))

    def softmax(self, logits: Any, in_ln_2: bool) -> Any:
        return self.exact_or(self.enclosed, logits, lambda on, x: on.softmax(x, in_ln_2))

    def hardmax(self, logits: Any) -> Any:
        return self.exact_points(self.on_all([logits], lambda on, x: on.hardmax(*x)))

    def relu(self, vector: Any) -> Any:
        return self.exact_points(self.on_all([vector], lambda on, x: on.relu(*x)))

    def threshold(self, vector: Any) -> Any:
        return self.exact_points(self.on_all([vector], lambda on, x: on.threshold(*x)))

    def smooth(self, vector: Any, name: str) -> Any:
        return self.exact_or(self.enclosed, vector, lambda on, x: on.smooth(x, name))

    def normalized(self, vector: Any, one: Any) -> Any:
        return self.exact_or(self.around, vector, lambda on, x: on.normalized(x, one))

    def over_root(self, vector: Any, square: int) -> Any:
        return self.exact_or(self.enclosed, vector, lambda on, x: on.over_root(x, square))

    def capped(self, vector: Any, cap: Any) -> Any:
        return self.exact_or(self.enclosed, vector, lambda on, x: on.capped(x, cap))

    def rotation(self, radians: bool, angles: Any) -> Any:
        with suppress(Rejected):  # irrational
            return self.exact.rotation(radians, angles)
        return self.balls.rotation(radians, angles)

    def around(self, vector: Any) -> Any:
        """The vector as (centres, radii, unit)."""
        if is_exact(vector):
            return vector[0], [0] * len(vector[0]), vector[1]
        return *vector, self.balls.one


def is_exact(vector: Any) -> bool:
    return type(vector[1]) is int
