"""Engines that run shards: one process, several, and a cluster; what becomes of lost workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.dask_cluster import mortal_workers, two_workers
from support.paths import ROOT
from support.shares import share
from support.slow_shards import IDENTITY, PLAN, anything, digests, ends_its_worker, united

from attncert.constructions.errors import InputError
from attncert.verify.scale import engine
from attncert.verify.scale.engine import dask, run
from attncert.verify.scale.log import ShardLog, read_log
from attncert.verify.scale.shards import Shard

WHOLE = united(run(PLAN.shards(), digests))


def test_processes_agree_with_one_process(tmp_path: Path) -> None:
    with ShardLog(tmp_path / "log", IDENTITY, anything) as log:
        results = run(PLAN.shards(), digests, jobs=2, log=log)
        assert log.finished == results
    assert list(results) == PLAN.shards() and united(results) == WHOLE


JOBS = """
import os, signal
from support.slow_shards import PLAN, digests
from attncert.constructions.endings import endings_interrupt
from attncert.verify.scale.engine import run

def progress(stage, done, of):
    if done == END:
        os.kill(os.getpid(), signal.SIGTERM)

try:
    with endings_interrupt():
        print(len(run(PLAN.shards()[:4], digests, jobs=2, progress=progress)))
except KeyboardInterrupt:
    pass
"""


def _beside(folder: Path, program: str) -> tuple[int, str, str]:
    """The status of the program, run in a folder, and what it printed."""
    ran = subprocess.run(
        [sys.executable, "-P", "-c", program],
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"},
        capture_output=True, text=True, cwd=folder,
    )  # fmt: skip
    return ran.returncode, ran.stdout, ran.stderr


def test_no_file_of_the_current_folder_stands_in_for_a_library_of_workers(tmp_path: Path) -> None:
    for name in ("joblib", "signal"):
        (tmp_path / f"{name}.py").write_text("open('seen', 'w'); raise SystemExit")
    assert _beside(tmp_path, JOBS.replace("END", "-1")) == (0, "4\n", "")
    assert not (tmp_path / "seen").exists()


def test_a_signal_among_workers_ends_without_a_word_of_theirs(tmp_path: Path) -> None:
    assert _beside(tmp_path, JOBS.replace("END", "2")) == (-signal.SIGTERM, "", "")


def test_an_error_of_a_shard_reaches_the_caller() -> None:
    with pytest.raises(InputError, match="shard: must be other"):
        run(PLAN.shards(), refuse, jobs=2)


def refuse(shard: Shard) -> dict[str, Any]:
    raise InputError("shard", "other", shard.start)


def test_a_worker_that_is_killed_is_one_line_and_what_was_done_is_kept(tmp_path: Path) -> None:
    with ShardLog(tmp_path / "log", IDENTITY, anything) as log:
        with pytest.raises(InputError, match="shards: must be run by workers that stay alive"):
            run(PLAN.shards(), die_at_the_end, jobs=2, log=log)
        assert 1 <= len(log.finished) < 14
        assert united(run(PLAN.shards(), digests, log=log)) == WHOLE


def die_at_the_end(shard: Shard) -> dict[str, Any]:
    if shard.stop == PLAN.count:
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)
    return digests(shard)


def test_a_deadline_leaves_shards_out_and_says_so_by_their_absence() -> None:
    assert run(PLAN.shards(), digests, deadline=time.monotonic()) == {}
    later = run(PLAN.shards(), digests, deadline=time.monotonic() + 60)
    assert united(later) == WHOLE


@pytest.mark.parametrize("jobs", [0, -1])
def test_jobs_are_positive(jobs: int) -> None:
    with pytest.raises(InputError, match="--jobs: must be a positive integer"):
        run(PLAN.shards(), digests, jobs=jobs)


def test_a_dask_cluster_of_two_workers_agrees(tmp_path: Path) -> None:
    with (
        two_workers(tmp_path) as address,
        ShardLog(tmp_path / "log", IDENTITY, anything) as log,
        dask(address) as cluster,
    ):
        results = run(PLAN.shards(), digests, cluster=cluster, log=log)
        with pytest.raises(InputError, match="shard: must be other"):
            run(PLAN.shards(), refuse, cluster=cluster)
    assert united(results) == WHOLE
    assert read_log(tmp_path / "log", anything).finished == log.finished == results


class Fake:
    """A cluster in this thread: `die` says what becomes of a shard, `threads` what is left."""

    def __init__(self, threads: int = 1, die: str = "", status: str = "running") -> None:
        self.threads, self.die, self.status, self.cancelled = threads, die, status, 0

    def nthreads(self) -> dict[str, int]:
        return {"worker": self.threads}

    def submit(self, function: Any, *args: Any, pure: bool) -> Any:
        if function is engine._same:
            return args[0]
        done: dict[str, Any] = {
            "add_done_callback": lambda put: None if self.die == "never" else put(future)
        }
        if self.die == "error":
            killed = type("KilledWorker", (Exception,), {})
            done |= {"status": "error", "exception": lambda: killed("task")}
        elif self.die == "cancelled":
            done["status"] = "cancelled"
        else:
            done |= {"status": "finished", "result": lambda timeout: function(*args)}
        future = Future(**done)
        return future

    def cancel(self, futures: list[Any]) -> None:
        self.cancelled += len(futures)


class Future:
    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


def test_shards_on_a_cluster_are_those_of_one_process() -> None:
    assert united(run(PLAN.shards(), digests, cluster=Fake())) == WHOLE
    assert run([], digests, cluster=Fake()) == {}


@pytest.mark.parametrize(
    ("cluster", "line"),
    [
        (Fake(die="error"), "shards: must be run by workers that stay alive .* given up"),
        (Fake(die="cancelled"), "shards: must be run by workers that stay alive .* cancelled"),
        (Fake(threads=0), "--dask: must be the address of a cluster that has workers"),
        (Fake(status="connecting"), "--dask: must be the address of a cluster that has workers"),
    ],
)
def test_a_cluster_that_loses_workers_ends_the_run_in_one_line(
    cluster: Fake, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_ALONE", 0.05)
    monkeypatch.setattr(engine, "_POLL", 0.01)
    with pytest.raises(InputError, match=line):
        run(PLAN.shards(), digests, cluster=cluster)


def test_workers_that_go_while_shards_run_are_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine, "_ALONE", 0.05)
    monkeypatch.setattr(engine, "_POLL", 0.01)
    cluster = Fake(die="never")
    left = iter([1, 1])
    monkeypatch.setattr(cluster, "nthreads", lambda: {"worker": next(left, 0)})
    with pytest.raises(InputError, match="without any"):
        run(PLAN.shards(), digests, cluster=cluster)
    assert cluster.cancelled > 0


@pytest.mark.slow
@pytest.mark.parametrize("restarted", [True, False])
def test_workers_that_die_one_after_another(
    tmp_path: Path, restarted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shard ends every worker that takes it: they are replaced until Dask gives the shard up, or
    are not, until none is left."""
    monkeypatch.setattr(engine, "_ALONE", 50.0 if restarted else 3.0)
    started = two_workers(tmp_path, processes=True) if restarted else mortal_workers(tmp_path)
    line = "given up" if restarted else "without any"
    with (
        started as address,
        dask(address) as cluster,
        pytest.raises(InputError, match=line),
    ):
        run(PLAN.shards(), ends_its_worker, cluster=cluster)


def test_a_dask_address_that_does_not_answer_is_one_line() -> None:
    pytest.importorskip("distributed")
    with (
        pytest.raises(InputError, match="--dask: must be the address of a Dask scheduler"),
        dask("nonsense://"),
    ):
        raise AssertionError("connected")


@pytest.mark.parametrize("address", share(["tls://127.0.0.1:1", "x", "nonsense://"], 3))
def test_a_dask_address_that_is_none_is_one_line_to_the_end_of_the_process(address: str) -> None:
    """A client that was made and never connected would close itself for 20 s, then trace back."""
    pytest.importorskip("distributed")
    command = (
        "from attncert.verify.scale.engine import dask\n"
        f"try:\n    with dask({address!r}): pass\n"
        "except ValueError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True)
    assert done.stdout.startswith("--dask: must be the address of a Dask scheduler, not ")
    assert (done.stdout.count("\n"), done.stderr) == (1, "")
