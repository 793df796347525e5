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
from support.counted_work import Counted, Noting, gcd, lcm, require_memory_counted
from support.shares import share
from support.small_certificates import CASES, Certificate, sealed, written

from attncert.verify import checker
from attncert.verify.fast import check as fast
from attncert.verify.fast import full_rank


class Noted(Noting, checker.Work):
    """The checker's, without limits."""


EARLY = ("shuffled_groups",)  # refused before any arithmetic
LITTLE = ("keys_in_free_text", "objects_in_free_text", "wide_text")  # of arithmetic
SIZE = 60


def made(name: str, folder: Path, size: int = SIZE) -> str:
    return written(MAKERS[name](size), folder)


@pytest.mark.parametrize("name", share(sorted({*MAKERS} - {*EARLY, *LITTLE}), 3))
def test_operations(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was counted before is no less than what is counted now, nor more than ten times it."""
    monkeypatch.setattr(checker, "integer", lambda text: Counted(Decimal(text)))
    counted = SimpleNamespace(lcm=lcm, gcd=gcd, prod=math.prod)
    monkeypatch.setattr(checker, "math", counted)
    monkeypatch.setattr(checker, "Work", Noted)
    Counted.seconds = 0.0
    checker.check_file(made(name, tmp_path))
    assert 1 <= Noting.last.arithmetic / Counted.seconds <= 10


@pytest.mark.parametrize("name", share([*MAKERS, *CASES], 3))
def test_memory(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(name, tmp_path) if name in MAKERS else written(CASES[name](), tmp_path)
    monkeypatch.setattr(checker, "Work", Noted)
    require_memory_counted(checker.check_file, path)


HUGE = {
    "powers": 12_000, "partial_sums": 10_000, "long_outputs": 400, "many_heads": 400,
    "kinds": 1000, "equal_tokens": 500, "long_numbers": 700, "divisors": 4000,
    "residues": 2000, "colliding": 20_000,
}  # fmt: skip


@pytest.mark.parametrize("name", share(HUGE, 3))
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


# The fast check.


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
        5,
    ),
)
def test_memory_of_the_fast_re_check(
    shape: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(full_rank, "ENTRIES", 2**16)
    path = written(shaped(*shape), tmp_path)
    monkeypatch.setattr(checker, "Work", Noted)
    tracemalloc.start()
    try:
        verdict = fast.check_file(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert verdict.status in ("holds", "wrong"), verdict
    assert peak <= Noting.last.peak + 4e6, "less the tables of powers of two"
    assert Noting.last.peak <= 10 * peak
