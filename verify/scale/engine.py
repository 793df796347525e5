"""Running shards: here, on processes through joblib, or on a Dask cluster.

A shard's result depends on the shard alone, so what runs where, and in which order results arrive,
changes nothing but the time. Each finished shard goes to the log at once.

A cluster loses workers. Dask runs the shards of a worker that died elsewhere, and gives a shard up
that ended too many (`allowed-failures`); joblib's own backend for Dask does not hear of that, and
waits for ever; so does whoever asks for a finished result that died with its worker, where no
other is left. So shards are submitted here, and nothing is waited for without a limit: a shard that
was given up or cancelled, or a cluster that is without workers for too long, ends the run in one
line. What every shard needs is itself a task, not data scattered to a worker, which would be
lost with it: a task is done again.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import queue
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from itertools import islice
from typing import Any

from attncert.constructions.errors import InputError
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.rank.engines.cpu import available_threads
from attncert.verify.scale.log import ShardLog
from attncert.verify.scale.shards import Result, Shard

Work = Callable[..., Result]
"""work(shard, *shared): a function that a process can import (picklable)."""

Cluster = Any
"""A `distributed.Client`, from `dask`."""

_ALONE = 60.0  # seconds without workers, or without the scheduler, after which a run ends
_POLL, _FETCH = 0.5, 5.0  # seconds between looks at the cluster; for a result to come


def run(
    shards: Sequence[Shard],
    work: Work,
    shared: Sequence[Any] = (),
    *,
    jobs: int = 1,
    cluster: Cluster | None = None,
    log: ShardLog | None = None,
    deadline: float | None = None,
    enough: Callable[[Result], bool] = lambda result: False,
    progress: StageProgress = silent,
) -> dict[Shard, Result]:
    """The results of these shards, in their order; those in the log are not done again.

    shared:  what every shard needs, e.g. the table of vectors; sent to a process once if large.
    jobs:    processes; 1: in this one. cluster: see `dask`; `jobs` does not matter then.
    deadline: of `time.monotonic`; no shard is begun after it, and the result lacks those left out.
    enough:  of a result: no shard after the first of this kind is wanted. The results up to it do
        not depend on the number of processes.
    """
    if jobs < 1:
        raise InputError("--jobs", "a positive integer", jobs)
    finished = {} if log is None else dict(log.finished)
    wanted = _up_to(enough, list(dict.fromkeys(shards)), finished)
    pending = [shard for shard in wanted if shard not in finished]
    done, stopped = len(wanted) - len(pending), False
    progress("shards", done, len(wanted))
    going = _until(deadline, pending, lambda: stopped)
    for shard, result in _results(going, work, shared, jobs, cluster):
        if log is not None:
            log.append(shard, result)
        finished[shard] = result
        stopped |= enough(result)  # those before it are begun, and end
        done += 1
        progress("shards", done, len(wanted))
    wanted = _up_to(enough, wanted, finished)
    return {shard: finished[shard] for shard in wanted if shard in finished}


@contextlib.contextmanager
def dask(address: str) -> Iterator[Cluster]:
    """A client that is connected to the Dask scheduler at this address.

    Raises InputError where the `dask` extra is missing or nothing answers in ten seconds.
    """
    try:
        import distributed
    except ModuleNotFoundError:
        raise InputError("--dask", "used with the extra attncert[dask]", "installed") from None
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
        got = f"{address} ({error})"
        raise InputError("--dask", "the address of a Dask scheduler", got) from None
    with client:
        yield client


def _results(
    shards: Iterator[Shard], work: Work, shared: Sequence[Any], jobs: int, cluster: Cluster | None
) -> Iterator[tuple[Shard, Result]]:
    """(shard, result) as they arrive."""
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
) -> Iterator[tuple[Shard, Result]]:
    """Two shards at most for each thread of the workers, so that a deadline is kept."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a table is large
        tables = [cluster.submit(_same, x, pure=False) for x in shared]
    finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
    running: set[Any] = set()
    alone_since: float | None = None
    try:
        while True:
            threads = _threads(cluster)
            for shard in islice(shards, max(0, 2 * threads - len(running))):
                future = cluster.submit(_one, work, shard, *tables, pure=False)
                running.add(future)
                future.add_done_callback(finished.put)
            if threads:
                alone_since = None
            elif alone_since is None:
                alone_since = time.monotonic()
            elif time.monotonic() - alone_since > _ALONE:
                must = "the address of a cluster that has workers"
                raise InputError("--dask", must, f"of one without any for {_ALONE:g} s")
            if threads and not running:
                return
            with contextlib.suppress(queue.Empty):
                future = finished.get(timeout=_POLL)
                try:
                    outcome = _outcome(future)
                except TimeoutError:  # the worker that holds it died: it is done again
                    finished.put(future)
                    continue
                running.discard(future)
                yield outcome
    finally:
        with contextlib.suppress(Exception):  # of a cluster that is gone
            cluster.cancel([*running, *tables])


def _threads(cluster: Cluster) -> int:
    """Of all workers; 0 also while there is no connection to the scheduler."""
    if cluster.status != "running":
        return 0
    try:
        return sum(cluster.nthreads().values())
    except (OSError, TimeoutError):
        return 0


def _outcome(future: Any) -> tuple[Shard, Result]:
    """The result, or what the shard raised; one line where Dask gave it up. TimeoutError where the
    result does not come."""
    must = "run by workers that stay alive (larger ones, if memory is short)"
    if future.status == "cancelled":
        raise InputError("shards", must, "cancelled by the Dask cluster")
    if future.status == "error":
        error = future.exception()
        if type(error).__name__ == "KilledWorker":
            raise InputError("shards", must, "given up: several workers ended over one") from None
        raise error
    found: tuple[Shard, Result] = future.result(timeout=_FETCH)
    return found


def _same(value: Any) -> Any:
    return value


@contextlib.contextmanager
def _lost_workers() -> Iterator[None]:
    """What a worker that was killed looks like here, in one line; the log has what was done."""
    try:
        yield
    except BrokenExecutor as error:  # loky's is one of these
        must = "run by workers that stay alive (fewer at a time need less memory)"
        raise InputError("shards", must, "lost with one of them") from error


_HELPERS = {"PYTHONSAFEPATH": "1", "PYTHONWARNINGS": "ignore:resource_tracker"}


@contextlib.contextmanager
def _helpers_apart() -> Iterator[None]:
    """Processes that are started in the block do not look for modules in the current folder first:
    no file there may stand in for a library. What this process can import, loky tells them. One of
    them removes what a signal left behind, and has nothing to say of it; nor has joblib of tasks
    that nobody waits for any more."""
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


def _one(work: Work, shard: Shard, *shared: Any) -> tuple[Shard, Result]:
    """The result as JSON gives it back, so that it is the same whether it was logged or not."""
    return shard, json.loads(json.dumps(work(shard, *shared)))


def _up_to(
    enough: Callable[[Result], bool], shards: list[Shard], finished: Mapping[Shard, Result]
) -> list[Shard]:
    """The shards, cut after the first whose result is enough."""
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
