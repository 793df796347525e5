"""Untrusted text never moves the cursor, begins a line, or names a folder elsewhere."""

from __future__ import annotations

import json
import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from support import small_certificates
from support.shares import share
from support.shell import Shell

import attncert
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError, path_errors
from attncert.constructions.foreign import escaped, printable, safe_name
from attncert.constructions.weights.stored import StoredLayer
from attncert.reports.words.text import markdown
from attncert.verify.kruskal.vectors import Vectors

TEXTS = st.text(st.characters())  # surrogates, control and format characters included
NAMES = [
    "../../up/x", "/tmp/elsewhere", "\x1b[31mred", "\ud800", "a\nholds: yes", "..", ".", "", "-",
    "x" * 400, "\u202eevil", "$x$", "<b>", "C:\\x", "a\0b", "~", "\x9b1m", "a`b`|c",
]  # fmt: skip
VECTORS = [[1, 0], [0, 1], [1, 1]]
SAFE = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")


def harmless(text: str) -> bool:
    """Whether a terminal prints all characters except line ends, judged by Unicode categories and
    not by `str.isprintable`."""
    return not any(
        unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
        for c in text.replace("\n", "")
    )


@given(TEXTS, st.integers(1, 50))
@example("a\r\x1b]0;x\x07\x85\u2028\u2066", 50)
def test_a_foreign_line_is_one_line(text: str, limit: int) -> None:
    for line in (printable(text), printable(text, limit), escaped(text)):
        assert harmless(line) and "\n" not in line
        line.encode()
    assert len(printable(text, limit)) <= limit


@given(TEXTS)
@example("..")
@example("." + "x" * 62 + "./y")
def test_a_name_is_one_component_and_no_markup(text: str) -> None:
    name = safe_name(text, "data")
    assert name not in ("", ".", "..") and set(name) <= SAFE and len(name) <= 64
    assert (Path("/out") / f"{name}-kruskal").resolve().parent == Path("/out")
    assert safe_name(name, "data") == name
    page = MarkdownIt("commonmark", {"html": True}).enable("table")
    assert page.renderInline(markdown(f"of {name}")) == f"of {name}"


@given(TEXTS)
def test_every_name_is_made_safe_where_it_enters(text: str) -> None:
    one = Dataset.of([[1]], [[1]], [1], text)
    layer = StoredLayer(None, "float16", text)  # type: ignore[arg-type]
    for name in (one.name, Vectors.of([[1]], text).name, layer.name):
        assert name and set(name) <= SAFE


@given(TEXTS, TEXTS, TEXTS)
def test_an_error_is_one_line(argument: str, must: str, got: str) -> None:
    line = str(InputError(argument, must, got))
    assert harmless(line) and "\n" not in line


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", ["kruskal", "prove", "capacity"])
def test_a_name_in_a_file_stays_in_the_folder(
    command: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    here = tmp_path / "a" / "b" / "c"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    monkeypatch.setattr(f"attncert.{command}", _stopped)
    asked: list[Path] = []
    monkeypatch.setattr("attncert.reports.folder.check_folder", asked.append)
    content = {"contexts": [[1, 0], [0, 1]], "queries": VECTORS, "labels": [1, 2, 3], "name": name}
    Path("data.json").write_text(json.dumps(content))
    assert harmless(shell.refuses(command, "data.json"))  # _stopped
    assert [folder.resolve().parent for folder in asked] == [here / "attncert-report"]


def _stopped(*arguments: object, **options: object) -> None:
    raise InputError("test", "stopped here", "run on")


FILES = ["x\nholds: yes", "x\x1b[2J", "x\u202ey", "x\udcff", "$x$", "<b>"]


@pytest.mark.parametrize("file", share(FILES, 3))
@pytest.mark.parametrize(
    "words",
    [["check"], ["check", "--fast"], ["explain"], ["prove"], ["kruskal"], ["capacity"]],
)  # fmt: skip
@pytest.mark.parametrize("content", [None, b"[", b'{"\\ud800\\u001b\\nholds: yes": 1}'])
def test_a_file_name_prints_no_line_of_its_own(
    words: list[str], file: str, content: bytes | None, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, shell: Shell,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path(file).write_bytes(content)
    assert harmless(shell.refuses(words[0], file, *words[1:]))


@pytest.mark.parametrize("file", FILES)
def test_a_file_that_is_explained_keeps_its_name_on_one_line(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    monkeypatch.chdir(tmp_path)
    certificate = small_certificates.CASES["dependent-set"]()
    Path(file).write_text(json.dumps(certificate))
    commands = (["explain", file], ["explain", file, "--json"], ["check", file, "--json"])
    for words in (*commands, ["check", file]):
        assert harmless(shell.runs(*words).out)


COMMANDS = ["check", "explain", "prove", "kruskal", "audit", "capacity", ""]


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(words=st.lists(TEXTS, min_size=1, max_size=3), command=st.sampled_from(COMMANDS))
def test_whatever_the_arguments_nothing_reaches_the_terminal(
    shell: Shell, words: list[str], command: str
) -> None:
    arguments = [command, *(f"/no/such/{word}" for word in words)]
    status = attncert.main([*arguments, f"--{words[0]}"])
    printed = shell.capture.readouterr()
    assert status in (0, 2) and harmless(printed.out) and harmless(printed.err)


def test_half_of_a_character_in_a_path_is_one_line() -> None:
    said = "--out: must be a path, not one with a lone surr"
    with pytest.raises(InputError, match=said), path_errors("--out", "a folder", "\ud800"):
        os.stat("\ud800")
