"""Rows of a matrix modulo p, one block of which ends the first worker that computes it."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np

from attncert.constructions.data.dataset import Dataset


class EndingRows:
    """The queries as rows. An example whose first query entry is `at` ends its worker once."""

    at_once = 8

    def __init__(self, part: Dataset, at: int, ended: str) -> None:
        self._rows = part.queries.numerators.astype(np.float64)
        if at in self._rows[:, 0] and not Path(ended).exists():
            Path(ended).touch()
            os.kill(os.getpid(), signal.SIGKILL)

    def rows(self, start: int, stop: int) -> Any:
        return self._rows[start:stop]
