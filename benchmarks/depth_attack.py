"""Compares ranks of random deep networks, computed by separate code, with the law in docs/depth.md.

    PYTHONPATH=tests python benchmarks/depth_attack.py [CASES] [--out FILE]

CASES networks of 1 to 4 layers have distinct random contexts: their ranks should agree with the
law, unless the weights happen to be special. One network in fifty is larger than the others. One
fifth as many networks have special data: one context for all examples, few different contexts, or
vectors in a subspace, with the query among the tokens or separate from them. Their ranks should not
exceed the bound that `attncert capacity` gives for these data.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import numpy as np
from cases import command, write
from machine import machine
from support import deep_oracle as oracle

from attncert import Dataset
from attncert.verify.depth.law import Architecture, DeepSpans

MOST, LARGER = 45, 150  # of N_L


def attack(cases: int, *, generic: bool) -> dict[str, Any]:
    """Counts of networks by depth, and all networks whose rank is below or above the law."""
    layers, below, above = Counter[int](), list[Any](), list[Any]()
    for seed in range(cases):
        most = MOST if seed % 50 else LARGER
        sizes, found, tokens, apart = oracle.case(seed, most=most, generic=generic)
        promised = oracle.law(*sizes[:5]) if generic else bound(sizes, tokens, apart=apart)
        layers[sizes[0]] += 1
        if found != promised:
            row = {"seed": seed, "sizes": sizes, "rank": found, "law": promised}
            (above if found > promised else below).append(row)
        if seed % 500 == 499:
            done = f"{seed + 1} networks: {len(below)} below the law, {len(above)} above it"
            print(done, file=sys.stderr, flush=True)
    return {"networks": cases, "layers": layers, "below": below, "above": above}


def bound(sizes: tuple[int, ...], tokens: np.ndarray, *, apart: bool) -> int:
    """What the project proves for these data. apart: the query is not among the tokens."""
    contexts = tokens[:, :-1] if apart else tokens
    data = Dataset.of(contexts, tokens[:, -1], [0] * len(tokens))
    layers, heads, _, w, v, _ = sizes
    return DeepSpans.of(data).bound(Architecture(layers, heads, w, v))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", type=int, nargs="?", default=10_000, help="random networks")
    parser.add_argument("--out", default="benchmarks/results/depth_attack.json")
    args = parser.parse_args()
    generic, special = attack(args.cases, generic=True), attack(args.cases // 5, generic=False)
    special["below"] = len(special["below"])  # as the page says
    result = {
        "command": command(__file__),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine("numpy"),
        "sizes of a row": "layers, heads, d, w, v, n",
        "distinct contexts": generic,
        "special data": special,
        "seconds": round(time.process_time()),
    }
    write(result, args.out)
    if generic["above"] or special["above"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
