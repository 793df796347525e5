"""What the checkers of interpolation-near count before they work, as in test_checker_work.py."""

from __future__ import annotations

import math
import time
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.adversarial_near import MAKERS, near, table
from support.counted_work import Counted, Noting, gcd, lcm, require_memory_counted
from support.near_cases import CASES, case
from support.shares import share
from support.small_certificates import written

from attncert.verify import checker, checker_near
from attncert.verify.fast import check as fast
from attncert.verify.fast import near as fast_near

SIZE = 20
CHECKS = (checker.check_file, fast.check_file)


class Noted(Noting, checker.Work):
    """The checker's, without limits."""


@pytest.fixture
def to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """No limits, and no row that ends the check: as if every row were as it should be."""

    def need(condition: object, message: str, status: str = "unusable") -> None:
        if not (condition or " in row " in message or "to contract" in message):
            raise checker.Rejected(status, message)

    for module in (checker, checker_near, fast_near):
        monkeypatch.setattr(module, "need", need)
    monkeypatch.setattr(checker, "Work", Noted)


@pytest.mark.parametrize("name", share(sorted({*MAKERS} - {"colliding_unknowns"}), 3))
def test_operations(
    name: str, tmp_path: Path, to_the_end: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was counted before is no less than what is counted now, nor much more: the longest
    number of a kind counts for all of them, in a product of six."""
    monkeypatch.setattr(checker, "integer", lambda text: Counted(Decimal(text)))
    monkeypatch.setattr(checker, "math", SimpleNamespace(lcm=lcm, gcd=gcd))
    Counted.seconds = 0.0
    checker.check_file(written(MAKERS[name](SIZE), tmp_path))
    assert 1 <= Noting.last.arithmetic / Counted.seconds <= 40


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", share([*MAKERS, *CASES], 3))
def test_memory(name: str, check: Any, tmp_path: Path, to_the_end: None) -> None:
    path = written(MAKERS[name](SIZE) if name in MAKERS else case(name), tmp_path)
    require_memory_counted(check, path)


HUGE = {
    "long_radius_and_inverse": 3000, "long_labels": 3000, "small_radius": 10_000,
    "long_queries": 3000, "long_weights": 3000, "long_tokens": 5000, "long_inverse": 8000,
    "many_tokens": 3000, "many_heads": 30_000,
}  # fmt: skip


@pytest.mark.parametrize("name", share(HUGE, 3))
def test_what_costs_too_much_is_refused_at_once(name: str, tmp_path: Path) -> None:
    path = written(MAKERS[name](HUGE[name]), tmp_path)
    start = time.process_time()
    verdict = checker.check_file(path, limit_seconds=0.5, limit_mib=256)
    assert verdict.status == "over limit", verdict
    assert time.process_time() - start < 4


@pytest.mark.parametrize("check", CHECKS)
def test_unknowns_of_one_hash(check: Any, tmp_path: Path) -> None:
    """A hundred thousand of them took minutes in a set."""
    path = written(MAKERS["colliding_unknowns"](200), tmp_path)
    start = time.process_time()
    assert check(path).status == "wrong"
    assert time.process_time() - start < 4


def test_a_long_radius_is_brought_to_balls_once(
    tmp_path: Path, to_the_end: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was divided for every matrix of every head: half a minute for 10,000 heads."""
    long: list[int] = []
    up = checker_near.up
    monkeypatch.setattr(
        checker_near, "up", lambda x, q: up(x, q) if q < 2**9999 else long.append(q) or up(x, q)
    )
    content = near(H=3, radius=f"{'9' * 4000}/{'8' * 4000}")
    assert checker.check_file(written(content, tmp_path)).status == "holds"
    assert len(long) == 1


def test_memory_of_long_fractions(tmp_path: Path, to_the_end: None) -> None:
    """FLINT holds them a second time, each with its denominator, and for a moment a third time."""
    size, digits = 12, 20_000
    row = [f"1/{'8' * digits}", *["1"] * (size - 1)]
    head = {"key": [row, *table(size - 1, size)], "query": table(size, size)}
    fast.check_file(written(near(d=size, d_h=size, head=head), tmp_path))
    long = Noting.last.peak
    assert long > 5 * size * size * digits * math.log2(10) / 8


# What is beyond float64.


@pytest.mark.parametrize("power", [300, 309, 400, 4000])
def test_a_radius_beyond_float64_is_judged(power: int, tmp_path: Path) -> None:
    """A weight that nothing depends on but one output, linearly: any radius will do."""
    content = near(radius=f"1{'0' * power}", unknowns=[2], inverse=[["1"]])
    for check in CHECKS:
        assert check(written(content, tmp_path)).status == "holds"


@pytest.mark.filterwarnings("error")
def test_numbers_beyond_float64_are_no_warnings(tmp_path: Path) -> None:
    """An infinite query times a derivative that is zero, of weights that do not even move."""
    head = {"key": [["0"]], "query": [["1"]], "value": [["1"]]}
    content = near(queries=[[f"1{'0' * 400}"]], head=head, unknowns=[2], inverse=[["1"]])
    assert fast.check_file(written(content, tmp_path)).status == "holds"
