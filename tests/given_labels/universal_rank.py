"""Theorem U of docs/given-labels.md, attacked: the rank of Z, modulo a prime, against the formula.

Pure Python on integers; nothing of the toolkit is used. Keys and queries are residues modulo p - 1,
so that each power of the root is a residue modulo p: another point of the same rational functions.
The rank there is never above the rank for almost all weights; that it reaches the formula is shown
case by case.

    python tests/given_labels/universal_rank.py CASES [SEED]
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from dataclasses import dataclass
from itertools import combinations

P, ROOT = 2**61 - 1, 37  # 37 generates the multiplicative group
SPREAD = 2**20  # of the coordinates of queries in their subspaces

Row = list[int]
Rows = list[Row]
Example = tuple[Rows, Row]  # context, query

KINDS = (
    "random", "repeated row", "constant", "zero", "collinear", "parallelogram", "one row",
    "more than d rows", "scaled", "shifted", "permuted",
)  # fmt: skip
QUERIES = ("all of space", "a subspace", "a line for each example")


@dataclass(frozen=True)
class Case:
    """groups: the examples that share a context, or have the same rows in another order."""

    kinds: tuple[str, ...]
    groups: tuple[tuple[Example, ...], ...]
    heads: int
    width: int

    @property
    def examples(self) -> list[Example]:
        return [example for group in self.groups for example in group]


def rank(rows: Rows) -> int:
    """Modulo P."""
    left, count = [list(row) for row in rows], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((row for row in left if row[column] % P), None)
        if pivot is None:
            continue
        left.remove(pivot)
        count += 1
        inverse = pow(pivot[column], -1, P)
        for row in left:
            if factor := row[column] * inverse % P:
                row[column:] = [
                    (x - factor * y) % P for x, y in zip(row[column:], pivot[column:], strict=True)
                ]
    return count


def spans(contexts: list[Rows]) -> tuple[int, int]:
    """a, the dimension of the span of differences within contexts, and b, what all rows add."""
    differences = [
        [x - y for x, y in zip(row, E[0], strict=True)] for E in contexts for row in E[1:]
    ]
    a = rank(differences)
    return a, rank([row for E in contexts for row in E]) - a


def formula(case: Case) -> int:
    """min over sets K of groups of H a + b + the number of examples outside."""
    groups, total = case.groups, len(case.examples)
    values = [total]
    for size in range(1, len(groups) + 1):
        for chosen in combinations(groups, size):
            a, b = spans([context for group in chosen for context, _ in group[:1]])
            values.append(case.heads * a + b + total - sum(map(len, chosen)))
    return min(values)


def drawn_rank(rng: random.Random, examples: list[Example], heads: int, width: int) -> int:
    """Of Z at keys and queries that are random residues."""
    d = len(examples[0][1])
    Z: Rows = [[] for _ in examples]
    for _ in range(heads):
        key, query = (
            [[rng.randrange(P - 1) for _ in range(d)] for _ in range(width)] for _ in "KQ"
        )
        for row, (context, e) in zip(Z, examples, strict=True):
            steered = [sum(q * x for q, x in zip(column, e, strict=True)) for column in query]
            vector = [sum(k[i] * s for k, s in zip(key, steered, strict=True)) for i in range(d)]
            powers = [
                pow(ROOT, sum(x * v for x, v in zip(token, vector, strict=True)) % (P - 1), P)
                for token in context
            ]
            inverse = pow(sum(powers), -1, P)
            row += [
                sum(w * x for w, x in zip(powers, column, strict=True)) * inverse % P
                for column in zip(*context, strict=True)
            ]
    return rank(Z)


def draw_case(rng: random.Random) -> Case:
    """Up to four groups of contexts of every kind; some are made from the first."""
    d, H = rng.randint(1, 4), rng.randint(1, 4)
    contexts, kinds = [draw_context(rng, rng.choice(KINDS[:8]), d)], ["first"]
    for _ in range(rng.randint(0, 3)):
        kind = rng.choice(KINDS)
        contexts.append(draw_context(rng, kind, d, contexts[0]))
        kinds.append(kind)
    merged: dict[str, list[Example]] = {}
    how = rng.choice(QUERIES)
    space = [direction(rng, d) for _ in range(rng.randint(1, d))]
    for context in contexts:
        for _ in range(rng.choice((1, 2, 4, 8))):
            basis = space if how == "a subspace" else [direction(rng, d)]
            query = integers(rng, d, SPREAD) if how == "all of space" else combined(rng, basis)
            merged.setdefault(repr(sorted(context)), []).append((context, query))
    groups = tuple(tuple(group) for group in merged.values())
    return Case((how, *kinds), groups, H, rng.randint(1, d + 1))


def draw_context(rng: random.Random, kind: str, d: int, first: Rows | None = None) -> Rows:
    n = 1 if kind == "one row" else d + 2 if kind == "more than d rows" else rng.randint(2, 4)
    rows = [integers(rng, d, 3) for _ in range(n)]
    start, step = integers(rng, d, 3), integers(rng, d, 3)
    if kind == "repeated row":
        rows.append(rows[0])
    elif kind == "constant":
        rows = [rows[0]] * n
    elif kind == "zero":
        rows = [[0] * d] * n
    elif kind == "collinear":
        rows = [moved(start, step, i * i) for i in range(n)]
    elif kind == "parallelogram":
        rows = [start, moved(start, step, 1), rows[0], moved(rows[0], step, 1)]
    elif first is not None and kind == "scaled":
        rows = [[3 * x for x in row] for row in first]
    elif first is not None and kind == "shifted":
        rows = [moved(row, step, 1) for row in first]
    elif first is not None and kind == "permuted":
        rows = rng.sample(first, len(first))
    return rows


def moved(row: Row, step: Row, times: int) -> Row:
    return [x + times * s for x, s in zip(row, step, strict=True)]


def integers(rng: random.Random, count: int, most: int) -> Row:
    return [rng.randint(-most, most) for _ in range(count)]


def direction(rng: random.Random, d: int) -> Row:
    """Small, and not 0."""
    row = integers(rng, d, 3)
    return row if any(row) else [1] * d


def combined(rng: random.Random, basis: Rows) -> Row:
    factors = [rng.randint(1, SPREAD) for _ in basis]
    columns = zip(*basis, strict=True)
    return [sum(f * x for f, x in zip(factors, column, strict=True)) for column in columns]


def attack(cases: int, seed: int = 0) -> tuple[Counter[str], list[Case]]:
    """What occurred how often, and the cases where rank and formula differ."""
    counts: Counter[str] = Counter()
    failures = []
    for number in range(cases):
        rng = random.Random(f"{seed} {number}")
        case = draw_case(rng)
        bound, T = formula(case), len(case.examples)
        a, b = spans([context for context, _ in case.examples])
        counts["cases"] += 1
        counts["formula below T"] += bound < T
        counts["formula below that of all examples, and below T"] += bound < min(
            T, case.heads * a + b
        )
        counts.update(set(case.kinds))
        if drawn_rank(rng, case.examples, case.heads, case.width) != bound:
            failures.append(case)
    return counts, failures


def attack_given_queries(cases: int, seed: int = 0) -> tuple[Counter[str], list[Case]]:
    """Theorem U': queries repeated, parallel, opposite; random contexts of two rows and more."""
    counts: Counter[str] = Counter()
    failures = []
    for number in range(cases):
        rng = random.Random(f"given {seed} {number}")
        d, H, T = rng.randint(1, 4), rng.randint(1, 4), rng.randint(1, 18)
        nonzero = [q for q in (integers(rng, d, 1) for _ in range(9)) if any(q)] or [[1] * d]
        group = tuple(
            ([integers(rng, d, SPREAD) for _ in range(rng.randint(2, 4))], rng.choice(nonzero))
            for _ in range(T)
        )
        case = Case(("given queries",), (group,), H, rng.randint(1, d + 1))
        counts["cases"] += 1
        counts["Hd below T"] += H * d < T
        if drawn_rank(rng, list(group), H, case.width) != min(T, H * d):
            failures.append(case)
    return counts, failures


if __name__ == "__main__":
    cases, seed = (*map(int, sys.argv[1:]), 0)[:2]
    for run in (attack, attack_given_queries):
        counts, failures = run(cases, seed)
        print(run.__name__, dict(counts), f"failures: {len(failures)}")
        for case in failures[:3]:
            print(case)
