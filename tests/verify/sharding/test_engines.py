"""Engines that run shards, and lost workers."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.shares import share
from support.slow_shards import (
    PLAN,
    digests,
    ends_its_worker,
    ends_one_worker,
    two_workers,
    united,
)

from attncert.constructions.errors import InputError
from attncert.verify.sharding import engine
from attncert.verify.sharding.engine import dask, run
from attncert.verify.sharding.shards import Shard
from attncert.verify.sharding.threads import parallel_map

WHOLE = united(run(PLAN.shards(), digests))


def test_an_error_of_a_shard_reaches_the_caller() -> None:
    with pytest.raises(InputError, match="shard: must be other"):
        run(PLAN.shards(), refuse)


def test_a_search_that_was_left_may_be_collected_in_a_worker() -> None:
    """After Ctrl-C, the traceback keeps the search alive; a worker that garbage-collects it must
    not wait."""
    left, collected = threading.Event(), threading.Event()

    def job(number: int) -> int:
        if number:
            left.wait()
            gc.collect()
            collected.set()
        return number

    cycle: list[Any] = [parallel_map(job, range(2), threads=2)]
    assert next(cycle[0]) == 0
    cycle.append(cycle)
    del cycle
    left.set()
    assert collected.wait(60)


def refuse(shard: Shard) -> dict[str, Any]:
    raise InputError("shard", "other", shard.start)


# A cluster.


def test_a_dask_cluster_of_two_workers_agrees(tmp_path: Path) -> None:
    with two_workers(tmp_path) as address, dask(address) as cluster:
        records = run(PLAN.shards(), digests, cluster=cluster)
        with pytest.raises(InputError, match="shard: must be other"):
            run(PLAN.shards(), refuse, cluster=cluster)
        assert united(records) == WHOLE


@pytest.mark.slow
def test_a_worker_that_dies_costs_its_shard_and_nothing_else(tmp_path: Path) -> None:
    """Only the worker's shard and results that had not yet been fetched are lost."""
    with two_workers(tmp_path, processes=True) as address, dask(address) as cluster:
        (begun := tmp_path / "begun").mkdir()
        work = partial(ends_one_worker, begun=str(begun))
        assert united(run(PLAN.shards(), work, cluster=cluster)) == WHOLE
        assert (begun / "15 1").exists()
        assert len(list(begun.iterdir())) <= len(PLAN.shards()) + 3


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
    """A client that never connected would take 20 s to close, and then print a traceback."""
    pytest.importorskip("distributed")
    command = (
        "from attncert.verify.sharding.engine import dask\n"
        f"try:\n    with dask({address!r}): pass\n"
        "except ValueError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True)
    assert done.stdout.startswith("dask: must be the address of a Dask scheduler, not ")
    assert (done.stdout.count("\n"), done.stderr) == (1, "")
