"""Running shards: on threads, or on a Dask cluster.

A shard's record depends on the shard alone: where it runs and when its record arrives changes
nothing but the time. Each record is kept as soon as it arrives.

A cluster loses workers. Dask runs the shards of a worker that died elsewhere, and gives a shard up
that ended too many (`allowed-failures`): that ends the run in one line.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, takewhile
from typing import Any

from attncert.constructions.errors import InputError, extra
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.scale.shards import Record, Shard
from attncert.verify.scale.threads import parallel_map

Work = Callable[..., Record]
"""work(shard, *shared), which begins no threads of its own."""

Cluster = Any
"""A `distributed.Client`, from `dask`."""

_ALIVE = "run by workers that stay alive (fewer at a time, or larger ones, if memory is short)"
_PATIENCE = 60.0  # seconds in which a cluster must have a worker


def run(
    shards: Sequence[Shard],
    work: Work,
    shared: Sequence[Any] = (),
    *,
    threads: int | None = None,
    cluster: Cluster | None = None,
    finished: Mapping[Shard, Record] | None = None,
    keep: Callable[[Shard, Record], None] = lambda shard, record: None,
    enough: Callable[[Record], bool] = lambda record: False,
    progress: StageProgress = silent,
) -> dict[Shard, Record]:
    """The records of these shards, in their order; what is finished is not done again.

    shared:  what every shard needs, e.g. the table of vectors.
    threads: all cores unless given. cluster: see `dask`; `threads` does not matter then.
    keep:    called in this thread with each shard and its record, as soon as it is done.
    enough:  of a record: no shard is run after the first of this kind. The records up to it do
        not depend on where they are run.
    """
    records = dict(finished or {})
    due = _up_to(enough, list(dict.fromkeys(shards)), records)
    pending = [shard for shard in due if shard not in records]
    finished_count, stopped = len(due) - len(pending), False
    progress("shards", finished_count, len(due))
    going = takewhile(lambda _: not stopped, pending)
    if cluster is None:
        arriving = parallel_map(lambda shard: _one(work, shard, *shared), going, threads)
    else:
        arriving = _on_cluster(going, work, shared, cluster)
    for shard, record in arriving:
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
        raise InputError("dask", f"used with {extra('dask')}", "without it") from None
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


def _on_cluster(
    shards: Iterator[Shard], work: Work, shared: Sequence[Any], cluster: Cluster
) -> Iterator[tuple[Shard, Record]]:
    """Two shards at most for each thread of the workers, so that little is lost with one.

    What every shard needs is itself a task, not data scattered to a worker, which would be lost
    with it: a task is done again.
    """
    from distributed import as_completed

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a table is large
        tables = [cluster.submit(_same, x, pure=False) for x in shared]
    running = as_completed(loop=cluster.loop, with_results=True)

    def begin() -> None:
        free = 2 * max(1, sum(cluster.nthreads().values())) - running.count()
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
