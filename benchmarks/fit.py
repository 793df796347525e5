"""Compares our fits of given labels with SciPy's least_squares and, if torch is installed, Adam.

All methods get the same data, start and derivatives, and are timed until the largest error is 10^-6
(n = 8, d = 16, H = 8, width one, T = 360 distinct contexts; N = 376). With --large H, layers with
n = 32, d = 64 and T = 180 H are fitted and certified, and their files, if any, are checked by the
fast checker. Adam is stopped after ten minutes of processor time, or --adam-seconds.

python benchmarks/fit.py [--large H] [--threads K] [--adam-seeds K] [--adam-seconds S] [--table]
[--out FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from cases import show, table
from machine import machine, peak_mebibytes
from scipy.optimize import least_squares
from threadpoolctl import threadpool_limits

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.attention import Shape, jacobian, outputs
from attncert.constructions.given.least_squares import descend, start
from attncert.verify.certificates.certificate import canonical_bytes
from attncert.verify.checking.fast import check as fast
from attncert.verify.newton.certify import MOST_UNKNOWNS, certify, near_certificate

OUT = Path(__file__).parent / "results" / "fit.json"
ERROR = 1e-6
SEEDS = range(3)
SCIPY: dict[str, dict[str, Any]] = {
    "SciPy trf, exact": {"method": "trf", "tr_solver": "exact"},
    "SciPy trf, lsmr": {"method": "trf", "tr_solver": "lsmr"},
    "SciPy dogbox": {"method": "dogbox"},
}


class _Reached(Exception): ...


def example(T: int, n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normally distributed multiples of 1/64, of about unit size, which `fit` leaves unscaled."""
    draw = np.random.default_rng(seed)
    shapes = ((T, n, d), (T, d), (T, 1))
    contexts, queries, labels = (np.round(draw.standard_normal(s) * 64) / 64 for s in shapes)
    return contexts, queries, labels


def ours(data: Any, shape: Shape, seed: int) -> dict[str, Any]:
    found = descend(*data, shape, seed, tolerance=ERROR)
    return {"found": found.converged, "steps": len(found.steps) - 1, "error": found.error}


def scipy_(data: Any, shape: Shape, seed: int, options: dict[str, Any]) -> dict[str, Any]:
    """SciPy from the same start, stopped as soon as the largest error is small enough."""
    contexts, queries, labels = data
    first, free = start(shape, seed), shape.attention
    seen = {"calls": 0, "error": np.inf}

    def weights(x: np.ndarray) -> np.ndarray:
        return np.concatenate([x, first[free:]])

    def errors(x: np.ndarray) -> np.ndarray:
        f = (outputs(contexts, queries, weights(x), shape) - labels).ravel()
        seen["calls"] += 1
        seen["error"] = float(np.abs(f).max())
        if seen["error"] <= ERROR:
            raise _Reached
        return f

    def derivatives(x: np.ndarray) -> np.ndarray:
        return jacobian(contexts, queries, weights(x), shape, free)[1].reshape(len(labels), free)

    try:
        tiny = dict.fromkeys(("ftol", "xtol", "gtol"), 1e-15)
        least_squares(errors, first[:free], derivatives, max_nfev=500, **tiny, **options)
    except _Reached:
        return {"found": True, "steps": seen["calls"] - 1, "error": seen["error"]}
    return {"found": False, "steps": seen["calls"] - 1, "error": seen["error"]}


def adam(data: Any, shape: Shape, seed: int, seconds: float) -> dict[str, Any]:
    """Adam on all examples at once (torch, float64), step size 10⁻²; the smallest error counts."""
    import torch

    torch.set_num_threads(1)
    contexts, queries, labels = (torch.tensor(x) for x in data)
    weights = torch.tensor(start(shape, seed), requires_grad=True)
    K, Q, V, O = (torch.tensor(x) for x in shape.split(weights.detach().numpy()))  # noqa: E741
    parts = [x.requires_grad_(True) for x in (K, Q, V)]
    optimizer = torch.optim.Adam(parts, lr=1e-2)
    steps, begin, error, least = 0, time.process_time(), float("inf"), float("inf")
    while time.process_time() - begin < seconds and error > ERROR:
        optimizer.zero_grad()
        q = torch.einsum("td,hdb->thb", queries, parts[1])
        w = torch.einsum("hdb,thb->tdh", parts[0], q)
        p = torch.softmax(contexts @ w, dim=1)
        z = torch.einsum("tnh,tnd->thd", p, contexts)
        f = torch.einsum("thd,hdv,hvm->tm", z, parts[2], O) - labels
        (f * f).mean().backward()
        optimizer.step()
        steps, error = steps + 1, float(f.detach().abs().max())
        least = min(least, error)
    return {"found": error <= ERROR, "steps": steps, "error": least}


def timed(job: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    found = job()
    return found | {
        "seconds": round(time.perf_counter() - wall, 3),
        "processor_seconds": round(time.process_time() - cpu, 3),
    }


def run(threads: int, adam_seeds: int, adam_seconds: float) -> list[dict[str, Any]]:
    """One row for each method, ours first. Methods take turns for every seed."""
    shape, rows = Shape(16, 1, 8, 1, 1), dict[str, list[dict[str, Any]]]()
    methods: dict[str, Callable[[Any, int], dict[str, Any]]] = {
        "ours": lambda data, seed: ours(data, shape, seed),
    }
    for name, options in SCIPY.items():
        methods[name] = lambda data, seed, options=options: scipy_(data, shape, seed, options)
    if has_torch():
        methods["Adam (torch)"] = lambda data, seed: adam(data, shape, seed, adam_seconds)
    with threadpool_limits(threads):
        for seed in SEEDS:
            data = example(360, 8, 16, seed)
            for name, method in methods.items():
                if name.startswith("Adam") and seed >= adam_seeds:
                    continue
                row = timed(lambda m=method, d=data, s=seed: m(d, s))
                rows.setdefault(name, []).append(row)
                print(name, row, flush=True)
    base = statistics.median(row["processor_seconds"] for row in rows["ours"])
    result = []
    for name, found in rows.items():
        middle = statistics.median(row["processor_seconds"] for row in found)
        ratio, reached = round(middle / base, 1), all(row["found"] for row in found)
        key = "times_ours" if reached else "more_than_times_ours"
        result.append({"method": name, "runs": found, key: ratio})
    if not has_torch():
        result.append({"method": "Adam (torch)", "outcome": "not measured: torch is not installed"})
    return result


def large(heads: int, threads: int) -> dict[str, Any]:
    """Fit, certify, write, and check from the file (in memory above 5,000 unknowns)."""
    T = 180 * heads
    shape, data = Shape(64, 1, heads, 1, 1), example(T, 32, 64, 0)
    exact = Dataset.of(*data)
    row: dict[str, Any] = {"T": T, "n": 32, "d": 64, "heads": heads}
    with threadpool_limits(threads), tempfile.TemporaryDirectory() as folder:
        start_ = time.perf_counter(), time.process_time()
        found = descend(*data, shape, 0)
        row["fit"] = _since(start_) | {"steps": len(found.steps) - 1, "error": found.error}
        start_ = time.perf_counter(), time.process_time()
        near = certify(exact, found.weights, shape)
        shown = {"radius": float(near.radius), "kappa": near.contraction.kappa, "holds": near.holds}
        row["certify"] = _since(start_) | shown
        print(row, flush=True)
        row["peak_MiB"] = peak_mebibytes()
        if T > MOST_UNKNOWNS:
            return row
        path = Path(folder) / "certificate.json"
        body = near_certificate(near, construction="fit", produced_by={})
        path.write_bytes(canonical_bytes(body))
        row["file_MiB"] = path.stat().st_size >> 20
        start_ = time.perf_counter(), time.process_time()
        verdict = fast.check_file(str(path))
        row["fast_check"] = _since(start_) | {"status": verdict.status}
    return row


def _since(start_: tuple[float, float]) -> dict[str, float]:
    return {
        "seconds": round(time.perf_counter() - start_[0], 2),
        "processor_seconds": round(time.process_time() - start_[1], 2),
    }


def markdown(result: dict[str, Any]) -> str:
    """A table of the methods that are run to 10⁻⁶, and then one of the large layers."""
    lines = []
    for row in result["to_1e-6"]["rows"]:
        runs = row.get("runs", [])
        seconds = statistics.median(run["processor_seconds"] for run in runs) if runs else None
        reached = [run["steps"] for run in runs if run["found"]]
        steps = f"{min(reached)} to {max(reached)}" if reached else "-"
        ratio = f"{row['times_ours']}" if "times_ours" in row else "-"
        if "more_than_times_ours" in row:
            ratio = f"more than {row['more_than_times_ours']:,.0f}"
            steps = f"not in {min(run['steps'] for run in runs):,}"
        shown = row["outcome"] if seconds is None else f"{seconds:.2f} s"
        lines.append([row["method"], f"{len(reached)} of {len(runs)}", steps, shown, ratio])
    found = [table(["method", "reached", "steps", "processor time", "times ours"], lines)]
    lines = []
    for name in sorted(result):
        if name.startswith("large"):
            row = result[name]["row"]
            check = row.get("fast_check")
            seconds = [row["fit"]["processor_seconds"], row["certify"]["processor_seconds"]]
            lines.append(
                [
                    f"{row['T']:,}",
                    row["heads"],
                    *(f"{x:.0f} s" for x in seconds),
                    f"{row['certify']['radius']:.0e}",
                    f"{check['processor_seconds']:.0f} s" if check else "no file",
                ]
            )
    found.append(table(["T", "H", "fit", "certificate", "radius", "fast check"], lines))
    return "\n\n".join(found)


def has_torch() -> bool:
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", type=int, metavar="H")
    parser.add_argument("--adam-seeds", type=int, default=len(SEEDS))
    parser.add_argument("--adam-seconds", type=float, default=600.0)
    parser.add_argument("--table", action="store_true", help="show the results as a table")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--note", default="", help="a note on the machine's other work")
    options = parser.parse_args()
    result: dict[str, Any] = json.loads(options.out.read_text()) if options.out.exists() else {}
    stamp = {"machine": machine("numpy", "scipy", "python-flint"), "threads": options.threads}
    stamp |= {"note": options.note} if options.note else {}
    if options.table:
        show("fit.py", markdown(result))
        return
    if options.large:
        name = "large" if options.large == 10 else f"large_{options.large}_heads"
        result[name] = stamp | {"row": large(options.large, options.threads)}
    else:
        result["to_1e-6"] = stamp | {
            "T": 360,
            "n": 8,
            "d": 16,
            "heads": 8,
            "rows": run(options.threads, options.adam_seeds, options.adam_seconds),
        }
    options.out.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
