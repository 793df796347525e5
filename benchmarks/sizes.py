"""Cost against size, fitted in each dimension, and what much larger sizes would take.

    python benchmarks/sizes.py [--quick] [--out benchmarks/results/sizes.json]

`layer_rank` of layers with random weights (rank_layers.py): T, n, d and H are varied one at a time
about one layer. Processor seconds of one thread, the least of the runs: other work on the machine
makes them longer, and wall time says nothing then. log(seconds) = log a + b log(size), by least
squares. A fit holds between the sizes it was made from. Beyond them, the elimination is counted:
T^2 (W - T/3) products and as many sums for a T×W matrix, at the rate of the largest run here, of
which the elimination takes nearly all (with --quick it does not: larger sizes are left out). For
N vectors the fit is that of results/rank.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from cases import command, table, write
from rank_growth import fit

OUT = "benchmarks/results/sizes.json"
BASE = {"T": 500, "n": 32, "d": 64, "H": 160}
SIZES = {
    "T": [250, 500, 1000, 2000, 4000],
    "n": [16, 32, 64, 128],
    "d": [32, 64, 128, 256],
    "H": [20, 40, 80, 160],
}
REPEATS = 2
LARGE_T, LARGE_N = 10**6, 10**8
WIDTH = 768  # of the vectors of results/rank.json
DAY = 86_400


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="three sizes of each, once")
    parser.add_argument("--out", default=OUT)
    arguments = parser.parse_args()
    from machine import machine

    sizes = {name: found[:3] if arguments.quick else found for name, found in SIZES.items()}
    rows = [
        curve(name, found, contexts, 1 if arguments.quick else REPEATS)
        for contexts in ("shared", "distinct")
        for name, found in sizes.items()
    ]
    result = {
        "command": command(__file__),
        "machine": machine("numba", "numpy", "python-flint"),
        "base": BASE,
        "rows": rows,
        "larger": {} if arguments.quick else larger(rows),
    }
    write(result, arguments.out)
    print(markdown(result))


def curve(name: str, sizes: list[int], contexts: str, repeats: int) -> dict[str, Any]:
    """One dimension varied: processor seconds and the fit."""
    seconds = [cost({**BASE, name: size}, contexts == "shared", repeats) for size in sizes]
    a, b = fit(sizes, seconds)
    row = {
        "varied": name,
        "contexts": contexts,
        "sizes": sizes,
        "seconds": [float(f"{x:.3g}") for x in seconds],
        "factor": float(f"{a:.3g}"),
        "exponent": round(b, 2),
    }
    print(row, file=sys.stderr, flush=True)
    return row


def cost(shape: dict[str, int], shared: bool, repeats: int) -> float:
    """Processor seconds of one layer's rank; the first run, which compiles, is not counted."""
    import numba
    import numpy as np
    from threadpoolctl import threadpool_limits

    from attncert.constructions.data import generators
    from attncert.constructions.layer import Layer
    from attncert.verify.rank.whole_layer.layer import layer_rank

    T, n, d, heads = (shape[name] for name in "TndH")
    data = generators.random(T, n, d, shared=shared, bound=9, seed=1)
    draw = np.random.default_rng(1)
    weights = [
        tuple(draw.integers(-99, 100, (d, 1)).tolist() for _ in range(2)) for _ in range(heads)
    ]
    layer = Layer.of_weights(weights)
    found = []
    numba.set_num_threads(1)
    for _ in range(repeats + 1):
        start = time.process_time()
        with threadpool_limits(1):
            rank = layer_rank(data, layer, device="cpu").rank
        found.append(time.process_time() - start)
    assert rank == T, (shape, rank)
    return min(found[1:])


def larger(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """T = 10^6 by the fit and by counted operations; N = 10^8 by the fit of rank.json."""
    from attncert.verify.rank.whole_layer.sizes import panel_bytes

    by_T = next(row for row in rows if (row["varied"], row["contexts"]) == ("T", "shared"))
    T, seconds = by_T["sizes"][-1], by_T["seconds"][-1]
    rate = operations(T) / seconds
    growth = json.loads(Path(__file__).with_name("results").joinpath("rank.json").read_text())
    vectors = growth["growth"]["N, table prepared"]
    return {
        "T": LARGE_T,
        "T by the fit, days of one core": days(by_T["factor"] * LARGE_T ** by_T["exponent"]),
        "rate, 10^9 a second": float(f"{rate / 1e9:.3g}"),
        "T by operations, days of one core": days(operations(LARGE_T) / rate),
        "T, memory, TB": float(f"{panel_bytes(LARGE_T, LARGE_T) / 1e12:.3g}"),
        "N": LARGE_N,
        "N by the fit, hours of two cores": float(
            f"{vectors['factor'] * LARGE_N ** vectors['exponent'] / 3600:.2g}"
        ),
        "N, memory, TB": float(f"{4 * WIDTH * LARGE_N / 1e12:.3g}"),
    }


def operations(T: int) -> float:
    """Products and sums of the elimination of T rows of about T columns.

    >>> operations(3)
    36.0
    """
    return 2 * T * T * (T - T / 3)


def days(seconds: float) -> float:
    """Two digits."""
    return float(f"{seconds / DAY:.2g}")


def markdown(result: dict[str, Any]) -> str:
    """The fits, and the larger sizes in words."""
    lines = [
        [
            row["varied"], row["contexts"], " ".join(f"{x:,}" for x in row["sizes"]),
            " ".join(f"{x:g}" for x in row["seconds"]), row["exponent"],
        ]
        for row in result["rows"]
    ]  # fmt: skip
    fits = table(["varied", "contexts", "sizes", "processor seconds", "exponent"], lines)
    found = result["larger"]
    big = [[name, f"{found[name]:g}"] for name in found if name not in ("T", "N")]
    if not big:
        return fits
    return f"{fits}\n\n{table(['T = 10^6, N = 10^8', ''], big)}"


if __name__ == "__main__":
    sys.exit(main())
