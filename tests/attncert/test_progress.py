"""Progress goes to a terminal only, on stderr, after a while; lines that were said stay."""

from __future__ import annotations

import io
import sys

import pytest

from attncert.progress import Stages


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("terminal", "quiet"), [(False, 0.0), (True, 60.0)])
def test_nothing_is_shown_elsewhere_or_for_short_work(
    terminal: bool, quiet: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("attncert.progress._QUIET_SECONDS", quiet)
    with Stages() as stages:
        stages.say("2 <= Kruskal rank <= 8")
        stages("subsets", 1, 2)
    assert screen.getvalue() == ""


def test_a_terminal_sees_the_lines_and_the_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("attncert.progress._QUIET_SECONDS", 60.0)
    with Stages() as stages:
        stages.say("1 <= Kruskal rank <= 8   (rank)")
        monkeypatch.setattr("attncert.progress._QUIET_SECONDS", 0.0)
        stages.say("2 <= Kruskal rank <= 8   (parallel [x])")
        stages("subsets", 1, 2)
    shown = screen.getvalue()
    first, second = (
        shown.index("1 <= Kruskal"),
        shown.index("2 <= Kruskal rank <= 8   (parallel [x]"),
    )
    assert first < second and "subsets" in shown
