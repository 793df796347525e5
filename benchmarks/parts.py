"""Measures how the cost of each part grows with its size, and extrapolates to a million examples.

    python benchmarks/parts.py [--quick] [--out benchmarks/results/parts.json]
    python benchmarks/parts.py --table    shows that file as a table

Measures the CPU time of one thread at four or more sizes, and fits seconds = a size^b by least
squares on the logarithms. Groups, heads, rank and the fast check have width one, n = 8, d = 16,
T = 7H + 1 distinct contexts, random integers from -9 to 9. The readout is solved exactly for these
data. The fit has data of the same shape with T = 45H and stops at a largest error of 10⁻⁶. Kruskal
tests all sets of k among N vectors of 16 integers. Each size is run twice, and the shorter time
counts, since the first run compiles.

Times for 10⁶ are extrapolated from the largest size with the asymptotic exponent of the part, far
beyond the sizes that were run.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from cases import asked, command, table, write
from fit import ERROR, example
from rank_growth import fit
from width_one import small_integers

OUT = "benchmarks/results/parts.json"
MILLION = 10**6
HEADS = [36, 72, 144, 288]
FEW_HEADS = [4, 8, 16, 32]
FITTED = [90, 180, 360, 720, 1440]
VECTORS = {4: [200, 400, 800, 1600], 5: [75, 150, 300, 400], 6: [150, 300, 600, 900]}
# The exponent of T in the asymptotic time of each part, and how many bytes the part keeps. The
# numbers of the readout have about T² bits, and computing one more digit of each costs T² products.
ENDS: dict[str, tuple[int, Callable[[float], float]]] = {
    "groups": (2, lambda T: 8 * 16 * T),
    "heads": (3, lambda T: 16 * T**2),
    "rank": (3, lambda T: 8 * T**2),
    "fast check": (3, lambda T: 8 * T**2),
    "readout": (4, lambda T: T**3 / 8),
    "fit": (3, lambda T: 8 * T**2),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the two smallest sizes of each part")
    arguments = asked(parser, OUT, _no_case, markdown)
    few = slice(2 if arguments.quick else None)
    import numba
    from machine import machine
    from threadpoolctl import threadpool_limits

    numba.set_num_threads(1)
    with threadpool_limits(1):
        rows = [*layers(HEADS[few]), readouts(FEW_HEADS[few]), fits(FITTED[few])]
        rows += [sets(k, sizes[few]) for k, sizes in VECTORS.items()]
    result = {
        "command": command(__file__),
        "machine": machine("numba", "numpy", "python-flint", "scipy"),
        "rows": rows,
    }
    write(result, arguments.out)
    plot(rows, Path(arguments.out).with_suffix(".svg"))
    print(markdown(result))


def _no_case(case: dict[str, Any]) -> dict[str, Any]:
    raise SystemExit("all sizes are run in one process")


def row(part: str, sizes: list[int], seconds: list[float]) -> dict[str, Any]:
    """The times of one part, and the curve fitted to them."""
    a, b = fit(sizes, seconds)
    found = {
        "part": part,
        "sizes": sizes,
        "seconds": [float(f"{x:.3g}") for x in seconds],
        "factor": float(f"{a:.3g}"),
        "exponent": round(b, 2),
    }
    print(found, file=sys.stderr, flush=True)
    return found


def shortest(job: Callable[[], Any]) -> float:
    """CPU seconds of the shorter of two runs."""
    times = []
    for _ in range(2):
        start = time.process_time()
        job()
        times.append(time.process_time() - start)
    return min(times)


def layers(heads_of: list[int]) -> list[dict[str, Any]]:
    """Groups, heads, rank and the fast check of one proof at each size."""
    from attncert.constructions.construction import theorem_groups
    from attncert.constructions.width_one.theorem import build
    from attncert.verify.checking.fast.check import check_file
    from attncert.verify.prove.prove import prove
    from attncert.verify.questions.prove import Prove
    from attncert.verify.rank.whole_layer.layer import layer_rank

    sizes, seconds = [], dict[str, list[float]]()
    for heads in heads_of:
        data = small_integers(heads, 8, 16, False)
        built = build(data, heads=heads)
        proof = prove(data, Prove("width-one", heads=heads, claim="full-rank"))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "certificate.json"
            file.write_text(json.dumps(proof.certificate))
            assert check_file(str(file)).status == "holds"
            jobs: dict[str, Callable[[], Any]] = {
                "groups": partial(theorem_groups, data, 8, heads, 0),
                "heads": partial(build, data, heads=heads),
                "rank": partial(layer_rank, data, built.layer, device="cpu"),
                "fast check": partial(check_file, str(file)),
            }
            for part, job in jobs.items():
                seconds.setdefault(part, []).append(shortest(job))
        sizes.append(data.T)
    return [row(part, sizes, times) for part, times in seconds.items()]


def readouts(heads_of: list[int]) -> dict[str, Any]:
    """The time to solve exactly for V."""
    from attncert.constructions.readout.solve import readout
    from attncert.constructions.width_one.theorem import build

    sizes, seconds = [], []
    for heads in heads_of:
        data = small_integers(heads, 8, 16, False)
        built = build(data, heads=heads)
        sizes.append(data.T)
        seconds.append(shortest(partial(readout, built, data, data.label_matrix)))
    return row("readout", sizes, seconds)


def fits(sizes: list[int]) -> dict[str, Any]:
    """The time to fit given labels in float64."""
    from attncert.constructions.given.attention import Shape
    from attncert.constructions.given.least_squares import descend

    seconds = []
    for T in sizes:
        data, shape = example(T, 8, 16, 0), Shape(16, 1, T // 45, 1, 1)
        assert descend(*data, shape, 0, tolerance=ERROR).converged
        seconds.append(shortest(partial(descend, *data, shape, 0, tolerance=ERROR)))
    return row("fit", sizes, seconds)


def sets(k: int, sizes: list[int]) -> dict[str, Any]:
    """The time to decide whether all sets of k are independent."""
    from attncert.verify.kruskal.kruskal import kruskal
    from attncert.verify.questions.kruskal import Kruskal

    question = Kruskal(k=k, work=1e6, subsets=0, device="cpu")
    draw = np.random.default_rng(1)
    seconds = []
    for size in sizes:
        vectors = draw.integers(-9, 10, (size, 16))
        seconds.append(shortest(partial(kruskal, vectors, question)))
    return row(f"Kruskal, k = {k}", sizes, seconds)


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    """A figure of points and fits; the same numbers give the same bytes."""
    from figures import style, to_svg
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(7.0, 4.0), layout="constrained")
        axes = figure.add_subplot()
        for k, found in enumerate(rows):
            sizes = np.array(found["sizes"], dtype=float)
            power = found["factor"] * sizes ** found["exponent"]
            axes.loglog(sizes, found["seconds"], "o", color=f"C{k}")
            axes.loglog(sizes, power, color=f"C{k}", label=f"{found['part']}: {found['exponent']}")
        axes.set(xlabel="T, or N vectors", ylabel="processor seconds")
        axes.legend(frameon=False, fontsize=7, title="exponent")
        path.write_bytes(to_svg(figure))


def markdown(result: dict[str, Any]) -> str:
    """One row for each part."""
    lines = []
    for found in result["rows"]:
        part, sizes, seconds = found["part"], found["sizes"], found["seconds"]
        span = f"{sizes[0]:,} to {sizes[-1]:,}"
        times = f"{seconds[0]:.2g} to {seconds[-1]:.2g} s"
        far = ["-", "-", "-"]
        if part in ENDS:
            power, kept = ENDS[part]
            hours = seconds[-1] * (MILLION / sizes[-1]) ** power / 3600
            far = [power, f"{hours:,.2g}", f"{kept(MILLION) / 1e12:,.2g} TB"]
        lines.append([part, span, times, found["exponent"], *far])
    headings = ["part", "sizes", "time", "exponent", "asymptotic", "hours at 10⁶", "memory"]
    return table(headings, lines)


if __name__ == "__main__":
    sys.exit(main())
