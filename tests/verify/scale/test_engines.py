"""Engines that run shards: one process, several, and a cluster; what becomes of lost workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.dask_cluster import two_workers
from support.paths import ROOT
from support.shares import share
from support.slow_shards import (
    PLAN,
    SUBJECT,
    digests,
    ends_its_worker,
    ends_one_worker,
    logged,
    united,
)

from attncert.constructions.errors import InputError
from attncert.verify.scale import engine
from attncert.verify.scale.engine import dask, run
from attncert.verify.scale.log import Log
from attncert.verify.scale.shards import Shard

WHOLE = united(run(PLAN.shards(), digests))


def test_processes_agree_with_one_process(tmp_path: Path) -> None:
    with Log(tmp_path / "log") as log:
        records = logged(log, jobs=2)
        assert log.finished(SUBJECT, PLAN) == records
    assert list(records) == PLAN.shards() and united(records) == WHOLE


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
    with Log(tmp_path / "log") as log:
        with pytest.raises(InputError, match="shards: must be run by workers that stay alive"):
            logged(log, die_at_the_end, jobs=2)
        assert 1 <= log.count < 14
        assert united(logged(log)) == WHOLE


def die_at_the_end(shard: Shard) -> dict[str, Any]:
    if shard.stop == PLAN.count:
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)
    return digests(shard)


def test_a_deadline_leaves_shards_out_and_says_so_by_their_absence() -> None:
    assert run(PLAN.shards(), digests, deadline=time.monotonic()) == {}
    later = run(PLAN.shards(), digests, deadline=time.monotonic() + 60)
    assert united(later) == WHOLE


# A cluster.


def test_a_dask_cluster_of_two_workers_agrees(tmp_path: Path) -> None:
    with (
        two_workers(tmp_path) as address,
        Log(tmp_path / "log") as log,
        dask(address) as cluster,
    ):
        records = logged(log, cluster=cluster)
        assert engine.threads_of(cluster) == 2
        with pytest.raises(InputError, match="shard: must be other"):
            run(PLAN.shards(), refuse, cluster=cluster)
        assert run(PLAN.shards(), digests, cluster=cluster, deadline=time.monotonic()) == {}
        assert log.finished(SUBJECT, PLAN) == records and united(records) == WHOLE


@pytest.mark.slow
def test_a_worker_that_dies_costs_its_shard_and_nothing_else(tmp_path: Path) -> None:
    """And what it held that was not fetched yet. Every shard is kept once, and as it should be."""
    with (
        two_workers(tmp_path, processes=True) as address,
        Log(tmp_path / "log") as log,
        dask(address) as cluster,
    ):
        (begun := tmp_path / "begun").mkdir()
        assert (
            united(logged(log, partial(ends_one_worker, begun=str(begun)), cluster=cluster))
            == WHOLE
        )
        assert (begun / "15 1").exists() and log.count == len(PLAN.shards())
        assert len(list(begun.iterdir())) <= log.count + 3


@pytest.mark.slow
def test_a_shard_that_ends_every_worker_ends_the_run_in_one_line(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match=r"stay alive .* given up by Dask \(KilledWorker"),
        two_workers(tmp_path, processes=True) as address,
        dask(address) as cluster,
    ):
        run(PLAN.shards(), ends_its_worker, cluster=cluster)


def test_a_cluster_without_workers_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_PATIENCE", 0.1)
    with (
        two_workers(tmp_path, workers=0) as address,
        pytest.raises(InputError, match="dask: must be the address of a cluster that has"),
        dask(address),
    ):
        raise AssertionError("has workers")


@pytest.mark.slow
def test_a_scheduler_that_goes_is_one_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(InputError, match="shards: must be run by workers that stay alive"):
        with two_workers(tmp_path) as address:
            connection = dask(address)
            cluster = connection.__enter__()
        try:
            run(PLAN.shards(), digests, cluster=cluster)
        except Exception as error:
            connection.__exit__(type(error), error, error.__traceback__)
            raise
    assert not [x for x in caplog.records if x.name == "distributed.client"]


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
    assert done.stdout.startswith("dask: must be the address of a Dask scheduler, not ")
    assert (done.stdout.count("\n"), done.stderr) == (1, "")
