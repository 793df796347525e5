"""Comparison of the checker and report in a folder with those that this installation writes.

Anyone can write a folder, with every number and hash in it, so comparing its parts with one
another shows nothing. The checker is compared with the installed one. The report is written again:
the certificate holds the data and the command line, and this installation parses its options and
runs the command. Only the name of the data is taken from the folder.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from attncert.constructions.errors import path_errors
from attncert.constructions.foreign import printable, safe_name
from attncert.reports.folder import CHECKER
from attncert.reports.report import FIGURES, HTML_PAGE, PAGE, figure_file
from attncert.verify.certificates.installed import version
from attncert.verify.questions.fit import Capacity, Fit
from attncert.verify.questions.kruskal import Assume, Kruskal
from attncert.verify.questions.layer import LayerQuestion
from attncert.verify.questions.prove import Prove
from attncert.verify.questions.question import Question, flag, options

_AGAIN: dict[str, type[Question]] = {
    x.command: x for x in (Prove, Fit, Capacity, Kruskal, Assume, LayerQuestion)
}
_BEHIND = ("impossible", "network-rank")  # claims whose certificates hold no blocks of --before
_APART = ("timings.json", "checker")
_TRUST = "Trust attncert explain and this installation's checker, not the text of a report."


class Compared(NamedTuple):
    """sentences: what was compared and what differs. exit_status: 0 if nothing differs; 3 if only
    figures differ, if the report was not compared, or if the checker differs but another version
    wrote the certificate; otherwise 1. not_compared: why the report was not compared, or ""."""

    sentences: tuple[str, ...]
    exit_status: int
    not_compared: str = ""


class _Apart(Exception):
    """The report cannot be written again; str() gives the reason as a clause."""


def compared(folder: Path, limit_seconds: float) -> Compared:
    """Compare the checker and the report beside a certificate that holds. Raises InputError."""
    with path_errors(str(folder), "a folder that can be read", folder):
        there = [name for name in ("checker", PAGE) if os.path.lexists(folder / name)]
        certificate = json.loads((folder / "certificate.json").read_bytes())
        by = certificate["produced_by"]
        ours = by.get("version") == version("attncert")
        others = _others(CHECKER, folder / "checker") if "checker" in there else []
        sentences = [_checker(others, by)] if "checker" in there else []
        changed, not_compared = list[str](), ""
        if PAGE in there:
            try:
                changed = _changed(folder, certificate, limit_seconds)
                sentences.append(_report(changed))
            except _Apart as reason:
                not_compared = f"The report was not compared: {reason}."
    drawn = all(map(_is_figure, changed))
    status = 1 if not drawn or (others and ours) else 3 if changed or others or not_compared else 0
    return Compared((*sentences, _TRUST) if there else (), status, not_compared)


def _checker(others: list[str], by: Mapping[str, Any]) -> str:
    installed = version("attncert")
    if not others:
        return f"The folder's checker is that of attncert {installed}, byte for byte."
    other = f" The certificate names version {printable(by.get('version'), 20)}."
    return (
        f"The folder's checker is not that of attncert {installed} ({_few(others)}): do not run "
        f"it.{'' if by.get('version') == installed else other}"
    )


def _report(changed: list[str]) -> str:
    if not changed:
        return (
            f"The report is what attncert {version('attncert')} writes from the data in the "
            "certificate, byte for byte, except for the name of the data and timings.json."
        )
    if all(map(_is_figure, changed)):
        return (
            f"The report is what attncert {version('attncert')} writes, except for figures, which "
            f"another version of a library or someone else drew: {_few(changed)}."
        )
    return f"The report is not what attncert {version('attncert')} writes: {_few(changed)}."


def _few(names: list[str]) -> str:
    """
    >>> _few(["a", "b", "c", "d"])
    'a, b, c and 1 more'
    """
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{', '.join(printable(name, 60) for name in names[:3])}{more}"


def _changed(folder: Path, certificate: Mapping[str, Any], limit_seconds: float) -> list[str]:
    by = certificate["produced_by"]
    if by.get("version") != version("attncert"):
        raise _Apart(f"it is of another version, {printable(by.get('version'), 20)}")
    words = _words(str(by.get("command")))
    _require_whole(words, certificate, folder)
    file = certificate.get("data_file") or {"name": "certificate.json"}
    source = folder / Path(str(file["name"])).name
    with TemporaryDirectory() as temporary:
        data = Path(temporary, f"{_name(folder)}{source.suffix}")
        shutil.copyfile(source, data)
        place = Path(temporary, "again")
        line = [str(data) if word in ("DATA", "WEIGHTS") else word for word in words]
        command = [sys.executable, "-m", "attncert", *line, "--out", str(place)]
        try:
            subprocess.run(command, capture_output=True, timeout=limit_seconds, cwd=temporary)
        except subprocess.TimeoutExpired:
            raise _Apart(f"writing it again takes more than {limit_seconds:g} s") from None
        if not (place / PAGE).is_file():
            raise _Apart("its command does not run on the data in the certificate")
        changed = _others(place, folder, _APART)
        if HTML_PAGE in changed and PAGE not in changed and _of_its_figures(folder):
            changed.remove(HTML_PAGE)
        return changed


def _of_its_figures(folder: Path) -> bool:
    """Whether the HTML page is made from the Markdown page and the figures in this folder."""
    from attncert.reports.html import html_page

    files = {name: folder / name for name in (HTML_PAGE, PAGE, *map(figure_file, FIGURES))}
    there = {name: path.read_bytes() for name, path in files.items() if path.is_file()}
    page = there.pop(HTML_PAGE, b"")
    return not (folder / HTML_PAGE).is_symlink() and html_page(there[PAGE], there) == page


def _is_figure(name: str) -> bool:
    return name in map(figure_file, FIGURES)


def _words(command: str) -> list[str]:
    """The words of the command line, parsed by the rules of its question and written again."""
    try:
        program, name, *rest = shlex.split(command)
        record = _AGAIN[name]
        while rest and not rest[0].startswith("--"):
            rest.pop(0)  # the whole line is compared below
        meanings = {flag(x): (x, o) for x, o in options(record).items() if o.repeats}
        settings: dict[str, Any] = {}
        while rest:
            field, meaning = meanings[rest.pop(0)]
            kind = meaning.rule.kind
            settings[field] = True if kind is bool else kind(rest.pop(0))
        line = record(**settings).line()
    except (KeyError, ValueError, IndexError):  # InputError is a ValueError
        raise _Apart("its command is not one that attncert writes") from None
    if program != "attncert" or line != command:
        raise _Apart("its command is not one that attncert writes")
    if ":" in line:
        raise _Apart("its construction is third-party code, which is not run here")
    return shlex.split(line)[1:]


def _require_whole(words: list[str], certificate: Mapping[str, Any], folder: Path) -> None:
    """Raises _Apart if the certificate does not hold everything that the report is about."""
    command = words[0]
    if "--before" in words and certificate["claim"] in _BEHIND:
        raise _Apart("its certificate holds data that fixed blocks computed, not the given data")
    if command == Assume.command:
        raise _Apart("its certificate holds vectors, but it is also about contexts")
    if command == LayerQuestion.command and certificate["construction"] != "given-network":
        raise _Apart("its certificate holds blocks, but it is about weights in another form")
    if command == Kruskal.command:
        page = (folder / PAGE).read_text("utf-8", "replace")
        whole = "stored as integers, exactly." in page and "only those of the relation" not in page
        if not whole:
            raise _Apart("its certificate holds multiples of its vectors, or only some of them")


def _name(folder: Path) -> str:
    """The name of the data in the title of the report, made safe."""
    with (folder / PAGE).open(encoding="utf-8", errors="replace") as file:
        title = file.read(400).partition("\n# ")[2].partition("\n")[0]
    name = title.split("`")[1] if title.count("`") > 1 else title.rpartition(": ")[2]
    return safe_name(name, "data")


def _others(ours: Path, theirs: Path, apart: Collection[str] = ()) -> list[str]:
    """The files that only one of the folders has, or that differ, without our compiled files.
    Theirs count, since Python would run them instead of the sources."""
    paths = {p.relative_to(theirs) for p in theirs.rglob("*") if p.is_symlink() or not p.is_dir()}
    own = (p.relative_to(ours) for p in ours.rglob("*") if not p.is_dir())
    paths |= {path for path in own if "__pycache__" not in path.parts}
    names = sorted(name for name in paths if name.parts[0] not in apart)
    return [name.as_posix() for name in names if not _equal(ours / name, theirs / name)]


def _equal(ours: Path, theirs: Path) -> bool:
    if theirs.is_symlink() or not (ours.is_file() and theirs.is_file()):
        return False
    same_size = theirs.stat().st_size == ours.stat().st_size
    return same_size and theirs.read_bytes() == ours.read_bytes()
