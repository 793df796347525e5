"""Write a report folder, completely or not at all, and never over other files.

The files are written to a new folder beside the target, which then replaces the target in one
rename; signals that would end the process wait until then. A folder may be replaced if it is empty
or holds only files that a report may contain, with pages that begin with a report's mark."""

from __future__ import annotations

import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory

from attncert.constructions.endings import endings_wait
from attncert.constructions.errors import InputError, ending, path_errors
from attncert.constructions.foreign import printable
from attncert.reports.report import HTML_MARK, HTML_PAGE, PAGE, Report, is_report_file
from attncert.reports.words.text import MARK

PAGES = {PAGE: MARK, HTML_PAGE: HTML_MARK}
CHECKER = Path(__file__).parents[1] / "verify" / "checker"
_FOLDERS = "figures", "checker", "construction"
_WRITABLE = "a folder that can be written"
_SHOWN = 48  # the longest name that a refusal quotes in full, in characters


def check_folder(path: str | os.PathLike[str]) -> None:
    """Raise InputError now, rather than after minutes of work, if `path` cannot be written."""
    with path_errors("--out", _WRITABLE, path):
        target = _target(path)
        parent = next(p for p in target.parents if p.exists())
        with endings_wait(), _hidden_in(parent):
            pass


def write(report: Report, path: str | os.PathLike[str]) -> list[Path]:
    """Write the report to the folder `path`; returns the paths of its files, sorted. Raises
    InputError if the folder holds anything else or cannot be written. After an error or interrupt,
    the old folder (or none) is left, and no temporary one."""
    files = contents(report)
    with path_errors("--out", _WRITABLE, path), endings_wait():
        target = _target(path)
        if not target.parent.exists():
            target.parent.mkdir(parents=True)
        with _hidden_in(target.parent) as hidden:
            new, old = Path(hidden, "new"), Path(hidden, "old")
            for name, content in sorted(files.items()):
                (new / name).parent.mkdir(parents=True, exist_ok=True)
                (new / name).write_bytes(content)
            if target.exists():
                os.replace(target, old)
            try:
                os.replace(new, target)
            finally:  # the old folder is restored if the new one is not in place
                if old.exists() and not target.exists():
                    os.replace(old, target)
    return [target / name for name in sorted(files)]


def contents(report: Report) -> dict[str, bytes]:
    from attncert.reports.html import html_page

    files = dict(report.files)
    files[HTML_PAGE] = html_page(files[PAGE], files)
    if "certificate.json" not in files:
        return files
    return files | {f"checker/{file.name}": file.read_bytes() for file in CHECKER.glob("*.py")}


def strange(folder: Path) -> str:
    """Why `folder` cannot be recognized as an unmodified report folder; "" if it can."""
    for part in (folder, *(folder / name for name in _FOLDERS)):
        for entry in sorted(part.iterdir()) if part.is_dir() else ():
            if not _ours(entry, entry.relative_to(folder).as_posix()):
                return f"{printable(entry.relative_to(folder), _SHOWN)} is not from attncert"
    return "" if any((folder / page).is_file() for page in PAGES) else "it holds no report"


def _ours(entry: Path, name: str) -> bool:
    if entry.is_symlink() or not entry.is_file():
        return name in _FOLDERS and entry.is_dir() and not entry.is_symlink()
    ours = is_report_file(name) or re.fullmatch(r"checker/[a-z_]+\.py", name)
    return bool(ours) and (name not in PAGES or _marked(entry))


def _marked(page: Path) -> bool:
    mark = PAGES[page.name].encode()
    with page.open("rb") as file:
        return file.read(len(mark)) == mark


def _target(path: str | os.PathLike[str]) -> Path:
    """The folder that `path` names. Raises InputError if it must not be written."""
    if not os.fspath(path):
        raise InputError("--out", "the path of a folder", "empty")
    target = Path(os.path.realpath(path))
    if target == Path.cwd() or target in Path.cwd().parents:
        raise InputError("--out", "a folder other than the current one and those above it", path)
    if target.exists():
        if not target.is_dir():
            raise InputError("--out", "a folder", f"a file: {path}")
        if any(target.iterdir()) and (reason := strange(target)):
            occupied = f"{ending(path, _SHOWN)} ({reason})"
            raise InputError("--out", "new, empty, or a folder that attncert wrote", occupied)
    return target


def _hidden_in(parent: Path) -> TemporaryDirectory[str]:
    """A folder for the new report and, for a moment, the old one. It is removed in any case."""
    return TemporaryDirectory(prefix=".attncert-", dir=parent, ignore_cleanup_errors=True)
