"""Measures how the time, memory and bits of an exact proof grow with T, compared with SymPy.

    python benchmarks/prove.py [--quick] [--out benchmarks/results/prove.json]

Every case runs in its own process (peak memory is per process). "build" finds the weights, "solve"
the exact readout, and "prove" is everything except the report. The baseline solves the *same*
integer system Z[:, C] X = Y with SymPy: `Matrix.LUsolve`, and `DomainMatrix.lu_solve` over QQ with
Python's integers, with gmpy2 and with FLINT underneath. Ratios are to `fmpq_mat.solve` in this run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

DIGITS = [2, 4, 8, 12, 16]  # heads; T = 3H + 1
SYNTHETIC = [(4, 8), (6, 8), (8, 8), (12, 6), (16, 5)]  # n, heads
BASELINE = [3, 7, 13, 25]  # examples
TIMEOUT = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only the smallest cases")
    parser.add_argument("--out", default="benchmarks/results/prove.json")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        print(json.dumps(_run(json.loads(arguments.case))))
        return
    from machine import machine

    result: dict[str, Any] = {
        "command": "python benchmarks/prove.py",
        "machine": machine("python-flint", "sympy", "gmpy2", "numpy"),
        "digits": [_case("digits", heads=h) for h in _some(DIGITS, arguments.quick)],
        "synthetic": [
            _case("synthetic", n=n, heads=h, shared=shared)
            for n, h in _some(SYNTHETIC, arguments.quick)
            for shared in (False, True)
        ],
        "baseline": [_baseline(t) for t in _some(BASELINE, arguments.quick)],
    }
    out = Path(arguments.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n")
    print(f"written: {out}")


def _some(cases: list[Any], quick: bool) -> list[Any]:
    return cases[:1] if quick else cases


def _case(kind: str, ground_types: str | None = None, **details: Any) -> dict[str, Any]:
    """Run one case in a fresh process; {"timeout": seconds} if it takes too long."""
    environment = dict(os.environ)
    if ground_types:
        environment["SYMPY_GROUND_TYPES"] = ground_types
    command = [sys.executable, __file__, "--case", json.dumps({"kind": kind, **details})]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=True
        )
    except subprocess.TimeoutExpired:
        row: dict[str, Any] = {"kind": kind, **details, "timeout": TIMEOUT}
    else:
        row = json.loads(done.stdout)
    print(row, file=sys.stderr)
    return row


def _baseline(examples: int) -> dict[str, Any]:
    rows = {
        "FLINT fmpq_mat.solve": _case("flint", T=examples),
        "SymPy Matrix.LUsolve": _case("matrix", T=examples),
        "SymPy DomainMatrix, Python integers": _case("domain", "python", T=examples),
        "SymPy DomainMatrix, gmpy2": _case("domain", "gmpy", T=examples),
        "SymPy DomainMatrix, FLINT": _case("domain", "flint", T=examples),
    }
    ours = rows["FLINT fmpq_mat.solve"]["seconds"]
    ratios = {
        name: round(row["seconds"] / ours, 1) for name, row in rows.items() if "seconds" in row
    }
    return {"T": examples, "rows": rows, "ratio to FLINT": ratios}


def _run(case: dict[str, Any]) -> dict[str, Any]:
    if case["kind"] in ("digits", "synthetic"):
        return case | _proof(case)
    return case | _solve(case["kind"], case["T"])


def _proof(case: dict[str, Any]) -> dict[str, Any]:
    from machine import peak_mebibytes

    from attncert.constructions import paper
    from attncert.constructions.construction import places
    from attncert.constructions.data import generators
    from attncert.constructions.data.digits import digits
    from attncert.constructions.readout.solve import pivot_system, predicted_bits, solve
    from attncert.verify.prove.prove import prove
    from attncert.verify.questions.prove import Prove

    heads = case["heads"]
    if case["kind"] == "digits":
        data = digits().take(3 * heads + 1)
    else:
        n = case["n"]
        examples = places(heads, n)
        data = generators.random(T=examples, n=n, d=n + 4, shared=case["shared"], bound=9, seed=1)
    start = time.perf_counter()
    built = paper.build(data, heads=heads)
    built_in = time.perf_counter() - start
    predicted = predicted_bits(built, data)
    start = time.perf_counter()
    proof = prove(data, Prove(heads=heads))
    proved_in = time.perf_counter() - start
    row = {
        "T": data.T,
        "claim": proof.setup.claim,
        "standing": proof.standing.value,
        "build_s": round(built_in, 3),
        "prove_s": round(proved_in, 3),
        "predicted_bits": predicted,
    }
    if proof.setup.claim == "interpolation":
        start = time.perf_counter()
        solution = solve(pivot_system(built, data), data.label_matrix)
        row["solve_s"] = round(time.perf_counter() - start, 3)
        row["readout_bits"] = max(int(x.height_bits()) for x in solution.entries())
    return row | {"peak_MiB": peak_mebibytes()}


def _solve(kind: str, examples: int) -> dict[str, Any]:
    from attncert.constructions import paper
    from attncert.constructions.data.digits import digits
    from attncert.constructions.readout.solve import pivot_system, solve

    data = digits().take(examples)
    system = pivot_system(paper.build(data), data)
    if kind == "flint":
        start = time.perf_counter()
        solve(system, data.label_matrix)
        return {"seconds": max(time.perf_counter() - start, 1e-6)}
    import sympy
    from sympy.external.gmpy import GROUND_TYPES
    from sympy.polys.matrices import DomainMatrix

    left = [[int(x) for x in row] for row in system.matrix.tolist()]
    right = [[s * int(y)] for s, y in zip(system.scale, data.labels.numerators[:, 0], strict=True)]
    if kind == "matrix":
        a, b = sympy.Matrix(left), sympy.Matrix(right)
        start = time.perf_counter()
        a.LUsolve(b)
    else:
        qq = sympy.QQ
        a = DomainMatrix([[qq(x) for x in r] for r in left], (examples, examples), qq)
        b = DomainMatrix([[qq(x) for x in r] for r in right], (examples, 1), qq)
        start = time.perf_counter()
        a.lu_solve(b)
    return {"seconds": time.perf_counter() - start, "ground_types": GROUND_TYPES}


if __name__ == "__main__":
    main()
