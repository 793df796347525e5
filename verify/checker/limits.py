"""The limits of a check: time, memory and the length of numbers.

Loops over examples, rows and numbers check the deadline. Numbers that could grow long must be
allowed before they are computed. If a limit is exceeded, the check stops and leaves the claim open.
"""

if __name__ == "__main__":
    print("unusable: run the folder, not this file: python checker certificate.json")
    raise SystemExit(2)

import math
import time
from operator import mul
from typing import Any

LIMIT_SECONDS, LIMIT_MIB = 600.0, 2048.0  # for the whole check; for all numbers in memory
MAX_BITS = 2**24  # the most bits a power, product or common denominator may have
MAX_DIVISION = 2**42  # product of the two lengths in bits; division takes quadratic time
SHORT = 2**10  # shorter numbers are multiplied without a check of the limits


class Rejected(Exception): ...  # status and message


def need(condition: object, message: str, status: str = "unusable") -> None:
    if not condition:
        raise Rejected(status, message)


class Limits:
    """A deadline and a limit on memory; `long` is true once a number is longer than SHORT."""

    def __init__(self, seconds: float = LIMIT_SECONDS, mib: float = LIMIT_MIB) -> None:
        self.seconds, self.mib, self.long = seconds, mib, False
        self.end = time.monotonic() + seconds

    def on_time(self) -> None:
        if not time.monotonic() < self.end:  # also true if a limit is NaN
            self.over(f"above --limit-seconds {self.seconds:g}")

    def allow(self, bits: int, count: int = 1) -> None:
        """Allow `count` numbers of at most `bits` bits in memory. Python stores 30 bits in four
        bytes, after a header. Call it before computing any power, product or common denominator."""
        self.on_time()
        if bits > MAX_BITS:
            self.over(f"a number of over {MAX_BITS} bits")
        self.hold(count * (40 + bits / 7.5))

    def hold(self, size: float) -> None:
        """Allow `size` bytes in memory."""
        if not size <= self.mib * 2**20:
            self.over(f"above --limit-mib {self.mib:g}")

    def over(self, reason: str) -> None:
        raise Rejected("over limit", reason)

    def divide(self, a: int, b: int) -> None:
        """Allow dividing an a-bit integer by a b-bit integer, or computing their gcd."""
        self.on_time()
        if a * b > MAX_DIVISION:
            self.over(f"a division of over {MAX_DIVISION} bits times bits")

    def lcm(self, x: int, y: int) -> int:
        self.divide(x.bit_length(), y.bit_length())
        common = math.lcm(x, y)
        self.allow(common.bit_length())
        return common

    def product(self, x: int, y: int) -> int:
        self.allow(x.bit_length() + y.bit_length())
        return x * y

    def dot(self, x: Any, y: Any) -> int:
        total = sum(map(self.product if self.long else mul, x, y))
        self.long |= total.bit_length() > SHORT
        return total
