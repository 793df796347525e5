"""Benchmarks of rank certificates: ratios within one run, written as JSON that names the machine.

    python benchmarks/rank.py [--quick] [--only SECTION] [--threads N] [--out FILE]

A section is a function of (quick, threads) that returns rows for JSON; add new ones to SECTIONS.
torch is optional: without it the reference is NumPy's loop instead of the paper's.
With --out, the fitted growth is also drawn, into FILE with the suffix .svg.
GPU rows are measured if CuPy finds a GPU; otherwise they say that there is none.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import rank_detection
import rank_exact
import rank_growth
import rank_layers
import rank_subsets
from machine import machine

from attncert.verify.sharding.threads import available_threads

SECTIONS: dict[str, Callable[[bool, int], dict[str, Any]]] = {
    "subsets": rank_subsets.run,
    "exact": rank_exact.run,
    "detection": rank_detection.run,
    "layers": rank_layers.run,
    "growth": rank_growth.run,
}
PACKAGES = ["numpy", "numba", "python-flint", "sympy", "torch", "cupy"]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Benchmarks of rank certificates.")
    parser.add_argument("--quick", action="store_true", help="fewer subsets, one repeat")
    parser.add_argument("--only", choices=sorted(SECTIONS), help="one section")
    parser.add_argument("--threads", type=int, default=available_threads())
    parser.add_argument("--out", type=Path, help="write JSON here")
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    report: dict[str, Any] = {
        "benchmark": "rank",
        "quick": options.quick,
        "machine": machine(*filter(_installed, PACKAGES)),
        "threads_on_every_side": options.threads,
        "gpu": "see layers" if rank_layers.has_gpu() else rank_layers.NO_GPU,
    }
    for name, section in SECTIONS.items():
        if options.only in (None, name):
            print(f"-- {name}", flush=True)
            report[name] = section(options.quick, options.threads)
    report["seconds_in_all"] = round(time.perf_counter() - started, 1)
    text = json.dumps(report, indent=1, sort_keys=True) + "\n"
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(text)
        if "growth" in report:
            rank_growth.plot(report["growth"], options.out.with_suffix(".svg"))
    else:
        print(text)
    return 0


def _installed(package: str) -> bool:
    try:
        return bool(metadata.version(package))
    except metadata.PackageNotFoundError:
        return False


if __name__ == "__main__":
    sys.exit(main())
