"""Exact interpolation of the digits: one table of sizes, bits and times for both constructions.

    python benchmarks/digits.py [--up-to T] [--out benchmarks/results/digits.json]
    python benchmarks/digits.py --table      writes the table of docs/performance.md, from that file

The data are the first T images; heads have width one (d_h = 1) or the paper's (d_h = n = 4).
"build" finds the weights, "solve" the exact readout over ℚ (a system of T equations), "FLINT" is
`fmpq_mat.solve` on the same system cleared of denominators (Dixon's lifting), and "prove" is all of
`attncert prove --claim interpolation` except the report.
Every case runs in its own process, within a time limit.

The solution is checked independently of how it was found: Z V = Y modulo three primes that nothing
else uses, and in "prove" over ℚ. Times are CPU times of one thread.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

from cases import asked, command, in_own_process, table, write

OUT = "benchmarks/results/digits.json"
CASES = {  # the seconds allowed for build and solve, on a machine that is not idle
    "width-one": {25: 60, 49: 60, 97: 60, 193: 90, 385: 400, 769: 2400},
    "paper": {25: 60, 49: 60, 97: 600},
}
FLINT_UP_TO, FLINT_LIMIT = 385, 900
PROVE_UP_TO, PROVE_LIMIT = 193, 200
CHECKS = (2147481571, 2147481563, 2147481529)  # primes below 2^31


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--up-to", type=int, default=10**4, help="at most this many examples")
    arguments = asked(parser, OUT, _run, markdown)
    from machine import machine

    rows = []
    for construction, limits in CASES.items():
        late = False
        for T, limit in limits.items():
            if late or arguments.up_to < T:
                continue
            row = _measured(construction, T, limit)
            late = "outcome" in row  # more examples would take longer
            rows.append(row)
    result = {
        "command": command(__file__),
        "machine": machine("python-flint", "gmpy2", "numba", "numpy"),
        "rows": rows,
    }
    write(result, arguments.out)
    print(markdown(result))


def _measured(construction: str, T: int, limit: int) -> dict[str, Any]:
    case = {"construction": construction, "T": T}
    row = in_own_process(__file__, case | {"what": "solve"}, limit)
    if "outcome" in row:
        return row
    if T <= FLINT_UP_TO:
        flint = in_own_process(__file__, case | {"what": "flint"}, FLINT_LIMIT)
        row["flint_s"] = flint.get("solve_s", flint.get("outcome"))
    if T <= PROVE_UP_TO:
        proof = in_own_process(__file__, case | {"what": "prove"}, PROVE_LIMIT)
        row["prove_s"] = proof.get("prove_s", proof.get("outcome"))
    return row


def _run(case: dict[str, Any]) -> dict[str, Any]:
    from machine import peak_mebibytes
    from threadpoolctl import threadpool_limits

    from attncert.constructions import paper as the_paper
    from attncert.constructions import width_one
    from attncert.constructions.construction import heads_to_place
    from attncert.constructions.data.digits import digits
    from attncert.constructions.layer import parameter_count
    from attncert.constructions.readout.solve import pivot_system, predicted_bits, readout, solve
    from attncert.verify.prove.prove import prove
    from attncert.verify.questions.prove import Prove

    data = digits().take(case["T"])
    start = time.process_time()
    if case["what"] == "prove":
        proof = prove(data, Prove(case["construction"], claim="interpolation"))
        return {
            "prove_s": round(time.process_time() - start, 2),
            "standing": proof.standing.value,
            "peak_MiB": peak_mebibytes(),
        }
    with threadpool_limits(1, "blas"):
        built = (width_one if case["construction"] == "width-one" else the_paper).build(data)
    built_in, start = time.process_time() - start, time.process_time()
    if case["what"] == "flint":
        solve(pivot_system(built, data), data.label_matrix)
        return {"solve_s": round(time.process_time() - start, 2)}
    compile_s = _compiled()
    start = time.process_time()
    x = readout(built, data, data.label_matrix)
    solved_in = time.process_time() - start
    heads, width = heads_to_place(data.T, 4) or 1, built.layer.head_width
    return {
        "heads": heads,
        "heads that place": len(built.heads),
        "d_h": width,
        "parameters": parameter_count(data.d, data.m, heads, width, data.m),
        "parameters of the heads that place": parameter_count(
            data.d, data.m, len(built.heads), width, data.m
        ),
        "bits_of_Z": _bits_of_features(built, data),
        "predicted_bits": predicted_bits(built, data),
        "build_s": round(built_in, 2),
        "compile_s": compile_s,
        "solve_s": round(solved_in, 2),
        "readout_bits": max(int(e.height_bits()) for e in x.entries()),
        "checked modulo": _check(built, data, x),
        "peak_MiB": peak_mebibytes(),
    }


def _compiled() -> float:
    """Seconds to compile or load the lifting, needed once per machine and not part of a solve."""
    from attncert.constructions import width_one
    from attncert.constructions.data.digits import digits
    from attncert.constructions.readout.lifting import lifted

    start = time.process_time()
    data = digits().take(7)
    lifted(width_one.build(data), data, [1] * 7, 100)
    return round(time.process_time() - start, 2)


def _bits_of_features(built: Any, data: Any) -> int:
    """The bits of the largest denominator in Z before reduction: a softmax sum."""
    from attncert.constructions.layer import integer_logits, powers_of_two

    return max(
        sum(powers_of_two(row)).bit_length()
        for head in built.layer.heads[: len(built.heads)]
        for row in integer_logits(head, data)
    )


def _check(built: Any, data: Any, x: Any) -> list[int]:
    """Check Z V = Y modulo each of CHECKS, with recomputed features; returns the primes, or raises
    an error."""
    from attncert.verify.features import features

    for p in CHECKS:
        residues = [int(e.p % p) * pow(int(e.q % p), -1, p) % p for e in x.entries()]
        totals, at = [0] * data.T, 0
        contexts = features.contexts_mod(data, p)
        for weights, head in zip(built.layer.heads, built.heads, strict=False):
            block = features.mix_mod(
                features.softmax_mod(features.logits(weights, data), p), contexts, p
            )
            for j in head.pivots:
                column = block[:, j].tolist()
                totals = [(s + z * residues[at]) % p for s, z in zip(totals, column, strict=True)]
                at += 1
        if totals != [int(y) % p for y in data.labels.numerators[:, 0]]:
            raise SystemExit(f"Z V is not Y modulo {p}")
    return list(CHECKS)


def markdown(result: dict[str, Any]) -> str:
    """One row for each T, with both constructions side by side."""
    rows = {(row["construction"], row["T"]): row for row in result["rows"]}
    lines = []
    for T in sorted({T for _, T in rows}):
        ours, paper = rows.get(("width-one", T)), rows.get(("paper", T))
        if ours is None:
            continue
        if "outcome" in ours:
            lines.append([T, "-", "-", ours["outcome"], *["-"] * 5])
            continue
        late = "not tried" if paper is None else paper.get("outcome")
        theirs = [late, "-"]
        if paper is not None and late is None:
            theirs = [_seconds(paper["solve_s"]), f"{paper['readout_bits']:,}"]
        lines.append(
            [
                f"{T} ({ours['heads']})",
                f"{ours['parameters']:,}",
                _seconds(ours["build_s"]),
                _seconds(ours["solve_s"]),
                _seconds(ours.get("flint_s", "-")),
                f"{ours['readout_bits']:,}",
                _seconds(ours.get("prove_s", "-")),
                *theirs,
            ]
        )
    headings = ["T (H)", "parameters", "build", "solve", "FLINT's solve"]
    headings += ["bits in the readout", "prove", "paper: solve"]
    headings += ["bits in the readout"]
    return table(headings, lines)


def _seconds(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.2f} s"


if __name__ == "__main__":
    sys.exit(main())
