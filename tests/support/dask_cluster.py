"""A small Dask cluster for tests, whose folders go where the test's go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def two_workers(folder: Path, processes: bool = False, workers: int = 2) -> Iterator[str]:
    """The address of a scheduler with workers of one thread; skips where there is no Dask."""
    distributed = pytest.importorskip("distributed")
    import dask

    size = {"n_workers": workers, "threads_per_worker": 1, "processes": processes}
    with (
        dask.config.set({"temporary-directory": str(folder)}),  # else the system's keeps one
        distributed.LocalCluster(**size, dashboard_address=":0") as cluster,
    ):
        yield cluster.scheduler_address
