"""Cost against size, fitted in each dimension.

    python benchmarks/sizes.py [--quick] [--out benchmarks/results/sizes.json]
    python benchmarks/sizes.py --table    writes the table of docs/performance.md, from that file

`layer_rank` of layers with random weights (rank_layers.py): T, n, d and H are varied one at a time
about one layer. Processor seconds of one thread, the least of the runs: other work on the machine
makes them longer, and wall time says nothing then. log(seconds) = log a + b log(size), by least
squares. A power holds between the sizes it was made from.
"""

from __future__ import annotations

import argparse
import sys
import time
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


def markdown(result: dict[str, Any]) -> str:
    """One row for each size that is varied."""
    rows = {(row["varied"], row["contexts"]): row for row in result["rows"]}
    lines = []
    for name in SIZES:
        shared, distinct = (rows[name, contexts] for contexts in ("shared", "distinct"))
        span = f"{shared['sizes'][0]:,} to {shared['sizes'][-1]:,}"
        lines.append([name, span, shared["exponent"], distinct["exponent"]])
    return table(["varied", "from, to", "exponent, shared contexts", "distinct"], lines)


if __name__ == "__main__":
    sys.exit(main())
