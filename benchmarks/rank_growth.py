"""Measures how cost grows with k (subset size), N (vectors) and T (examples of a layer).

Each curve is timed at a few sizes and fitted with seconds = a size^b by least squares on the
logarithms; b is what is reported. Asymptotically b should be 3 in k for a projected elimination, 1
in N for residues and the projection, and 3 in T for a layer with T/H fixed, in our code and in
FLINT. At these sizes, short panels and the features, which grow as T^2, keep b below these values.
`plot` draws points and fits.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rank_layers import example, flint_seconds
from rank_subsets import WIDTH, gaussian
from threadpoolctl import threadpool_limits

from attncert.verify.rank.modular import IndependenceTester
from attncert.verify.rank.whole_layer.layer import layer_rank

SIZES = {
    "k": [32, 64, 128, 256, 512],
    "N": [1000, 2000, 4000, 8000],
    "T": [249, 497, 993, 1985],  # H = 8, 16, 32, 64 at n = 32, d = 64
}
QUICK = {"k": [32, 64, 128], "N": [1000, 2000], "T": [125, 249, 497]}
FLINT_UP_TO = 993


def run(quick: bool, threads: int) -> dict[str, Any]:
    """Curves by name: sizes, seconds, exponent."""
    sizes, repeats = (QUICK, 1) if quick else (SIZES, 3)
    with threadpool_limits(threads):
        curves = {
            "k, one subset": curve(sizes["k"], lambda k: per_subset(k, threads, repeats)),
            "N, table prepared": curve(sizes["N"], lambda n: prepared(n, threads, repeats)),
            "T, layer": curve(sizes["T"], lambda t: layer(t, repeats)),
            "T, layer, FLINT": curve(
                [t for t in sizes["T"] if t <= FLINT_UP_TO],
                lambda t: flint_seconds(*example((t - 1) // 31, 32, 64, True)),
            ),
        }
    for name, found in curves.items():
        print(name, found, flush=True)
    return curves


def curve(sizes: list[int], seconds: Callable[[int], float]) -> dict[str, Any]:
    """Times at these sizes and the fitted exponent."""
    times = [seconds(size) for size in sizes]
    a, b = fit(sizes, times)
    rounded = [float(f"{x:.3g}") for x in times]
    return {
        "sizes": sizes,
        "seconds": rounded,
        "exponent": round(b, 2),
        "factor": float(f"{a:.3g}"),
    }


def fit(sizes: list[int], seconds: list[float]) -> tuple[float, float]:
    """a and b in seconds = a size^b, by least squares on the logarithms.

    >>> a, b = fit([10, 20, 40], [2e2, 8e2, 32e2])
    >>> round(a, 6), round(b, 6)
    (2.0, 2.0)
    """
    slope, intercept = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return math.exp(intercept), float(slope)


def per_subset(k: int, threads: int, repeats: int) -> float:
    """Seconds per projected subset of 2,000 vectors, without the preparation."""
    tester = IndependenceTester(gaussian(0), device="cpu", threads=threads)
    rng = np.random.default_rng(k)
    count = max(2 * threads, min(2000, 10**9 // k**3))
    subsets = np.array([rng.permutation(2000)[:k] for _ in range(count)])
    tester.subsets(subsets)
    return _median(lambda: tester.subsets(subsets), repeats) / count


def prepared(vectors: int, threads: int, repeats: int) -> float:
    """Seconds to map and project a table, and to test one subset per 197 vectors."""
    rng = np.random.default_rng(vectors)
    table = rng.standard_normal((vectors, WIDTH)).astype(np.float32)
    subsets = rng.permutation(vectors)[: vectors // 197 * 197].reshape(-1, 197)
    subsets = np.vstack([subsets, rng.permutation(vectors)[:197]])

    def job() -> None:
        IndependenceTester(table, device="cpu", threads=threads).subsets(subsets)

    job()
    return _median(job, repeats)


def layer(examples: int, repeats: int) -> float:
    """Seconds for one layer's certificate, n = 32, d = 64, shared contexts."""
    data, heads = example((examples - 1) // 31, 32, 64, True)
    layer_rank(data, heads, device="cpu")
    return _median(lambda: layer_rank(data, heads, device="cpu"), repeats)


def plot(curves: dict[str, Any], path: Path) -> None:
    """Plot one panel for each of k, N and T; the same numbers give the same bytes."""
    from figures import BLUE, ORANGE, style, to_svg
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    with style():
        figure = Figure(figsize=(8.0, 2.8), layout="constrained")
        panels = dict(zip("kNT", figure.subplots(1, 3), strict=True))
        for name, found in curves.items():
            axes = panels[name[0]]
            sizes = np.array(found["sizes"], dtype=float)
            colour = ORANGE if "FLINT" in name else BLUE
            label = f"{name.split(', ', 1)[1]}: {name[0]}^{found['exponent']}"
            axes.loglog(sizes, found["seconds"], "o", color=colour)
            axes.loglog(sizes, found["factor"] * sizes ** found["exponent"], color=colour,
                        label=label)  # fmt: skip
            axes.set(xlabel=name[0], ylabel="seconds")
            axes.legend(frameon=False, fontsize=7)
        for axes in panels.values():
            axes.xaxis.set_minor_formatter(NullFormatter())
        for name, found in curves.items():
            if "FLINT" not in name:
                panels[name[0]].set_xticks(found["sizes"], [str(size) for size in found["sizes"]])
        path.write_bytes(to_svg(figure))


def _median(job: Callable[[], Any], repeats: int) -> float:
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)
