"""Cost against size, fitted in each dimension, and what much larger sizes would take.

    python benchmarks/sizes.py [--quick] [--out benchmarks/results/sizes.json]
    python benchmarks/sizes.py --table    writes the tables of docs/performance.md, from that file

`layer_rank` of layers with random weights (rank_layers.py): T, n, d and H are varied one at a time
about one layer. Processor seconds of one thread, the least of the runs: other work on the machine
makes them longer, and wall time says nothing then. log(seconds) = log a + b log(size), by least
squares. A power holds between the sizes it was made from; beyond them its two parts grow apart:

    seconds = features * T H + elimination * 2 T^2 (W - T/3),    W = H(n - 1) + 1 columns,

products and sums counted, by least squares of the relative error over the sizes of T. With n, d of
the base and H = T / (n - 1), which T = 10^6 needs, that is the cost of the larger layer. For N
vectors the fit is that of results/rank.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from cases import asked, command, table, write
from rank_growth import fit

OUT = "benchmarks/results/sizes.json"
BASE = {"T": 1000, "n": 32, "d": 64, "H": 300}  # 9,301 columns
SIZES = {
    "T": [500, 1000, 2000, 4000, 8000],
    "n": [16, 32, 64, 128],
    "d": [32, 64, 128, 256],
    "H": [75, 150, 300, 600],
}
REPEATS = 2
LARGE_T, LARGE_N = 10**6, 10**8
WIDTH = 768  # of the vectors of results/rank.json
DAY = 86_400


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="three sizes of each, once")
    arguments = asked(parser, OUT, _no_case, markdown)
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


def _no_case(case: dict[str, Any]) -> dict[str, Any]:
    raise SystemExit("all sizes are run in one process")


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
    """T = 10^6 by the two parts of the fit; N = 10^8 by that of rank.json."""
    from attncert.verify.rank.whole_layer.sizes import panel_bytes

    by_T = next(row for row in rows if (row["varied"], row["contexts"]) == ("T", "shared"))
    features, elimination, worst = parts(by_T["sizes"], by_T["seconds"])
    heads = -(-(LARGE_T - 1) // (BASE["n"] - 1))
    growth = json.loads(Path(__file__).with_name("results").joinpath("rank.json").read_text())
    vectors = growth["growth"]["N, table prepared"]
    return {
        "T": LARGE_T,
        "heads": heads,
        "worst relative error of the fit": float(f"{worst:.2g}"),
        "products and sums, 10^9 a second": float(f"{1e-9 / elimination:.3g}"),
        "T: features, days of one core": days(features * LARGE_T * heads),
        "T: elimination, days of one core": days(elimination * operations(LARGE_T, LARGE_T)),
        "T: memory, TB": float(f"{panel_bytes(LARGE_T, LARGE_T) / 1e12:.3g}"),
        "N": LARGE_N,
        "N: table of vectors, hours of two cores": float(
            f"{vectors['factor'] * LARGE_N ** vectors['exponent'] / 3600:.2g}"
        ),
        "N: memory, TB": float(f"{4 * WIDTH * LARGE_N / 1e12:.3g}"),
    }


def parts(sizes: list[int], seconds: list[float]) -> tuple[float, float, float]:
    """Seconds for each of T H, for each product or sum, and the largest relative error."""
    import numpy as np

    columns = BASE["H"] * (BASE["n"] - 1) + 1
    terms = np.array([[T * BASE["H"], operations(T, columns)] for T in sizes])
    relative = terms / np.array(seconds)[:, None]
    found = np.linalg.lstsq(relative, np.ones(len(sizes)), rcond=None)[0]
    return float(found[0]), float(found[1]), float(np.abs(relative @ found - 1).max())


def operations(T: int, columns: int) -> float:
    """Products and sums of the elimination of T rows, T <= columns.

    >>> operations(3, 3)
    36.0
    """
    return 2 * T * T * (columns - T / 3)


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
    big = [[name, f"{found[name]:,g}"] for name in found if name not in ("T", "N")]
    if not big:
        return fits
    return f"{fits}\n\n{table(['T = 10^6, N = 10^8', ''], big)}"


if __name__ == "__main__":
    sys.exit(main())
