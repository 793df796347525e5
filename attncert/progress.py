"""Progress on stderr, on a terminal only, and only for work that takes over two seconds."""

from __future__ import annotations

import sys
import threading
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from attncert.quiet import quiet

_QUIET_SECONDS = 2.0


class Stages:
    """A context manager whose instance is called as stage(name, done, of), or to say a line.

    Shows nothing where stderr is not a terminal, with --quiet, or during the first two seconds;
    then a clock of its own brings up the stage that is at work, however long that one is silent. A
    stage ends, with a full bar, where the next one begins; totals may grow, never shrink.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._progress: Progress | None = None
        self._stages: dict[str, tuple[int, int]] = {}
        self._tasks: dict[str, TaskID] = {}
        self._waiting: list[str] = []
        self._due = False
        shown = sys.stderr is not None and sys.stderr.isatty() and not quiet.get()
        self._clock = threading.Timer(_QUIET_SECONDS, self._begin) if shown else None

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
                for name, (_, total) in self._stages.items():
                    self._stages[name] = (total, total)
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
        if not self._due or self._clock is None or not (self._stages or self._waiting):
            return
        if self._progress is None:
            self._progress = Progress(
                TextColumn("{task.description:<16}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._progress.start()
        bars = self._progress
        for line in self._waiting:
            bars.console.print(line, markup=False, highlight=False)
        self._waiting.clear()
        for name, (done, of) in self._stages.items():
            if name not in self._tasks:
                self._tasks[name] = bars.add_task(name, total=of)
            bars.update(self._tasks[name], completed=done, total=of)

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
            if self._progress is not None:
                self._progress.stop()
