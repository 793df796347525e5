"""The experiments of experiments.py with the number of layers as the variable: T against L.

The examples have distinct contexts of 4 tokens of width 8 and real labels; each layer has 2 heads
of width 1. For each L, decreasing shares of the bound N_L are tried as T; one of four
Levenberg-Marquardt runs must reach the labels and be certified, and the fast checker must accept
the file. This takes minutes.

python benchmarks/experiments_layers.py [--layers L] [--out FILE]
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from cases import command, write
from experiments import checked
from experiments_points import Point, data_of
from machine import machine

from attncert.verify.depth.law import Architecture, DeepSpans
from attncert.verify.newton.certify import certify
from attncert.verify.newton.descent import descend_deep

POINT = Point("layers", "random", "real", 4, 8, 2)
SHARES = (100, 98, 95, 90, 85, 80, 75, 70, 60, 50)  # percent of N_L
STARTS = 4


def row_of(layers: int) -> dict[str, Any]:
    """The largest T that was certified, and every start that was tried."""
    shape = Architecture(layers, POINT.heads, 1, 1)
    some = data_of(POINT, 100)
    law, tried = DeepSpans.of(some).bound(shape), list[dict[str, Any]]()
    row = {"layers": layers, "parameters": shape.parameters(some), "N": law, "T": None}
    for T in (law * share // 100 for share in SHARES):
        data = data_of(POINT, T)
        for seed in range(STARTS):
            start = time.process_time()
            found = descend_deep(data, shape, seed)
            tried.append({"T": T, "seed": seed, "error": float(f"{found.error:.2g}")})
            if found.converged:
                near = certify(data, found.weights, shape)
                shown = checked(near) if near.holds else {"status": "none", "why": near.why}
                tried[-1] |= shown
            tried[-1]["processor_seconds"] = round(time.process_time() - start, 1)
            if tried[-1].get("status") == "holds":
                return row | {"T": T, "radius": float(near.radius), "tried": tried}
    return row | {"tried": tried}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=4, help="the largest L")
    parser.add_argument("--out", default="benchmarks/results/experiments_layers.json")
    options = parser.parse_args()
    rows = []
    for layers in range(1, options.layers + 1):
        rows.append(row_of(layers))
        print({name: value for name, value in rows[-1].items() if name != "tried"}, flush=True)
    write({"command": command(__file__), "machine": machine(), "rows": rows}, options.out)


if __name__ == "__main__":
    main()
