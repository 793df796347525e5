"""A small Dask cluster for tests, whose folders go where the test's go."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.paths import ROOT, TESTS


@contextmanager
def two_workers(folder: Path, processes: bool = False) -> Iterator[str]:
    """The address of a scheduler with two workers of one thread; skips where there is no Dask."""
    distributed = pytest.importorskip("distributed")
    import dask

    size = {"n_workers": 2, "threads_per_worker": 1, "processes": processes}
    with (
        dask.config.set({"temporary-directory": str(folder)}),  # else the system's keeps one
        distributed.LocalCluster(**size, dashboard_address=":0") as cluster,
    ):
        yield cluster.scheduler_address


@contextmanager
def mortal_workers(folder: Path) -> Iterator[str]:
    """The same, but nothing starts a worker again that has died."""
    distributed = pytest.importorskip("distributed")
    path = os.pathsep.join([str(ROOT), str(TESTS)])
    alone = {"n_workers": 0, "processes": False, "protocol": "tcp://", "dashboard_address": ":0"}
    with distributed.LocalCluster(**alone) as cluster:
        address = cluster.scheduler_address
        command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny"]
        command += ["--nthreads", "1", "--no-dashboard", "--local-directory", str(folder)]
        kept = {"env": {**os.environ, "PYTHONPATH": path}, "stderr": subprocess.DEVNULL}
        workers = [subprocess.Popen(command, **kept) for _ in range(2)]
        try:
            with distributed.Client(address, set_as_default=False) as client:
                client.wait_for_workers(2, timeout=60)
            yield address
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()
