"""A log of finished shards in one SQLite file, which survives a kill, so that a run can resume.

Only the process that distributes the shards writes to the log. A shard is on the disk when `add`
returns, so a kill loses only the running shards. SQLite's journal ensures this and protects the
file from two simultaneous runs.

A record is stored under its shard and its *subject*, a text that contains everything else on which
the record depends (version, vectors, settings). So one file serves any number of runs, and each run
reads only its own shards.

Anyone may write to the file, so each record is checked (`fits`), and claims that rest on it say so.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attncert.constructions.data.loading import json_value
from attncert.constructions.errors import InputError, ending, path_errors
from attncert.verify.sharding.shards import Plan, Record, Shard

_ARGUMENT, _USABLE = "log", "a file that can be read and written"
_APPLICATION = 0x41544E43  # "ATNC", the application id in the header of the SQLite file
_PATIENCE = 60.0  # seconds to wait while another process writes
_TABLE = f"""
BEGIN IMMEDIATE;
PRAGMA application_id = {_APPLICATION};
CREATE TABLE IF NOT EXISTS finished (
    subject TEXT, kind TEXT, seed INTEGER, start INTEGER, stop INTEGER, record TEXT,
    PRIMARY KEY (subject, kind, seed, start, stop)
);
COMMIT;
"""


class Log:
    """Open the log at this path; create it if it does not exist.

    Raises InputError, with one line, for the file of another program, which is left unchanged, and
    for a file that cannot be read or written, now or later.

    >>> import tempfile
    >>> plan = Plan("squares", 0, count=4, size=2)
    >>> with tempfile.TemporaryDirectory() as folder, Log(f"{folder}/log") as log:
    ...     log.add("of 5", plan.shards()[1], {"sum": 13})
    ...     list(log.finished("of 5", plan).values()), log.finished("of 6", plan), log.count
    ([{'sum': 13}], {}, 1)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        with self._one_line():
            if self.path.exists() and not self.path.is_file():  # reading a device may never end
                raise InputError(_ARGUMENT, "a file", f"something else: {ending(path, 80)}")
            self._require_new_or_sqlite()
            self._file = sqlite3.connect(self.path.absolute(), timeout=_PATIENCE)
        try:
            with self._one_line():
                self._require_ours()
                self._file.executescript(_TABLE)
        except BaseException:
            self._file.close()
            raise

    def finished(
        self, subject: str, plan: Plan, fits: Callable[[Shard, Any], bool] = lambda *_: True
    ) -> dict[Shard, Record]:
        """The finished shards of a plan, in order. Raises InputError if a record does not fit."""
        query = "SELECT start, stop, record FROM finished WHERE (subject, kind, seed) = (?, ?, ?)"
        with self._one_line():
            rows = self._file.execute(query, (subject, plan.kind, plan.seed)).fetchall()
        texts = {(start, stop): str(text) for start, stop, text in rows}
        shards = plan.shards() if texts else []
        here = [shard for shard in shards if (shard.start, shard.stop) in texts]
        finished = {shard: self._record(texts[shard.start, shard.stop]) for shard in here}
        if not all(fits(shard, record) for shard, record in finished.items()):
            reason = f"one with another: {ending(self.path, 80)}"
            raise InputError(_ARGUMENT, "a log whose records fit their shards", reason)
        return finished

    def add(self, subject: str, shard: Shard, record: Record) -> None:
        """Store the record of a shard. It is on the disk when this function returns."""
        row = subject, shard.kind, shard.seed, shard.start, shard.stop, json.dumps(record)
        with self._one_line(), self._file:
            self._file.execute("INSERT OR REPLACE INTO finished VALUES (?, ?, ?, ?, ?, ?)", row)

    @property
    def count(self) -> int:
        """The number of finished shards of all runs."""
        with self._one_line():
            (count,) = self._file.execute("SELECT count(*) FROM finished").fetchone()
        return int(count)

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _record(self, text: str) -> Any:
        return json_value(text.encode("utf-8", "replace"), f"a record of {self.path}")

    def _require_new_or_sqlite(self) -> None:
        """Refuse other files, since SQLite would treat some short files as empty."""
        content = b""
        if self.path.exists():
            with self.path.open("rb") as file:
                content = file.read(16)
        if content and content != b"SQLite format 3\0":
            raise sqlite3.DatabaseError("file is not a database")

    def _require_ours(self) -> None:
        both = "application_id, (SELECT count(*) FROM sqlite_master) FROM pragma_application_id"
        application, tables = self._file.execute(f"SELECT {both}").fetchone()  # at the same moment
        if application != _APPLICATION and (application or tables):
            raise sqlite3.DatabaseError("another program's file")

    @contextmanager
    def _one_line(self) -> Iterator[None]:
        """Report every failure of the file as an InputError."""
        with path_errors(_ARGUMENT, _USABLE, self.path):
            try:
                yield
            except (sqlite3.Error, UnicodeDecodeError) as error:  # damage may quote names
                must = "new, or a log of attncert that can be read and written"
                reason = f"{ending(self.path, 80)} ({error})"
                raise InputError(_ARGUMENT, must, reason) from None
