"""Progress of long work, for a caller that asks; silent by default."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]  # progress(done, of); of = 0: nobody knows how many
StageProgress = Callable[[str, int, int], None]  # progress(stage, done, of)


def silent(*told: str | int) -> None:
    """Neither is shown: the default of both."""
