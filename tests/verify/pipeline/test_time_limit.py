"""prove --time-limit: one line, undecided, and nothing written."""

from __future__ import annotations

import json
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from support.shell import Shell

from attncert import Dataset, InputError, Prove, prove
from attncert.constructions.construction import BuiltLayer
from attncert.constructions.errors import OutOfTime
from attncert.verify.methods import registry
from attncert.verify.pipeline import stages
from attncert.verify.pipeline.time_limit import limited, require_time

TINY = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # dropped, and again
@pytest.mark.parametrize("as_json", [False, True])
def test_a_proof_beyond_its_limit_is_one_line_and_status_3(
    as_json: bool, tmp_path: Path, shell: Shell
) -> None:
    words = ["prove", "digits", "--examples", "600", "--time-limit", "0.2s"]
    printed = shell.runs(*words, "--out", tmp_path / "out", *["--json"] * as_json, status=3)
    answer = json.loads(printed.out) if as_json else {"verdict": printed.out.removesuffix("\n")}
    opening, _, reason = answer["verdict"].partition(": ")
    assert opening == "Undecided, neither shown nor refuted" and printed.err == ""
    assert reason == "The proof did not end within 0.2 s; nothing was written."
    if as_json:
        assert answer["standing"] == "undecided" and answer["settings"]["examples"] == 600
        assert answer["report"] is answer["certificate"] is None
    assert not list(tmp_path.iterdir())


def test_an_end_that_python_drops_comes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is raised in a finalizer ends nothing."""
    dropped = list[object]()
    monkeypatch.setattr("sys.unraisablehook", dropped.append)

    class Slow:
        def __del__(self) -> None:
            time.sleep(0.3)

    with pytest.raises(OutOfTime), limited(0.1):
        Slow()
        time.sleep(10)
    assert len(dropped) == 1


def test_a_proof_within_its_limit_is_as_without() -> None:
    free, timed = prove(TINY, Prove(heads=2)), prove(TINY, Prove(heads=2, time_limit=600))
    assert timed.certificate == free.certificate and timed.command == free.command
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


@pytest.mark.parametrize("theirs", [600.0, 0.01])
def test_a_timer_of_the_caller_goes_on(theirs: float) -> None:
    rings: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: rings.append(1))
    signal.setitimer(signal.ITIMER_REAL, theirs)
    try:
        with limited(60):
            time.sleep(0.05)
        time.sleep(0.05)
        remaining, _ = signal.getitimer(signal.ITIMER_REAL)
        assert (rings == [1]) if theirs < 1 else (500 < remaining < theirs)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_what_is_estimated_at_more_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "estimated_seconds", lambda bits, examples, weights: 2000.0)
    monkeypatch.setattr(stages, "readout", lambda *_: pytest.fail("the readout was begun"))
    with pytest.raises(OutOfTime, match=r"readout of .* takes about 2e\+03 s, and .*600"):
        prove(TINY, Prove(heads=2, time_limit=600))


def test_an_estimate_may_be_off_by_two() -> None:
    with limited(100):
        require_time(100, 150, "work")
        with pytest.raises(OutOfTime):
            require_time(100, 250, "work")
    require_time(None, 1e9, "work")


def test_time_that_ends_in_a_construction_of_others_is_no_error_of_theirs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def build(*_: object) -> BuiltLayer:
        while True:
            pass

    endless = replace(registry.method("generic"), name="endless", build=build)
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    registry.register(endless)
    with pytest.raises(OutOfTime):
        prove(TINY, Prove("endless", time_limit=0.05))


def test_where_there_is_no_timer_a_limit_is_refused() -> None:
    refused: list[str] = []

    def run() -> None:
        try:
            prove(TINY, Prove(time_limit=60))
        except InputError as error:
            refused.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert len(refused) == 1 and refused[0].startswith("time_limit: must be left out, not here")
    with pytest.raises(InputError, match="time_limit: must be a positive time"):
        Prove(time_limit=0)
