"""Random small cases against every statement of docs/given-labels.md that ranks can refute.

A case returns the parts that were tried in it, each with whether it held. Data are lists of
integers, and everything is decided by `oracle.py`.
"""

from __future__ import annotations

import random

from attncert.verify.audit.attack.given.oracle import (
    Example,
    Matrix,
    Span,
    bound,
    columns,
    conjectured_rank,
    coordinate_bound,
    dot,
    draw_head,
    draw_matrix,
    generic_rank,
    group_count,
    jacobian_rank,
    kruskal_rank,
    law,
    matroid_rank,
    outputs,
    pair_jacobian,
    rank,
    rank_mod,
    zero_groups,
)

Outcome = dict[str, bool]  # what was tried: did it hold?
KINDS = (
    *("random", "random", "repeated", "parallelogram", "constant", "zero", "collinear", "cube"),
    *("scaled", "shifted", "permuted"),
)


def draw_context(rng: random.Random, d: int, pool: list[Matrix]) -> Matrix:
    """Small integers: rows of every degenerate kind, or a relative of a context already drawn."""
    kind, n = rng.choice(KINDS), rng.randint(1, 5)
    p, a, b, *_ = rows = draw_matrix(rng, 5, d, 2)

    def combine(x: int, y: int) -> list[int]:
        return [u + x * v + y * w for u, v, w in zip(p, a, b, strict=True)]

    if kind == "repeated":
        return [rng.choice(rows[:2]) for _ in range(n + 1)]
    if kind == "parallelogram":
        return [combine(x, y) for x in (0, 1) for y in (0, 1)]
    if kind == "constant":
        return [p] * n
    if kind == "zero":
        return [[0] * d, *rows[1:n]]
    if kind == "collinear":
        return [combine(rng.randint(-2, 2), 0) for _ in range(n)]
    if kind == "cube":
        return [[i >> j & 1 if j < 3 else 0 for j in range(d)] for i in range(8)]
    if kind in ("scaled", "shifted", "permuted") and pool:
        base = [list(row) for row in rng.choice(pool)]
        if kind == "permuted":
            return rng.sample(base, len(base))
        c, s = (rng.choice((-1, 2, 3)), [0] * d) if kind == "scaled" else (1, p)
        return [[c * x + y for x, y in zip(row, s, strict=True)] for row in base]
    return rows[:n]


def draw_groups(rng: random.Random, d: int, sizes: list[int], q: int) -> list[list[Example]]:
    """Queries are generic in a subspace of dimension at most q."""
    basis = columns(draw_matrix(rng, q, d, 2**20))
    pool: list[Matrix] = []
    groups: list[list[Example]] = []
    for size in sizes:
        pool.append(draw_context(rng, d, pool))
        weights = draw_matrix(rng, size, q, 2**40)
        groups.append([(pool[-1], [dot(w, x) for x in basis]) for w in weights])
    return groups


def draw_apart(rng: random.Random, T: int, d: int, size: int) -> list[list[int]]:
    """Queries that are pairwise independent; larger entries if there are too few."""
    queries: list[list[int]] = []
    while len(queries) < T:
        e = draw_matrix(rng, 1, d, size)[0]
        if rank([e]) and all(rank([e, f]) == 2 for f in queries):
            queries.append(e)
        elif rng.random() < 0.05:
            size += 1
    return queries


def law_case(rng: random.Random) -> Outcome:
    """Theorem 7: equality at generic weights, and the bound at weak ones."""
    d, H, d_v = rng.randint(1, 5), rng.randint(1, 4), rng.choice((1, 1, 2))
    w, q = rng.randint(1, d + 1), rng.choice((d, d, d, max(1, d - 1), 1))
    sizes = [
        rng.choice((1, 2, rng.randint(1, 8), rng.randint(1, 40))) for _ in range(rng.randint(1, 4))
    ]
    groups = draw_groups(rng, d, sizes, q)
    examples = [x for group in groups for x in group]
    expected = bound(groups, H, w, d_v, 1)
    weak = [draw_head(rng, d, w, d_v, 1, 1) for _ in range(H)]
    if rng.random() < 0.3:
        weak[-1] = weak[0]
    held = generic_rank(rng, examples, H, w, d_v, 1) == expected
    return {
        "equality": held,
        "equality, below T" if expected < len(examples) else "equality, T": held,
        "weak weights": jacobian_rank(examples, weak) <= expected,
    }


def queries_case(rng: random.Random) -> Outcome:
    """Theorem 7': given queries (equal, parallel, in a plane, opposite) and generic contexts."""
    d, H, n = rng.randint(1, 4), rng.randint(1, 3), rng.randint(2, 4)
    w, groups = rng.randint(1, d + 1), []
    for _ in range(rng.randint(1, 4)):
        e = [0] * d
        while not any(e):
            e = draw_matrix(rng, 1, d, 1)[0]
        size = rng.choice((1, rng.randint(1, 8), rng.randint(1, 30)))
        groups.append([(draw_matrix(rng, n, d), e)
                       for _ in range(size)])  # fmt: skip
    examples = [x for group in groups for x in group]
    expected = bound(groups, H, w, 1, 1)
    held = generic_rank(rng, examples, H, w, 1, 1) == expected
    return {"below T" if expected < len(examples) else "T": held}


def coordinates_case(rng: random.Random) -> Outcome:
    """Theorem 9."""
    d, H, m = rng.randint(1, 4), rng.randint(1, 4), rng.randint(2, 4)
    w, d_v, many = rng.randint(1, d + 1), rng.randint(1, m + 1), rng.random() < 0.25
    sizes = [rng.randint(1, 12) for _ in range(rng.randint(1, 3))]
    groups = draw_groups(rng, d, sizes, d)
    if many:  # one context, more examples than N
        context = groups[0][0][0]
        s = Span.of([(context, [1])])
        T = law(Span(s.a, s.b, d), H, w, d_v, m) + 1
        groups = [[(context, e) for e in draw_matrix(rng, min(T, 70), d, 2**40)]]
    examples = [x for group in groups for x in group]
    upper = bound(groups, H, w, d_v, m)
    found = generic_rank(rng, examples, H, w, d_v, m)
    weak = [draw_head(rng, d, w, d_v, m, 1) for _ in range(H)]
    tried = {"bound": found <= upper, "weak weights": jacobian_rank(examples, weak) <= upper}
    if many and len(examples) == T:
        tried["many examples"] = found == law(Span.of(examples), H, w, d_v, m)
    if d_v >= m or m <= H:
        tried["from below"] = found >= coordinate_bound(groups, H, w, d_v, m)
    if H % m == 0 and (d_v >= m or d_v == 1):
        tried["exact"] = found == upper
    return tried


def pairs_case(rng: random.Random) -> Outcome:
    """Theorem 4, and the formula of Proposition 5 for contexts that are not generic."""
    d, p, size = rng.randint(2, 5), rng.randint(1, 4), rng.choice((1, 2, 3))
    T, independent = rng.randint(1, min(p * d + d, 11)), rng.random() < 0.4
    queries = draw_apart(rng, T, d, size)
    contexts: list[Matrix] = []
    while len(contexts) < T:
        context = draw_context(rng, d, contexts)
        if rng.random() < 0.2:
            x = draw_matrix(rng, 1, d, 2)[0]
            context = [x, [2 * y for y in x]]
        if any(row != context[0] for row in context) and (
            not independent or rank(context) == len(context)
        ):
            contexts.append(context)
    if rng.random() < 0.3:
        contexts = [contexts[0]] * T
    examples = list(zip(contexts, queries, strict=True))
    kappa, omega = kruskal_rank(queries), 1
    if independent:
        omega = min(kappa, *map(len, contexts))
    key, steering = draw_matrix(rng, 1, d)[0], draw_matrix(rng, p, d)
    found = rank_mod(pair_jacobian(examples, key, steering))
    tried = {"formula (conjecture)": found == matroid_rank(queries, p)}
    if p * kappa >= T:
        tried["even H"] = found == T
    if p * kappa + omega >= T:
        extra = draw_head(rng, d, 1, 1, 1)
        tried["odd H"] = rank_mod(pair_jacobian(examples, key, steering, extra)) == T
    return tried


def groups_case(rng: random.Random) -> Outcome:
    """Theorem 14: distinct contexts, ragged ones, or one with affinely independent rows."""
    d = rng.randint(1, 5)
    w = rng.choice((1, rng.randint(1, d + 1)))
    sizes = [rng.randint(1, min(d + 2, 5)) for _ in range(rng.randint(1, 3))]
    heads, kind = zero_groups(rng, sizes, d, w), rng.choice(("distinct", "ragged", "shared"))
    shared, n = [[0] * d], rng.randint(2, 5)
    while Span.of([(shared, [1])]).a < min(n - 1, d):
        shared = draw_matrix(rng, min(n, d + 1), d, 3)
    shared += [rng.choice(shared)] * rng.randint(0, 1)
    s = Span.of([(shared, [1])]) if kind == "shared" else Span(d, 0, d)
    count = sum(group_count(k, w, s.a, d) for k in sizes) + s.b
    T = rng.choice((count, count + 2, rng.randint(1, count)))
    examples: list[Example] = []
    for e in draw_matrix(rng, T, d):
        rows = rng.randint(2, 4) if kind == "ragged" else n
        examples.append((shared if kind == "shared" else draw_matrix(rng, rows, d), e))
    return {
        f"{kind}: outputs 0": not any(any(row) for row in outputs(examples, heads)),
        f"{kind}: rank": jacobian_rank(examples, heads) == min(T, count),
    }


def conjecture_case(rng: random.Random) -> Outcome:
    """Conjecture 10, and the simple formula without (L) and (L')."""
    d, H, m, n = rng.randint(1, 5), rng.randint(1, 4), rng.randint(2, 7), rng.randint(2, 5)
    if rng.random() < 0.5:
        n, H = rng.randint(2, 3), rng.randint(1, 2)
    w, d_v, one = rng.randint(1, d + 1), rng.randint(1, m + 1), rng.random() < 0.4
    shared = draw_matrix(rng, n, d)
    s = Span.of([(shared, [1])]) if one else Span(d, 0, d)
    s = Span(s.a, s.b, d)
    T = rng.randint(1, law(s, H, w, d_v, m) // m + 4)
    examples = [(shared if one else draw_matrix(rng, n, d), e) for e in draw_matrix(rng, T, d)]
    found = generic_rank(rng, examples, H, w, d_v, m)
    kind = "shared" if one else ("distinct, H(n-1) < m" if H * (n - 1) < m else "distinct")
    return {kind: found == conjectured_rank(s, T, H, w, d_v, m, None if one else n)}
