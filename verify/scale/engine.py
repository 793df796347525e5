"""Running shards: here, on processes, or on a Dask cluster, all through joblib.

A shard's result depends on the shard alone, so what runs where, and in which order results arrive,
changes nothing but the time. Each finished shard goes to the log at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from typing import Any

from attncert.constructions.errors import InputError
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.rank.engines.cpu import available_threads
from attncert.verify.scale.log import ShardLog
from attncert.verify.scale.shards import Result, Shard

Work = Callable[..., Result]
"""work(shard, *shared): a function that a process can import (picklable)."""


def run(
    shards: Sequence[Shard],
    work: Work,
    shared: Sequence[Any] = (),
    *,
    jobs: int = 1,
    backend: str | None = None,
    log: ShardLog | None = None,
    deadline: float | None = None,
    progress: StageProgress = silent,
) -> dict[Shard, Result]:
    """The results of these shards, in their order; those in the log are not done again.

    shared:  what every shard needs, e.g. the table of vectors; sent to a process once if large.
    jobs:    processes; 1: in this one. backend: a joblib backend that is configured by the caller
             ("dask": see `dask`); `jobs` does not matter then.
    deadline: of `time.monotonic`; no shard is begun after it, and the result lacks those left out.
    """
    if jobs < 1:
        raise InputError("--jobs", "a positive integer", jobs)
    finished = {} if log is None else dict(log.finished)
    wanted = list(dict.fromkeys(shards))
    pending = [shard for shard in wanted if shard not in finished]
    done = len(wanted) - len(pending)
    progress("shards", done, len(wanted))
    for shard, result in _results(_until(deadline, pending), work, shared, jobs, backend):
        if log is not None:
            log.append(shard, result)
        finished[shard] = result
        done += 1
        progress("shards", done, len(wanted))
    return {shard: finished[shard] for shard in wanted if shard in finished}


@contextlib.contextmanager
def dask(address: str) -> Iterator[str]:
    """The backend's name while connected to the Dask scheduler at this address.

    Raises InputError where the `dask` extra is missing or nothing answers in ten seconds.
    """
    try:
        import distributed
    except ModuleNotFoundError:
        raise InputError("--dask", "used with the extra attncert[dask]", "installed") from None
    from distributed.comm import connect
    from joblib import parallel_config

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
    with client, parallel_config("dask", client=client):
        yield "dask"


def _results(
    shards: Iterable[Shard], work: Work, shared: Sequence[Any], jobs: int, backend: str | None
) -> Iterator[tuple[Shard, Result]]:
    """(shard, result) as they arrive."""
    if backend is None and jobs == 1:
        for shard in shards:
            yield _one(work, shard, *shared)
        return
    from joblib import Parallel, delayed, parallel_config

    calls = (delayed(_one)(work, shard, *shared) for shard in shards)
    # A process at a time holds two shards at most, so that a deadline is kept to within those.
    settings: dict[str, Any] = {"batch_size": 1, "pre_dispatch": "2*n_jobs"}
    settings["return_as"] = "generator_unordered"
    if backend is not None:
        yield from Parallel(**settings)(calls)
        return
    threads = max(1, available_threads() // jobs)
    # Workers of a run that was killed go away by themselves after some idle seconds.
    loky = {"n_jobs": jobs, "inner_max_num_threads": threads, "idle_worker_timeout": 20}
    with parallel_config("loky", **loky), _lost_workers():
        yield from Parallel(**settings)(calls)


@contextlib.contextmanager
def _lost_workers() -> Iterator[None]:
    """What a worker that was killed looks like here, in one line; the log has what was done."""
    try:
        yield
    except BrokenExecutor as error:  # loky's is one of these
        must = "run by workers that stay alive (fewer at a time need less memory)"
        raise InputError("shards", must, "lost with one of them") from error


def _one(work: Work, shard: Shard, *shared: Any) -> tuple[Shard, Result]:
    """The result as JSON gives it back, so that it is the same whether it was logged or not."""
    return shard, json.loads(json.dumps(work(shard, *shared)))


def _until(deadline: float | None, shards: Sequence[Shard]) -> Iterator[Shard]:
    for shard in shards:
        if deadline is not None and time.monotonic() >= deadline:
            return
        yield shard
