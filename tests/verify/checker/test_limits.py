"""Limits: expensive files get their verdict in time and in bounded memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.adversarial_certificates import MAKERS, layer
from support.every_claim import TRUE
from support.shares import share
from support.small_certificates import CASES, Certificate, layer_certificate, sealed, written

from attncert.verify import checker
from attncert.verify.certificates.coq import executable
from attncert.verify.checker import Limits, Rejected
from attncert.verify.checker.limits import MAX_BITS, MAX_DIVISION
from attncert.verify.checking.fast import check as fast
from attncert.verify.checking.fast import full_rank

KERNEL = executable.home() / "build" / "attncert-kernel"
SIZES = {
    "powers": 12_000, "long_outputs": 400, "long_heads": 100, "many_logits": 400, "kinds": 1000,
    "one_kind": 1000, "long_numbers": 700, "divisors": 4000, "colliding": 20_000,
    "colliding_kinds": 1500, "colliding_tokens": 1500, "long_exponents": 400, "saturated": 3000,
    "rounded": 3000, "long_radius_and_inverse": 3000, "long_labels": 3000, "small_radius": 10_000,
    "long_weights": 3000, "long_inverse": 8000, "many_unknowns": 400,
}  # fmt: skip  # the sizes on which the cost depends; others are 60
JUDGED = {  # the true verdict on files that may be checked in time
    "divisors": "wrong", "long_exponents": "holds", "long_weights": "wrong",
    "independent": "holds",
}  # fmt: skip


@pytest.mark.parametrize("name", share(MAKERS, 12))
def test_a_verdict_comes_in_time(name: str, tmp_path: Path) -> None:
    path = written(MAKERS[name](SIZES.get(name, 60)), tmp_path)
    start = time.process_time()
    verdict = checker.check_file(path, limit_seconds=1.0, limit_mib=256)
    assert time.process_time() - start < 15
    assert verdict.status in ("over limit", "wrong", JUDGED.get(name))


@pytest.mark.parametrize("name", share(MAKERS, 18))
def test_memory_is_bounded(name: str, tmp_path: Path) -> None:
    """The check uses at most four times the limit on numbers held at once."""
    path = written(MAKERS[name](SIZES.get(name, 60) // 2), tmp_path)
    tracemalloc.start()
    checker.check_file(path, limit_seconds=2.0, limit_mib=16)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * 2**20


def shaped(T: int, n: int, d: int, H: int, shared: bool, long: bool) -> Certificate:
    draw = np.random.default_rng(0)

    def table(*shape: int) -> Any:
        return draw.integers(-3, 4, size=shape).astype(str).tolist()

    heads = [{"key": table(d, 1), "query": table(d, 1)} for _ in range(H)]
    if long:
        heads[0]["key"][0][0] = str(2**70)
    return layer(
        "full-rank", T=T, n=n, d=d, H=H, prime="2147483579", heads=heads,
        contexts=table(1 if shared else T, n, d), queries=table(T, d),
    )  # fmt: skip


SHAPES = [
    [300, 4, 20, 20, False, False],
    [30, 5000, 1, 30, True, False],
    [4, 3, 10, 1000, True, False],
    [100, 300, 2, 60, True, True],
    [2, 30_000, 1, 2, True, False],
]


@pytest.mark.parametrize("shape", share(SHAPES, 5))
def test_memory_of_the_fast_check(
    shape: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The memory that the checker estimates is at least a third of what it uses."""
    monkeypatch.setattr(full_rank, "ENTRIES", 2**16)
    path = written(shaped(*shape), tmp_path)
    tracemalloc.start()
    verdict = fast.check_file(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert verdict.status in ("holds", "wrong"), verdict
    assert fast.check_file(path, limit_mib=peak / 3 / 2**20).status == "over limit"


def large() -> Certificate:
    """One head whose logits differ by 2^30, which needs a number of 2^30 bits."""
    certificate = layer_certificate("interpolation", T=1, n=2, d=1, H=1)
    certificate["data"] |= {"contexts": [[["0"], ["1"]]], "queries": [["1"]], "labels": [["1"]]}
    certificate["network"][0]["heads"][0] |= {"key": [[str(2**30)]], "query": [["1"]]}
    return sealed(certificate)


def test_a_number_of_a_billion_bits_is_refused_at_once(tmp_path: Path) -> None:
    path = written(large(), tmp_path)
    assert Path(path).stat().st_size < 1200
    start = time.process_time()
    verdict = checker.check_file(path)
    assert (verdict.status, verdict.message.split(" (")[0]) == (
        "over limit",
        f"a number of over {MAX_BITS} bits",
    )
    assert time.process_time() - start < 5
    if KERNEL.is_file():
        assert executable.check_file(path).status == "over limit"


def over(check: Any, *arguments: int) -> bool:
    try:
        check(*arguments)
    except Rejected as rejected:
        return bool(rejected.args[0] == "over limit")
    return False


def test_the_guard_is_sharp() -> None:
    limits = Limits(600.0, 16.0)
    assert [over(limits.allow, bits) for bits in (MAX_BITS, MAX_BITS + 1, 10**500)] == [0, 1, 1]
    assert [over(limits.allow, 30, 10**k) for k in (5, 6, 30)] == [0, 1, 1]
    root = int(MAX_DIVISION**0.5)
    assert [over(limits.divide, root, root + k) for k in (0, 1)] == [0, 1]
    assert over(limits.product, 1 << MAX_BITS // 2, 1 << MAX_BITS // 2)
    assert limits.lcm(12, 18) == 36 and over(limits.lcm, 3**10**6, 2**10**7)
    assert over(Limits(0.0).on_time) and over(Limits(float("nan")).on_time)
    assert not over(Limits(float("inf"), float("inf")).allow, 30, 10**30)


@pytest.mark.parametrize("claim", checker.CLAIMS)
def test_the_deadline_ends_the_work_wherever_it_is(
    claim: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time is up at the first, second, ... reading of the clock, until the file is judged."""
    path, looks = written(TRUE[claim], tmp_path), 0

    class Clock:
        @staticmethod
        def monotonic() -> float:
            nonlocal looks
            looks -= 1
            return 0.0 if looks > 0 else 1e9

    monkeypatch.setattr("attncert.verify.checker.limits.time", Clock)
    statuses = []
    for count in (*range(1, 100), 10**9):
        looks = count + 1
        statuses.append(checker.check_file(path).status)
    ended = statuses.index("holds")
    assert ended > 10 and {*statuses[:ended]} == {"over limit"} and {*statuses[ended:]} == {"holds"}


@pytest.mark.slow
@pytest.mark.parametrize("check", [checker.check_file, fast.check_file])
def test_numbers_of_one_hash(check: Any, tmp_path: Path) -> None:
    """A set of 100,000 numbers with the same hash once took minutes."""
    for name, size in (("colliding", 2500), ("colliding_unknowns", 200), ("colliding_tokens", 500)):
        path = written(MAKERS[name](size), tmp_path)
        start = time.process_time()
        check(path)
        assert time.process_time() - start < 15


@pytest.mark.parametrize("digits", ["0", "640", "100000"])
def test_integers_have_one_cap_whatever_python_is_told(digits: str, tmp_path: Path) -> None:
    """The cap is 4,300 digits, even if Python would read fewer or more; in Coq, too."""
    seed = {"seed": -int("7" * 4300)}
    true = json.dumps(sealed(CASES["dependent-set"]() | {"produced_by": seed}))
    long = true.replace("7" * 4300, "7" * 4301)
    for content, word in ((true, "holds"), (long, "unusable: an integer has over 4300 digits")):
        done = subprocess.run(
            [sys.executable, "-S", str(Path(checker.__file__).parent), written(content, tmp_path)],
            env=os.environ | {"PYTHONINTMAXSTRDIGITS": digits},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.stdout.startswith(word), done
        if KERNEL.is_file():
            verdict = executable.check_file(str(tmp_path / "certificate.json"))
            assert verdict.status == word.split(":")[0]
