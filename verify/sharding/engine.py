"""Runs shards on threads or on a Dask cluster.

A shard's record depends only on the shard, and not on where it runs or when its record arrives.
Records are read and stored in the order of the shards.

Clusters lose workers. Dask runs the shards of a lost worker elsewhere, but gives up on a shard that
too many workers failed to finish (`allowed-failures`); the run then ends with a one-line error. A
worker may also run another version, or return false records, so its answer is checked (`fits`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from attncert.constructions.data.loading import json_value
from attncert.constructions.errors import InputError, extra
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.certificates.installed import version
from attncert.verify.sharding.shards import Record, Shard
from attncert.verify.sharding.threads import in_order, parallel_map

Work = Callable[..., Record]
"""work(shard, *shared), which starts no threads."""

Cluster = Any
"""A `distributed.Client`, from `dask`."""

Fits = Callable[[Shard, Any], bool]
"""Whether a record can belong to the shard, according to its form and its counts."""

WORKERS = f"run by workers that stay alive and have attncert {version('attncert')} installed"
_PATIENCE = 60.0  # seconds to wait for the first worker of a cluster


def run(
    shards: Sequence[Shard],
    work: Work,
    shared: Sequence[Any] = (),
    *,
    threads: int | None = None,
    cluster: Cluster | None = None,
    fits: Fits = lambda shard, record: True,
    enough: Callable[[Record], bool] = lambda record: False,
    progress: StageProgress = silent,
) -> dict[Shard, Record]:
    """The records of these shards, in their order, up to the first record that suffices.

    shared:  the arguments that every shard needs, such as the table of vectors.
    threads: by default, all cores. cluster: from `dask`; `threads` is then ignored.
    fits: checks a record from a cluster; InputError is raised if it returns False.
    """
    records = dict[Shard, Record]()
    if cluster is None:
        arriving = parallel_map(lambda shard: one(work, shard, *shared), shards, threads)
    else:
        arriving = _on_cluster(shards, work, shared, cluster, fits)
    with contextlib.closing(arriving):
        for count, shard in enumerate(shards):
            progress("shards", count, len(shards))
            records[shard] = next(arriving)
            if enough(records[shard]):
                break
    return records


def repeated(
    records: Mapping[Shard, Record], work: Work, shared: Sequence[Any]
) -> tuple[Shard, bool]:
    """A shard whose record comes from a cluster, and whether computing it here gives the same
    record. The choice of the shard depends on all records, so that identical runs give the same
    result."""
    digest = hashlib.sha256(json.dumps(list(records.values())).encode())
    again = list(records)[int(digest.hexdigest(), 16) % len(records)]
    return again, one(work, again, *shared) == records[again]


def untrue(actual: str) -> InputError:
    """The error to raise if a cluster's workers return wrong records."""
    return InputError("dask", "a cluster whose records are correct", actual)


@contextlib.contextmanager
def dask(address: str | None) -> Iterator[Cluster | None]:
    """A client that is connected to the Dask scheduler at this address; None without an address.

    Raises InputError if the `dask` extra is missing, nothing answers within ten seconds, or the
    cluster has no worker within a minute.
    """
    import asyncio

    if address is None:
        yield None
        return
    try:
        import distributed
    except ModuleNotFoundError:
        raise InputError("dask", f"used with {extra('dask')}", "without it") from None
    from distributed.comm import connect

    async def reach() -> None:
        tls = distributed.Security().get_connection_args("client")
        connection = await connect(address, timeout=10, **tls)
        await connection.close()

    logging.getLogger("distributed.client").setLevel(logging.CRITICAL + 1)  # we report the error
    try:  # before creating a client: one that never connected hangs when discarded
        with ThreadPoolExecutor(1) as apart:  # a notebook's thread already has an event loop
            apart.submit(asyncio.run, reach()).result()
        client = distributed.Client(address, timeout=10, set_as_default=False)
    except (OSError, TypeError, ValueError) as error:
        failure = f"{address} ({error})"
        raise InputError("dask", "the address of a Dask scheduler", failure) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            failure = f"of one without any for {_PATIENCE:g} s"
            raise InputError("dask", "the address of a cluster that has workers", failure) from None
        yield client


def _on_cluster(
    shards: Sequence[Shard], work: Work, shared: Sequence[Any], cluster: Cluster, fits: Fits
) -> Generator[Record]:
    """Results from a cluster.

    The data that every shard needs are the result of a task and are not scattered to a worker,
    since scattered data are lost with the worker, while a task is repeated.
    """
    with given_up():
        tables = [submitted(cluster, same, x) for x in shared]
        yield from answered(
            shards, lambda shard: submitted(cluster, remote, work, shard, *tables), fits, cluster
        )


@contextlib.contextmanager
def given_up(errors: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Raise a cluster's errors as InputError, except for errors of these types."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, (InputError, GeneratorExit, KeyboardInterrupt, *errors)):
            raise
        failure = f"given up by Dask ({type(error).__name__}: {error})"
        raise InputError("shards", WORKERS, failure) from None


def answered(
    shards: Sequence[Shard], submit: Callable[[Shard], Any], fits: Fits, cluster: Cluster
) -> Generator[Record]:
    """The records of shards, in their order, from workers.

    submit: starts a shard, and returns a future for the answer of `remote`. The shards in
    progress never outnumber the workers' threads by more than one, so that little work is lost with
    a worker.
    """
    ahead = 1 + sum(cluster.nthreads().values())
    for shard, answer in zip(shards, in_order(submit, shards, ahead), strict=True):
        yield _judged(answer, partial(fits, shard))


def submitted(cluster: Cluster, task: Callable[..., Any], *arguments: Any, **how: Any) -> Any:
    """The future of a task on a cluster."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # warnings about large arguments
        return cluster.submit(task, *arguments, pure=False, **how)


def same(table: Any) -> Any:
    """The task whose result is the data that every shard needs."""
    return table


def one(work: Work, shard: Shard, *shared: Any) -> Record:
    """The record of one shard, converted to JSON and back, as a worker's record is."""
    record: Record = json.loads(json.dumps(work(shard, *shared)))
    return record


def remote(work: Work, shard: Shard, *shared: Any) -> str:
    """The answer of a worker, as text, with the version that computed it."""
    return json.dumps({"version": version("attncert"), "record": work(shard, *shared)})


def _judged(answer: Any, fits: Callable[[Any], bool]) -> Record:
    """The record in a worker's answer. Raises InputError."""
    content = json_value(str(answer).encode("utf-8", "replace"), "the answer of a Dask worker")
    if not isinstance(content, dict) or content.keys() != {"version", "record"}:
        raise InputError("shards", WORKERS, "by one whose answers have another form")
    if content["version"] != version("attncert"):
        raise InputError("shards", WORKERS, f"by one of version {content['version']}")
    record: Record = content["record"]
    if not fits(record):
        raise InputError("shards", WORKERS, "by one whose records do not fit their shards")
    return record
