"""Measures the CPU time of small commands on a first and a second run in fresh processes.

    python benchmarks/commands.py [--before FOLDER] [--rounds N] [--quick] [--out FILE]

"first" starts with an empty folder for Numba's compiled code, and "again" is a second run; Python's
own bytecode is compiled before both, as pip does. --before: a checkout of another revision, which
runs the same commands in turn. Structured vectors: the cage of girth 12, unit vectors with a
Hadamard matrix of order 64, and 16 equiangular lines in 6 dimensions.
"""

from __future__ import annotations

import argparse
import compileall
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from cases import command
from machine import machine

JUMPS = [17, 27, -13, -59, -35, 35, -11, 13, -53, 53, -27, 21, 57, 11, -21, -57, 59, -17]
HERE = Path(__file__).resolve().parent.parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="only the first two commands, once")
    parser.add_argument("--note", default="", help="a note on the machine's other work")
    parser.add_argument("--out", type=Path, default=HERE / "benchmarks/results/commands.json")
    options = parser.parse_args()
    trees = {"after": HERE} | ({"before": options.before.resolve()} if options.before else {})
    for tree in trees.values():
        compileall.compile_dir(tree / "attncert", maxlevels=20, quiet=2)
    with tempfile.TemporaryDirectory() as folder:
        for tree in trees:
            cases = list(commands(Path(folder, tree)).items())[: 2 if options.quick else None]
        rounds = 1 if options.quick else options.rounds
        rows = [measured(name, words, trees, Path(folder), rounds) for name, words in cases]
    result = {
        "command": command(__file__),
        "machine": machine("numba", "numpy", "python-flint", "sympy"),
        "note": options.note,
        "rows": rows,
    }
    options.out.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n")


def commands(folder: Path) -> dict[str, list[str]]:
    """The arguments of each command; the files that it reads are written to a new folder."""
    folder.mkdir()
    data = {"contexts": [[1, 0], [0, 1]], "queries": [[1, 2], [3, 1], [1, 1]], "labels": [5, 2, 7]}
    (folder / "tiny.json").write_text(json.dumps(data))
    cage = nx.LCF_graph(126, JUMPS, 7)
    signs = np.array([[1]])
    for _ in range(6):
        signs = np.kron(signs, [[1, 1], [1, -1]])
    points = np.array(list(itertools.product([0, 1], repeat=4)))
    curve = [(x[0] * x[1] + x[2] * x[3]) % 2 == 1 for x in points]
    vectors = {
        "random": np.random.default_rng(0).integers(-9, 10, (40, 8)),
        "cage": nx.incidence_matrix(cage, oriented=True).toarray().T.astype(int),
        "bases": np.vstack([np.eye(64, dtype=int), signs]),
        "lines": np.where(points @ points[curve].T % 2, -1, 1),
    }
    for name, table in vectors.items():
        (folder / f"{name}.json").write_text(json.dumps({"vectors": table.tolist()}))
    kruskal = {
        name: ["kruskal", f"{name}.json", "--work", "5", "--subsets", "100", "--out", name]
        for name in vectors
    }
    return {
        "prove, 3 examples": ["prove", "tiny.json", "--heads", "2", "--out", "tiny"],
        "check": ["check", "tiny/certificate.json"],
        "kruskal, 40 vectors": kruskal["random"],
        "kruskal, cage": kruskal["cage"],
        "kruskal, two bases": kruskal["bases"],
        "kruskal, equiangular": kruskal["lines"],
    }


def measured(
    name: str, words: list[str], trees: dict[str, Path], folder: Path, rounds: int
) -> dict[str, Any]:
    """For each checkout, the median seconds of the first and second runs, and the answer."""
    row: dict[str, Any] = {"name": name}
    seconds: dict[tuple[str, str], list[float]] = {}
    for turn in range(rounds):
        for tree, path in sorted(trees.items(), reverse=turn % 2 == 0):
            with tempfile.TemporaryDirectory() as cache:
                for time in ("first", "again"):
                    spent, answer = run(words, path, folder / tree, cache)
                    seconds.setdefault((tree, time), []).append(spent)
            row.setdefault(tree, {})["answer"] = answer
    for (tree, time), all_ in seconds.items():
        row[tree][time] = round(statistics.median(all_), 2)
    print(row, file=sys.stderr, flush=True)
    return row


def run(words: list[str], tree: Path, folder: Path, cache: str) -> tuple[float, str]:
    """The CPU seconds of a command, and the first line that it prints."""
    environment = os.environ | {"PYTHONPATH": str(tree), "NUMBA_CACHE_DIR": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "attncert", *words],
        cwd=folder, env=environment, text=True, capture_output=True,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return spent, (done.stdout or done.stderr).splitlines()[0]


if __name__ == "__main__":
    main()
