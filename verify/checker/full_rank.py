"""The claim "full-rank": modulo a prime, the features of all examples are independent.

The prime divides no denominator, so the rational rows have images modulo it. If the images are
independent, so are the rows.
"""

if __name__ == "__main__":
    print("unusable: run the folder, not this file: python checker certificate.json")
    raise SystemExit(2)

from bisect import insort
from operator import mul
from typing import Any

from .layer import Layer, attention, saturated, shifts
from .limits import Limits, need
from .reading import all_of, dims, numbers, typed


def is_prime(p: int) -> bool:
    """Whether an odd p > 1 is prime, by the Miller-Rabin test. With these bases, no composite
    below 3 * 10^23 passes (Sorenson and Webster, Strong pseudoprimes to twelve prime bases, 2017).
    """
    twos = (p - 1 & 1 - p).bit_length() - 1
    for a in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        x = pow(a, p >> twos, p)
        if a % p and x != 1 and all(pow(x, 2**i, p) != p - 1 for i in range(twos)):
            return False
    return True


def prime_of(limits: Limits, cert: Any, rows: int) -> int:
    """The prime modulo which this many rows are claimed to be independent."""
    rank = typed(cert["rank"], dict, "rank", "prime value")
    (p,), unit, _ = numbers(limits, [rank["prime"]], "rank.prime", 1)
    prime = unit == p % 2 == 1 < p < 2**62 and is_prime(p)
    need(prime, "rank.prime is not an odd prime below 2^62", "wrong")
    count = typed(rank["value"], int, "rank.value")
    need(count == rows, f"rank.value is not {rows}", "wrong")
    return p


def independent(columns: list[Any], p: int) -> list[Any]:
    """Columns of a shared context that span all its columns modulo p. A feature is a mean over a
    column, so in every row the features from the other columns are the same combinations of those
    from these columns, and add nothing to the rank."""
    echelon = Echelon(p, len(columns))
    return [column for column in columns if echelon.joins(column)]


def dot_mod(x: Any, y: Any, p: int) -> int:
    return sum(map(mul, x, y)) % p


def powers_mod(logits: Any, times: Any, p: int) -> list[int]:
    """times * 2^k modulo p for each logit k. The exponent is reduced modulo p - 1."""
    pairs = zip(logits, times, strict=True)
    return [often * pow(2, k % (p - 1), p) % p for k, often in pairs]


def parts(cert: Any, limits: Limits) -> tuple[Layer, int]:
    """The layer and the prime. Checks everything but the rank."""
    T, d, m, H, d_v = dims(cert, "examples width labels heads value_width")
    layer = attention(limits, cert)
    numbers(limits, cert["data"]["labels"], "labels", T, m)
    p = prime_of(limits, cert, T)
    need(d_v >= m, "dims.value_width is less than dims.labels", "wrong")
    need(H * d >= T, "there are more examples than features: heads times width", "wrong")
    need(layer.unit % p, "a denominator of the contexts is 0 mod p", "wrong")
    return layer, p


def judge(cert: Any, parts: tuple[Layer, int], limits: Limits) -> str:
    T, d, H = dims(cert, "examples width heads")
    layer, p = parts
    echelon, shared = Echelon(p, T), len(layer.contexts) == 1
    limits.allow(echelon.width, T * H * d)
    few = list[Any]()
    for t, (columns, times, logits) in enumerate(shifts(limits, layer)):
        row = []
        if shared:
            columns = few = few or independent(columns, p)
        for x in logits:
            limits.on_time()
            weights = powers_mod(x, times, p)
            s = layer.unit * sum(weights) % p
            need(s, f"a denominator of example {t} is 0 mod p", "wrong")
            inverse = pow(s, -1, p)
            row += [dot_mod(weights, column, p) * inverse % p for column in columns]
        dependent = f"modulo p, the features of example {t} depend on earlier ones"
        need(echelon.joins(row), dependent, "wrong")
    more = saturated(limits, cert, layer)
    return f"the features of {all_of(T)} are independent: rank {T} modulo {p}{more}"


# Independence modulo a prime.


class Echelon:
    """Rows in echelon form modulo p: each row has a leading 1, and later rows are 0 in its column.

    A row is one long integer with a slot of `width` bits for each entry, so that Python multiplies
    a row, or adds two rows, in one operation. An entry is below p, and each of at most `rows`
    multiples adds less than p^2 to it, so it stays below (rows + 1) * p^2 and fits in its slot.

    pivots: the column of each leading 1, in ascending order, with the row from this column on.
    """

    def __init__(self, p: int, rows: int) -> None:
        self.p, self.bytes = p, (2 * p.bit_length() + rows.bit_length()) // 8 + 1
        self.width = 8 * self.bytes
        self.pivots: list[tuple[int, int]] = []

    def joins(self, row: list[int]) -> bool:
        """Whether the row is independent of the earlier ones; if so, it joins them."""
        p, width = self.p, self.width
        rest, at, slot = self.packed(row), 0, (1 << width) - 1
        for column, pivot in self.pivots:
            passed = rest & ((1 << width * (column - at)) - 1)
            start = self.first(passed)
            if start >= 0:
                return self.add(at + start, rest >> width * start)
            rest, at = rest >> width * (column - at), column
            if factor := (rest & slot) % p:
                rest += (p - factor) * pivot
        start = self.first(rest)
        return start >= 0 and self.add(at + start, rest >> width * start)

    def add(self, column: int, row: int) -> bool:
        entries = self.entries(row)
        inverse = pow(entries[0], -1, self.p)
        insort(self.pivots, (column, self.packed([x * inverse for x in entries])))
        return True

    def first(self, row: int) -> int:
        """The index of the first entry that is not 0 modulo p, or -1."""
        return next((j for j, x in enumerate(self.entries(row)) if x), -1) if row else -1

    def packed(self, entries: list[int]) -> int:
        p, size = self.p, self.bytes
        return int.from_bytes(
            b"".join([(x % p).to_bytes(size, "little") for x in entries]), "little"
        )

    def entries(self, row: int) -> list[int]:
        size, length = self.bytes, -(-row.bit_length() // self.width) * self.bytes
        data = row.to_bytes(length, "little")
        return [
            int.from_bytes(data[j : j + size], "little") % self.p for j in range(0, length, size)
        ]
