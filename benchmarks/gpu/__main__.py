"""Runs all parts in order and writes each row as soon as it is done; run it again to continue.

    PYTHONPATH=benchmarks python -m gpu [--part N] [--again] [--dry] [--seconds S] [--out FOLDER]

Each part runs in its own process and, after a failed row, in a new one, since a CUDA error makes a
process unusable. Exit status: 0 if all rows are done, 1 if one of them failed, 2 without a GPU
or with unusable arguments, 3 if time ran out with rows left.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import traceback
from pathlib import Path

from gpu import parts, place, summary
from gpu.store import Store

RESULTS = place.ROOT / "benchmarks" / "results" / "gpu"
DRY_RESULTS = place.ROOT / "build" / "gpu-dry-run"
SECONDS = 540.0  # time limit of one run
_LEAST = 20.0  # the least time for a new process, in seconds
_TIME_IS_OVER, _FAILED = 3, 4


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="All tests and benchmarks for a GPU.")
    parser.add_argument("--part", type=int, choices=range(1, len(parts.PARTS) + 1))
    parser.add_argument("--again", action="store_true", help="drop earlier rows of these parts")
    parser.add_argument("--dry", action="store_true", help="small sizes, without a GPU")
    parser.add_argument("--rows", default="", help="only rows whose names contain this")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="time limit of the run")
    parser.add_argument("--out", type=Path, help="folder of the results")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.out = (options.out or (DRY_RESULTS if options.dry else RESULTS)).resolve()
    if options.dry and RESULTS.parent in (options.out, *options.out.parents):
        return refuse("--out: must be outside of benchmarks/results for a dry run")
    if options.inside:
        return inside(options)
    if not options.dry and (why := place.missing()):
        return refuse(why)
    place.name_the_package()
    status = run(options)
    summary.write(options.out, options.dry, document=options.out == RESULTS)
    return status


def refuse(why: str) -> int:
    print(f"gpu: {why}", file=sys.stderr)
    return 2


def run(options: argparse.Namespace) -> int:
    """Run parts as processes until all rows are done or time runs out."""
    deadline = time.monotonic() + options.seconds
    numbers = [options.part] if options.part else range(1, len(parts.PARTS) + 1)
    if options.again:
        for number in numbers:
            store_of(number, options).path.unlink(missing_ok=True)
    waiting = 0
    for number in numbers:
        postponed: list[str] = []
        while names := left(number, options, postponed):
            seconds = deadline - time.monotonic()
            if seconds < _LEAST:
                waiting += len(names)
                break
            before = store_of(number, options).body
            postponed = one_process(number, options, seconds)
            if not postponed and store_of(number, options).body == before:
                print(f"part {number} does not start", flush=True)
                return 1
        waiting += len(postponed)
    if waiting:
        print(f"{waiting} rows are left: run it again", flush=True)
        return 3
    failed = [
        f"{store_of(n, options).path.name}: {name}"
        for n in numbers
        for name, row in store_of(n, options).rows.items()
        if "error" in row
    ]
    print("\n".join(f"failed: {name}" for name in failed) or "all rows are done", flush=True)
    return 1 if failed else 0


def one_process(number: int, options: argparse.Namespace, seconds: float) -> list[str]:
    """Run as much of a part as time allows. Returns the rows left for a run with more time."""
    words = ["--inside", "--part", str(number), "--seconds", str(seconds), "--out", options.out]
    words += ["--rows", options.rows, *(["--dry"] if options.dry else [])]
    command = [sys.executable, "-m", "gpu", *map(str, words)]
    try:
        status = subprocess.run(command, timeout=seconds).returncode
    except subprocess.TimeoutExpired:
        status = _TIME_IS_OVER
        store = store_of(number, options)
        if store.body["under_way"] and seconds < 0.9 * SECONDS:
            store.postpone(store.body["under_way"])
    return left(number, options) if status == _TIME_IS_OVER else []


def inside(options: argparse.Namespace) -> int:
    """Run the rows of one part in this process until one fails or there is no time left for the
    next."""
    deadline = time.monotonic() + options.seconds
    place.results = options.out
    if options.dry:
        place.load_stand_in()
    machine, store = place.description(), store_of(options.part, options)
    for row in parts.rows(options.part, options.dry):
        if options.rows not in row.name or row.name not in store.left([row.name]):
            continue
        if deadline - time.monotonic() < min(row.seconds, SECONDS / 2):
            return _TIME_IS_OVER
        print(f"{store.path.name}: {row.name}", flush=True)
        store.begin(row.name)
        start = time.monotonic()
        try:
            found = row.job()
        except Exception as error:
            traceback.print_exc()
            found = {"error": f"{type(error).__name__}: {error}"[:2000]}
        found["row_s"] = round(time.monotonic() - start, 2)
        store.end(row.name, found, machine)
        print(found, flush=True)
        if "error" in found:
            return _FAILED
    return 0


def left(number: int, options: argparse.Namespace, without: list[str] | None = None) -> list[str]:
    names = [row.name for row in parts.rows(number, options.dry) if options.rows in row.name]
    return [name for name in store_of(number, options).left(names) if name not in (without or [])]


def store_of(number: int, options: argparse.Namespace) -> Store:
    return Store(options.out, number, parts.PARTS[number - 1], options.dry)


if __name__ == "__main__":
    sys.exit(main())
