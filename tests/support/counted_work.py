"""Work as the checkers estimate it, and integers that count what is really done with them."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from typing import Any

STEP, BIT = 1.2e-7, 2e-12  # seconds: of a product in Python, and for each bit by each bit of it


class Noting:
    """Mixed into a checker's `Work`: no limits; `arithmetic` is what products and quotients take
    of the time. `Noting.last` is the latest."""

    last: Any
    seconds: float

    def __init__(self, *_: float) -> None:
        super().__init__(math.inf, math.inf)  # type: ignore[call-arg]
        self.arithmetic, Noting.last = 0.0, self

    def dots(self, *counts: float) -> None:
        before = self.seconds
        super().dots(*counts)  # type: ignore[misc]
        self.arithmetic += self.seconds - before

    def quotients(self, *counts: float) -> None:
        before = self.seconds
        super().quotients(*counts)  # type: ignore[misc]
        self.arithmetic += self.seconds - before


def require_memory_counted(check: Callable[[str], Any], path: str) -> None:
    """The memory that a check takes is at most what its `Noting` work counted, and no less than a
    tenth of that, small amounts apart."""
    check(path)  # imports and caches
    tracemalloc.start()
    try:
        check(path)
        peak = tracemalloc.get_traced_memory()[1] - 30_000  # of frames and the like
    finally:
        tracemalloc.stop()
    assert peak <= Noting.last.peak
    assert Noting.last.peak <= 10 * peak or Noting.last.peak < 10**6


class Counted(int):
    """An integer that counts what is done with it and with what comes of it."""

    seconds = 0.0

    def __lt__(self, other: int) -> bool:
        return bool(charged(int.__lt__(self, other), 30, self.bit_length()))

    def __format__(self, spec: str) -> str:
        charged(0, 30, self.bit_length())
        return int.__format__(self, spec)

    def __divmod__(self, other: int) -> tuple[int, int]:
        quotient = self // other
        return quotient, Counted(int.__sub__(self, int.__mul__(quotient, other)))


def charged(result: int, a: int, b: int) -> Counted:
    """The result of what takes a * b steps on bits."""
    Counted.seconds += STEP + BIT * a * b
    return Counted(result)


def product(name: str) -> Any:
    return lambda x, y: charged(getattr(int, name)(x, y), x.bit_length(), y.bit_length())


def quotient(name: str) -> Any:
    def divided(x: int, y: int) -> int:
        top, below = (y, x) if name.startswith("__r") else (x, y)
        above = max(top.bit_length() - below.bit_length(), 0)
        return charged(getattr(int, name)(x, y), above, below.bit_length())

    return divided


for name in ("__mul__", "__rmul__"):
    setattr(Counted, name, product(name))
for name in ("__floordiv__", "__rfloordiv__", "__mod__", "__rmod__"):
    setattr(Counted, name, quotient(name))
for name in ("add", "radd", "sub", "rsub", "lshift", "rlshift", "rshift"):
    setattr(Counted, f"__{name}__", lambda x, y, f=f"__{name}__": Counted(getattr(int, f)(x, y)))
for name in ("neg", "abs"):
    setattr(Counted, f"__{name}__", lambda x, f=f"__{name}__": Counted(getattr(int, f)(x)))


def lcm(x: int, y: int) -> int:
    """One long quotient, a greatest common divisor of two of the shorter length, a product."""
    longer, shorter = sorted((x.bit_length(), y.bit_length()), reverse=True)
    charged(0, longer, shorter)
    charged(0, shorter, shorter)
    return charged(math.lcm(x, y), longer, shorter)


def gcd(*numbers: int) -> int:
    for x in numbers:
        charged(0, x.bit_length(), x.bit_length())
    return Counted(math.gcd(*numbers))
