"""Progress of long work, after a while: bars on a terminal (stderr), counts in a notebook."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from types import TracebackType
from typing import Any

quiet: ContextVar[bool] = ContextVar("quiet", default=False)  # only errors and what --json asks for

_QUIET_SECONDS = 2.0
_REDRAWN = 0.1  # seconds between two pictures in a notebook

Counts = Mapping[str, tuple[int, int]]  # stage: done, of (0: nobody knows)


class Stages:
    """A context manager whose instance is called as stage(name, done, of), or to say a line.

    Shows nothing where stderr is neither a terminal nor a notebook's, with --quiet, or during the
    first two seconds; then a clock of its own brings up the stage that is at work, however long
    that one is silent. A stage ends, with a full bar, where the next one begins; totals may grow,
    never shrink. Source: docs/commands.md.

    >>> from attncert import Dataset, Prove, Stages, prove
    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
    >>> with Stages() as progress:
    ...     proof = prove(data, Prove(heads=2), progress)
    >>> proof.standing.value
    'proved'
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._screen: _Terminal | _Cell | None = None
        self._stages: dict[str, tuple[int, int]] = {}
        self._waiting: list[str] = []
        self._due = False
        self._kind = None if quiet.get() else _kind_of_screen()
        self._clock = threading.Timer(_QUIET_SECONDS, self._begin) if self._kind else None

    def __enter__(self) -> Stages:
        if self._clock is not None:
            self._clock.daemon = True
            self._clock.start()
        return self

    def __call__(self, stage: str, done: int, of: int) -> None:
        if self._clock is None:
            return
        with self._lock:
            if stage not in self._stages:
                for name, (count, total) in self._stages.items():
                    self._stages[name] = (total or count, total or count)
            before = self._stages.get(stage, (0, 0))
            self._stages[stage] = (done, max(of, before[1]))
            self._show()

    def say(self, line: str) -> None:
        """A line above the bars, kept on the screen; it waits while nothing is shown yet."""
        with self._lock:
            self._waiting.append(line)
            self._show()

    def _begin(self) -> None:
        with self._lock:
            self._due = True
            self._show()

    def _show(self) -> None:
        if not self._due or self._kind is None or not (self._stages or self._waiting):
            return
        if self._screen is None:
            self._screen = self._kind()
        self._screen.draw(tuple(self._waiting), self._stages)
        self._waiting.clear()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._clock is not None:
            self._clock.cancel()
        with self._lock:
            self._due = False
            if self._screen is not None:
                self._screen.close()


def _kind_of_screen() -> type[_Terminal | _Cell] | None:
    """Where bars are drawn: lines that stay, and the stages, the last of them at work."""
    if sys.stderr is not None and sys.stderr.isatty():
        return _Terminal
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return _Cell if hasattr(shell, "kernel") else None


class _Terminal:
    """Bars by rich, which redraws them; they vanish in the end, and the lines stay."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TaskID,
            TextColumn,
            TimeElapsedColumn,
        )

        self._tasks: dict[str, TaskID] = {}
        self._bars = Progress(
            TextColumn("{task.description:<16}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._bars.start()

    def draw(self, lines: Sequence[str], stages: Counts) -> None:
        for line in lines:
            self._bars.console.print(line, markup=False, highlight=False)
        for name, (done, of) in stages.items():
            if name not in self._tasks:
                self._tasks[name] = self._bars.add_task(name, total=of or None)
            self._bars.update(self._tasks[name], completed=done, total=of or None)

    def close(self) -> None:
        self._bars.stop()


class _Cell:
    """Counts under the cell of a notebook, from IPython alone: no widgets are needed."""

    def __init__(self) -> None:
        from IPython.display import display

        self._lines: list[str] = []
        self._drawn = 0.0
        self._handle: Any = display(_bundle([], {}), raw=True, display_id=True)

    def draw(self, lines: Sequence[str], stages: Counts) -> None:
        self._lines += lines
        last = list(stages.values())[-1:]
        begun = any(done == 0 for done, _ in last)  # a new stage is shown at once
        if lines or begun or time.monotonic() - self._drawn > _REDRAWN:
            self._drawn = time.monotonic()
            self._handle.update(_bundle(self._lines, stages), raw=True)

    def close(self) -> None:
        self._handle.update(_bundle(self._lines, {}), raw=True)


def _bundle(lines: Sequence[str], stages: Counts) -> dict[str, str]:
    """What IPython displays, by MIME type.

    >>> _bundle(["2 <= k"], {"rank": (3, 25), "readout": (1, 0)})["text/plain"]
    '2 <= k\\nrank 3/25\\nreadout 1'
    """
    counts = [
        f"{name} {done}/{of}" if of else f"{name} {done}" for name, (done, of) in stages.items()
    ]
    return {"text/plain": "\n".join([*lines, *counts])}
