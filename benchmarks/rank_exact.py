"""Compares our exact rank of one matrix with FLINT and SymPy."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from flint import fmpq_mat, fmpz_mat, nmod_mat
from rank_growth import fit
from sympy import QQ, Matrix
from sympy.polys.matrices import DomainMatrix

from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.verify.rank.modular import modular_rank
from attncert.verify.rank.rational import integer_matrix, rank


def run(quick: bool, threads: int) -> dict[str, Any]:
    """Milliseconds for the rank of an n×n matrix of rank n or n - 1."""
    rows = []
    for n in (20, 60) if quick else (20, 60, 120, 240):
        for deficit in (0, 1):
            rows.append(compare(n, deficit, 1 if quick else 3))
            print({key: rows[-1][key] for key in ("n", "rank", "milliseconds")}, flush=True)
    return {"rows": rows, "exponents": exponents(rows)}


def exponents(rows: list[dict[str, Any]]) -> dict[str, float]:
    """The b in milliseconds = a n^b for each method, fitted to full-rank matrices."""
    points: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        if row["rank"] == row["n"]:
            for name, time_ in row["milliseconds"].items():
                points.setdefault(name, []).append((row["n"], time_))
    fits = {name: fit(*map(list, zip(*at, strict=True))) for name, at in points.items() if at[1:]}
    return {name: round(b, 2) for name, (_, b) in fits.items()}


def compare(n: int, deficit: int, repeats: int) -> dict[str, Any]:
    """Integer entries below 100; the last `deficit` rows are sums of two others."""
    rng = np.random.default_rng(n)
    table = rng.integers(-99, 100, (n, n))
    for i in range(deficit):
        table[n - 1 - i] = table[2 * i] + table[2 * i + 1]
    p = PRIMES_FLOAT64[0]
    integers = integer_matrix(table)
    lists = table.tolist()
    methods: dict[str, Any] = {
        "ours, modular": lambda: modular_rank(table).rank,
        "ours, over Q, proved both ways": lambda: rank(table).rank,
        "FLINT nmod_mat, from lists": lambda: nmod_mat(fmpz_mat(lists), p).rank(),
        "FLINT fmpz_mat": lambda: integers.rank(),
        "FLINT fmpq_mat": lambda: fmpq_mat(integers).rank(),
    }
    if n <= 120:
        exact = DomainMatrix([[QQ(x) for x in row] for row in lists], (n, n), QQ)
        methods["SymPy DomainMatrix over QQ"] = exact.rank
    if n <= 20:
        methods["SymPy Matrix.rank"] = Matrix(lists).rank
    answers = {name: int(method()) for name, method in methods.items()}
    if set(answers.values()) != {n - deficit}:
        raise RuntimeError(f"the methods disagree: {answers}")
    times = {
        name: round(1000 * _median_seconds(method, repeats), 3) for name, method in methods.items()
    }
    return {"n": n, "rank": n - deficit, "milliseconds": times}


def _median_seconds(job: Callable[[], Any], repeats: int) -> float:
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)
