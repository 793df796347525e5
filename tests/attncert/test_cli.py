"""The command line as a user runs it: outputs, exit statuses, one-line errors and interrupts."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from support.shell import Shell

import attncert
from attncert.commands.questions import COMMANDS
from attncert.verify.questions.question import Question, arguments, flag, options
from attncert.verify.questions.values import SWITCH, TEXT

TINY = {"contexts": [[1, 0], [0, 1]], "queries": [[1, 2], [3, 1], [1, 1]], "labels": [5, "1/3", 7]}


def piped(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return _write(tmp_path / "tiny.json", TINY)


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a report."""
    folder = tmp_path_factory.mktemp("proved")
    data, out = _write(folder / "tiny.json", TINY), folder / "out"
    with (
        redirect_stdout(io.StringIO()) as printed,
        redirect_stderr(io.StringIO()) as errors,
    ):
        assert attncert.main(["prove", str(data), "--out", str(out)]) == 0
    assert printed.getvalue().startswith("Proved.") and errors.getvalue() == ""
    return out


def test_prove_writes_a_report_and_a_certificate_that_checks(proved: Path) -> None:
    assert {p.name for p in proved.iterdir()} >= {"report.md", "certificate.json", "answer.json"}
    assert attncert.main(["check", str(proved / "certificate.json")]) == 0


def test_json_is_all_that_stdout_holds(tiny: Path, tmp_path: Path, shell: Shell) -> None:
    printed = shell.runs("prove", tiny, "--out", tmp_path / "o", "--json")
    assert json.loads(printed.out)["standing"] == "proved" and printed.err == ""
    printed = shell.runs("check", tmp_path / "o" / "certificate.json", "--json")
    assert json.loads(printed.out)["claim"] == "interpolation"


def test_equal_runs_give_equal_bytes(proved: Path, tiny: Path, tmp_path: Path) -> None:
    """One run has a different hash seed and an output encoding that lacks ℚ and ⎡."""
    again = tmp_path / "again"
    command = [sys.executable, "-m", "attncert", "prove", str(tiny), "--out", str(again)]
    environment = os.environ | {"PYTHONHASHSEED": "4711", "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(command, env=environment, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"A(E\u207d\u1d57\u207e" in done.stdout  # latin-1 lacks these characters
    names = {p.relative_to(proved) for p in proved.rglob("*") if p.is_file()}
    assert len(names) >= 8
    assert names == {p.relative_to(again) for p in again.rglob("*") if p.is_file()}
    for name in names:
        if name.name != "timings.json":
            assert (proved / name).read_bytes() == (again / name).read_bytes(), name


@pytest.mark.parametrize(
    ("change", "options", "status"),
    [
        ({"contexts": [[1, 0], [2, 0]]}, [], 3),  # A2 is false
        ({"queries": [[1, 2], [2, 4], [1, 1]]}, [], 3),  # parallel queries
        ({"queries": [[0, 0], [2, 4], [1, 1]]}, [], 3),  # a zero query
        ({}, ["--heads", "1"], 1),  # more than any weights can do
        ({}, ["--heads", "1", "--claim", "interpolation"], 3),  # given labels may be possible
        ({"labels": [[1, 2], [3, 4], [5, 6]]}, ["--value-width", "1"], 3),
    ],
)
def test_a_false_hypothesis_is_a_report_with_a_witness(
    tmp_path: Path, change: dict[str, object], options: list[str], status: int
) -> None:
    data = _write(tmp_path / "data.json", TINY | change)
    out = tmp_path / "out"
    assert attncert.main(["prove", str(data), "--out", str(out), *options]) == status
    trace = json.loads((out / "answer.json").read_text())
    failed = [c for c in trace["claims"] if c["level"] in ("refuted", "not applicable")]
    assert any(c["witness"] for c in failed)
    assert not (out / "certificate.json").exists()


BAD_OPTIONS = {
    "more examples than there are": ["prove", "digits", "--examples", "1000000000"],
    "construction": ["prove", "digits", "--construction", "other"],
    "attack what": ["attack", "--construction", "other"],
    "missing data": ["prove"],
    "missing file": ["prove", "no-such-file.json"],
    "empty out": ["prove", "digits", "--out", ""],
    "empty data": ["prove", ""],
    "empty weights": ["layer", "", "digits"],
    "empty certificate": ["check", ""],
    "empty block before": ["prove", "digits", "--before", ""],
    "no limit": ["check", "nothing.json", "--limit-seconds", "nan"],
    "negative memory": ["check", "nothing.json", "--limit-mib", "-1"],
    "more parameters than memory": ["prove", "digits", "--heads", "9999", "--head-width", "9999"],
    "more of them to fit": ["fit", "digits", "--heads", "9999", "--value-width", "9999"],
}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\xa2\xff", "the file is not text in UTF-8"),
        (b"hello", "the file is not JSON (line 1, column 1)"),
        (b'{"format": 60.0}', "a number is not an integer: 60.0"),
        (b"[" * 100000, "the file is nested too deeply"),
    ],
)
@pytest.mark.parametrize("options", [[], ["--fast"]])
def test_what_is_no_certificate_is_named_in_words(
    content: bytes, says: str, options: list[str], tmp_path: Path, shell: Shell
) -> None:
    (tmp_path / "file").write_bytes(content)
    line = shell.refuses("check", tmp_path / "file", *options)
    assert line.endswith(f"{says}\n") and "Error" not in line


@pytest.mark.parametrize("words", BAD_OPTIONS.values(), ids=BAD_OPTIONS)
def test_bad_arguments_are_one_line_and_status_2(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    monkeypatch.chdir(tmp_path)
    shell.refuses(*words)
    assert not list(tmp_path.iterdir())


# Every option of every question, except switches and options that take any text.
OPTIONS = [
    (record, name)
    for record in Question.__subclasses__()
    for name, option in options(record).items()
    if option.rule.must not in (SWITCH.must, TEXT.must) and not option.rule.file
]


@pytest.mark.parametrize("word", ["-1", "nope"])
@pytest.mark.parametrize(("record", "name"), OPTIONS)
def test_what_no_option_takes_is_one_line_that_names_it(
    record: type[Question], name: str, word: str, shell: Shell
) -> None:
    """The option is refused in Python and, on a command line, before any file is read."""
    words = [record.command, *["no-such-file"] * len(arguments(record)), f"{flag(name)}={word}"]
    assert flag(name) in shell.refuses(*words, "--out", "nowhere")
    with pytest.raises(attncert.InputError, match=f"^{name}: must be "):
        record(**{name: word})
    assert not Path("nowhere").exists()


def test_a_folder_with_other_content_is_refused_before_any_work(
    tiny: Path, tmp_path: Path, shell: Shell
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.tex").write_text("precious")
    shell.refuses("prove", tiny, "--out", out)
    assert [p.name for p in out.iterdir()] == ["thesis.tex"]


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    out = tmp_path / "out"
    program = (
        "import os, signal, sys, threading, attncert\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # background jobs ignore it
        "interrupt = lambda: os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Timer(1.0, interrupt).start()\n"
        f"words = ['prove', 'digits', '--examples', '400', '--out', {str(out)!r}]\n"
        "sys.exit(attncert.main(words))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stderr == "interrupted\n" and done.stdout == ""
    assert not list(tmp_path.iterdir())


def test_version_and_help(shell: Shell) -> None:
    assert shell.runs("--version").out == f"attncert {metadata.version('attncert')}\n"
    for words in ([], ["-h"], ["prove", "-h"], ["explain", "-h"]):
        assert shell.runs(*words).out.startswith("Usage: attncert")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__)
def test_each_question_shows_an_example(command: Any, shell: Shell) -> None:
    name = command.__name__
    text = " ".join(shell.runs(name, "--help").out.split())
    example = text.partition("Example: ")[2]
    assert example.startswith(f"attncert {name} ")
    named = {word for word in example.split() if word.startswith("--")}
    assert named <= set(text.partition("Example: ")[0].split())


def test_a_usage_error_names_the_help_of_its_command(shell: Shell) -> None:
    for words, command in ((["prove", "--hedas", "3"], "attncert prove"), (["frob"], "attncert")):
        assert shell.refuses(*words).endswith(f"(see {command} --help)\n")


def test_quiet_says_nothing_but_errors(proved: Path, tmp_path: Path, shell: Shell) -> None:
    words = ["--quiet", "explain", proved]
    assert shell.runs(*words) == ("", "")
    assert json.loads(shell.runs(*words, "--json").out)["status"] == "holds"
    line = shell.refuses("-q", "explain", tmp_path / "none.json")
    assert "must be an attncert certificate" in line
    assert shell.runs("explain", proved).out.startswith("What it claims")  # no longer quiet


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("kr", ["kruskal"]),
        ("prove --device ", ["auto", "cpu", "cuda"]),
        ("prove --roun", ["--round"]),
    ],
)
def test_a_shell_completes_commands_options_and_values(line: str, words: list[str]) -> None:
    """Completions come from the function that `attncert --show-completion` defines in a shell."""
    completion = {
        "_ATTNCERT_COMPLETE": "complete_bash",
        "COMP_WORDS": f"attncert {line}",
        "COMP_CWORD": str(line.count(" ") + 1),
    }
    command = [sys.executable, "-m", "attncert"]
    done = subprocess.run(command, env=os.environ | completion, capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()) == (0, words)


@pytest.mark.parametrize(
    ("words", "absent"),
    [
        (["--help"], {"numpy", "flint", "importlib.metadata", "tempfile", "html"}),
        (["check", "PROVED"], {"numpy", "flint", "networkx", "jinja2", "matplotlib"}),
        (["prove", "TINY"], {"scipy", "numba", "matplotlib", "sympy.tensor.tensor", "rich"}),
    ],
    ids=["help", "check", "prove"],
)
def test_a_short_command_loads_what_it_needs(
    words: list[str], absent: set[str], proved: Path, tmp_path: Path, tiny: Path
) -> None:
    paths = {"PROVED": str(proved / "certificate.json"), "TINY": str(tiny)}
    out = ["--out", str(tmp_path / "o")] if words[0] == "prove" else []
    program = (
        f"import sys, attncert; assert attncert.main({[paths.get(x, x) for x in words] + out}) == 0"
        "; print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0 and absent & set(done.stderr.split()) == set()


def test_a_certificate_from_a_pipe(
    proved: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    content = (proved / "certificate.json").read_bytes()
    for command in ("check", "explain"):
        piped(monkeypatch, content)
        shell.runs(command, "-")
        piped(monkeypatch, content[:-9])
        shell.refuses(command, "-")
    piped(monkeypatch, content)
    assert "a file, given for one argument only, not empty" in shell.refuses("layer", "-", "-")


def _write(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content))
    return path


def test_a_closed_standard_output_is_no_traceback() -> None:
    command = f"{sys.executable} -m attncert check nowhere.json >&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    command = f"{sys.executable} -m attncert --help >&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("stdin", "said"), [("<&-", "not empty"), ("0>/dev/null", "one that can be read")]
)
def test_a_standard_input_that_cannot_be_read(stdin: str, said: str) -> None:
    command = f"{sys.executable} -m attncert check - {stdin}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("attncert: standard input: must be ") and said in done.stderr


def test_a_reader_that_goes_away_gets_no_answer(proved: Path) -> None:
    """The status is neither 0 (holds) nor 1 (wrong), and nothing is written to stderr."""
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, "-m", "attncert", "check", str(proved / "certificate.json")]
    with os.fdopen(writing, "wb") as pipe:
        done = subprocess.run(words, stdout=pipe, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (141, b"")


def test_what_libraries_log_is_one_printable_line() -> None:
    program = (
        "import attncert, logging; attncert.main(['--help']);"
        "logging.getLogger('library').warning('key\\x1b[31m\\nholds: yes')"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stderr
    assert said == "key\\x1b[31m holds: yes\n"
