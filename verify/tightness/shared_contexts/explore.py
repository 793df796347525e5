"""Merely distinct queries over a shared context, n ≥ 3: a search for a counterexample.

The theorem of docs/tightness.md, section 4, says that there is none: T = H(n-1) + 1 distinct
queries are memorized universally, however they lie. Here it is attacked: small degenerate data
sets, on which the rank is decided exactly for a few draws of small random weights, and where these
fail for the proof's weights.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from flint import fmpz_mat

from attncert.constructions.arrays import IntArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import require_positive
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.tightness.relations.probes import best_rank
from attncert.verify.tightness.shared_contexts.largest_rank import applies
from attncert.verify.tightness.shared_contexts.separated import separated_layer

KINDS = ("line", "signed pairs", "shifted line", "plane", "powers of two")
_SHAPES = ((3, 1), (3, 2), (3, 3), (4, 2), (4, 3), (5, 2))  # (n, H)


def explore_distinct_queries(cases: int, seed: int = 0, *, draws: int = 4) -> Claim:
    """Data sets, n = 3 to 5, with H(n-1) + 1 distinct queries: is the rank full for some weights?

    Counts the data sets by the draw of random width-one weights that first gave full rank, and
    those that needed the proof's weights; a data set where these fail too is the witness. Each data
    set is decided exactly; about all others the search says nothing. Deterministic for a seed.
    Raises InputError.
    """
    require_positive(cases=cases)
    rng = np.random.default_rng(seed)
    counts: Counter[str] = Counter()
    failures: list[dict[str, Any]] = []
    for case in range(cases):
        kind = KINDS[case % len(KINDS)]
        n, heads = _SHAPES[case // len(KINDS) % len(_SHAPES)]
        data = degenerate_queries(kind, n, heads * (n - 1) + 1, rng)
        found = best_rank(data, heads, data.T, draws=draws, seed=int(rng.integers(2**31)))
        if found.rank == data.T:
            counts[f"full rank at draw {found.draws}"] += 1
            continue
        try:
            separated_layer(data, heads, range(data.T), data.T)
            counts["full rank with the proof's weights"] += 1
        except RuntimeError:
            failures.append({"kind": kind, "heads": heads, "data": data.canonical()})
    return Claim(
        ids.EXPLORE_DISTINCT_QUERIES,
        f"In {cases} data sets with a shared context, $n$ from 3 to 5, and $T=H(n-1)+1$ distinct "
        f"queries ({', '.join(KINDS)}) no counterexample was met: some weights of width one have "
        "full rank.",
        Level.REFUTED if failures else Level.SAMPLED,
        numbers={"cases": cases, **dict(sorted(counts.items())), "failures": len(failures)},
        witness={"data sets": failures} if failures else None,
        arithmetic="each data set: exact, features and rank modulo a prime",
        source="ours; docs/tightness.md, section 4",
    )


def degenerate_queries(kind: str, n: int, examples: int, rng: np.random.Generator) -> Dataset:
    """A shared integer context of rank n and so many distinct queries of a degenerate kind.

    line: multiples of one vector, 0 and both signs included. signed pairs: e and -e throughout.
    shifted line: p + k q. plane: k p + l q. powers of two: ±2^k p, where exponents double.
    """
    d = n + int(rng.integers(0, 2))
    p, q = _independent(rng, 2, d)
    span = int(np.ceil(examples / 2)) + int(rng.integers(0, 3))
    steps = np.arange(-span, span + 1)
    if kind == "signed pairs":
        half = rng.choice(np.arange(1, 2 * span + 1), examples // 2, replace=False)
        steps = np.concatenate([half, -half, [0] * (examples % 2)])
    elif kind == "powers of two":
        signs = rng.choice((-1, 1), examples)
        steps = signs * 2 ** np.arange(examples)
    if kind == "plane":
        side = np.arange(-2, 3)
        rows = np.array([k * p + m * q for k in side for m in side])
    else:
        rows = steps[:, None] * p + (q if kind == "shifted line" else 0)
    chosen = rng.choice(len(rows), examples, replace=False)
    context = _independent(rng, n, d)
    data = Dataset.of(context, rows[chosen], np.zeros(examples, dtype=np.int64), kind)
    assert applies(data)
    return data


def _independent(rng: np.random.Generator, rows: int, d: int) -> IntArray:
    while True:
        matrix = rng.integers(-3, 4, (rows, d))
        if fmpz_mat(matrix.tolist()).rank() == rows:
            return matrix
