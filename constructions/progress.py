"""Progress of long work, for a caller that asks; silent by default."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int], None]  # progress(done, of); of = 0: nobody knows how many
StageProgress = Callable[[str, int, int], None]  # progress(stage, done, of)


def silent(*stage_and_counts: str | int) -> None:
    """Shows nothing: the default of both."""


def say(progress: StageProgress, line: str) -> None:
    """A line that stays, where this progress shows lines, as `attncert.Stages` does."""
    getattr(progress, "say", silent)(line)


@contextmanager
def timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    """Adds what the block takes to the seconds of its stage."""
    start = time.perf_counter()
    yield
    seconds[stage] = seconds.get(stage, 0.0) + time.perf_counter() - start
