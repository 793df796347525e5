"""Times the certification by rank of heads of width one, at scale, from the data to the file.

    python benchmarks/width_one.py [--quick] [--large | --largest] [--out RESULTS.json]
    python benchmarks/width_one.py --table    writes the table of docs/performance.md from that file

n = 32, d = 64, H = 20, T = 621, shared and distinct contexts (random integers from -9 to 9); all
1,782 digits; with --large also a thousand heads (n = 4, d = 8, T = 3,001) and the shape of
ViT-base, n = 197, d = 768, H = 12, T = 2,353, both with shared contexts; with --largest also
distinct contexts of that shape (356 million numbers in a file next to the certificate) and H = 64,
T = 12,545, where the weights are random integers (generic). "build" finds the weights. "Z and rank"
recomputes the features modulo another prime and certifies their rank. "end to end" is the process:
imports, data, every claim, and writing the report and the certificate.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from cases import asked, command, in_own_process, table, write

OUT = "benchmarks/results/width_one.json"
SMALL: list[dict[str, Any]] = [
    {"n": 8, "d": 16, "H": 6, "contexts": contexts} for contexts in ("shared", "distinct")
]
USUAL: list[dict[str, Any]] = [
    {"n": 32, "d": 64, "H": 20, "contexts": "shared"},
    {"n": 32, "d": 64, "H": 20, "contexts": "distinct"},
    {"n": 4, "d": 16, "H": 594, "contexts": "digits"},
]
LARGE: list[dict[str, Any]] = [
    {"n": 4, "d": 8, "H": 1000, "contexts": "shared"},
    {"n": 197, "d": 768, "H": 12, "contexts": "shared"},
]
LARGEST: list[dict[str, Any]] = [
    {"n": 197, "d": 768, "H": 12, "contexts": "distinct"},
    {"n": 197, "d": 768, "H": 64, "contexts": "shared", "construction": "generic"},
]
LIMIT = 180
LARGE_LIMIT = 1800
LARGEST_LIMIT = 4 * 3600


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two small cases only")
    parser.add_argument("--large", action="store_true", help="also T = 3,001 and 2,353")
    parser.add_argument("--largest", action="store_true", help="also T = 12,545, in hours")
    arguments = asked(parser, OUT, _run, markdown)
    from machine import machine

    limits = [(LIMIT, SMALL if arguments.quick else USUAL)]
    limits += [(LARGE_LIMIT, LARGE)] if arguments.large or arguments.largest else []
    limits += [(LARGEST_LIMIT, LARGEST)] if arguments.largest else []
    rows = [in_own_process(__file__, case, limit) for limit, cases in limits for case in cases]
    result = {
        "command": command(__file__),
        "machine": machine("python-flint", "numba", "numpy"),
        "rows": rows,
    }
    write(result, arguments.out)
    print(markdown(result))


def small_integers(heads: int, n: int, d: int, shared: bool) -> Any:
    """H(n-1) + 1 random examples, with one byte per number."""
    import numpy as np

    from attncert.constructions.data.dataset import Dataset
    from attncert.constructions.data.exact_array import ExactArray

    rng, T = np.random.default_rng(1), heads * (n - 1) + 1
    shapes = (1 if shared else T, n, d), (T, d), (T, 1)
    parts = (rng.integers(-9, 9, shape, dtype=np.int8, endpoint=True) for shape in shapes)
    return Dataset(*map(ExactArray, parts), f"width-one-{n}x{d}")


def _run(case: dict[str, Any]) -> dict[str, Any]:
    from machine import peak_mebibytes

    from attncert import write_report
    from attncert.constructions.data.digits import digits
    from attncert.verify.prove.prove import prove
    from attncert.verify.questions.prove import Prove

    if case["contexts"] == "digits":
        data = digits()
    else:
        shared = case["contexts"] == "shared"
        data = small_integers(case["H"], case["n"], case["d"], shared)
    spent: dict[str, float] = {}
    stage, since = "", time.perf_counter()

    def progress(name: str, done: int, of: int) -> None:
        nonlocal stage, since
        now = time.perf_counter()
        spent[stage] = spent.get(stage, 0.0) + now - since
        stage, since = name, now

    start = time.perf_counter()
    construction = case.get("construction", "width-one")
    proof = prove(data, Prove(construction, heads=case["H"], claim="full-rank"), progress)
    progress("", 0, 0)
    proved = time.perf_counter()
    assert proof.certificate is not None
    with tempfile.TemporaryDirectory() as folder:
        write_report(proof, f"{folder}/report")
        size = Path(folder, "report", "certificate.json").stat().st_size
    return {
        "T": data.T,
        "standing": proof.standing.value,
        "rank": proof.trace["rank"].numbers["rank"],
        "parameters": proof.setup.parameters,
        "heads that place": len(proof.groups or ()),
        "stages_s": {k: round(v, 2) for k, v in sorted(spent.items()) if k},
        "prove_s": round(proved - start, 2),
        "report_s": round(time.perf_counter() - proved, 2),
        "processor_s": round(time.process_time(), 1),
        "certificate_MB": round(size / 1e6, 2),
        "peak_MiB": peak_mebibytes(),
    }


def markdown(result: dict[str, Any]) -> str:
    """One row for each case."""
    lines = []
    for row in result["rows"]:
        shape = [row["contexts"], row["n"], row["d"], row["H"]]
        if "outcome" in row:
            lines.append([*shape, "-", row["outcome"], *["-"] * 2])
            continue
        lines.append(
            [
                *shape,
                f"{row['T']:,}",
                f"{row['total_s']:.1f} s",
                f"{row['certificate_MB']} MB",
                f"{row['peak_MiB']:,} MiB",
            ]
        )
    headings = ["contexts", "n", "d", "H", "T", "end to end"]
    return table([*headings, "certificate", "peak memory"], lines)


if __name__ == "__main__":
    sys.exit(main())
