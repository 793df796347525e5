"""Finished shards in a file that survives a kill: append-only JSON lines, each with its checksum.

    {"content": {"format": ..., "run": {...}}, "sha256": "..."}          the header
    {"content": {"result": {...}, "shard": [...]}, "sha256": "..."}      one line for each shard

A line is appended in one write and forced to the disk before the shard counts as finished, so a
process that is killed can leave at most one torn line, the last. That line is dropped, and its
shard is done again. A line in the middle that is not what was written was changed by something
else: then no line can be trusted, and the file is refused. A shard that occurs twice counts once.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from attncert.constructions.errors import InputError
from attncert.verify.scale.shards import Identity, Result, Shard

__all__ = ["FORMAT", "LogContent", "ShardLog", "difference", "read_log", "write_log"]

FORMAT = "attncert-shards/1"
_ARGUMENT = "--log"
_VECTORS = "SHA-256 of the vectors"
_USABLE = {  # what a path must be, by what messages call it
    "--log": "a file that can be read and written",
    "--out": "a file that can be written",
    "FILE": "a log of shards that can be read",
}


@dataclass(frozen=True)
class LogContent:
    """What a log says. whole: bytes up to the end of the last good line."""

    identity: Identity
    finished: dict[Shard, Result]
    whole: int


class ShardLog:
    """The log of one run, open for appending; one process at a time may hold it.

    A file that is there is resumed if it belongs to the run; otherwise InputError says in one line
    what differs. What it held is in `finished`, and grows with `append`.
    """

    def __init__(self, path: str | os.PathLike[str], identity: Identity) -> None:
        self.path = Path(path)
        with _one_line_errors(self.path):
            _require_file(self.path)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            with _one_line_errors(self.path):
                self._lock()
                self.finished = self._resume(identity)
        except BaseException:
            os.close(self._file)
            raise

    def append(self, shard: Shard, result: Result) -> None:
        """Record a finished shard; on return it is on the disk."""
        with _one_line_errors(self.path):
            self._write(_line({"shard": shard.as_list(), "result": result}))
        self.finished[shard] = result

    def __enter__(self) -> ShardLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._file)

    def _resume(self, identity: Identity) -> dict[Shard, Result]:
        header = _line({"format": FORMAT, "run": dict(identity)})
        raw = self.path.read_bytes()
        if header.startswith(raw) and raw != header:  # new, or killed before the header was whole
            os.ftruncate(self._file, 0)
            self._write(header)
            return {}
        content = _parse(raw, self.path)
        _require_same(content.identity, identity, self.path)
        os.ftruncate(self._file, content.whole)
        return content.finished

    def _write(self, line: bytes) -> None:
        written = os.write(self._file, line)
        if written != len(line):  # a full disk; what is there is a torn line
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(self._file)

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # no POSIX: two runs at once would still not count anything twice
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(_ARGUMENT, "a file that no other run is writing", self.path) from None
        except OSError as error:  # some network file systems have no locks
            if error.errno not in (errno.ENOLCK, errno.ENOTSUP):
                raise


def read_log(path: str | os.PathLike[str], argument: str = _ARGUMENT) -> LogContent:
    """What a log holds, torn last line left out; raises InputError for what is no log.

    argument: what a message calls the path.
    """
    with _one_line_errors(Path(path), argument):
        _require_file(Path(path), argument)
        return _parse(Path(path).read_bytes(), Path(path), argument)


def write_log(
    path: str | os.PathLike[str], identity: Identity, finished: dict[Shard, Result]
) -> None:
    """A log with these shards in their order: equal contents give equal bytes. Moved into place.

    Raises InputError where something other than a log is there: it would be lost.
    """
    target, argument = Path(path), "--out"
    lines = [_line({"format": FORMAT, "run": dict(identity)})]
    lines += [_line({"shard": s.as_list(), "result": finished[s]}) for s in sorted(finished)]
    with _one_line_errors(target, argument):
        _require_file(target, argument)
        if target.exists():
            read_log(target, argument)
        partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
        try:
            partial.write_bytes(b"".join(lines))
            os.replace(partial, target)
        finally:
            partial.unlink(missing_ok=True)


def _line(content: dict[str, Any]) -> bytes:
    """The content and its checksum, canonical, with the line break that makes the line whole."""
    return _canonical({"content": content, "sha256": _sha256(content)}) + b"\n"


def _parse(raw: bytes, path: Path, argument: str = _ARGUMENT) -> LogContent:
    *lines, torn = raw.split(b"\n")
    contents = [_content(line) for line in lines]
    whole = len(raw) - len(torn)
    if len(contents) > 1 and contents[-1] is None and not torn:
        whole -= len(lines[-1]) + 1
        contents.pop()
    header = contents[0] if contents else None
    if header is None or header.get("format") != FORMAT or type(header.get("run")) is not dict:
        must = f"{'' if argument == 'FILE' else 'new, or '}a log of shards ({FORMAT})"
        raise InputError(argument, must, f"another file: {path}")
    finished: dict[Shard, Result] = {}
    for number, content in enumerate(contents[1:], start=2):
        shard = None if content is None else _shard(content)
        if content is None or shard is None:
            got = f"one with a corrupted line {number} of {len(lines)}: {path}"
            raise InputError(argument, "a log whose lines are as they were written", got)
        if finished.setdefault(shard, content["result"]) != content["result"]:
            got = f"one with two results of shard {shard.as_list()}: {path}"
            raise InputError(argument, "a log with one result for each shard", got)
    return LogContent(header["run"], finished, whole)


def _content(line: bytes) -> dict[str, Any] | None:
    """The content of a line if its checksum is right, else None."""
    try:
        value = json.loads(line)
    except ValueError:
        return None
    if not isinstance(value, dict) or set(value) != {"content", "sha256"}:
        return None
    content = value["content"]
    return content if isinstance(content, dict) and _sha256(content) == value["sha256"] else None


def _shard(content: dict[str, Any]) -> Shard | None:
    """The shard of a line, if it names one and has a result."""
    fields, result = content.get("shard"), content.get("result")
    if not isinstance(fields, list) or type(result) is not dict:
        return None
    return Shard(*fields) if [type(x) for x in fields] == [str, int, int, int] else None


def difference(one: Identity, other: Identity) -> tuple[str, str] | None:
    """The first setting in which two runs differ, in words for each; None where in none.

    >>> difference({"plans": [{"kind": "subsets", "count": 1000, "seed": 0}]},
    ...            {"plans": [{"kind": "subsets", "count": 20001, "seed": 0}]})
    ('subsets: count 1,000', 'subsets: count 20,001')
    >>> difference({"input_sha256": "ab", "version": "1"}, {"input_sha256": "cd", "version": "1"})
    ('SHA-256 of the vectors ab', 'SHA-256 of the vectors cd')
    """
    first, second = _settings(one), _settings(other)
    causes = ["version", _VECTORS, "shards of"]  # the others may follow from these
    rest = sorted({*first, *second} - {*causes}, key=lambda name: ("draws" in name, name))
    for name in causes + rest:
        if first.get(name) != second.get(name):
            return _said(name, first), _said(name, second)
    return None


def _settings(identity: Identity) -> dict[str, Any]:
    """Settings by name: each plan and each kind's settings taken apart."""
    found: dict[str, Any] = {}
    plans, kinds = identity.get("plans"), identity.get("settings")
    parts = [(plan.get("kind"), plan) for plan in _mappings(plans)]
    parts += kinds.items() if isinstance(kinds, Mapping) else []
    for kind, values in parts:
        found |= (
            {f"{kind}: {name}": value for name, value in values.items() if name != "kind"}
            if isinstance(values, Mapping)
            else {str(kind): values}
        )
    planned = [str(plan.get("kind")) for plan in _mappings(plans)]
    found["shards of"] = " and ".join(planned) or "nothing"
    names = {"input_sha256": _VECTORS}
    rest = {k: v for k, v in identity.items() if k not in ("plans", "settings")}
    return found | {names.get(k, k): v for k, v in rest.items()}


def _mappings(plans: Any) -> list[Mapping[str, Any]]:
    return [x for x in plans if isinstance(x, Mapping)] if isinstance(plans, list) else []


def _said(name: str, settings: Mapping[str, Any]) -> str:
    if name not in settings:
        return f"no {name}"
    value = settings[name]
    text = f"{value:,}" if type(value) is int else str(value)
    return f"{name} {text if len(text) <= 20 else text[:19] + '…'}"


def _require_same(found: Identity, wanted: Identity, path: Path) -> None:
    differ = difference(wanted, found)
    if differ is not None:
        must = f"new, or the log of this run ({differ[0]})"
        raise InputError(_ARGUMENT, must, f"the log of another ({differ[1]}): {path}")


def _require_file(path: Path, argument: str = _ARGUMENT) -> None:
    if path.exists() and not path.is_file():  # a device may never end
        raise InputError(argument, "a file", f"something else: {path}")


def _sha256(content: dict[str, Any]) -> str:
    return hashlib.sha256(_canonical(content)).hexdigest()


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


@contextlib.contextmanager
def _one_line_errors(path: Path, argument: str = _ARGUMENT) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        place = str(path) if len(str(path)) <= 80 else f"…{str(path)[-79:]}"
        got = f"{place} ({error.strerror or error})"
        raise InputError(argument, _USABLE[argument], got) from None
    except ValueError as error:
        if isinstance(error, InputError) or "null" not in str(error):
            raise
        raise InputError(argument, "a path", "one with a null character") from None
