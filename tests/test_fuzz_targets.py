"""What `make fuzz` runs: seeds reach what they are for; each kind of misbehaviour is seen."""

from __future__ import annotations

import json
from typing import Any

import fuzz_targets
import pytest
from fuzz import NAMES
from fuzz_targets import TARGETS, Finding
from small_certificates import CASES, changed

from attncert.constructions.data.dataset import Dataset
from attncert.verify.checker import Verdict


def test_every_target_is_run_by_its_name() -> None:
    assert tuple(TARGETS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_seeds_are_read(name: str) -> None:
    words = [TARGETS[name].run(seed) for seed in TARGETS[name].seeds()]
    good = "holds" if name in ("certificate", "fast-check", "mutants") else "read"
    assert words.count(good) >= 3
    assert set(words) <= {good, "refused", "wrong", "unusable"}


@pytest.mark.parametrize("name", NAMES)
def test_garbage_is_refused(name: str) -> None:
    words = {TARGETS[name].run(x) for x in (b"", b"\0", b"[[", b"{}")}
    assert words <= {"refused", "unusable", "too short"}


def test_a_stale_digest_is_computed_afresh() -> None:
    """Else nearly every mutation would end at the digest."""
    stale = CASES["interpolation"]()
    stale["data"]["labels"][0] = ["101"]
    assert TARGETS["certificate"].run(json.dumps(stale).encode()) == "wrong"
    stale = changed(CASES["interpolation"](), "construction", "another") | {"digest": "0"}
    assert TARGETS["certificate"].run(json.dumps(stale).encode()) == "holds"


def test_another_exception_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(path: Any) -> Dataset:
        raise KeyError("labels")

    monkeypatch.setattr(fuzz_targets, "load", broken)
    with pytest.raises(Finding, match="KeyError"):
        TARGETS["json"].run(b"{}")


@pytest.mark.parametrize(
    ("status", "message", "finding"),
    [("holds", "yes", "not true"), ("wrong", "a\nb", "line"), ("perhaps", "", "line")],
)
def test_a_wrong_verdict_is_a_finding(
    status: str, message: str, finding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    false = changed(CASES["full-rank"](), "rank.value", 3)
    monkeypatch.setattr(
        fuzz_targets.checker, "check_file", lambda *_: Verdict(status, None, message, {})
    )
    with pytest.raises(Finding, match=finding):
        TARGETS["certificate"].run(json.dumps(false).encode())


def test_too_much_time_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_targets, "HANG", 0.0)
    with pytest.raises(Finding, match="took"):
        TARGETS["json"].run(b"{}")
