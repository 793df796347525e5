"""Times the rank of Z on a Dask cluster whose workers have bounded memory, and in one process.

    python benchmarks/spread.py [--heads H] [--mib M] [--kill SECONDS] [--note NOTE]

n = 197, d = 768, one shared context, T = 180 H and random integer weights. A worker that
uses more than M MiB is killed and restarted; it writes nothing to disk. The rank is computed by one
process, by two workers, by two workers of which one is killed after some seconds, and by one
worker, whose memory is too small. Every peak is that of a whole process, imports included.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import numpy as np
from cases import command, write
from distributed import Client, LocalCluster
from machine import machine

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.layer import Layer
from attncert.verify.rank.whole_layer.layer import layer_rank

OUT = "benchmarks/results/spread.json"
LIMITS = {"target": False, "spill": False, "pause": False, "terminate": 0.99}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--heads", type=int, default=64)
    parser.add_argument("--mib", type=int, default=700, help="memory of a worker")
    parser.add_argument("--kill", type=float, default=60, help="seconds until a worker is killed")
    parser.add_argument("--note", default="", help="a note on other work of the machine")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--out", default=OUT)
    asked = parser.parse_args()
    if asked.alone:
        print(json.dumps(ranked(asked.heads) | {"peak_MiB": peak(os.getpid())}))
        return
    words = [sys.executable, __file__, "--alone", "--heads", str(asked.heads)]
    rows = [json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)]
    for workers, kill in ((2, None), (2, asked.kill), (1, None)):
        with cluster(workers, asked.mib, kill) as client:
            row = {"workers": workers, "killed_after_s": kill} | ranked(asked.heads, client)
            rows.append(row | {"peaks_MiB": peaks(client)})
        print(rows[-1], file=sys.stderr, flush=True)
    result = {
        "T": 180 * asked.heads, "command": command(__file__), "worker_MiB": asked.mib,
        "machine": machine("dask", "numpy"), "note": asked.note, "rows": rows,
    }  # fmt: skip
    write(result, asked.out)


def ranked(heads: int, client: Client | None = None) -> dict[str, Any]:
    data, layer = example(heads)
    start = time.perf_counter()
    try:
        found = layer_rank(data, layer, device="cpu", cluster=client)
        row = {"rank": found.rank, "prime": found.prime}
    except InputError as error:
        row = {"refused": str(error)}
    return row | {"seconds": round(time.perf_counter() - start, 1)}


def example(heads: int) -> tuple[Dataset, Layer]:
    draw, T, d = np.random.default_rng(0), 180 * heads, 768

    def table(*shape: int) -> Any:
        return draw.integers(-9, 10, shape)

    data = Dataset.of(table(1, 197, d), table(T, d), np.zeros((T, 1), dtype=int))
    return data, Layer.of_weights([(table(d, 1), table(d, 1)) for _ in range(heads)])


@contextmanager
def cluster(workers: int, mib: int, kill: float | None) -> Iterator[Client]:
    """Workers are processes with one thread. After `kill` seconds, one of them is killed."""
    memory = {f"distributed.worker.memory.{name}": share for name, share in LIMITS.items()}
    size = {"n_workers": workers, "threads_per_worker": 1, "memory_limit": f"{mib} MiB"}
    with (
        dask.config.set(memory),
        LocalCluster(**size, dashboard_address=None) as made,
        Client(made) as client,
    ):
        first = next(iter(client.run(os.getpid).values()))
        timer = threading.Timer(kill or 0, os.kill, (first, signal.SIGKILL))
        if kill is not None:
            timer.start()
        yield client
        timer.cancel()


def peaks(client: Client) -> list[int]:
    """The peak memory of each worker that is running now."""
    return sorted(map(peak, client.run(os.getpid).values()))


def peak(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+)", status)[1]) >> 10


if __name__ == "__main__":
    main()
