"""What the checkers count before they work: against operations counted and memory measured."""

from __future__ import annotations

import math
import time
import tracemalloc
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.adversarial_certificates import MAKERS, layer
from support.shares import share
from support.small_certificates import CASES, Certificate, sealed, written

from attncert.verify import checker, fast_check

STEP, BIT = 1.2e-7, 2e-12  # seconds: of a product in Python, and for each bit by each bit of it


class Noted(checker.Work):
    """The same without limits; `arithmetic` is what products and quotients take of the time."""

    last: Noted

    def __init__(self, *_: float) -> None:
        super().__init__(math.inf, math.inf)
        self.arithmetic, Noted.last = 0.0, self

    def dots(self, count: float, length: float, a: float, b: float) -> None:
        before = self.seconds
        super().dots(count, length, a, b)
        self.arithmetic += self.seconds - before

    def quotients(self, count: float, a: float, b: float) -> None:
        before = self.seconds
        super().quotients(count, a, b)
        self.arithmetic += self.seconds - before


class Counted(int):
    """An integer that counts what is done with it and with what comes of it."""

    seconds = 0.0

    def __lt__(self, other: int) -> bool:
        return bool(charged(int.__lt__(self, other), 30, self.bit_length()))

    def __format__(self, spec: str) -> str:
        charged(0, 30, self.bit_length())
        return int.__format__(self, spec)


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
for name in ("add", "radd", "sub", "rsub", "lshift", "rlshift"):
    setattr(Counted, f"__{name}__", lambda x, y, f=f"__{name}__": Counted(getattr(int, f)(x, y)))


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


EARLY = ("shuffled_groups",)  # refused before any arithmetic
LITTLE = ("keys_in_free_text", "objects_in_free_text", "wide_text")  # of arithmetic
SIZE = 60


def made(name: str, folder: Path, size: int = SIZE) -> str:
    return written(MAKERS[name](size), folder)


@pytest.mark.parametrize("name", [name for name in MAKERS if name not in (*EARLY, *LITTLE)])
def test_operations(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was counted before is no less than what is counted now, nor more than ten times it."""
    monkeypatch.setattr(checker, "integer", lambda text: Counted(Decimal(text)))
    counted = SimpleNamespace(lcm=lcm, gcd=gcd, prod=math.prod)
    monkeypatch.setattr(checker, "math", counted)
    monkeypatch.setattr(checker, "Work", Noted)
    Counted.seconds = 0.0
    checker.check_file(made(name, tmp_path))
    assert 1 <= Noted.last.arithmetic / Counted.seconds <= 10


@pytest.mark.parametrize("name", [*MAKERS, *CASES])
def test_memory(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(name, tmp_path) if name in MAKERS else written(CASES[name](), tmp_path)
    monkeypatch.setattr(checker, "Work", Noted)
    checker.check_file(path)  # imports and caches
    tracemalloc.start()
    try:
        checker.check_file(path)
        peak = tracemalloc.get_traced_memory()[1] - 30_000  # of frames and the like
    finally:
        tracemalloc.stop()
    assert peak <= Noted.last.peak
    assert Noted.last.peak <= 10 * peak or Noted.last.peak < 10**6


HUGE = {
    "powers": 12_000, "partial_sums": 10_000, "long_outputs": 400, "many_heads": 400,
    "kinds": 1000, "equal_tokens": 500, "long_numbers": 700, "divisors": 4000,
    "residues": 2000, "colliding": 20_000,
}  # fmt: skip


@pytest.mark.parametrize("name", HUGE)
def test_what_costs_too_much_is_refused_at_once(name: str, tmp_path: Path) -> None:
    path = made(name, tmp_path, HUGE[name])
    start = time.process_time()
    verdict = checker.check_file(path, limit_seconds=0.5, limit_mib=256)
    assert verdict.status == "over limit", verdict
    assert time.process_time() - start < 4


def test_denominators_of_one_hash(tmp_path: Path) -> None:
    """A hundred thousand of them took minutes in a set."""
    path = made("colliding", tmp_path, 2500)
    start = time.process_time()
    checker.check_file(path)
    assert time.process_time() - start < 4


def test_a_million_vectors_that_are_not_there(tmp_path: Path) -> None:
    certificate: Certificate = CASES["dependent-set"]()
    certificate["dims"]["vectors"] = 2**23
    path = written(sealed(certificate), tmp_path)
    tracemalloc.start()
    assert checker.check_file(path).status == "unusable"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10**6


# The fast re-check.


def shaped(T: int, n: int, d: int, H: int, shared: bool, long: bool = False) -> Certificate:
    draw = np.random.default_rng(0)

    def table(*shape: int) -> Any:
        return draw.integers(-3, 4, size=shape).astype(str).tolist()

    heads = [{"key": table(d, 1), "query": table(d, 1)} for _ in range(H)]
    if long:
        heads[0]["key"][0][0] = str(2**70)
    return layer(
        "full-rank", T=T, n=n, d=d, H=H, prime="4611686018427377339", heads=heads,
        contexts=table(1 if shared else T, n, d), queries=table(T, d),
    )  # fmt: skip


@pytest.mark.parametrize(
    "shape",
    share(
        [
            ((300, 4, 20, 20, False),),
            ((30, 5000, 1, 30, True),),
            ((4, 3, 10, 1000, True),),
            ((100, 300, 2, 60, True, True),),
            ((2, 30_000, 1, 2, True),),
        ],
        4,
    ),
)
def test_memory_of_the_fast_re_check(
    shape: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fast_check, "ENTRIES", 2**16)
    path = written(shaped(*shape), tmp_path)
    monkeypatch.setattr(checker, "Work", Noted)
    tracemalloc.start()
    try:
        verdict = fast_check.check_file(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert verdict.status in ("holds", "wrong"), verdict
    assert peak <= Noted.last.peak + 4e6, "less the tables of powers of two"
    assert Noted.last.peak <= 10 * peak
