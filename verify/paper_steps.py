"""Steps 2 to 8 of the paper's proof, head by head, each checked on what was built.

Every check recomputes its numbers from the data and the vectors on record, over ℚ, or from the
layer's weights; none asks the builder. The check of one step does not look at another's: an error
is caught where it was made.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from constructions.dataset import Dataset
from constructions.layer import Head
from constructions.mahdavi2024 import Construction, PaperHead
from verify import features
from verify.evidence import Claim, Level

RATIONAL = "exact over ℚ (FLINT)"


def head_claims(
    data: Dataset, construction: Construction, *, with_ranks: bool = True
) -> Iterator[Claim]:
    """All claims of all heads in order, each timed.

    with_ranks: whether to repeat the rank after every head (T^3 each); the rank of the whole layer
    is a claim of its own in any case.
    """
    primes = features.usable_primes(data)
    seen = features.Progressive(data, primes[0]) if with_ranks and primes else None
    for number, (record, weights) in enumerate(
        zip(construction.heads, construction.layer.heads, strict=False), start=1
    ):
        checks = [
            partial(duals, data, record, number),
            partial(steering, data, record, number),
        ]
        if record.earlier:
            checks += [
                partial(selector, data, record, number),
                partial(separator, data, record, number),
            ]
        checks.append(partial(head_weights, data, record, weights, construction.r, number))
        try:
            table = features.logits(weights, data)
        except features.NotIntegral as error:
            yield from map(_timed, [*checks, partial(_not_integral, error, number)])
            return
        checks.append(partial(_integral, table, number))
        if record.earlier:
            checks.append(partial(saturation, data, record, table, number))
            if seen is not None:
                checks.append(partial(limit_independence, data, record, table, seen, number))
        if seen is not None:
            checks.append(partial(finite_rank, data, record, table, seen, number))
        yield from map(_timed, checks)


def placement(data: Dataset, construction: Construction) -> Claim:
    """Every example in one group, groups of at most r and r - 1; what is earlier is earlier."""
    groups, r = construction.groups, construction.r
    records = construction.heads
    members = sorted(t for group in groups for t in group)
    earlier = [tuple(t for group in groups[:h] for t in group) for h in range(len(groups))]
    too_large = [h for h, group in enumerate(groups) if len(group) > (r if h == 0 else r - 1)]
    astray = [
        h
        for h, (record, group, before) in enumerate(zip(records, groups, earlier, strict=False))
        if record.group != group or record.earlier != before
    ]
    complete = members == list(range(data.T)) and all(groups)
    counted = len(records) == len(groups) <= len(construction.layer.heads)
    holds = complete and counted and not too_large and not astray
    return Claim(
        "groups",
        f"Every example is placed by exactly one head, the first head places at most $r={r}$ of "
        "them and each further one at most $r-1$; earlier examples are those of the heads before.",
        Level.PROVED if holds else Level.REFUTED,
        numbers={"groups": len(groups), "examples": data.T},
        witness=None
        if holds
        else {
            "every example once": complete,
            "one record for each group": counted,
            "groups too large": [h + 1 for h in too_large],
            "heads whose record differs": [h + 1 for h in astray],
        },
        arithmetic="comparison of integers",
        source="paper, proof of Theorem 1",
    )


def duals(data: Dataset, head: PaperHead, number: int) -> Claim:
    """Step 2: ê_t·e_t' = 1 if t = t', else 0, for t, t' in the group."""
    queries = _query_rows(data, head.group)
    table = queries * _side_by_side(head.duals, data.d)
    size = len(head.group)
    wrong = [
        (i, j) for i in range(size) for j in range(size) if table[i, j] != (1 if i == j else 0)
    ]
    return _claim(
        number,
        "duals",
        "The dual vectors $\\hat e_t$ of the group satisfy $\\hat e_t\\cdot e_{t'}=\\delta_{tt'}$.",
        not wrong,
        {"group size": size},
        lambda: {
            "examples": [head.group[k] for k in wrong[0]],
            "product": str(table[wrong[0][0], wrong[0][1]]),
        },
        source="paper, proof of Theorem 1, step 2",
        uses={"A1": f"{size} queries of one group are independent"},
        rests_on=("hypothesis.partition",),
    )


def steering(data: Dataset, head: PaperHead, number: int) -> Claim:
    """Step 2: E⁽ᵗ⁾w_t = g_t for t in the group."""
    wrong = []
    for t, w, logits in zip(head.group, head.steering, head.logits, strict=True):
        if [int(x.p) if x.q == 1 else None for x in (data.context(t) * w).entries()] != list(
            logits
        ):
            wrong.append(t)
    spread = max((max(g) - min(g) for g in head.logits), default=0)
    uniform = sum(len(set(g)) == 1 for g in head.logits)
    return _claim(
        number,
        "steering",
        "The steering vectors $w_t$ give the group its logits: $E^{(t)}w_t=g_t$.",
        not wrong,
        {"largest logit range": spread, "barycentre targets": uniform},
        lambda: {"example": wrong[0]},
        source="paper, proof of Theorem 1, step 2",
        uses={"A2": "contexts of the group have rank n (g_t may be anything)"},
        rests_on=("hypothesis.A2",),
    )


def selector(data: Dataset, head: PaperHead, number: int) -> Claim:
    """Step 3: v ⊥ e_t for the group, v·e_s ≠ 0 for every earlier s."""
    products = (data.query_matrix * head.selector).entries()
    inside = [t for t in head.group if products[t] != 0]
    vanishing = [s for s in head.earlier if products[s] == 0]
    sizes = [abs(products[s]) for s in head.earlier]
    return _claim(
        number,
        "selector",
        "The selector $v$ is orthogonal to the group's queries and to no earlier query.",
        not inside and not vanishing,
        {"least product": str(min(sizes)), "largest product": str(max(sizes))},
        lambda: {
            "example": (inside + vanishing)[0],
            "product": str(products[(inside + vanishing)[0]]),
        },
        source="paper, proof of Theorem 1, step 3",
        uses={"A1": f"no earlier query in the span of the group: {len(head.group) + 1} at a time"},
        rests_on=("hypothesis.partition",),
    )


def separator(data: Dataset, head: PaperHead, number: int) -> Claim:
    """Step 4: E⁽ˢ⁾u has a unique maximum and a unique minimum for every earlier s."""
    tied, ranges = [], []
    for s in head.earlier:
        values = sorted((data.context(s) * head.separator).entries())
        ranges.append(values[-1] - values[0])
        if len(values) > 1 and (values[-1] == values[-2] or values[0] == values[1]):
            tied.append(s)
    return _claim(
        number,
        "separator",
        "For every earlier $s$ the entries of $E^{(s)}u$ have a unique maximum and minimum.",
        not tied,
        {"largest range": str(max(ranges))},
        lambda: {"example": tied[0]},
        source="paper, proof of Theorem 1, step 4",
        uses={"A2": "rows of one context are distinct"},
        rests_on=("hypothesis.A2",),
    )


def head_weights(data: Dataset, head: PaperHead, weights: Head, r: int, number: int) -> Claim:
    """Step 5: key·queryᵀ is c·u vᵀ + Σ w_t ê_tᵀ, of rank at most r ≤ d_h; group logits are g_t."""
    built = weights.key * weights.query.transpose()
    formula = fmpq_mat(data.d, data.d)
    for w, dual in zip(head.steering, head.duals, strict=True):
        formula += w * dual.transpose()
    if head.separator is not None and head.selector is not None:
        formula += head.separator * head.selector.transpose() * fmpq(head.c)
    rank = int(built.rank())
    moved = []
    for t, wanted in zip(head.group, head.logits, strict=True):
        found = data.context(t) * (built * _query_rows(data, [t]).transpose())
        if found.entries() != [fmpq(k) for k in wanted]:
            moved.append(t)
    return _claim(
        number,
        "weights",
        "The layer's $M_h = W_K W_Q^\\top$ is $c\\,uv^\\top+\\sum_t w_t\\hat e_t^\\top$ (up to "
        "$\\ln 2$), has rank at most $r\\le d_h$, and gives its group logits $g_t$ free of $c$.",
        built == formula and rank <= r and not moved,
        {"rank of M": rank, "r": r, "head width": weights.width},
        lambda: {
            "rank": rank,
            "equal": built == formula,
            "examples with other logits": moved,
        },
        source="paper, proof of Theorem 1, step 5",
        rests_on=tuple(
            f"head.{number}.{step}"
            for step in ("duals", "steering", *(("selector",) if head.earlier else ()))
        ),
    )


def saturation(data: Dataset, head: PaperHead, table: np.ndarray, number: int) -> Claim:
    """Steps 6 and 8: every earlier s attends to L_s, with 1 - p ≤ (n-1)·2^-B.

    L_s is where (v·e_s)·E⁽ˢ⁾u is largest, and the layer's own logits lead there by B bits or more:
    each other weight is then at most 2^-B of the target's.
    """
    wrong, gaps = [], []
    for row, s, target in zip(lead(data, head), head.earlier, head.targets, strict=True):
        others = [i for i in range(data.n) if i != target]
        if any(row[i] >= row[target] for i in others):
            wrong.append(s)
        gaps += [int(table[s, target]) - int(table[s, i]) for i in others]
    bits = min(gaps) if gaps else None
    off_peak = features.log2_off_peak(table[list(head.earlier)])
    return _claim(
        number,
        "saturation",
        "Every earlier $s$ attends to the row $L_s$ where $(v\\cdot e_s)E^{(s)}u$ is largest: "
        "$1-p\\le(n-1)2^{-B}$.",
        not wrong and bits == head.gap_bits and (bits is None or bits >= 1),
        {"c": head.c, "B": bits, "worst log2(1-p)": round(float(off_peak.max()), 3)}
        if bits is not None
        else {"c": head.c},
        lambda: {"examples with another row": wrong, "least gap": bits, "claimed": head.gap_bits},
        source="paper, proof of Theorem 1, steps 6 and 8",
        rests_on=(f"head.{number}.selector", f"head.{number}.separator"),
    )


def limit_independence(
    data: Dataset,
    head: PaperHead,
    table: np.ndarray,
    seen: features.Progressive,
    number: int,
) -> Claim:
    """Step 7: in the limit c → ∞ the rows of all examples placed so far are independent."""
    rows = [*head.earlier, *head.group]
    try:
        weights = features.softmax_mod(table[rows], seen.prime)
    except ZeroDivisionError:
        weights = np.zeros((len(rows), data.n), dtype=np.int64)  # no features mod p: no evidence
    for k, target in enumerate(head.targets):
        weights[k] = 0
        weights[k, target] = 1
    limit = features.mix_mod(weights, seen.contexts(rows), seen.prime)
    rank = seen.rank(rows, limit)
    return _claim(
        number,
        "independence",
        "With $L_s$ in place of every earlier feature, the rows of all examples placed so far are "
        "independent: each new one left the span of all rows before it.",
        rank == len(rows),
        {"rank": rank, "rows": len(rows)},
        lambda: {"rank": rank, "rows": len(rows), "prime": seen.prime},
        source="paper, proof of Theorem 1, step 7 (targets chosen one at a time: ours)",
        arithmetic=f"rank mod {seen.prime}, which the rank over ℚ is at least",
        uses={"A2": f"{len(head.group)} of n independent rows must leave a flat"},
        rests_on=(f"head.{number}.saturation", "hypothesis.A2"),
        failed=Level.UNDECIDED,
    )


def finite_rank(
    data: Dataset,
    head: PaperHead,
    table: np.ndarray,
    seen: features.Progressive,
    number: int,
) -> Claim:
    """Step 8: the rows placed so far are independent at the c that was chosen."""
    try:
        weights = features.softmax_mod(table, seen.prime)
    except ZeroDivisionError:
        weights = np.zeros((data.T, data.n), dtype=np.int64)  # no features mod p: no evidence
    seen.append(features.mix_mod(weights, seen.contexts(range(data.T)), seen.prime))
    rows = [*head.earlier, *head.group]
    rank = seen.rank(rows)
    at = "" if head.c is None else f" at $c={head.c}$"
    return _claim(
        number,
        "rank",
        f"The features of heads 1 to {number} have rank {len(rows)} on the {len(rows)} examples "
        f"placed so far{at}.",
        rank == len(rows),
        {"rank": rank, "rows": len(rows)},
        lambda: {"rank": rank, "rows": len(rows), "prime": seen.prime},
        source="paper, proof of Theorem 1, step 8",
        arithmetic=f"rank mod {seen.prime}, which the rank over ℚ is at least",
        failed=Level.UNDECIDED,
    )


def lead(data: Dataset, head: PaperHead) -> np.ndarray:
    """(v·e_s)·E⁽ˢ⁾u for the earlier s, (N, n) rationals (objects): what c multiplies."""
    products = (data.query_matrix * head.selector).entries()
    out = np.empty((len(head.earlier), data.n), dtype=object)
    for k, s in enumerate(head.earlier):
        values = (data.context(s) * head.separator).entries()
        out[k] = [x * products[s] for x in values]
    return out


def _integral(table: np.ndarray, number: int) -> Claim:
    spread = int(max(row.max() - row.min() for row in table))
    return _claim(
        number,
        "integral",
        "Every logit of every example is an integral multiple of $\\ln 2$, so that every softmax "
        "weight is a rational number.",
        True,
        {"largest logit range": spread if spread < 2**53 else f"2^{spread.bit_length()}"},
        dict,
        source="ours; mathematics of exactness",
    )


def _not_integral(error: features.NotIntegral, number: int) -> Claim:
    return _claim(
        number,
        "integral",
        "Every logit of every example is an integral multiple of $\\ln 2$.",
        False,
        {},
        lambda: {"example": error.example, "row": error.row, "logit": error.value},
        source="ours; mathematics of exactness",
    )


def _timed(check: Callable[[], Claim]) -> Claim:
    start = time.perf_counter()
    claim = check()
    return claim.timed(time.perf_counter() - start)


def _claim(
    number: int,
    step: str,
    statement: str,
    holds: bool,
    numbers: dict[str, Any],
    witness: Callable[[], dict[str, Any]],
    *,
    arithmetic: str = RATIONAL,
    failed: Level = Level.REFUTED,
    **rest: Any,
) -> Claim:
    return Claim(
        id=f"head.{number}.{step}",
        statement=statement,
        level=Level.PROVED if holds else failed,
        numbers=numbers,
        witness=None if holds else witness(),
        arithmetic=arithmetic,
        **rest,
    )


def _query_rows(data: Dataset, examples: Any) -> fmpq_mat:
    rows = [data.query_matrix[t, j] for t in examples for j in range(data.d)]
    return fmpq_mat(len(rows) // data.d, data.d, rows)


def _side_by_side(vectors: tuple[fmpq_mat, ...], d: int) -> fmpq_mat:
    rows = [x for vector in vectors for x in vector.entries()]
    return fmpq_mat(len(vectors), d, rows).transpose()
