"""Heads of width one that memorize any distinct queries over one context of rank n (ours).

    M_h = u_h vᵀ        with α_t = v·e_t distinct integers and E u_h = g^h, n integers

so that example t has the logits α_t g^h in head h. What is needed is g^1, ..., g^H for which the
T = H(n-1) + 1 rows (1, σ(α_t g^1), ..., σ(α_t g^H)) have full rank. Take n ≥ 3 and, by v → -v if
necessary, no more negative than positive α. In head h call p_h tokens *top* and q_h = n - p_h ≥ 1
*bottom*:

    g = -s δ   at the top tokens,      0 = δ < δ' < ..., the δ > 0 of all heads distinct
    g = -s (λ_h - γ)   at the bottom,  0 = γ < γ' < ..., the γ > 0 of all heads distinct

With λ_h large and s → ∞ a positive α sees a softmax over the top tokens and only traces, of size
2^(-s α λ), of the bottom ones; a negative α sees the opposite. The number N of negative α decides
how many tokens are at the bottom: Σ_h (q_h - 1) = N - 1. That the determinant does not vanish for
large s is the theorem of docs/tightness.md, section 4; here s is doubled until the rank is full.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from flint import fmpq, fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.keys import distinct
from attncert.constructions.layer import Head, Layer
from attncert.verify.features import rank_of
from attncert.verify.tightness.relations.probes import Reached

_ATTEMPTS = 40  # doublings of s
_DRAWS = 64  # vectors v tried for each bound on their entries


def separated_layer(data: Dataset, heads: int, examples: Sequence[int], rank: int) -> Reached:
    """The layer above for these examples: the features of the data reach this rank.

    data: contexts equal up to the order of their rows, of rank n. examples: with distinct queries
    (n = 2: distinct up to sign), at most the capacity H(n-1) + 1. rank: their number (n = 1: 1).
    Exact; the rank is found mod p. Raises RuntimeError where every prime misleads.
    """
    alphas, v = _separate(data, examples)
    negatives, zero = sum(a < 0 for a in alphas), 0 in alphas
    context = data.context(0)
    inverse = context.transpose() * (context * context.transpose()).inv()  # E·inverse = I
    query = fmpq_mat(data.d, 1, v) * fmpq(data.queries.denominator)
    for attempt in range(_ATTEMPTS):
        scale, depth = 1 << attempt // 2, 1 << (attempt + 1) // 2
        patterns = logit_patterns(data.n, heads, negatives, zero, depth)
        keys = [inverse * fmpq_mat(data.n, 1, [scale * x for x in g]) for g in patterns]
        layer = Layer(tuple(Head(key, query) for key in keys))
        found, prime = rank_of(data, layer)
        if found == rank:
            return Reached(found, prime, layer, attempt + 1)
    raise RuntimeError("the proof's weights do not reach their rank: please report this data")


def logit_patterns(
    n: int, heads: int, negatives: int, zero: bool, depth: int
) -> list[tuple[int, ...]]:
    """g^1, ..., g^H for s = 1: n integers each, none positive.

    negatives: how many α are negative, at most as many as are positive once the examples are
    filled up to H(n-1) + 1. zero: whether some α is 0. depth: how much lower the bottom tokens are.

    >>> logit_patterns(4, 2, 2, False, 100)
    [(0, -1, -102, -103), (0, -2, -3, -101)]
    """
    if n == 1:
        return [(0,)] * heads
    deltas, gammas = itertools.count(1), itertools.count(1)
    patterns = []
    for h, bottom in enumerate(_bottom_sizes(n, heads, negatives, zero)):
        tops = [0, *itertools.islice(deltas, n - bottom - 1)]
        above = [0, *itertools.islice(gammas, bottom - 1)]  # the lowest token
        least = depth + (heads if h == 0 else h)  # λ_h - max γ: distinct, the largest in head 1
        patterns.append((*(-x for x in tops), *(-(least + above[-1] - x) for x in above[::-1])))
    return patterns


def _bottom_sizes(n: int, heads: int, negatives: int, zero: bool) -> list[int]:
    """q_1, ..., q_H from 1 to n - 1, with Σ (q_h - 1) = max(N - 1, 0).

    A zero query counts as a positive α, and needs q_1 > q_H; where N ≤ 1 it counts as a negative.
    """
    left = negatives if zero and negatives <= 1 else max(negatives - 1, 0)
    sizes = []
    for _ in range(heads):
        more = min(n - 2, left)
        sizes.append(1 + more)
        left -= more
    return sizes


def _separate(data: Dataset, examples: Sequence[int]) -> tuple[list[int], list[int]]:
    """α_t = v·e_t of the examples, in units of the queries' numerators, and v: small integers.

    The α are distinct (n ≤ 2: in absolute value), those of nonzero queries not 0, and no more of
    them negative than positive.
    """
    queries = data.queries[list(examples)].numerators
    nonzero = np.array([any(row) for row in queries.tolist()])
    rng = np.random.default_rng(0)
    for bound in itertools.count(1):
        found: list[tuple[int, list[int], list[int]]] = []
        for v in rng.integers(-bound, bound, (_DRAWS, data.d), endpoint=True).tolist():
            alphas = [sum(int(x) * y for x, y in zip(row, v, strict=True)) for row in queries]
            told_apart = distinct(map(abs, alphas) if data.n <= 2 else alphas)
            if len(told_apart) == len(alphas) and all(np.array(alphas, dtype=object)[nonzero]):
                found.append((max(map(abs, alphas)), alphas, v))
        if found:
            _, alphas, v = min(found)
            sign = -1 if sum(a < 0 for a in alphas) > sum(a > 0 for a in alphas) else 1
            return [sign * a for a in alphas], [sign * x for x in v]
    raise AssertionError("unreachable")
