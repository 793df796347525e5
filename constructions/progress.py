"""Progress of long computations, for callers that pass a function; silent by default."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int], None]  # progress(done, total); total is 0 if unknown
StageProgress = Callable[[str, int, int], None]  # progress(stage, done, total)


def silent(*stage_and_counts: str | int) -> None:
    """Show nothing: the default."""


def say(progress: StageProgress, line: str) -> None:
    """Show a permanent line if this progress shows lines, as `attncert.Stages` does."""
    getattr(progress, "say", silent)(line)


@contextmanager
def timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    """Add the duration of the block to the seconds of its stage."""
    start = time.perf_counter()
    yield
    seconds[stage] = seconds.get(stage, 0.0) + time.perf_counter() - start
