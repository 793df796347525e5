"""Progress on stderr, on a terminal only, and only for work that takes over two seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

_QUIET_SECONDS = 2.0


class Stages:
    """A context manager whose instance is called as stage(name, done, of).

    Shows nothing where stderr is not a terminal, nor during the first two seconds.
    """

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._tasks: dict[str, object] = {}
        self._start = time.monotonic()
        self._shown = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> Stages:
        return self

    def __call__(self, stage: str, done: int, of: int) -> None:
        if not self._shown or time.monotonic() - self._start < _QUIET_SECONDS:
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
        if stage not in self._tasks:
            self._tasks[stage] = self._progress.add_task(stage, total=of)
        self._progress.update(self._tasks[stage], completed=done, total=of)  # type: ignore[arg-type]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            self._progress.stop()
