"""The arithmetics in which `network.py` evaluates blocks: functions of vectors.

An exact vector is (integers, unit), integers over one positive unit; a vector of balls, with the
true exponential, is (centres, radii), as in `near.py`. `Mixed` has both kinds: results from exact
vectors are exact, unless a softmax is not rational or a number grows too long.
"""

if __name__ == "__main__":
    print("unusable: run the folder: python checker certificate.json")
    raise SystemExit(2)

from collections import namedtuple
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from math import gcd, isqrt
from typing import Any

from .functions import Functions, centred, normalized
from .limits import MAX_BITS, SHORT, Limits, Rejected, need
from .near import Balls

# Columns of integers over `unit`: a map of vectors, the last entry of each column a bias.
Map = namedtuple("Map", "columns unit")
LONGEST = 2**14  # bits of an exact number, if balls may replace it


class Exact:
    def __init__(self, limits: Limits, longest: int = MAX_BITS) -> None:
        self.limits, self.dot, self.product = limits, limits.dot, limits.product
        self.longest = longest

    def vector(self, entries: list[int], unit: int) -> Any:
        """The vector in lowest terms."""
        bits = max(x.bit_length() for x in [unit, *entries])
        self.limits.allow(bits, len(entries))
        self.limits.divide(bits, bits)
        common = gcd(unit, *entries)
        self.limits.long |= bits > SHORT
        return [x // common for x in entries], unit // common

    def mapped(self, vector: Any, by: Map) -> Any:
        entries, unit = vector
        wide = [*entries, unit]
        return self.vector([self.dot(wide, c) for c in by.columns], self.product(unit, by.unit))

    def on_one_unit(self, vectors: list[Any]) -> tuple[list[list[int]], int]:
        unit = 1
        for _, below in vectors:
            unit = self.limits.lcm(unit, below)
        return [[self.product(x, unit // below) for x in row] for row, below in vectors], unit

    def joined(self, vectors: list[Any]) -> Any:
        """The concatenation."""
        rows, unit = self.on_one_unit(vectors)
        return [x for row in rows for x in row], unit

    def added(self, vectors: list[Any]) -> Any:
        rows, unit = self.on_one_unit(vectors)
        return self.vector([sum(column) for column in zip(*rows, strict=True)], unit)

    def times(self, one: Any, other: Any) -> Any:
        """The products, number by number."""
        pairs = zip(one[0], other[0], strict=True)
        return self.vector([self.product(*pair) for pair in pairs], self.product(one[1], other[1]))

    def products(self, vector: Any, rows: list[Any]) -> Any:
        """The products of one vector with each of the rows: the logits."""
        (x, unit), (table, below) = vector, self.on_one_unit(rows)
        return [self.dot(x, row) for row in table], self.product(unit, below)

    def mean(self, weights: Any, rows: list[Any]) -> Any:
        (w, unit), (table, below) = weights, self.on_one_unit(rows)
        columns = zip(*table, strict=True)
        return self.vector([self.dot(w, c) for c in columns], self.product(unit, below))

    def softmax(self, logits: Any, in_ln_2: bool) -> Any:
        """A shift of all logits changes nothing, so only their differences must be integers."""
        (x, unit), low = logits, min(logits[0])
        above = [k - low for k in x]
        self.limits.divide(max(k.bit_length() for k in above), unit.bit_length())
        rational = not any(k % unit for k in above) if in_ln_2 else not any(above)
        need(rational, "a softmax is not rational: logits differ by no integers / ln 2", "wrong")
        above = [k // unit for k in above]
        need(max(above) <= self.longest, "a power of 2 is too long", "over limit")
        self.limits.allow(max(above), len(above))
        self.limits.long |= max(above) > SHORT
        powers = [1 << k for k in above]
        return powers, sum(powers)

    def hardmax(self, logits: Any) -> Any:
        top = max(logits[0])
        ties = [int(x == top) for x in logits[0]]
        return ties, sum(ties)

    def relu(self, vector: Any) -> Any:
        return [max(x, 0) for x in vector[0]], vector[1]

    def threshold(self, vector: Any) -> Any:
        return [int(x >= 0) for x in vector[0]], 1

    def smooth(self, vector: Any, name: str) -> Any:
        """SiLU and GELU are 0 at 0, and irrational at other rational numbers."""
        need(not any(vector[0]), f"{name} is not rational", "wrong")
        return vector

    def normalized(self, vector: Any, one: Any) -> Any:
        """X sqrt(n q / D), as in `functions.normalized`: rational for X = 0 or a square n q / D."""
        x, unit = vector
        if one.centred:
            x, _, unit = centred(x, [0] * len(x), unit)
        x, unit = self.vector(x, unit)
        (p, q), n, times = one.epsilon, len(x), self.product
        below = times(q, self.dot(x, x)) + times(n * p, times(unit, unit))
        need(below > 0, "a normalization divides by 0", "wrong")
        self.limits.divide(below.bit_length(), below.bit_length())
        common = gcd(n * q, below)
        squares = n * q // common, below // common
        roots = [isqrt(k) for k in squares] if any(x) else [1, 1]
        rational = not any(x) or all(k * k == z for k, z in zip(roots, squares, strict=True))
        need(rational, "a normalization is not rational", "wrong")
        gained = [times(times(k, roots[0]), g) for k, g in zip(x, one.gain, strict=True)]
        made = [y + times(b, roots[1]) for y, b in zip(gained, one.bias, strict=True)]
        return self.vector(made, times(roots[1], one.unit))


class Enclosed:
    def __init__(self, P: int, limits: Limits) -> None:
        self.balls, self.one, limits.long = Balls(P, limits), 1 << P, True
        self.functions = Functions(P, limits)
        # The sum of 1 / (k 2^k): terms are rounded down, those after P add up to less than 2^-P.
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
        """Balls cannot show a tie, so one logit must lead."""
        low = max(c - r for c, r in zip(*logits, strict=True))
        leads = [c + r >= low for c, r in zip(*logits, strict=True)]
        need(sum(leads) == 1, "which logit is the largest is not decided in balls", "over limit")
        return [self.one * lead for lead in leads], [0] * len(leads)

    def relu(self, vector: Any) -> Any:
        pairs = zip(*vector, strict=True)
        return [max(c, 0) for c in vector[0]], [r if c + r > 0 else 0 for c, r in pairs]

    def threshold(self, vector: Any) -> Any:
        decided = all(abs(c) > r or c == r for c, r in zip(*vector, strict=True))
        need(decided, "the sign at a threshold is not decided in balls", "over limit")
        return [self.one * (c >= 0) for c in vector[0]], [0] * len(vector[0])

    def smooth(self, vector: Any, name: str) -> Any:
        longest = max(x.bit_length() for x in (*vector[0], *vector[1]))
        self.balls.limits.allow(3 * longest, len(vector[0]))
        function = getattr(self.functions, name.replace("-", "_"))
        return pairs([function(ball) for ball in zip(*vector, strict=True)])

    def normalized(self, balls: Any, one: Any) -> Any:
        """balls: centres, radii, and the unit of both."""
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
    """Exact vectors up to `longest` bits, otherwise balls of P bits. Balls of radius 0 become exact
    again, so that exact points decide ties and signs."""

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

    def softmax(self, logits: Any, in_ln_2: bool) -> Any:
        if is_exact(logits):
            with suppress(Rejected):  # not rational, or too long
                return self.shortened(self.exact.softmax(logits, in_ln_2))
        return self.balls.softmax(self.enclosed(logits), in_ln_2)

    def hardmax(self, logits: Any) -> Any:
        return self.exact_points(self.on_all([logits], lambda on, x: on.hardmax(*x)))

    def relu(self, vector: Any) -> Any:
        return self.exact_points(self.on_all([vector], lambda on, x: on.relu(*x)))

    def threshold(self, vector: Any) -> Any:
        return self.exact_points(self.on_all([vector], lambda on, x: on.threshold(*x)))

    def smooth(self, vector: Any, name: str) -> Any:
        if is_exact(vector):
            with suppress(Rejected):  # not rational
                return self.exact.smooth(vector, name)
        return self.balls.smooth(self.enclosed(vector), name)

    def normalized(self, vector: Any, one: Any) -> Any:
        if is_exact(vector):
            with suppress(Rejected):  # not rational, or too long
                return self.shortened(self.exact.normalized(vector, one))
        return self.balls.normalized(self.around(vector), one)

    def around(self, vector: Any) -> Any:
        """Centres, radii, and the unit of both."""
        if is_exact(vector):
            return vector[0], [0] * len(vector[0]), vector[1]
        return *vector, self.balls.one


def is_exact(vector: Any) -> bool:
    return type(vector[1]) is int
