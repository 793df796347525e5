"""The claims "dependent-set" and "impossible": relations between vectors or between examples."""

if __name__ == "__main__":
    print("unusable: run the folder, not this file: python checker certificate.json")
    raise SystemExit(2)

from collections import namedtuple
from fractions import Fraction
from itertools import groupby
from math import gcd
from typing import Any

from .layer import contexts_of
from .limits import Limits, need
from .reading import dims, numbers, typed

Dependence = namedtuple("Dependence", "indices coefficients vectors")
Tied = namedtuple("Tied", "coefficients contexts queries labels")


def dependence(cert: Any, limits: Limits) -> Dependence:
    need(cert["saturation"] is None, "saturation must be null")
    need(cert["tokens"] is None, "tokens must be null")
    N, d = dims(cert, "vectors width")
    relation = typed(cert["relation"], dict, "relation", "indices coefficients")
    indices = [typed(i, int, "each index") for i in typed(relation["indices"], list, "indices")]
    inside = indices and all(0 <= i < N for i in indices) and len(set(indices)) == len(indices)
    need(inside, "relation.indices must be distinct, from 0 to vectors - 1", "wrong")
    factors = numbers(limits, relation["coefficients"], "coefficients", len(indices))
    vectors = numbers(limits, cert["data"]["vectors"], "vectors", N, d)
    return Dependence(indices, factors.rows, vectors.rows)


def dependent_set(cert: Any, parts: Dependence, limits: Limits) -> str:
    need(all(parts.coefficients), "a coefficient is 0", "wrong")
    columns = zip(*(parts.vectors[i] for i in parts.indices), strict=True)
    zero = not any(limits.dot(parts.coefficients, x) for x in columns)
    need(zero, "the combination is not 0", "wrong")
    k = len(parts.indices)
    return (
        "a vector is zero" if k == 1 else f"{k} of the {len(parts.vectors)} vectors are dependent"
    )


def tied(cert: Any, limits: Limits) -> Tied:
    need(cert["saturation"] is None, "saturation must be null")
    T, d, m = dims(cert, "examples width labels")
    return Tied(
        numbers(limits, cert["relation"], "relation", T).rows,
        contexts_of(limits, cert, cert["data"]),
        numbers(limits, cert["data"]["queries"], "queries", T, d),
        numbers(limits, cert["data"]["labels"], "labels", T, m).rows,
    )


def impossible(cert: Any, parts: Tied, limits: Limits) -> str:
    """Let C be the tokens minus their mean. For g != 0, z = mean + f(query / g, g C) / g for some f
    that does not change if all tokens are repeated the same number of times."""
    T, n, d, m = dims(cert, "examples context width labels")
    factors, contexts, queries, labels = parts
    limits.allow(contexts.bits + queries.bits + 2 * n.bit_length(), 2 * n * d)
    limits.divide(queries.bits, queries.bits)
    common = 1  # a common multiple of the numbers of tokens
    for count in {len(E) for E in contexts.rows}:
        common = limits.lcm(common, count)
    ties, sums, held = dict[str, Fraction](), [0] * (d + m), 0  # ties: a sum for each value of f
    for t, (e, y, c) in enumerate(zip(queries.rows, labels, factors, strict=True)):
        limits.on_time()
        E = contexts.rows[t if len(contexts.rows) > 1 else 0]
        columns, share = list(zip(*E, strict=True)), c * (common // len(E))
        sums[:d] = [s + share * sum(x) for s, x in zip(sums[:d], columns, strict=True)]
        sums[d:] = [s + c * x for s, x in zip(sums[d:], y, strict=True)]
        g = gcd(*e) if next(filter(None, e), 0) > 0 else -gcd(*e)
        if g and any(min(x) < max(x) for x in columns):  # else f is 0
            kind = kind_of([x // g for x in e], g, columns)
            before = ties.get(kind, Fraction(0))
            held += 0 if kind in ties else len(kind)
            limits.hold(held)
            limits.divide(before.denominator.bit_length(), g.bit_length())
            ties[kind] = before + Fraction(c, g)
            limits.allow(ties[kind].denominator.bit_length())
    need(not any(sums[:d]) and not any(ties.values()), "some weights break the relation", "wrong")
    need(any(sums[d:]), "the labels obey the relation", "wrong")
    tied = T - factors.count(0)
    outputs = f"the outputs of {tied} examples obey" if tied > 1 else "one output obeys"
    return f"no weights give these labels: {outputs} a relation that the labels do not"


def kind_of(direction: Any, g: int, columns: Any) -> str:
    """The arguments of f: the direction of the query, and g C as tokens with their frequencies in
    lowest terms. They are returned as a string, since hashes of strings cannot be made to
    collide."""
    n = len(columns[0])
    moved = [[g * (n * x - s) for x in column] for column in columns for s in [sum(column)]]
    shared = gcd(n, *(x for column in moved for x in column))
    rows = sorted(zip(*([x // shared for x in column] for column in moved), strict=True))
    counts = [(row, len(list(equal))) for row, equal in groupby(rows)]
    often = gcd(*(k for _, k in counts))
    parts = [(*row, k // often) for row, k in counts]
    return ",".join(f"{x:x}" for row in (direction, [n // shared], *parts) for x in row)
