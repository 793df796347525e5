"""Shards whose work is a digest, in which lost, repeated or misplaced items show up; and a
Dask cluster."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from attncert.verify.sharding.shards import Plan, Record, Shard

PLAN = Plan("digests", seed=3, count=40, size=3)


def digests(shard: Shard, pause: float = 0.0) -> dict[str, Any]:
    """One digest for each item, so that items done twice, left out or misplaced show up."""
    time.sleep(pause)
    items = range(shard.start, shard.stop)
    return {
        "items": [hashlib.sha256(f"{shard.kind} {shard.seed} {i}".encode()).hexdigest()[:8]
                  for i in items]
    }  # fmt: skip


def ends_its_worker(shard: Shard) -> dict[str, Any]:
    """One shard ends every process that takes it, as a lack of memory would."""
    if shard.start == 0:
        os._exit(1)
    return digests(shard)


def ends_one_worker(shard: Shard, begun: str) -> dict[str, Any]:
    """A shard in the middle ends the first process that takes it. begun: a folder in which each
    shard leaves a file whenever it is begun."""
    again = len(list(Path(begun).glob(f"{shard.start} *")))
    (Path(begun) / f"{shard.start} {again}").touch()
    if shard.start == 15 and not again:
        os._exit(1)
    return digests(shard, 0.2)


def united(records: Mapping[Shard, Record]) -> bytes:
    """The expected result of a run: every item, in order."""
    return json.dumps([item for record in records.values() for item in record["items"]]).encode()


@contextmanager
def two_workers(folder: Path, processes: bool = False, workers: int = 2) -> Iterator[str]:
    """The address of a scheduler with workers of one thread; skips if Dask is missing."""
    distributed = pytest.importorskip("distributed")
    import dask

    size = {"n_workers": workers, "threads_per_worker": 1, "processes": processes}
    with (
        dask.config.set({"temporary-directory": str(folder)}),  # not the system's folder
        distributed.LocalCluster(**size, dashboard_address=":0") as cluster,
    ):
        yield cluster.scheduler_address
