"""Progress on stderr, on a terminal only, and only for work that takes over two seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

_QUIET_SECONDS = 2.0


class Stages:
    """A context manager whose instance is called as stage(name, done, of), or to say a line.

    Shows nothing where stderr is not a terminal, nor during the first two seconds.
    """

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._tasks: dict[str, object] = {}
        self._waiting: list[str] = []
        self._start = time.monotonic()
        self._shown = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> Stages:
        return self

    def __call__(self, stage: str, done: int, of: int) -> None:
        if not self._shown or time.monotonic() - self._start < _QUIET_SECONDS:
            return
        bars = self._bars()
        if stage not in self._tasks:
            self._tasks[stage] = bars.add_task(stage, total=of)
        bars.update(self._tasks[stage], completed=done, total=of)  # type: ignore[arg-type]

    def say(self, line: str) -> None:
        """A line above the bars, kept on the screen; it waits while nothing is shown yet."""
        self._waiting.append(line)
        if self._shown and time.monotonic() - self._start >= _QUIET_SECONDS:
            self._bars()

    def _bars(self) -> Progress:
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
        for line in self._waiting:
            self._progress.console.print(line, markup=False, highlight=False)
        self._waiting.clear()
        return self._progress

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            self._progress.stop()
