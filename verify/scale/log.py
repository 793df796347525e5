"""Finished shards in a file that survives a kill: append-only JSON lines, each with its checksum.

    {"content":{"format":...,"run":{...}},"sha256":"..."}          the header
    {"content":{"result":{...},"shard":[...]},"sha256":"..."}      one line for each shard

A line is appended in one write and forced to the disk before the shard counts as finished, so a
process that is killed can leave at most one torn line, the last. That line is dropped, and its
shard is done again. A line in the middle that is not what was written was changed by something
else: then no line can be trusted, and the file is refused. A shard that occurs twice counts once.

A checksum shows that a line is as it was written, not that we wrote it. So every line is judged
before anything is taken from it: here its form, and that the header plans the shard; by `Rules`,
which whoever makes the shards supplies, what a header and a result may say.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from attncert.constructions.data.loading import MAX_JSON_BYTES, json_value
from attncert.constructions.endings import endings_wait
from attncert.constructions.errors import InputError, path_errors
from attncert.verify.scale.shards import Identity, Plan, Result, Shard, plans_of

FORMAT = "attncert-shards/1"
_ARGUMENT = "--log"
_VECTORS = "SHA-256 of the vectors"
_USABLE = {  # what a path must be, by what messages call it
    "--log": "a file that can be read and written",
    "--out": "a file that can be written",
    "FILE": "a log of shards that can be read",
}


Judge = Callable[[Shard, Result], None]
"""judge(shard, result) raises Unfit where the result is none of that shard."""

Rules = Callable[[Identity, tuple[Plan, ...]], Judge]
"""rules(identity, plans) raises Unfit where no run has this header; else it judges the results."""


class Unfit(Exception):
    """A header or a result that no run of ours writes: Unfit(must, got), as in InputError."""


@dataclass(frozen=True)
class LogContent:
    """What a log says. whole: bytes up to the end of the last good line."""

    identity: Identity
    plans: tuple[Plan, ...]
    finished: dict[Shard, Result]
    whole: int


class ShardLog:
    """The log of one run, open for appending; one process at a time may hold it.

    A file that is there is resumed if it belongs to the run; otherwise InputError says in one line
    what differs. What it held is in `finished`, and grows with `append`.
    """

    def __init__(self, path: str | os.PathLike[str], identity: Identity, rules: Rules) -> None:
        self.path = Path(path)
        with path_errors(_ARGUMENT, _USABLE[_ARGUMENT], self.path):
            _require_file(self.path)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            with path_errors(_ARGUMENT, _USABLE[_ARGUMENT], self.path):
                _lock(self._file, self.path, _ARGUMENT)
                self.finished = self._resume(identity, rules)
        except BaseException:
            os.close(self._file)
            raise

    def append(self, shard: Shard, result: Result) -> None:
        """Record a finished shard; on return it is on the disk."""
        line = _line({"shard": shard.as_list(), "result": result})
        if len(line) > MAX_JSON_BYTES:
            must = f"left out where a result takes over {MAX_JSON_BYTES} bytes"
            raise InputError(_ARGUMENT, must, "given")
        with path_errors(_ARGUMENT, _USABLE[_ARGUMENT], self.path):
            self._write(line)
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

    def _resume(self, identity: Identity, rules: Rules) -> dict[Shard, Result]:
        header = _line({"format": FORMAT, "run": dict(identity)})
        with self.path.open("rb") as file:
            begun = file.read(len(header))
        if header.startswith(begun) and begun != header:  # new, or killed before it was whole
            os.ftruncate(self._file, 0)
            self._write(header)
            return {}
        content = read_log(self.path, rules, ours=identity)
        os.ftruncate(self._file, content.whole)
        return content.finished

    def _write(self, line: bytes) -> None:
        written = os.write(self._file, line)
        if written != len(line):  # a full disk; what is there is a torn line
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(self._file)


def read_log(
    path: str | os.PathLike[str],
    rules: Rules,
    argument: str = _ARGUMENT,
    ours: Identity | None = None,
) -> LogContent:
    """What a log holds, torn last line left out; raises InputError for what is no log.

    argument: what a message calls the path. ours: the run that it must belong to, if given.
    """
    place = Path(path)
    with path_errors(argument, _USABLE[argument], place):
        _require_file(place, argument)
        with place.open("rb") as file:
            return _read(file, place, rules, argument, ours)


def write_log(
    path: str | os.PathLike[str], identity: Identity, finished: dict[Shard, Result]
) -> None:
    """A log with these shards in their order: equal contents give equal bytes. Moved into place.

    Raises InputError where something other than a log is there: it would be lost.
    """
    target, argument = Path(path), "--out"
    lines = [_line({"format": FORMAT, "run": dict(identity)})]
    lines += [_line({"shard": s.as_list(), "result": finished[s]}) for s in sorted(finished)]
    with path_errors(argument, _USABLE[argument], target):
        _require_file(target, argument)
        if target.exists():
            with target.open("rb") as file:
                _lock(file.fileno(), target, argument)  # a run would go on in a file without a name
                _header(_body(file.readline(MAX_JSON_BYTES)), target, argument)
        partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
        with endings_wait():
            try:
                partial.write_bytes(b"".join(lines))
                os.replace(partial, target)
            finally:
                partial.unlink(missing_ok=True)


def _lock(file: int, path: Path, argument: str) -> None:
    """For this process alone, until the file is closed. Raises InputError where another has it."""
    try:
        import fcntl
    except ImportError:  # no POSIX: two runs at once would still not count anything twice
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(argument, "a file that no other run is writing", path) from None
    except OSError as error:  # some network file systems have no locks
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP):
            raise


def _line(content: dict[str, Any]) -> bytes:
    """The content and its checksum, canonical, with the line break that makes the line whole."""
    return _sealed(json.dumps(content, sort_keys=True, separators=(",", ":")).encode("ascii"))


def _sealed(body: bytes) -> bytes:
    digest = hashlib.sha256(body).hexdigest().encode("ascii")
    return b'{"content":%b,"sha256":"%b"}\n' % (body, digest)


_BEFORE, _AFTER = len(b'{"content":'), len(_sealed(b"")) - len(b'{"content":')


def _body(line: bytes) -> bytes | None:
    """The content of a whole line whose checksum is right, else None; nothing is parsed yet."""
    body = line[_BEFORE:-_AFTER]
    return body if line == _sealed(body) else None


def _read(
    file: BinaryIO, path: Path, rules: Rules, argument: str, ours: Identity | None
) -> LogContent:
    """Line by line, each judged before the next is read."""
    first = file.readline(MAX_JSON_BYTES)
    identity, plans = _header(_body(first), path, argument)
    if ours is not None:
        _require_same(identity, ours, path)
    finished: dict[Shard, Result] = {}
    with _refusals(path, 1):
        judge = rules(identity, plans)
    whole, bad = len(first), 0
    for number, line in enumerate(iter(lambda: file.readline(MAX_JSON_BYTES), b""), start=2):
        if bad:  # and not the last
            got = f"one with a corrupted line {bad}: {path}"
            raise InputError(argument, "a log whose lines are as they were written", got)
        body = _body(line)
        if body is None:
            bad = number
            continue
        with _refusals(path, number):
            shard, result = _result(json_value(body, _place(path, number)), plans)
            judge(shard, result)
        if finished.setdefault(shard, result) != result:
            got = f"one with two results of shard {shard.as_list()}: {path}"
            raise InputError(argument, "a log with one result for each shard", got)
        whole += len(line)
    return LogContent(identity, plans, finished, whole)


def _header(body: bytes | None, path: Path, argument: str) -> tuple[Identity, tuple[Plan, ...]]:
    """What the first line says of the run, with a plan for each kind of its settings."""
    value = None if body is None else json_value(body, _place(path, 1))
    if type(value) is not dict or value.get("format") != FORMAT:
        must = f"{'' if argument == 'FILE' else 'new, or '}a log of shards ({FORMAT})"
        raise InputError(argument, must, f"another file: {path}")
    plans = plans_of(value.get("run"))
    if plans is None or set(value) != {"format", "run"}:
        must = "a header with version, input_sha256, and plans and settings for the same kinds"
        raise InputError(_place(path, 1), must, "another")
    return value["run"], plans


def _result(value: Any, plans: tuple[Plan, ...]) -> tuple[Shard, Result]:
    """The shard of a line, which one of the plans has, and its result."""
    if type(value) is not dict or set(value) != {"result", "shard"}:
        raise Unfit("an object with shard and result", "another")
    fields, result = value["shard"], value["result"]
    fits = type(fields) is list and [type(x) for x in fields] == [str, int, int, int]
    if not fits or type(result) is not dict:
        raise Unfit("a shard [kind, seed, start, stop] and an object", "others")
    shard = Shard(*fields)
    if not any(plan.has(shard) for plan in plans):
        raise Unfit("a shard that the header plans", shard.as_list())
    return shard, result


@contextlib.contextmanager
def _refusals(path: Path, number: int) -> Iterator[None]:
    try:
        yield
    except Unfit as error:
        must, got = error.args
        raise InputError(_place(path, number), must, got) from None


def _place(path: Path, number: int) -> str:
    return f"line {number} of {path}"


def difference(one: Identity, other: Identity) -> tuple[str, str] | None:
    """The first setting in which two runs differ, in words for each; None where in none.

    >>> def run(sha256, count):
    ...     plans = [{"kind": "subsets", "count": count, "seed": 0}]
    ...     return {"version": "1", "input_sha256": sha256, "plans": plans, "settings": {}}
    >>> difference(run("ab", 1000), run("ab", 20001))
    ('subsets: count 1,000', 'subsets: count 20,001')
    >>> difference(run("ab", 1000), run("cd", 1000))
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
    plans, kinds = identity["plans"], identity["settings"]
    found: dict[str, Any] = {"version": identity["version"], _VECTORS: identity["input_sha256"]}
    found["shards of"] = " and ".join(plan["kind"] for plan in plans)
    for kind, values in [*((plan["kind"], plan) for plan in plans), *kinds.items()]:
        found |= {f"{kind}: {name}": x for name, x in values.items() if name != "kind"}
    return found


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
