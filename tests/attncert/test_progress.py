"""Progress is shown only on a terminal, on stderr, after a delay; printed lines remain."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext

import pytest
from numba.core.compiler_lock import global_compiler_lock

from attncert.terminal.output import quiet
from attncert.terminal.progress import Stages


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _until(holds: Callable[[], bool]) -> None:
    limit = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.01)


def test_bars_end_where_the_next_stage_begins_and_totals_never_shrink(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Stages() as stages:
        for step in (("readout", 0, 1), ("readout", 256, 700), ("readout", 0, 600)):
            stages(*step)
        assert stages._stages == {"readout": (0, 700)}
        stages("interpolation", 0, 3)
        assert stages._stages == {"readout": (700, 700), "interpolation": (0, 3)}


def test_quiet_shows_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("attncert.terminal.progress._QUIET_SECONDS", 0.0)
    before = quiet.set(True)
    with Stages() as stages:
        stages("subsets", 1, 2)
        time.sleep(0.05)
    quiet.reset(before)
    assert screen.getvalue() == ""


@pytest.mark.parametrize(("terminal", "quiet"), [(False, 0.0), (True, 60.0)])
def test_nothing_is_shown_elsewhere_or_for_short_work(
    terminal: bool, quiet: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("attncert.terminal.progress._QUIET_SECONDS", quiet)
    with Stages() as stages:
        stages.say("2 <= Kruskal rank <= 8")
        stages("subsets", 1, 2)
    assert screen.getvalue() == ""


def test_a_terminal_sees_the_lines_and_the_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("attncert.terminal.progress._QUIET_SECONDS", 0.05)
    with Stages() as stages:
        stages.say("1 <= Kruskal rank <= 8   (rank)")
        stages.say("2 <= Kruskal rank <= 8   (parallel [x])")
        stages("subsets", 1, 2)
        assert screen.getvalue() == ""
        _until(lambda: "subsets" in screen.getvalue())  # shown by the timer, without another call
    shown = screen.getvalue()
    first, second = (
        shown.index("1 <= Kruskal"),
        shown.index("2 <= Kruskal rank <= 8   (parallel [x]"),
    )
    assert first < second and "subsets" in shown


def test_a_terminal_sees_that_numba_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("attncert.terminal.progress._QUIET_SECONDS", 0.0)
    for compiles in (nullcontext(), global_compiler_lock):
        with compiles, Stages() as stages:
            stages("rank", 0, 1)
            _until(lambda: "rank" in screen.getvalue())
        assert ("Compiling, once" in screen.getvalue()) == (compiles is global_compiler_lock)
