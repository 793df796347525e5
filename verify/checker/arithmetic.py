"""The two arithmetics in which `network.py` evaluates blocks: functions of vectors.

Exactly, a vector is (integers, unit), the integers over one positive unit; in balls, with the true
exponential, it is (centres, radii), as in `near.py`.
"""

if __name__ == "__main__":
    print("unusable: run the folder: python checker certificate.json")
    raise SystemExit(2)

from collections import namedtuple
from math import gcd
from typing import Any

from .limits import SHORT, Limits, Rejected, need
from .near import Balls

# Columns of integers over `unit`: a map of vectors, the last entry of each column a bias.
Map = namedtuple("Map", "columns unit")


class Irrational(Rejected): ...  # a softmax that is not rational


class Exact:
    def __init__(self, limits: Limits) -> None:
        self.limits, self.dot, self.times = limits, limits.dot, limits.product

    def vector(self, entries: list[int], unit: int) -> Any:
        """In lowest terms."""
        bits = max(x.bit_length() for x in [unit, *entries])
        self.limits.allow(bits, len(entries))
        self.limits.divide(bits, bits)
        common = gcd(unit, *entries)
        self.limits.long |= bits > SHORT
        return [x // common for x in entries], unit // common

    def mapped(self, vector: Any, by: Map) -> Any:
        entries, unit = vector
        wide = [*entries, unit]
        require_width(wide, by)
        return self.vector([self.dot(wide, c) for c in by.columns], self.times(unit, by.unit))

    def on_one_unit(self, vectors: list[Any]) -> tuple[list[list[int]], int]:
        unit = 1
        for _, below in vectors:
            unit = self.limits.lcm(unit, below)
        return [[self.times(x, unit // below) for x in row] for row, below in vectors], unit

    def joined(self, vectors: list[Any]) -> Any:
        """One after the other."""
        rows, unit = self.on_one_unit(vectors)
        return [x for row in rows for x in row], unit

    def added(self, vectors: list[Any]) -> Any:
        same_widths(vectors)
        rows, unit = self.on_one_unit(vectors)
        return self.vector([sum(column) for column in zip(*rows, strict=True)], unit)

    def products(self, vector: Any, rows: list[Any]) -> Any:
        """Of one vector with each of the rows: the logits."""
        (x, unit), (table, below) = vector, self.on_one_unit(rows)
        return [self.dot(x, row) for row in table], self.times(unit, below)

    def mean(self, weights: Any, rows: list[Any]) -> Any:
        (w, unit), (table, below) = weights, self.on_one_unit(rows)
        columns = zip(*table, strict=True)
        return self.vector([self.dot(w, c) for c in columns], self.times(unit, below))

    def softmax(self, logits: Any, in_ln_2: bool) -> Any:
        """A softmax does not change when all logits are shifted: only differences must be whole."""
        (x, unit), low = logits, min(logits[0])
        above = [k - low for k in x]
        self.limits.divide(max(k.bit_length() for k in above), unit.bit_length())
        rational = not any(k % unit for k in above) if in_ln_2 else not any(above)
        if not rational:
            reason = "a softmax is not rational: logits differ by no integers / ln 2"
            raise Irrational("wrong", reason)
        above = [k // unit for k in above]
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

    def around(self, vector: Any) -> Any:
        """Centres and radii, and the unit of both."""
        return vector[0], [0] * len(vector[0]), vector[1]


class Enclosed:
    def __init__(self, P: int, limits: Limits) -> None:
        self.balls, self.one, limits.long = Balls(P, limits), 1 << P, True
        # The sum of 1 / (k 2^k): terms are rounded down, those after P add up to less than 2^-P.
        self.ln_2 = sum(self.one // (k << k) for k in range(1, P + 1)), P + 1

    def vector(self, entries: list[int], unit: int) -> Any:
        return [(x << self.balls.P) // unit for x in entries], [1] * len(entries)

    def mapped(self, vector: Any, by: Map) -> Any:
        wide = [*vector[0], self.one], [*vector[1], 0]
        require_width(wide[0], by)
        return pairs([self.balls.combination(c, by.unit, wide) for c in by.columns])

    def joined(self, vectors: list[Any]) -> Any:
        return tuple([x for vector in vectors for x in vector[k]] for k in (0, 1))

    def added(self, vectors: list[Any]) -> Any:
        same_widths(vectors)
        return tuple([sum(c) for c in zip(*(v[k] for v in vectors), strict=True)] for k in (0, 1))

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
        """A tie is not seen in balls: one logit must lead."""
        low = max(c - r for c, r in zip(*logits, strict=True))
        leads = [c + r >= low for c, r in zip(*logits, strict=True)]
        need(sum(leads) == 1, "which logit is the largest is not decided in balls", "wrong")
        return [self.one * lead for lead in leads], [0] * len(leads)

    def relu(self, vector: Any) -> Any:
        return [max(c, 0) for c in vector[0]], vector[1]

    def threshold(self, vector: Any) -> Any:
        decided = all(abs(c) > r or c == r for c, r in zip(*vector, strict=True))
        need(decided, "the sign at a threshold is not decided in balls", "wrong")
        return [self.one * (c >= 0) for c in vector[0]], [0] * len(vector[0])

    def around(self, vector: Any) -> Any:
        return *vector, self.one


def pairs(balls: Any) -> Any:
    return tuple(map(list, zip(*balls, strict=True)))


def require_width(wide: list[int], by: Map) -> None:
    need(len(wide) == len(by.columns[0]), "weights must have a row for each entry of a vector")


def same_widths(vectors: list[Any]) -> None:
    need(len({len(x) for x, _ in vectors}) == 1, "a sum has vectors of different widths")
