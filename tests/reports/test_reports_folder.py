"""The output folder is written as a whole or not at all, and other files are not touched."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support import proof_fixtures as fixtures
from support.every_claim import TRUE
from support.shares import share

from attncert.constructions.errors import InputError
from attncert.reports import folder
from attncert.reports.answers import write_report
from attncert.reports.folder import check_folder, strange, write
from attncert.reports.report import Report, is_report_file
from attncert.reports.words.text import MARK
from attncert.verify.checker import CLAIMS

REPORT = {"report.md": f"{MARK}\nnew".encode(), "figures/graph.svg": b"<svg/>"}
OLD = {"report.md": f"{MARK}\nold".encode(), "references.bib": b"old"}


def write_folder(path: Path, files: dict[str, bytes]) -> list[Path]:
    return write(Report(files, {}, (), 0), path)


def complete(files: dict[str, bytes]) -> dict[str, bytes]:
    """Add the files that every folder has besides the report's own."""
    return folder.contents(Report(files, {}, (), 0))


def contents(path: Path) -> dict[str, bytes]:
    return {p.relative_to(path).as_posix(): p.read_bytes() for p in path.rglob("*") if p.is_file()}


def refused(path: object) -> str:
    """The one line with which both the early check and the writer refuse `path`."""
    with pytest.raises(InputError) as early:
        check_folder(path)  # type: ignore[arg-type]
    with pytest.raises(InputError) as late:
        write_folder(path, REPORT)  # type: ignore[arg-type]
    assert str(early.value) == str(late.value) and "\n" not in str(late.value)
    assert early.value.argument == "--out"
    return str(late.value)


def test_a_report_is_written_and_replaced_as_a_whole(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "er" / "report"
    check_folder(out)
    assert list(tmp_path.iterdir()) == []  # the check leaves nothing behind
    write_folder(out, OLD)
    names = ["figures/graph.svg", "report.html", "report.md"]
    assert write_folder(out, REPORT) == [out / name for name in names]
    assert contents(out) == complete(REPORT)  # the old report's references.bib is gone
    assert [p.name for p in out.parent.iterdir()] == ["report"]


@pytest.mark.parametrize(
    ("others", "reason"),
    [
        ({"notes.txt": b"mine"}, "notes.txt is not from attncert"),
        ({**OLD, "notes.txt": b"mine"}, "notes.txt is not from attncert"),
        ({**OLD, "figures/mine.svg": b"mine"}, "figures/mine.svg is not from attncert"),
        ({**OLD, "deeper/report.md": b"mine"}, "deeper is not from attncert"),
        ({"report.md": b"# my own report, no mark"}, "report.md is not from attncert"),
        ({**OLD, "report.html": b"<!doctype html>my own"}, "report.html is not from attncert"),
        ({"certificate.json": b"{}"}, "it holds no report"),
        ({**OLD, ".git/config": b"mine"}, ".git is not from attncert"),
        ({**OLD, "\x1b[2J" + "x" * 99: b"mine"}, f"\\x1b[2J{'x' * 40}… is not from attncert"),
    ],
)
def test_other_files_are_refused_and_kept(
    tmp_path: Path, others: dict[str, bytes], reason: str
) -> None:
    out = tmp_path / "out"
    for name, content in others.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(content)
    line = refused(out)
    assert "a folder that attncert wrote" in line and line.endswith(f"out ({reason})")
    assert contents(out) == others
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_link_inside_is_not_ours(tmp_path: Path) -> None:
    write_folder(tmp_path / "out", OLD)
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / "out" / "answer.json").symlink_to(tmp_path / "mine")
    refused(tmp_path / "out")
    assert (tmp_path / "mine").read_bytes() == b"mine"


def test_a_link_to_a_folder_means_that_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_folder(tmp_path / "link", REPORT)
    assert (tmp_path / "link").is_symlink() and contents(tmp_path / "real") == complete(REPORT)


def test_paths_that_cannot_be_folders_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    monkeypatch.chdir(tmp_path)
    assert "not a file" in refused(tmp_path / "file")
    assert "Not a directory" in refused(tmp_path / "file" / "below")
    assert "other than the current one" in refused(".")
    assert "other than the current one" in refused(tmp_path.parent)
    assert "null" in refused("a\0b")
    assert "empty" in refused("")
    assert "too long" in refused(tmp_path / ("x" * 300))
    assert contents(tmp_path) == {"file": b"mine"}


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
@pytest.mark.parametrize("old", [None, OLD])
@pytest.mark.parametrize("stop", range(7))
def test_whatever_stops_it_the_old_folder_stays(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException | type[BaseException],
    old: dict[str, bytes] | None,
    stop: int,
) -> None:
    """Writing stops before the first, second, ... operation that changes the disk."""
    out = tmp_path / "new" / "out"
    if old:
        write_folder(out, old)
    calls = 0

    def stopping(original):  # type: ignore[no-untyped-def]
        def call(*args, **options):  # type: ignore[no-untyped-def]
            nonlocal calls
            calls += 1
            if calls == stop + 1:
                raise error
            return original(*args, **options)

        return call

    monkeypatch.setattr(Path, "write_bytes", stopping(Path.write_bytes))
    monkeypatch.setattr(Path, "mkdir", stopping(Path.mkdir))
    monkeypatch.setattr(os, "replace", stopping(os.replace))
    expected = KeyboardInterrupt if error is KeyboardInterrupt else InputError
    with pytest.raises(expected):
        write_folder(out, REPORT)
    monkeypatch.undo()
    if old:
        assert contents(tmp_path) == {f"new/out/{k}": v for k, v in complete(old).items()}
        assert [p.name for p in out.parent.iterdir()] == ["out"]
    else:
        assert [x for x in tmp_path.rglob("*") if x.name != "new"] == []


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("rename", share([1, 2], 2))
def test_what_ends_the_process_between_the_renames_waits(
    tmp_path: Path, sign: signal.Signals, rename: int
) -> None:
    """After a signal at the first or second rename, in another process, only the new folder is
    left, and the signal has ended the process."""
    out = tmp_path / "report"
    write_folder(out, OLD)
    program = (
        "import os, signal\n"
        "from attncert.reports.folder import write\n"
        "from attncert.reports.report import Report\n"
        f"signal.signal({int(sign)}, signal.SIG_DFL)\n"  # nohup ignores SIGHUP
        "replace, calls = os.replace, []\n"
        "def ending(a, b):\n"
        "    replace(a, b)\n"
        "    calls.append(b)\n"
        f"    if len(calls) == {rename}: os.kill(os.getpid(), {int(sign)})\n"
        "os.replace = ending\n"
        f"write(Report({REPORT!r}, {{}}, (), 0), {str(out)!r})\n"
        "raise SystemExit(99)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True)
    assert done.returncode == -sign
    assert contents(out) == complete(REPORT) and [p.name for p in tmp_path.iterdir()] == ["report"]


@pytest.mark.parametrize("kind", ["small", "refused-context"])
def test_a_whole_report_is_written_and_recognised(tmp_path: Path, kind: str) -> None:
    proof, files = fixtures.rendered(kind)
    paths = write_report(proof, tmp_path / "out")
    names = {p.relative_to(tmp_path / "out").as_posix() for p in paths}
    checker = {name for name in names if name.startswith("checker/")}
    assert names - checker == {*files, "report.html"} and all(map(is_report_file, names - checker))
    assert bool(checker) == ("certificate.json" in files)
    assert contents(tmp_path / "out") == complete(files)
    assert strange(tmp_path / "out") == ""
    write_report(fixtures.full_rank(), tmp_path / "out")
    assert strange(tmp_path / "out") == ""


def test_a_page_without_our_mark_is_no_report() -> None:
    """Such a report could be written once, but would then be refused as a folder that is not
    ours."""
    for files in ({}, {"report.md": b"# no mark"}, {"answer.json": b"{}"}):
        with pytest.raises(ValueError, match="must begin with <!-- attncert"):
            Report(files, {}, (), 0)


@pytest.mark.parametrize("claim", share(CLAIMS, 3))
def test_a_copied_checker_judges_alone(claim: str, tmp_path: Path) -> None:
    """The copied checker judges any claim without other packages, and changes no file."""
    out = tmp_path / "out"
    write(Report({"report.md": MARK.encode(), "certificate.json": b"{}"}, {}, (), 0), out)
    (out / "certificate.json").write_text(json.dumps(TRUE[claim]))
    names = {*contents(out)}
    done = subprocess.run(
        [sys.executable, "-I", "-S", "checker", "certificate.json"],
        capture_output=True, text=True, cwd=out, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("holds: ")
    assert {*contents(out)} == names
