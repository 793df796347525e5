"""Certified ranks and their bound for growing numbers of layers and parameters, for docs/depth.md.

    python benchmarks/depth.py [--quick] [--out FILE]

The table gives, for each number of layers, the fewest heads of width 1 for which N is at least the
number of labels. The picture, docs/images/depth.svg, shows certified ranks on the digits against
the number of parameters. With --quick, only the table is made.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cases import command, write
from figures import style, to_svg
from machine import machine
from matplotlib.figure import Figure

from attncert import Request
from attncert.constructions.data.loading import load
from attncert.verify.depth.draw import draw_network
from attncert.verify.depth.law import Architecture, DeepSpans
from attncert.verify.depth.ranks import deep_rank
from attncert.verify.provenance.sequences import by_class
from attncert.verify.statements.registry import network_methods

ROOT = Path(__file__).resolve().parent.parent
DATA = ("digits", str(ROOT / "examples" / "text.json"))
LAYERS = (1, 2, 3, 4)
HEADS = (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 28, 32, 36)
MOST_PARAMETERS = 1850
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00")


def rows(names: Sequence[str]) -> list[dict[str, Any]]:
    found = []
    for name in names:
        data = by_class(load(name))
        spans = DeepSpans.of(data)
        for layers in LAYERS:
            heads = spans.fewest_heads(layers, 1, 1)
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


def curves() -> list[dict[str, Any]]:
    """Ranks of the Jacobian and of the last features on the digits, by number of heads."""
    data, found = load("digits"), list[dict[str, Any]]()
    for layers in LAYERS:
        for heads in HEADS:
            shape = Architecture(layers, heads, 1, 1)
            if shape.parameters(data) > MOST_PARAMETERS:
                break
            network = draw_network(data, shape)
            found.append(
                {
                    "layers": layers,
                    "heads": heads,
                    "parameters": shape.parameters(data),
                    "some labellings": deep_rank(data, network).rank,
                    "all at once": deep_rank(data, network, features=True).rank,
                }
            )
    return found


def networks() -> dict[str, int]:
    """Parameter counts of those constructions in `compare` that output the labels of the digits."""
    data = load("digits").expanded()
    return {x.name: x.build(data, Request()).network.parameters for x in network_methods()}


def picture(points: list[dict[str, Any]], built: dict[str, int]) -> None:
    """Draw a line for each depth and kind of rank, and a cross for each network built."""
    with style():
        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        axes = figure.subplots()
        for layers, colour in zip(LAYERS, COLOURS, strict=True):
            some = [point for point in points if point["layers"] == layers]
            x = [point["parameters"] for point in some]
            name = f"{layers} layer{'s' * (layers > 1)}"
            axes.plot(x, [p["some labellings"] for p in some], "o-", ms=4, color=colour, label=name)
            axes.plot(x, [p["all at once"] for p in some], "s--", ms=3, color=colour)
        T = load("digits").T
        axes.plot(list(built.values()), [T] * len(built), "kx", ms=5, label="networks built")
        axes.set_xscale("log")
        axes.set_xlabel("parameters (heads of width 1; networks)")
        axes.set_ylabel("labels, certified")
        axes.set_title("Digits: some labellings (full lines), all at once (dashes)")
        axes.legend(loc="upper left")
        (ROOT / "docs" / "images" / "depth.svg").write_bytes(to_svg(figure))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", default="benchmarks/results/depth.json")
    args = parser.parse_args()
    points, built = ([], {}) if args.quick else (curves(), networks())
    result = {
        "command": command(__file__),
        "machine": machine(),
        "rows": rows(DATA[1:] if args.quick else DATA),
        "curves": points,
        "networks": built,
    }
    write(result, args.out)
    if points:
        picture(points, built)


if __name__ == "__main__":
    main()
