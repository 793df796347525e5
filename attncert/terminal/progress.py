"""Progress of long work, shown as bars on a terminal after two seconds."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping, Sequence
from contextvars import ContextVar

quiet: ContextVar[bool] = ContextVar("quiet", default=False)  # print only errors and --json

_QUIET_SECONDS = 2.0

_COMPILING = "Compiling, once after installation: about 10 s of processor time."

Counts = Mapping[str, tuple[int, int]]  # for each stage: done, total (0 if unknown)


class Stages:
    """A context manager; call it as stage(name, done, of), or print a line with `say`.

    Nothing is shown with --quiet, if stderr is not a terminal, or in the first two seconds. After
    that a timer draws the current stage, even if that stage makes no calls. A stage ends, with a
    full bar, when the next one begins; totals may grow but not shrink.
    Source: docs/commands.md.

    >>> from attncert import Dataset, Prove, Stages, prove
    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
    >>> with Stages() as progress:
    ...     proof = prove(data, Prove(heads=2), progress)
    >>> proof.standing.value
    'proved'
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._stages: dict[str, tuple[int, int]] = {}
        self._lines: list[str] = []
        terminal = sys.stderr is not None and sys.stderr.isatty()
        self._shown = terminal and not quiet.get()
        self._screen: _Bars | None = None
        self._timer = threading.Timer(_QUIET_SECONDS, self._begin)
        self._timer.daemon = True

    def __enter__(self) -> Stages:
        if self._shown:
            self._timer.start()
        return self

    def __call__(self, stage: str, done: int, of: int) -> None:
        with self._lock:
            if stage not in self._stages:
                for name, (count, total) in self._stages.items():
                    self._stages[name] = (total or count, total or count)
            _, total = self._stages.get(stage, (0, 0))
            self._stages[stage] = (done, max(of, total))
            self._draw()

    def say(self, line: str) -> None:
        """Show, above the bars, a line that stays on the screen."""
        with self._lock:
            self._lines.append(line)
            self._draw()

    def _begin(self) -> None:
        with self._lock:
            if self._shown:
                self._screen = _Bars()
                if _compiling():
                    self._lines.append(_COMPILING)
                self._draw()

    def _draw(self) -> None:
        if self._screen is not None:
            self._screen.draw(self._lines, self._stages)

    def __exit__(self, *error: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._shown = False
            if self._screen is not None:
                self._screen.close()
                self._screen = None


def _compiling() -> bool:
    """Whether Numba, if it is loaded, is compiling on another thread at this moment."""
    numba = sys.modules.get("numba.core.compiler_lock")
    return numba is not None and numba.global_compiler_lock._is_owned()  # not: by this thread


class _Bars:
    """Bars on stderr, drawn by rich; they vanish at the end, but the lines stay."""

    def __init__(self) -> None:
        from rich import progress  # slow to load
        from rich.console import Console

        self._bars = progress.Progress(
            progress.TextColumn("{task.description:<16}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._tasks: dict[str, progress.TaskID] = {}
        self._printed = 0
        self._bars.start()

    def draw(self, lines: Sequence[str], stages: Counts) -> None:
        for line in lines[self._printed :]:
            self._bars.console.print(line, markup=False, highlight=False)
        self._printed = len(lines)
        for name, (done, of) in stages.items():
            if name not in self._tasks:
                self._tasks[name] = self._bars.add_task(name, total=None)
            self._bars.update(self._tasks[name], completed=done, total=of or None)

    def close(self) -> None:
        self._bars.stop()
