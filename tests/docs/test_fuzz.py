"""What `make fuzz` runs: its seeds are read, and misbehaviour is a finding."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fuzz
import pytest
from support.small_certificates import CASES, changed

from attncert.verify import checker


def test_the_seeds_are_read(tmp_path: Path) -> None:
    targets = fuzz.targets(tmp_path)
    assert tuple(targets) == fuzz.NAMES
    for name, target in targets.items():
        words = {target.run(seed) for seed in target.seeds}
        assert words & {"read", "holds"} and words <= {"read", "refused", "holds", "unusable"}, name
        assert target.run(b"[[") in ("refused", "unusable")


def test_a_false_certificate_that_is_accepted_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    yes = checker.Verdict("holds", None, "yes", {})
    monkeypatch.setattr(checker, "check_file", lambda *_: yes)
    false = changed(CASES["full-rank"](), "rank.value", 3)
    with pytest.raises(fuzz.Finding, match="not true"):
        fuzz.targets(tmp_path)["certificate"].run(json.dumps(false).encode())


def raises(content: bytes) -> Any:
    raise KeyError("labels")


@pytest.mark.parametrize(
    ("run", "words"),
    [(raises, "raised KeyError"), (lambda content: len(b"x" * 10**8), "MiB for 1 bytes")],
)
def test_an_exception_or_too_much_memory_is_a_finding(
    run: Callable[[bytes], Any], words: str
) -> None:
    with pytest.raises(fuzz.Finding, match=words):
        fuzz.bounded(run, b"x")
