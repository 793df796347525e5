"""One results file for each part, written after every row, from which a run resumes."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

DRY = "dry run: small sizes on a stand-in for CuPy; nothing here was measured on a GPU"
ATTEMPTS = 2


class Store:
    """The rows of one part. dry: whether the run is dry; a run resumes only its own kind."""

    def __init__(self, folder: Path, number: int, part: str, dry: bool) -> None:
        self.path = folder / f"{number}-{part}.json"
        self.body: dict[str, Any] = {"part": part, "rows": {}, "attempts": {}, "under_way": None}
        if dry:
            self.body["dry_run"] = DRY
        if self.path.exists():
            found = json.loads(self.path.read_text())
            if ("dry_run" in found) != dry:
                kind = "a dry run" if "dry_run" in found else "a measured run"
                raise SystemExit(f"gpu: {self.path}: must not come from {kind}")
            self.body = found

    @property
    def rows(self) -> dict[str, Any]:
        rows: dict[str, Any] = self.body["rows"]
        return rows

    def left(self, names: list[str]) -> list[str]:
        """The rows to run, in order; a row that failed to end twice is abandoned."""
        for name in names:
            if name not in self.rows and self.body["attempts"].get(name, 0) >= ATTEMPTS:
                self.end(name, {"error": f"did not end in {ATTEMPTS} attempts"}, {})
        return [name for name in names if name not in self.rows]

    def begin(self, name: str) -> None:
        attempts = self.body["attempts"]
        attempts[name] = attempts.get(name, 0) + 1
        self.body["under_way"] = name
        self._write()

    def end(self, name: str, row: dict[str, Any], machine: dict[str, Any]) -> None:
        """Record a finished row. machine: what it ran on, which may differ in later runs."""
        self.body["under_way"] = None
        self.body["machine"] = machine or self.body.get("machine", {})
        self.body["date"] = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
        self.rows[name] = row
        self._write()

    def postpone(self, name: str) -> None:
        """Record that a row was stopped because the run's time ran out, which is not a failure."""
        self.body["attempts"].pop(name, None)
        self.body["under_way"] = None
        self._write()

    def _write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text(json.dumps(self.body, indent=1, sort_keys=True) + "\n")
        temporary.replace(self.path)
