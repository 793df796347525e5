"""`attncert` as a user runs it: its answer, or the one line with which it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attncert


class Shell:
    def __init__(self, capture: Any) -> None:
        self.capture = capture

    def runs(self, *words: str | Path, status: int = 0) -> Any:
        """The text on stdout (`out`) and stderr (`err`)."""
        self.capture.readouterr()
        assert attncert.main([*map(str, words)]) == status
        return self.capture.readouterr()

    def refuses(self, *words: str | Path) -> str:
        """The line of a refusal: the status is 2, and nothing else is printed."""
        printed = self.runs(*words, status=2)
        assert printed.out == "" and printed.err.count("\n") == 1
        assert printed.err[:-1].isprintable()
        return str(printed.err)
