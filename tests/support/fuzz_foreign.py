"""Targets of the fuzzer beside the parsers: names inside files, names of files.

Whatever a name is, the command ends as it does with a plain one, prints as many lines, each of them
printable, and means the same one folder.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from support.fuzz_measure import Finding, timed
from support.small_certificates import CASES

import attncert

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
