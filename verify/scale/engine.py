"""Running shards: on threads, or on a Dask cluster.

A shard's record depends on the shard alone: where it runs and when its record arrives changes
nothing but the time. Each record is kept as soon as it arrives.

A cluster loses workers. Dask runs the shards of a worker that died elsewhere, and gives a shard up
that ended too many (`allowed-failures`): that ends the run in one line. A worker may also be of
another version, or lie: what it returns is a text, judged as a record of a log is (`fits`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice, takewhile
from typing import Any

from attncert.constructions.data.loading import json_value
from attncert.constructions.errors import InputError, extra
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.installed import version
from attncert.verify.scale.shards import Record, Shard
from attncert.verify.scale.threads import parallel_map

Work = Callable[..., Record]
"""work(shard, *shared), which begins no threads of its own."""

Cluster = Any
"""A `distributed.Client`, from `dask`."""

Fits = Callable[[Shard, Any], bool]
"""Whether this is a record of the shard, as far as its form and its counts tell."""

_ALIVE = "run by workers that stay alive (fewer at a time, or larger ones, if memory is short)"
_OURS = f"run by workers that have attncert {version('attncert')}, as this machine has"
_PATIENCE = 60.0  # seconds in which a cluster must have a worker


def run(
    shards: Sequence[Shard],
    work: Work,
    shared: Sequence[Any] = (),
    *,
    threads: int | None = None,
    cluster: Cluster | None = None,
    finished: Mapping[Shard, Record] | None = None,
    fits: Fits = lambda shard, record: True,
    keep: Callable[[Shard, Record], None] = lambda shard, record: None,
    enough: Callable[[Record], bool] = lambda record: False,
    progress: StageProgress = silent,
) -> dict[Shard, Record]:
    """The records of these shards, in their order; what is finished is not done again.

    shared:  what every shard needs, e.g. the table of vectors.
    threads: all cores unless given. cluster: see `dask`; `threads` does not matter then.
    fits:    of what a cluster returns: InputError where it does not fit.
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
        arriving = parallel_map(lambda shard: (shard, one(work, shard, *shared)), going, threads)
    else:
        arriving = _on_cluster(going, work, shared, cluster, fits)
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
    shards: Iterator[Shard], work: Work, shared: Sequence[Any], cluster: Cluster, fits: Fits
) -> Iterator[tuple[Shard, Record]]:
    """Two shards at most for each thread of the workers, so that little is lost with one.

    What every shard needs is itself a task, not data scattered to a worker, which would be lost
    with it: a task is done again.
    """
    from distributed import as_completed

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a table is large
        tables = [cluster.submit(_same, x, pure=False) for x in shared]
    running = as_completed(loop=cluster.loop, with_results=True, raise_errors=False)
    shard_of = dict[Any, Shard]()  # by future: a worker's word on it is not asked for

    def begin() -> None:
        free = 2 * max(1, sum(cluster.nthreads().values())) - running.count()
        for shard in islice(shards, max(0, free)):
            future = cluster.submit(_remote, work, shard, *tables, pure=False)
            shard_of[future] = shard
            running.add(future)

    try:
        begin()
        for future, answer in running:
            if future.cancelled():
                raise InputError("shards", _ALIVE, "cancelled by the Dask cluster")
            if future.status == "error":
                raise _failure(future.exception())
            shard = shard_of.pop(future)
            yield shard, _judged(answer, partial(fits, shard))
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
        raise _failure(error) from None


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


def one(work: Work, shard: Shard, *shared: Any) -> Record:
    """The record as JSON gives it back, so that it is the same whether it was logged or not."""
    record: Record = json.loads(json.dumps(work(shard, *shared)))
    return record


def _remote(work: Work, shard: Shard, *shared: Any) -> str:
    """What a worker returns: a text, with the version that computed it."""
    return json.dumps({"version": version("attncert"), "record": work(shard, *shared)})


def _judged(answer: Any, fits: Callable[[Any], bool]) -> Record:
    """The record in what a worker returned. Raises InputError."""
    if not isinstance(answer, str):
        raise InputError("shards", _OURS, f"by one that returns a {type(answer).__name__}")
    content = json_value(answer.encode("utf-8", "replace"), "the answer of a Dask worker")
    if not isinstance(content, dict) or content.keys() != {"version", "record"}:
        raise InputError("shards", _OURS, "by one whose answers have another form")
    if content["version"] != version("attncert"):
        raise InputError("shards", _OURS, f"by one of version {content['version']}")
    record: Record = content["record"]
    if not fits(record):
        raise InputError("shards", _OURS, "by one whose records do not fit their shards")
    return record


def _failure(error: BaseException) -> InputError:
    """In one line: a shard is refused, its workers died, or one failed in its own way."""
    if isinstance(error, InputError):
        return error
    lost = isinstance(error, OSError) or type(error).__module__.startswith("distributed.")
    failure = f"given up by Dask ({type(error).__name__}: {error})"
    return InputError("shards", _ALIVE if lost else _OURS, failure)


def _up_to(
    enough: Callable[[Record], bool], shards: list[Shard], finished: Mapping[Shard, Record]
) -> list[Shard]:
    """The shards, cut after the first whose record is enough."""
    for place, shard in enumerate(shards):
        if shard in finished and enough(finished[shard]):
            return shards[: place + 1]
    return shards
