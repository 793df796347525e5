"""An oracle for docs/given-labels.md: outputs and Jacobians of small layers, exact mod p.

Nothing here is shared with the builders: data are lists of integers, and the only library is
python-flint. Softmax has base 2 and all logits are integers, so outputs are rational numbers, and
so is the Jacobian up to a factor ln 2 in the columns of keys and queries, which is left out: it
changes no rank. All of it is computed modulo PRIME, a safe prime in which 2 has order PRIME - 1. A
rank mod PRIME never exceeds the rank over the rationals, so a full rank is proved; a deficit is
only evidence. A softmax sum that is 0 mod PRIME raises ZeroDivisionError: draw again.

Notation: T examples, H heads, d = dim of a token, w = head width d_h, d_v = value width, m = label
dimension. An example is a pair (context, query).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import comb

import mpmath
from flint import fmpq, fmpq_mat, nmod_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer

PRIME = 4611686018427377339

Vector = Sequence[int]
Matrix = Sequence[Vector]
Example = tuple[Matrix, Vector]
Shares = Sequence[Sequence[Vector]]  # of examples, heads and tokens


@dataclass(frozen=True)
class Head:
    """Keys and queries d × w, values d × d_v, outputs d_v × m: the output is (VO)ᵀEᵀσ(EKQᵀe)."""

    keys: Matrix
    queries: Matrix
    values: Matrix
    outputs: Matrix


def dot(a: Vector, b: Vector) -> int:
    return sum(x * y for x, y in zip(a, b, strict=True))


def columns(a: Matrix) -> list[Vector]:
    return list(zip(*a, strict=True))


def apply(a: Matrix, x: Vector) -> list[int]:
    return [dot(row, x) for row in a]


def product(a: Matrix, b: Matrix) -> list[list[int]]:
    return [[dot(row, column) for column in columns(b)] for row in a]


def draw_matrix(rng: random.Random, rows: int, cols: int, size: int = 2**60) -> list[list[int]]:
    """Weights with large entries: small ones are often 0 or equal, and then not generic."""
    return [[rng.randint(-size, size) for _ in range(cols)] for _ in range(rows)]


def draw_head(rng: random.Random, d: int, w: int, d_v: int, m: int, size: int = 2**60) -> Head:
    return Head(*(draw_matrix(rng, *s, size) for s in ((d, w), (d, w), (d, d_v), (d_v, m))))


def softmax(logits: Vector) -> list[int]:
    """2^k over the sum of the 2^k, mod PRIME."""
    powers = [pow(2, k % (PRIME - 1), PRIME) for k in logits]
    inverse = pow(sum(powers) % PRIME, -1, PRIME) if sum(powers) % PRIME else 0
    if not inverse:
        raise ZeroDivisionError("a softmax sum is 0 modulo the prime")
    return [x * inverse % PRIME for x in powers]


def shares_of(examples: Sequence[Example], heads: Sequence[Head]) -> Shares:
    """σ(EKQᵀe) of each example and head, mod PRIME."""
    return [
        [softmax(apply(E, apply(h.keys, apply(columns(h.queries), e)))) for h in heads]
        for E, e in examples
    ]


def feature(example: Example, head: Head) -> list[int]:
    """z = Eᵀσ(EKQᵀe), mod PRIME."""
    return [x % PRIME for x in apply(columns(example[0]), shares_of([example], [head])[0][0])]


def outputs(
    examples: Sequence[Example], heads: Sequence[Head], shares: Shares | None = None
) -> list[list[int]]:
    """T × m, mod PRIME. `shares`: the softmax weights, if heads are residues of fractions."""
    m = len(heads[0].outputs[0])
    table = []
    for (context, _), row in zip(examples, shares or shares_of(examples, heads), strict=True):
        total = [0] * m
        for head, p in zip(heads, row, strict=True):
            mixed = columns(product(head.values, head.outputs))
            for j, x in enumerate(apply(mixed, apply(columns(context), p))):
                total[j] = (total[j] + x) % PRIME
        table.append(total)
    return table


def feature_rank(examples: Sequence[Example], heads: Sequence[Head]) -> int:
    """The rank of Z: the rank that values alone can reach."""
    return rank_mod([list(chain(*(feature(x, head) for head in heads))) for x in examples])


def jacobian(
    examples: Sequence[Example], heads: Sequence[Head], shares: Shares | None = None
) -> list[list[int]]:
    """Tm rows (m per example); a column per weight: keys, queries, values, outputs, head by head.

    With p the softmax weights, z = Eᵀp and C = Eᵀ(diag p - ppᵀ)E, the derivative of (VO)ᵀz in the
    direction Δ of M = KQᵀ is (VO)ᵀCΔe.
    """
    table: list[list[int]] = []
    given = shares or shares_of(examples, heads)
    for (context, query), own in zip(examples, given, strict=True):
        rows: list[list[int]] = [[] for _ in heads[0].outputs[0]]
        for head, p in zip(heads, own, strict=True):
            narrow = apply(columns(head.queries), query)
            z = [x % PRIME for x in apply(columns(context), p)]
            hidden = apply(columns(head.values), z)
            mixed = product(head.values, head.outputs)
            for j, (row, value) in enumerate(zip(rows, columns(mixed), strict=True)):
                shifted = [dot(r, value) for r in context]
                mean = dot(p, shifted)
                weights = [q * (s - mean) % PRIME for q, s in zip(p, shifted, strict=True)]
                slope = [x % PRIME for x in apply(columns(context), weights)]  # C (VO)_j
                row += [a * b % PRIME for a in slope for b in narrow]
                row += [a * b % PRIME for a in query for b in apply(columns(head.keys), slope)]
                row += [x * b % PRIME for x in z for b in columns(head.outputs)[j]]
                row += [
                    h % PRIME if k == j else 0 for h in hidden for k in range(len(head.outputs[0]))
                ]
        table += rows
    return table


def rank_mod(table: Matrix) -> int:
    return nmod_mat(len(table), len(table[0]), list(chain(*table)), PRIME).rank() if table else 0


def jacobian_rank(examples: Sequence[Example], heads: Sequence[Head]) -> int:
    return rank_mod(jacobian(examples, heads))


def generic_rank(
    rng: random.Random, examples: Sequence[Example], H: int, w: int, d_v: int, m: int
) -> int:
    """The rank at weights drawn from large integers."""
    d = len(examples[0][1])
    return jacobian_rank(examples, [draw_head(rng, d, w, d_v, m) for _ in range(H)])


# In real numbers, softmax in base 2 -------------------------------------------------------------


def real_outputs(examples: list[Example], heads: list[Head]) -> list[mpmath.mpf]:
    """Outputs in real arithmetic, one label coordinate after another; softmax in base 2."""
    total = []
    for context, query in examples:
        y = [mpmath.mpf(0)] * len(heads[0].outputs[0])
        for head in heads:
            logits = apply(context, apply(head.keys, apply(columns(head.queries), query)))
            powers = [mpmath.power(2, k) for k in logits]
            z = [dot(powers, c) / sum(powers) for c in columns(context)]
            hidden = apply(columns(head.values), z)
            y = [a + b for a, b in zip(y, apply(columns(head.outputs), hidden), strict=True)]
        total += y
    return total


def reached(examples: list[Example], heads: list[Head], labels: list[int]) -> bool:
    """Whether the Gauss-Newton iteration from these weights converges to their outputs + λ·labels
    for some small λ > 0. It uses differences instead of derivatives, and 60 digits."""
    parts = [(head.keys, head.queries, head.values) for head in heads]
    first = [mpmath.mpf(x) for part in parts for matrix in part for row in matrix for x in row]

    def at(x: list[mpmath.mpf]) -> list[mpmath.mpf]:
        entries = iter(x)
        moved = [
            Head(
                *([[next(entries) for _ in row] for row in matrix] for matrix in part), head.outputs
            )
            for head, part in zip(heads, parts, strict=True)
        ]
        return real_outputs(examples, moved)

    def ends(x: list[mpmath.mpf], aim: list[mpmath.mpf]) -> bool:
        h = mpmath.mpf(10) ** -25
        for _ in range(12):
            now = at(x)
            rest = mpmath.matrix([a - y for a, y in zip(aim, now, strict=True)])
            if mpmath.norm(rest) < mpmath.mpf(10) ** -40:
                return True
            if max(map(abs, x)) > 10**4:
                return False
            moved = [at([*x[:k], x[k] + h, *x[k + 1 :]]) for k in range(len(x))]
            J = mpmath.matrix([[(y[t] - now[t]) / h for y in moved] for t in range(len(aim))])
            square = J * J.T + mpmath.mpf(10) ** -50 * mpmath.eye(len(aim))  # never singular
            step = J.T * mpmath.lu_solve(square, rest)
            x = [a + b for a, b in zip(x, step, strict=True)]
        return False

    with mpmath.workdps(60):
        begin = at(first)
        return any(
            ends(first, [a + mpmath.ldexp(y, -k) for a, y in zip(begin, labels, strict=True)])
            for k in (6, 20, 40, 60)
        )


# The laws of docs/given-labels.md, from the data alone ------------------------------------------


def rank(rows: Iterable[Vector]) -> int:
    """The rank over the rationals."""
    table = [[fmpq(x) for x in row] for row in rows]
    return fmpq_mat(len(table), len(table[0]), list(chain(*table))).rank() if table else 0


@dataclass(frozen=True)
class Span:
    """The dimensions of a set of examples: a = dim of the row differences inside its contexts,
    b = rank of all its rows minus a, q = dim of its queries."""

    a: int
    b: int
    q: int

    @classmethod
    def of(cls, examples: Sequence[Example]) -> Span:
        differences = [
            [x - y for x, y in zip(row, context[0], strict=True)]
            for context, _ in examples
            for row in context
        ]
        a = rank(differences)
        rows = [row for context, _ in examples for row in context]
        return cls(a, rank(rows) - a, rank([query for _, query in examples]))


def law(s: Span, H: int, w: int, d_v: int, m: int) -> int:
    """N (Theorems 7 and 9): the dimension of what the outputs on such examples depend on."""
    r = min(w, s.a, s.q)
    k = min(d_v, s.a, m)
    rows = min(m, H * d_v)
    cols = min(s.b, H * max(d_v - s.a, 0))
    return H * (r * (s.a + s.q - r) + k * (s.a + m - k)) + s.b * rows + cols * (m - rows)


def subsets(g: int) -> Iterable[tuple[int, ...]]:
    return chain.from_iterable(combinations(range(g), k) for k in range(g + 1))


def bound(groups: Sequence[Sequence[Example]], H: int, w: int, d_v: int, m: int) -> int:
    """min over sets K of groups of N_K + m (examples outside K) (Theorems 7 and 9)."""
    return min(
        (law(Span.of([x for k in K for x in groups[k]]), H, w, d_v, m) if K else 0)
        + m * sum(len(groups[k]) for k in range(len(groups)) if k not in K)
        for K in subsets(len(groups))
    )


def coordinate_bound(groups: Sequence[Sequence[Example]], H: int, w: int, d_v: int, m: int) -> int:
    """The rank of heads divided among the coordinates (Theorem 9, point 4); d_v < m needs H ≥ m."""

    def reach(s: Span, own: int) -> int:
        r = min(w, s.a, s.q)
        if d_v >= m:
            return own * r * (s.a + s.q - r) + H * s.a + s.b
        return own * (r * (s.a + s.q - r) + s.a) + (H - own if s.a else 0) + s.b

    return sum(
        min(
            (reach(Span.of([x for k in K for x in groups[k]]), len(range(j, H, m))) if K else 0)
            + sum(len(groups[k]) for k in range(len(groups)) if k not in K)
            for K in subsets(len(groups))
        )
        for j in range(m)
    )


def conjectured_rank(
    s: Span, T: int, H: int, w: int, d_v: int, m: int, n: int | None = None
) -> int:
    """Conjecture 10, for T generic examples: one shared context, or distinct ones of n rows each.

    The least of Tm, N, (R), (L) and (L'): all of them are upper bounds.
    """

    def determinantal(k: int, rows: int) -> int:
        k = min(k, m, rows)
        return k * (rows + m - k)

    d = s.q
    values = law(s, H, 0, d_v, m)
    bounds = [T * m, law(s, H, w, d_v, m), determinantal(H * min(d_v, d), T)]
    if s.b <= T:
        bounds.append(s.b * m + determinantal(H * min(d_v, s.a), T - s.b))
    moved = min(m, H * min(s.a if n is None else n - 1, d_v, d))
    bounds.append(min(values, determinantal(H * min(d_v, d), T)) + T * moved)
    if n is not None and d * m >= H:
        lost = H * (H - 1) - H * min(H - 1, max(d - d_v, 0) * max(m - d_v, 0))
        bounds.append(values - lost + T * moved)
    return min(bounds)


# Zeros with a full Jacobian --------------------------------------------------------------------


def group_count(k: int, w: int, a: int, d: int) -> int:
    """G(k): what k heads that share M, with values that add up to 0, contribute (Theorem 14)."""
    r, j = min(w, a), min(k - 1, a)
    lost = r * comb(j, 2) + (d - r) * comb(max(j + r - a, 0), 2)
    return a + j * r * (a + d - r) - lost


def zero_groups(rng: random.Random, sizes: Sequence[int], d: int, w: int) -> list[Head]:
    """Heads in groups of the given sizes: shared M, scalar labels, values that add up to 0. A group
    of one has value 0; its output weight 1 keeps the derivatives of the value."""
    heads = []
    for k in sizes:
        keys, queries = draw_matrix(rng, d, w), draw_matrix(rng, d, w)
        values = draw_matrix(rng, k - 1, d)
        values.append([-sum(column) for column in columns(values)] if values else [0] * d)
        heads += [Head(keys, queries, [[x] for x in v], [[1]]) for v in values]
    return heads


# The pairs of Theorem 4 at ε = 0 -----------------------------------------------------------------


def pair_jacobian(
    examples: Sequence[Example],
    key: Vector,
    steering: Sequence[Vector],
    extra: Head | None = None,
) -> list[list[int]]:
    """T rows (κ_1(t) e_t, …, κ_p(t) e_t), then the features of one more head if there is one.

    κ_h(t) is the variance of E_t u under softmax of (q_h·e_t) E_t u.
    """
    table = []
    for context, query in examples:
        g = apply(context, key)
        row: list[int] = []
        for q in steering:
            alpha = dot(q, query)
            p = softmax([alpha * x for x in g])
            mean = dot(p, g) % PRIME
            kappa = (dot(p, [x * x for x in g]) - mean * mean) % PRIME
            row += [kappa * x % PRIME for x in query]
        if extra is not None:
            row += feature((context, query), extra)
        table.append(row)
    return table


def matroid_rank(queries: Sequence[Vector], p: int) -> int:
    """min over subsets S of p·rank(S) + T - |S| (Proposition 5): the most queries that p
    independent sets hold."""
    return min(
        p * (rank([queries[t] for t in S]) if S else 0) + len(queries) - len(S)
        for S in subsets(len(queries))
    )


# Data, drawn ------------------------------------------------------------------------------------

KINDS = (
    *("random", "random", "repeated", "parallelogram", "constant", "zero", "collinear", "cube"),
    *("scaled", "shifted", "permuted"),
)


def draw_context(rng: random.Random, d: int, pool: list[Matrix]) -> Matrix:
    """Small integers: rows of every degenerate kind, or a variant of a context already drawn."""
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
    """Groups whose queries are generic in a subspace of dimension at most q."""
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


# To and from the toolkit -------------------------------------------------------------------------


def dataset(examples: list[Example], m: int = 1) -> Dataset:
    """The data set of examples whose contexts have the same number of rows; labels are 0."""
    contexts = [context for context, _ in examples]
    return Dataset.of(contexts, [query for _, query in examples], [[0] * m for _ in examples])


def plain(layer: Layer) -> list[Head]:
    """The layer's integers in the oracle's form."""

    def table(matrix: fmpq_mat) -> list[list[int]]:
        return [[int(x.p) for x in row] for row in matrix.tolist()]

    assert layer.output is not None and layer.value_width is not None
    rows, width = table(layer.output), layer.value_width
    return [
        Head(table(h.key), table(h.query), table(h.value), rows[k * width : (k + 1) * width])
        for k, h in enumerate(layer.heads)
    ]
