"""Engines that run shards, lost workers, and logs that are cut, killed and resumed."""

from __future__ import annotations

import gc
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.shares import share
from support.slow_shards import (
    PLAN,
    SUBJECT,
    digests,
    ends_its_worker,
    ends_one_worker,
    logged,
    two_workers,
    united,
)

from attncert.constructions.errors import InputError
from attncert.verify.sharding import engine
from attncert.verify.sharding.engine import dask, run
from attncert.verify.sharding.log import Log
from attncert.verify.sharding.shards import Plan, Shard
from attncert.verify.sharding.threads import parallel_map

WHOLE = united(run(PLAN.shards(), digests))


def test_an_error_of_a_shard_reaches_the_caller() -> None:
    with pytest.raises(InputError, match="shard: must be other"):
        run(PLAN.shards(), refuse)


def test_a_search_that_was_left_may_be_collected_in_a_worker() -> None:
    """After Ctrl-C the traceback holds the search; a worker that collects it must not wait."""
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
    with (
        two_workers(tmp_path) as address,
        Log(tmp_path / "log") as log,
        dask(address) as cluster,
    ):
        records = logged(log, cluster=cluster)
        with pytest.raises(InputError, match="shard: must be other"):
            run(PLAN.shards(), refuse, cluster=cluster)
        assert log.finished(SUBJECT, PLAN) == records and united(records) == WHOLE


@pytest.mark.slow
def test_a_worker_that_dies_costs_its_shard_and_nothing_else(tmp_path: Path) -> None:
    """It also costs results that were not fetched yet. Every shard is kept once, undamaged."""
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


TRUE = run(PLAN.shards(), digests)


# Killed and resumed.


def test_a_run_resumes_from_its_log_and_does_nothing_twice(tmp_path: Path) -> None:
    done: list[Shard] = []

    def counting(shard: Shard) -> dict[str, Any]:
        done.append(shard)
        if len(done) == 6:
            raise RuntimeError("power cut")
        return digests(shard)

    with Log(tmp_path / "log") as log, pytest.raises(RuntimeError):
        logged(log, counting, threads=1)
    with Log(tmp_path / "log") as log:
        assert log.count == 5
        assert logged(log, counting, threads=1) == TRUE
    assert Counter(done) == Counter(PLAN.shards()) + Counter([done[5]])


# Shared by runs.


def test_each_run_finds_its_own_shards_and_no_others(tmp_path: Path) -> None:
    plans = [PLAN, Plan("digests", 4, 40, 3), Plan("others", 3, 40, 3), Plan("digests", 3, 40, 8)]
    with Log(tmp_path / "log") as log:
        for number, (subject, plan) in enumerate((s, p) for s in "ab" for p in plans):
            assert not log.finished(subject, plan)
            for shard in plan.shards():
                log.add(subject, shard, {"run": number})
            assert set(log.finished(subject, plan)) == set(plan.shards())
        first = log.finished("a", PLAN)
        assert all(record == {"run": 0} for record in first.values())
        assert list(log.finished("a", Plan("digests", 3, 7, 3))) == PLAN.shards()[:2]
    assert list(first) == PLAN.shards()


# Damaged logs, and files that are not logs.


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with Log(tmp_path / "log") as log:
        logged(log)
    return tmp_path / "log"


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(place=st.integers(0), byte=st.integers(1, 255), cut=st.booleans())
def test_whatever_happens_to_a_file_it_is_read_or_refused_in_one_line(
    file: Path, place: int, byte: int, cut: bool
) -> None:
    path, raw = file.with_name("damaged"), bytearray(file.read_bytes())
    place %= len(raw)
    if cut:
        del raw[place:]
    else:
        raw[place] ^= byte
    path.write_bytes(raw)
    try:
        with Log(path) as log:
            finished = log.finished(SUBJECT, PLAN)
    except InputError as error:
        assert str(error).isprintable()
    else:
        assert set(finished) <= set(TRUE)


FOREIGN = [b"a thesis\n", b"{}\n", b"\0", b"\0" * 5000, b"SQLite format 3\0", b"[" * 10**6]


@pytest.mark.parametrize("content", FOREIGN, ids=[repr(content[:16]) for content in FOREIGN])
def test_a_file_that_is_no_log_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "thesis"
    path.write_bytes(content)
    with pytest.raises(InputError, match="log: must be new, or a log of attncert"):
        Log(path)
    assert path.read_bytes() == content and list(tmp_path.iterdir()) == [path]


def test_another_program_s_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "accounts"
    for change in ("CREATE TABLE accounts (name)", "PRAGMA application_id = 7"):
        path.unlink(missing_ok=True)
        with sqlite3.connect(path) as other:
            other.execute(change)
            other.execute("PRAGMA user_version = 1")
        other.close()
        before = path.read_bytes()
        with pytest.raises(InputError, match="another program's file"):
            Log(path)
        assert path.read_bytes() == before


RECORDS = ["[", "[" * 10**5, "7", "null", '{"a": NaN}', b"\xff", 7, None, '{"items": 1}']


@pytest.mark.parametrize("record", RECORDS, ids=[repr(record)[:9] for record in RECORDS])
def test_a_record_that_is_none_is_refused_in_one_line(file: Path, record: object) -> None:
    with sqlite3.connect(file) as forger:
        forger.execute("UPDATE finished SET record = ? WHERE start = 9", [record])
    forger.close()

    def fits(_: Shard, value: Any) -> bool:
        return type(value) is dict and type(value.get("items")) is list

    with Log(file) as log, pytest.raises(InputError) as error:
        log.finished(SUBJECT, PLAN, fits)
    assert str(error.value).isprintable()


def test_a_log_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    for path in ("", tmp_path, tmp_path / "no" / "folder", Path("/dev/zero"), "nul\0l"):
        with pytest.raises(InputError, match="log: must be "):
            Log(path)
