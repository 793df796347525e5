"""The claim "full-rank": modulo a prime, the features of all examples are independent.

The prime divides no denominator, so rows that are independent modulo it are the images of rows that
are independent over the rationals.
"""

if __name__ == "__main__":
    print("unusable: run the folder: python checker certificate.json")
    raise SystemExit(2)

from operator import mul
from typing import Any

from .echelon import Echelon
from .layer import Layer, attention, saturated, shifts
from .limits import Limits, need
from .reading import all_of, dims, numbers, typed


def is_prime(p: int) -> bool:
    """Whether an odd p > 1 is prime, by the test of Miller and Rabin. With these bases no composite
    below 3 * 10^23 passes (Sorenson and Webster, Strong pseudoprimes to twelve prime bases, 2017).
    """
    twos = (p - 1 & 1 - p).bit_length() - 1
    for a in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        x = pow(a, p >> twos, p)
        if a % p and x != 1 and all(pow(x, 2**i, p) != p - 1 for i in range(twos)):
            return False
    return True


def prime_of(limits: Limits, cert: Any, rows: int) -> int:
    """The prime of a claim that this many rows are independent modulo it."""
    rank = typed(cert["rank"], dict, "rank", "prime value")
    (p,), unit, _ = numbers(limits, [rank["prime"]], "rank.prime", 1)
    prime = unit == p % 2 == 1 < p < 2**62 and is_prime(p)
    need(prime, "rank.prime is not an odd prime below 2^62", "wrong")
    count = typed(rank["value"], int, "rank.value")
    need(count == rows, f"rank.value is not {rows}", "wrong")
    return p


def independent(columns: list[Any], p: int) -> list[Any]:
    """Columns of a shared context that span the others modulo p. A feature is a mean over a column,
    so those of the others are the same combinations in every row, and add nothing to the rank."""
    echelon = Echelon(p, len(columns))
    return [column for column in columns if echelon.joins(column)]


def dot_mod(x: Any, y: Any, p: int) -> int:
    return sum(map(mul, x, y)) % p


def powers_mod(logits: Any, times: Any, p: int) -> list[int]:
    """times * 2^k modulo p, with 2^(p-1) = 1."""
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
