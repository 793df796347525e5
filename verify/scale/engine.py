"""Running shards: here, on processes through joblib, or on a Dask cluster.

A shard's record depends on the shard alone: where it runs and when its record arrives changes
nothing but the time. Each record is kept as soon as it arrives.

A cluster loses workers. Dask runs the shards of a worker that died elsewhere, and gives a shard up
that ended too many (`allowed-failures`). joblib's own backend for Dask does not notice that and
waits for ever, so shards are submitted here. A shard that Dask gives up ends the run in one line.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from itertools import islice
from typing import Any

from attncert.constructions.errors import InputError
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.rank.engines.cpu import available_threads
from attncert.verify.scale.shards import Record, Shard

Work = Callable[..., Record]
"""work(shard, *shared): a function that a process can import (picklable)."""

Cluster = Any
"""A `distributed.Client`, from `dask`."""

_ALIVE = "run by workers that stay alive (fewer at a time, or larger ones, if memory is short)"
_PATIENCE = 60.0  # seconds in which a cluster must have a worker


def run(
    shards: Sequence[Shard],
    work: Work,
    shared: Sequence[Any] = (),
    *,
    jobs: int = 1,
    cluster: Cluster | None = None,
    finished: Mapping[Shard, Record] | None = None,
    keep: Callable[[Shard, Record], None] = lambda shard, record: None,
    deadline: float | None = None,
    enough: Callable[[Record], bool] = lambda record: False,
    progress: StageProgress = silent,
) -> dict[Shard, Record]:
    """The records of these shards, in their order; what is finished is not done again.

    shared:  what every shard needs, e.g. the table of vectors; sent to a process once if large.
    jobs:    processes; 1: in this one. cluster: see `dask`; `jobs` does not matter then.
    keep:    called in this process with each shard and its record, as soon as it is done.
    deadline: of `time.monotonic`; no shard is begun after it, and those left out have no record.
    enough:  of a record: no shard is run after the first of this kind. The records up to it do
        not depend on the number of processes.
    """
    records = dict(finished or {})
    due = _up_to(enough, list(dict.fromkeys(shards)), records)
    pending = [shard for shard in due if shard not in records]
    finished_count, stopped = len(due) - len(pending), False
    progress("shards", finished_count, len(due))
    going = _until(deadline, pending, lambda: stopped)
    for shard, record in _records(going, work, shared, jobs, cluster):
        keep(shard, record)
        records[shard] = record
        stopped |= enough(record)  # those before it are begun, and end
        finished_count += 1
        progress("shards", finished_count, len(due))
    due = _up_to(enough, due, records)
    return {shard: records[shard] for shard in due if shard in records}


@contextlib.contextmanager
def dask(address: str) -> Iterator[Cluster]:
    """A client that is connected to the Dask scheduler at this address.

    Raises InputError where the `dask` extra is missing, nothing answers in ten seconds, or the
    cluster has no worker in a minute.
    """
    try:
        import distributed
    except ModuleNotFoundError:
        must = "left out unless the extra attncert[dask] is installed"
        raise InputError("dask", must, address) from None
    from distributed.comm import connect

    async def reach() -> None:
        tls = distributed.Security().get_connection_args("client")
        connection = await connect(address, timeout=10, **tls)
        await connection.close()

    try:  # before there is a client: one that never connected hangs when it is thrown away
        with ThreadPoolExecutor(1) as apart:  # a notebook's thread has an event loop already
            apart.submit(asyncio.run, reach()).result()
        client = distributed.Client(address, timeout=10, set_as_default=False)
    except (OSError, TypeError, ValueError) as error:
        failure = f"{address} ({error})"
        raise InputError("dask", "the address of a Dask scheduler", failure) from None
    with _quiet("distributed.client"), client:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            failure = f"of one without any for {_PATIENCE:g} s"
            raise InputError("dask", "the address of a cluster that has workers", failure) from None
        with _given_up():
            yield client


def _records(
    shards: Iterator[Shard], work: Work, shared: Sequence[Any], jobs: int, cluster: Cluster | None
) -> Iterator[tuple[Shard, Record]]:
    """(shard, record) as they arrive."""
    if cluster is not None:
        yield from _on_cluster(shards, work, shared, cluster)
        return
    if jobs == 1:
        for shard in shards:
            yield _one(work, shard, *shared)
        return
    from joblib import Parallel, delayed, parallel_config

    calls = (delayed(_one)(work, shard, *shared) for shard in shards)
    # A process at a time holds two shards at most, so that a deadline is kept to within those.
    settings: dict[str, Any] = {"batch_size": 1, "pre_dispatch": "2*n_jobs"}
    settings["return_as"] = "generator_unordered"
    threads = max(1, available_threads() // jobs)
    # Workers of a run that was killed go away by themselves after some idle seconds.
    loky = {"n_jobs": jobs, "inner_max_num_threads": threads, "idle_worker_timeout": 20}
    with parallel_config("loky", **loky), _lost_workers(), _helpers_apart():
        yield from Parallel(**settings)(calls)


def _on_cluster(
    shards: Iterator[Shard], work: Work, shared: Sequence[Any], cluster: Cluster
) -> Iterator[tuple[Shard, Record]]:
    """Two shards at most for each thread of the workers, so that a deadline is kept.

    What every shard needs is itself a task, not data scattered to a worker, which would be lost
    with it: a task is done again.
    """
    from distributed import as_completed

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a table is large
        tables = [cluster.submit(_same, x, pure=False) for x in shared]
    running = as_completed(loop=cluster.loop, with_results=True)

    def begin() -> None:
        free = 2 * threads_of(cluster) - running.count()
        for shard in islice(shards, max(0, free)):
            running.add(cluster.submit(_one, work, shard, *tables, pure=False))

    try:
        begin()
        for future, outcome in running:
            if future.cancelled():
                raise InputError("shards", _ALIVE, "cancelled by the Dask cluster")
            yield outcome
            begin()
    finally:
        with contextlib.suppress(Exception):  # of a cluster that is gone
            cluster.cancel([*running.futures, *tables])


def threads_of(cluster: Cluster | None) -> int:
    """Of all workers of a cluster that has some; without one, of this machine."""
    return available_threads() if cluster is None else max(1, sum(cluster.nthreads().values()))


def _same(table: Any) -> Any:
    return table


@contextlib.contextmanager
def _given_up() -> Iterator[None]:
    """Report in one line that a shard ended too many workers, or that the scheduler is lost. Errors
    of a shard itself are passed on."""
    try:
        yield
    except Exception as error:
        if not (isinstance(error, OSError) or type(error).__module__.startswith("distributed.")):
            raise
        failure = f"given up by Dask ({type(error).__name__}: {error})"
        raise InputError("shards", _ALIVE, failure) from None


@contextlib.contextmanager
def _quiet(library: str) -> Iterator[None]:
    """Without its log: a lost scheduler is a traceback there, and one line of error here."""
    logger = logging.getLogger(library)
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextlib.contextmanager
def _lost_workers() -> Iterator[None]:
    """Report a killed worker in one line."""
    try:
        yield
    except BrokenExecutor as error:  # loky's is one of these
        raise InputError("shards", _ALIVE, "lost with one of them") from error


_HELPERS = {"PYTHONSAFEPATH": "1", "PYTHONWARNINGS": "ignore:resource_tracker"}


@contextlib.contextmanager
def _helpers_apart() -> Iterator[None]:
    """Processes started in the block do not look for modules in the current folder first: no file
    there may stand in for a library. loky passes on what this process can import. Warnings about
    resources that a signal left behind, and about tasks nobody waits for, are silenced."""
    before = {name: os.environ.get(name) for name in _HELPERS}
    os.environ |= _HELPERS
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "[0-9]+ tasks", UserWarning)
            yield
    finally:
        for name, value in before.items():
            del os.environ[name]
            if value is not None:
                os.environ[name] = value


def _one(work: Work, shard: Shard, *shared: Any) -> tuple[Shard, Record]:
    """The record as JSON gives it back, so that it is the same whether it was logged or not."""
    return shard, json.loads(json.dumps(work(shard, *shared)))


def _up_to(
    enough: Callable[[Record], bool], shards: list[Shard], finished: Mapping[Shard, Record]
) -> list[Shard]:
    """The shards, cut after the first whose record is enough."""
    for place, shard in enumerate(shards):
        if shard in finished and enough(finished[shard]):
            return shards[: place + 1]
    return shards


def _until(
    deadline: float | None, shards: Sequence[Shard], stopped: Callable[[], bool]
) -> Iterator[Shard]:
    for shard in shards:
        if stopped() or (deadline is not None and time.monotonic() >= deadline):
            return
        yield shard
