"""Exact vectors, the arithmetic of rational blocks. A vector is a pair (integers, unit): the
integers are divided by one positive unit.
"""

if __name__ == "__main__":
    print("unusable: run the folder, not this file: python checker certificate.json")
    raise SystemExit(2)

from collections import namedtuple
from math import gcd, isqrt
from typing import Any

from .functions import centred
from .limits import MAX_BITS, SHORT, Limits, need

# An affine map: columns of integers over `unit`; the last entry of each column is a bias.
Map = namedtuple("Map", "columns unit")


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
            unit = unit if below == unit else self.limits.lcm(unit, below)
        made = [
            row if below == unit else [self.product(x, unit // below) for x in row]
            for row, below in vectors
        ]
        return made, unit

    def joined(self, vectors: list[Any]) -> Any:
        """The concatenation of the vectors."""
        rows, unit = self.on_one_unit(vectors)
        return [x for row in rows for x in row], unit

    def added(self, vectors: list[Any]) -> Any:
        rows, unit = self.on_one_unit(vectors)
        return self.vector([sum(column) for column in zip(*rows, strict=True)], unit)

    def times(self, one: Any, other: Any) -> Any:
        """The products, entry by entry."""
        pairs = zip(one[0], other[0], strict=True)
        return self.vector([self.product(*pair) for pair in pairs], self.product(one[1], other[1]))

    def products(self, vector: Any, rows: list[Any]) -> Any:
        """The inner products of one vector with each of the rows, such as logits."""
        (x, unit), (table, below) = vector, self.on_one_unit(rows)
        return [self.dot(x, row) for row in table], self.product(unit, below)

    def mean(self, weights: Any, rows: list[Any]) -> Any:
        (w, unit), (table, below) = weights, self.on_one_unit(rows)
        columns = zip(*table, strict=True)
        return self.vector([self.dot(w, c) for c in columns], self.product(unit, below))

    def softmax(self, logits: Any, in_ln_2: bool) -> Any:
        """Shifting all logits changes nothing, so only their differences must be integers."""
        (x, unit), low = logits, min(logits[0])
        above = [k - low for k in x]
        self.limits.divide(max(k.bit_length() for k in above), unit.bit_length())
        rational = not any(k % unit for k in above) if in_ln_2 else not any(above)
        need(rational, "a softmax of these logits is not rational", "wrong")
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

    def over_root(self, vector: Any, square: int) -> Any:
        entries, unit = vector
        root = isqrt(square)
        rational = root * root == square or not any(entries)
        need(rational, "the logits are divided by an irrational root", "wrong")
        return entries, self.product(unit, root)

    def capped(self, vector: Any, cap: Any) -> Any:
        """c tanh(x / c) is irrational at rational numbers other than 0."""
        need(not any(vector[0]), "a soft cap is not rational", "wrong")
        return vector

    def rotation(self, radians: bool, angles: Any) -> Any:
        """Cosines and sines of the angles p / q. Both are rational only at multiples of a quarter
        turn; in radians, only at 0."""
        quarters = [p if radians else 4 * p for p, _ in angles]
        for p, (_, q) in zip(quarters, angles, strict=True):
            self.limits.divide(p.bit_length(), q.bit_length())
            need(p == 0 if radians else p % q == 0, "a rotation is not rational", "wrong")
        turns = [(p // q) % 4 for p, (_, q) in zip(quarters, angles, strict=True)]
        return ([(1, 0, -1, 0)[k] for k in turns], 1), ([(0, 1, 0, -1)[k] for k in turns], 1)

    def normalized(self, vector: Any, one: Any) -> Any:
        """X sqrt(n q / D), as in `functions.normalized`; rational if X = 0 or n q / D is a
        square."""
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
