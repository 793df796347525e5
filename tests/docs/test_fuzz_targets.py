"""What `make fuzz` runs: seeds reach what they are for; each kind of misbehaviour is seen."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from fuzz import NAMES
from support import fuzz_targets
from support.fuzz_measure import Finding, bounded
from support.fuzz_targets import TARGETS
from support.small_certificates import CASES, changed

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.foreign import escaped, printable
from attncert.verify.checker import Verdict


def test_every_target_is_run_by_its_name() -> None:
    assert tuple(TARGETS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_seeds_are_read(name: str) -> None:
    words = [TARGETS[name].run(seed) for seed in TARGETS[name].seeds()]
    certificates = ("certificate", "fast-check", "mutants", "near", "near-mutants", "labelling",
                    "labelling-mutants", "first-layer", "first-layer-mutants")  # fmt: skip
    good = "holds" if name in certificates else "read"
    assert words.count(good) >= 3
    assert set(words) <= {good, "refused", "wrong", "unusable"}


@pytest.mark.parametrize("name", NAMES)
def test_garbage_is_refused(name: str) -> None:
    words = {TARGETS[name].run(x) for x in (b"", b"\0", b"[[", b"{}")}
    assert words <= {"refused", "unusable", "too short"} or "name" in name


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
    monkeypatch.setattr("support.fuzz_measure.HANG", 0.0)
    with pytest.raises(Finding, match="took"):
        TARGETS["json"].run(b"{}")


def test_too_much_memory_is_a_finding() -> None:
    """64 MiB, and 1,000 bytes for each of the input: bytes(n) alone takes n."""
    size = 10**8
    assert bounded(lambda content: str(len(content)))(b"x") == "1"
    with pytest.raises(Finding, match=r"took 9[0-9] MiB for 1 bytes"):
        bounded(lambda content: str(len(b"x" * size)))(b"x")
    assert bounded(lambda content: str(len(b"x" * size)))(b"x" * 2**17) == str(size)


@pytest.mark.parametrize("name", ["../up", "a\nb", "\x1b[31m", "\ud800"])
def test_a_name_in_a_file_that_is_not_made_safe_is_a_finding(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attncert.verify.kruskal.vectors.safe_name", lambda name, default: name)
    with pytest.raises(Finding):
        TARGETS["name"].run(name.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("name", ["a\nb", "\x1b[31m", "\udcff"])
def test_the_name_of_a_file_that_is_printed_raw_is_a_finding(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    TARGETS["file-name"].run(b"plain")  # so that all is imported
    for place in [m for m in sys.modules.values() if getattr(m, "printable", 0) is printable]:
        monkeypatch.setattr(place, "printable", lambda text, limit=None: str(text))
    for place in [m for m in sys.modules.values() if getattr(m, "escaped", 0) is escaped]:
        monkeypatch.setattr(place, "escaped", str)
    with pytest.raises(Finding):
        TARGETS["file-name"].run(name.encode("utf-8", "surrogateescape"))
