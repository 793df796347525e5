"""No exception leads to an answer's exit status: 0, 1 and 3 are returned only on purpose."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.shell import Shell

import attncert
from attncert.constructions.layer import LAYER_BLOCK
from attncert.statuses import INTERNAL_ERROR, INTERRUPTED
from attncert.verify import checker

TINY = {"contexts": [[1, 0], [0, 1]], "queries": [[1, 2], [3, 1]], "labels": [5, 7]}
DEFECTS = [
    RuntimeError("no\n\x1b[31mholds: yes"),
    ValueError(),
    KeyError("x" * 5000),
    AssertionError("never"),
    RecursionError("too deep"),
    MemoryError(),
    OverflowError("int too large"),
    UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"),
    GeneratorExit("no Exception,\nholds: yes"),
    SystemExit(0),
    SystemExit(3),
    type("Silent", (BaseException,), {"__str__": lambda self: 1 / 0})(),
]


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda d: type(d).__name__)
@pytest.mark.parametrize("debug", [False, True])
def test_an_unexpected_exception_is_no_answer(
    defect: BaseException, debug: bool, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise defect

    monkeypatch.setattr(checker, "check_file", broken)
    printed = shell.runs(*["--debug"][:debug], "check", __file__, status=INTERNAL_ERROR)
    *trace, line = printed.err.splitlines()
    assert printed.out == "" and "\x1b" not in printed.err and len(line) < 500
    assert line.startswith(f"attncert: internal error: {type(defect).__name__}")
    assert bool(trace) == debug == any("in broken" in x for x in trace)
    assert ("--debug" in line) is not debug


def test_an_interrupt_wrapped_by_python_is_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    class Interrupted:
        def __set_name__(self, owner: type, name: str) -> None:
            raise KeyboardInterrupt

    def broken(*_: object, **__: object) -> None:
        type("Owner", (), {"attribute": Interrupted()})  # a RuntimeError up to Python 3.11

    monkeypatch.setattr(checker, "check_file", broken)
    printed = shell.runs("check", __file__, status=INTERRUPTED)
    assert printed.out == "" and printed.err == "interrupted\n"


@pytest.mark.parametrize(
    "entry", [["-m", "attncert"], ["-c", "from attncert.cli import main; exit(main())"]]
)
@pytest.mark.parametrize("missing", ["typer", "flint"])
def test_an_installation_with_parts_missing_gives_no_answer(
    entry: list[str], missing: str, tmp_path: Path
) -> None:
    (tmp_path / f"{missing}.py").write_text("raise ImportError('left out')")
    (tmp_path / "data.json").write_text(json.dumps(TINY))
    found = subprocess.run(
        [sys.executable, *entry, "prove", "data.json"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}:{Path(attncert.__file__).parents[1]}"},
        capture_output=True,
        text=True,
    )
    assert found.returncode == INTERNAL_ERROR and found.stdout == ""
    assert found.stderr.count("\n") == 1 and "ImportError: left out" in found.stderr


BUFFERED, UNBUFFERED = "-u PYTHONUNBUFFERED", "PYTHONUNBUFFERED=1"


@pytest.mark.parametrize(
    ("setting", "stderr", "words", "status"),
    [
        (BUFFERED, "2>/dev/full", "check nowhere", 2),
        (UNBUFFERED, "2>/dev/full", "check nowhere", 2),
        (BUFFERED, "2>&-", "check nowhere", 2),
        (UNBUFFERED, "2>&-", "--help", 0),
    ],
)
def test_a_status_does_not_depend_on_where_the_line_goes(
    setting: str, stderr: str, words: str, status: int
) -> None:
    command = f"env {setting} {sys.executable} -m attncert {words} {stderr}"
    assert subprocess.run(["bash", "-c", command], capture_output=True).returncode == status


@pytest.mark.parametrize("name", ["x" * 300, "x" * 5000, "/proc/self/mem"])
def test_a_name_that_opens_nothing_is_not_blamed_on_the_output(
    name: str, tmp_path: Path, shell: Shell
) -> None:
    data, layer = tmp_path / "data.json", tmp_path / "layer.json"
    data.write_text(json.dumps(TINY))
    head = {part: [["1"], ["0"]] for part in ("key", "query", "value")}
    block = LAYER_BLOCK | {"logit_unit": "ln 2", "heads": [head], "output": [["1"]]}
    layer.write_text(json.dumps({"network": [block]}))
    for words in (["check", name], ["layer", str(layer), str(data), "--mask", name]):
        line = shell.refuses(*words)
        assert "must be" in line and "standard output" not in line


def test_what_ends_a_check_leaves_no_file_and_no_process(tmp_path: Path) -> None:
    """The signal is sent while the verified checker, here a script, reads a copy of standard
    input."""
    script, told = tmp_path / "kernel", tmp_path / "told"
    script.write_text(f"#!/bin/sh\necho $$ > {told}.new; mv {told}.new {told}; exec sleep 60\n")
    script.chmod(0o755)
    (tmp_path / "temporary").mkdir()
    program = (
        "import os, pathlib, threading, time, attncert\n"
        "from attncert.verify.certificates.coq import executable\n"
        f"executable.executable = lambda: {str(script)!r}\n"
        "def end():\n"
        f"    while not os.path.exists({str(told)!r}): time.sleep(0.01)\n"
        f"    os.kill(os.getpid(), {int(signal.SIGTERM)})\n"
        "threading.Thread(target=end).start()\n"
        "raise SystemExit(attncert.main(['check', '-', '--verified']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=b"{}", capture_output=True,
        env=os.environ | {"TMPDIR": str(tmp_path / "temporary")},
    )  # fmt: skip
    assert done.returncode == -signal.SIGTERM and done.stdout == b""
    assert list((tmp_path / "temporary").iterdir()) == []
    left = time.monotonic() + 20  # the script sleeps for a minute; its dead process may linger
    with pytest.raises(ProcessLookupError):
        while time.monotonic() < left:
            os.kill(int(told.read_text()), 0)
            time.sleep(0.05)


def test_a_program_that_cannot_be_run_is_not_blamed_on_the_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    program, file = tmp_path / "kernel", tmp_path / "certificate.json"
    program.write_text("no program\n")
    file.write_text("{}")
    monkeypatch.setattr("attncert.verify.certificates.coq.executable.executable", lambda: program)
    line = shell.refuses("check", file, "--verified")
    assert line == f"attncert: {program}: Permission denied\n"


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_of_a_process_that_leaves_says_nothing() -> None:
    """If libraries wait for their workers at exit, Ctrl-C ends the process."""
    code = (
        "import atexit, os, signal, sys\n"
        "from attncert.cli import process\n"
        "atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "sys.argv = ['attncert', '--version']\n"
        "process()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == -signal.SIGINT and done.stderr == ""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_second_interrupt_while_the_first_is_told_says_nothing() -> None:
    code = (
        "import os, signal, sys, time\n"
        "from attncert import cli\n"
        "def main():\n"
        "    print('interrupted', file=sys.stderr)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(10)  # another thread may receive the signal first\n"
        "cli.main = main\n"
        "cli.process()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == -signal.SIGINT and done.stderr == "interrupted\n"


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)]
)
def test_an_interrupt_that_python_drops_comes_again(number: signal.Signals, status: int) -> None:
    """Python drops an interrupt that is raised in a finalizer."""
    code = (
        "import os, sys, time\n"
        "from attncert import app, cli\n"
        "class Dying:\n"
        "    def __del__(self):\n"
        f"        os.kill(os.getpid(), {int(number)})\n"
        "def run(words, options):\n"
        "    Dying()\n"
        "    time.sleep(20)\n"
        "app.run = run\n"
        "cli.process()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=15)
    said = "interrupted\n" if number == signal.SIGINT else ""
    assert (done.returncode, done.stderr) == (status, said)


@pytest.mark.slow
def test_a_setting_of_numba_ends_nothing(tmp_path: Path) -> None:
    """With this setting, Numba cannot be imported."""
    (tmp_path / "tiny.json").write_text(json.dumps(TINY))
    command = [sys.executable, "-m", "attncert", "kruskal", "tiny.json"]
    settings = os.environ | {"NUMBA_NUM_THREADS": "0"}
    run = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True)
    assert run.returncode == 0 and run.stderr == ""


def test_too_little_memory_is_refused_before_the_work(tmp_path: Path) -> None:
    """With 400,000 KiB of memory, OpenBLAS waits forever and does not react to SIGTERM."""
    (tmp_path / "tiny.json").write_text(json.dumps(TINY))
    words = f"ulimit -v 400000; exec {sys.executable} -m attncert kruskal tiny.json"
    command = ["/bin/sh", "-c", words]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert run.returncode == 2
    assert "ulimit -v: must be 1048576 KiB or more, or unlimited, not 400000" in run.stderr
