"""Layers against parameters: what is certified, and the bound, for the table of docs/depth.md.

    python benchmarks/depth.py

For each number of layers the fewest heads of width 1 whose N reaches all labels.
"""

from __future__ import annotations

import time
from typing import Any

from cases import command, write
from machine import machine

from attncert.constructions.data.loading import load
from attncert.verify.depth.draw import draw_network
from attncert.verify.depth.law import Architecture, DeepSpans
from attncert.verify.depth.ranks import deep_rank
from attncert.verify.provenance.sequences import by_class

DATA = ("digits", "examples/text.json")
LAYERS = (1, 2, 3, 4)


def rows() -> list[dict[str, Any]]:
    found = []
    for name in DATA:
        data = by_class(load(name))
        spans = DeepSpans.of(data)
        for layers in LAYERS:
            heads = spans.fewest_heads(data.T, layers, 1, 1)
            shape = Architecture(layers, heads, 1, 1)
            start = time.process_time()
            rank = deep_rank(data, draw_network(data, shape))
            found.append(
                {
                    "data": data.name,
                    "labels": data.T,
                    "layers": layers,
                    "heads": heads,
                    "parameters": shape.parameters(data),
                    "N": spans.bound(shape),
                    "certified": rank.rank,
                    "seconds": round(time.process_time() - start, 1),
                }
            )
            print(found[-1], flush=True)
    return found


if __name__ == "__main__":
    result = {"command": command(__file__), "machine": machine(), "rows": rows()}
    write(result, "benchmarks/results/depth.json")
