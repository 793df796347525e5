"""Targets of the fuzzer beside the parsers: logs of shards, names inside files, names of files.

A log: what is read is sound (`shard_logs.is_sound`), with the vectors at hand and without. A name:
whatever it is, the command ends as it does with a plain one, prints as many lines, each of them
printable, and means the same one folder.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.file_strategies import mutated
from support.fuzz_measure import Finding, loaded, timed
from support.shard_logs import VECTORS, contents, is_sound, sealed, write_logs, write_sets
from support.small_certificates import CASES

import attncert
from attncert.verify.kruskal.records import rules
from attncert.verify.kruskal.sampling.jobs import Shown, shown_by
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.scale.merge import United, unite

# Logs of shards.


def log(content: bytes, scratch: Path) -> str:
    """The lines as they are, and those that are JSON with checksums computed afresh."""
    return [_log(raw, scratch) for raw in (content, _resealed(content))][-1]


def log_seeds(scratch: Path) -> list[bytes]:
    subsets, prefixes = (path.read_bytes() for path in write_logs(scratch))
    header, *_ = subsets.splitlines(keepends=True)
    return [subsets, prefixes, subsets[:-9], header, write_sets(scratch).read_bytes()]


def log_mutant(content: bytes, scratch: Path) -> str:
    """The bytes as the choices of a hypothesis strategy: logs with lines changed in structure."""
    _CHOSEN.clear()
    _mutants.hypothesis.fuzz_one_input(content)
    return _log(sealed(_CHOSEN), scratch) if _CHOSEN else "too short"


_CHOSEN: list[Any] = []


@settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def _mutants(data: st.DataObject) -> None:
    lines = data.draw(st.sampled_from(_written()))
    number = data.draw(st.integers(0, len(lines) - 1))
    changed = [*lines[:number], data.draw(mutated(lines[number])), *lines[number + 1 :]]
    _CHOSEN[:] = data.draw(st.sampled_from([lines, changed, changed, changed]))


@cache
def _written() -> list[list[Any]]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        paths = [*write_logs(Path(folder)), write_sets(Path(folder))]
        return [contents(path.read_bytes()) for path in paths]


def _log(raw: bytes, scratch: Path) -> str:
    path = scratch / "log"
    path.write_bytes(raw)

    def read(known: Vectors | None) -> tuple[United, Shown]:
        united = unite([path], rules(known))
        return united, shown_by(united, verified=known is not None)

    def sound(found: tuple[United, Shown], verified: bool) -> bool:
        united, shown = found
        return is_sound(united.finished, shown.as_dict(), verified)

    words = [
        timed(
            lambda known=known: loaded(
                lambda: read(known), lambda found: sound(found, known is not None)
            )
        )
        for known in (None, VECTORS)
    ]
    return words[-1]


def _resealed(content: bytes) -> bytes:
    lines = []
    for line in content.splitlines():
        with suppress(ValueError, RecursionError):
            value = json.loads(line)
            lines.append(value.get("content", value) if isinstance(value, dict) else value)
    with suppress(ValueError, RecursionError):  # lone surrogates are written, too deep ones are not
        return sealed(lines)
    return content


# Names.


def name_in_file(content: bytes, scratch: Path) -> str:
    """The name in a vector file: of the folder, on the screen, in the report."""
    try:
        name = content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        name = content.decode("utf-8", "surrogateescape")
    return timed(lambda: _named(name, scratch))


def _named(name: str, scratch: Path) -> str:
    lines = _kruskal(name, scratch)
    if lines != _plain(_kruskal, scratch):
        raise Finding(f"not as with a plain name: {lines}")
    return "read"


def _kruskal(name: str, scratch: Path) -> tuple[int, ...]:
    """Exit status, lines printed, lines of the report; nothing is written but caught here."""
    path, folders, pages = scratch / "vectors.json", [], []
    path.write_text(json.dumps({"vectors": [[1, 0], [0, 1], [1, 1]], "name": name}))
    words = ["kruskal", str(path), "--work", "0.01", "--subsets", "0", "--device", "cpu"]
    with (
        mock.patch("attncert.reports.folder.check_folder", folders.append),
        mock.patch(
            "attncert.reports.folder.write",
            lambda report, folder: pages.append((folder, report.files["report.md"].decode())),
        ),
    ):
        status, out, err = command(words)
    (folder,), ((written, page),) = folders, pages
    if folder != written or not re.fullmatch(r"attncert-report/\w[\w.-]*", str(folder), re.ASCII):
        raise Finding(f"another folder: {folder}")
    return status, len(out), len(err), page.count("\n")


@cache
def _plain(run: Callable[[str, Path], Any], scratch: Path) -> Any:
    return run("plain", scratch)


def file_name(content: bytes, scratch: Path) -> str:
    """The name of a certificate's file, on the screen, whether a command reads the file or not."""
    name = os.fsdecode(re.sub(rb"[/\0]", b"_", content)[:200])
    return "refused" if name in ("", ".", "..") else timed(lambda: _filed(name, scratch))


def _filed(name: str, scratch: Path) -> str:
    found, plain = _commands(name, scratch), _plain(_commands, scratch)
    if found != plain:
        raise Finding(f"{found}, and with a plain name {plain}")
    return "read"


def _commands(name: str, scratch: Path) -> list[tuple[int, int, int]]:
    """Exit status and lines printed of each command."""
    folder = scratch / "names"
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(json.dumps(CASES["interpolation"]()))
    found = []
    try:
        with chdir(scratch):  # where reports are written that go to no folder by name
            for words in (
                ["check", str(path)],
                ["explain", str(path)],
                ["kruskal", str(path), "--work", "1"],
                ["merge", str(path)],
                ["check", str(folder / f"{name}-missing")],
            ):
                status, out, err = command(words, terminal=True)
                found.append((status, len(out), len(err)))
    finally:
        path.unlink()
    return found


def command(words: list[str], terminal: bool = False) -> tuple[int, list[str], list[str]]:
    """Exit status, and the lines of stdout and stderr; Finding where one is not printable.

    terminal: both are one. No progress is drawn, however busy the machine is.
    """
    still = mock.patch("attncert.terminal.progress._QUIET_SECONDS", 3600.0)
    out, err = _Terminal(terminal), _Terminal(terminal)
    with still, redirect_stdout(out), redirect_stderr(err):
        status = attncert.main(words)
        texts = [_text(stream) for stream in (out, err)]
    for line in (lines := [text.split("\n") for text in texts])[0] + lines[1]:
        if not line.isprintable():
            raise Finding(f"printed {line!r}")
    if status not in (0, 1, 2, 3):
        raise Finding(f"ended with {status}: {texts[1]!r}")
    return status, lines[0], lines[1]


class _Terminal(io.TextIOWrapper):
    """A stream that takes UTF-8 and nothing else, and is a terminal if told so: from what is none
    click takes escape sequences away."""

    def __init__(self, is_one: bool) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors="strict")
        self.is_one = is_one

    def isatty(self) -> bool:
        return self.is_one


def _text(stream: _Terminal) -> str:
    stream.flush()
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode()


NAMES = ("x", "../../up/x", "/tmp/x", "..", "a\nholds: yes", "\x1b[31mred", "$x$", "# title",
         "| a | b |", "[a](b)", "\u202egnp", "a" * 300, "-x", "\0")  # fmt: skip


def name_seeds() -> list[bytes]:
    return [name.encode() for name in NAMES] + ["\ud800".encode("utf-8", "surrogatepass"), b"\xff"]
