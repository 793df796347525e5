"""Random integer matrices, deficient ones among them: four arithmetics agree on every rank.

Modular and rational ranks are ours, balls are Arb's, and the judge is SymPy's elimination over ℚ
on its own sparse matrices (which never go through FLINT). Balls can only certify full row rank or
say nothing: they must certify it exactly where it holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from support.rank_cases import balls, holds, planted
from sympy.polys.domains import ZZ
from sympy.polys.matrices import DomainMatrix

from attncert.constructions.exact.primes import PRIME_FLOAT32, PRIMES_FLOAT64
from attncert.verify.rank.ball import smallest_singular_value
from attncert.verify.rank.modular import modular_rank
from attncert.verify.rank.rational import rank

Rows = list[list[int]]
Kind = Callable[[np.random.Generator, int, int], Rows]


def dense(rng: np.random.Generator, rows: int, columns: int) -> Rows:
    return [[int(x) for x in row] for row in rng.integers(-9, 10, (rows, columns))]


def bits(rng: np.random.Generator, rows: int, columns: int) -> Rows:
    """Entries 0 and 1: deficient by chance, often."""
    return [[int(x) for x in row] for row in rng.integers(0, 2, (rows, columns))]


def deficient(rng: np.random.Generator, rows: int, columns: int) -> Rows:
    """Of a planted rank, from 0 to full."""
    size = int(rng.integers(0, min(rows, columns) + 1))
    return [[int(x) for x in row] for row in planted(rows, columns, size, int(rng.integers(2**32)))]


def off_by_one(rng: np.random.Generator, rows: int, columns: int) -> Rows:
    """A deficient matrix with one entry changed."""
    table = deficient(rng, rows, columns)
    table[int(rng.integers(rows))][int(rng.integers(columns))] += 1
    return table


def long(rng: np.random.Generator, rows: int, columns: int) -> Rows:
    """Entries of 60 to 200 bits over a deficient or dense pattern: no float holds them."""
    scale = [3 ** int(rng.integers(40, 130)) for _ in range(rows)]
    table = off_by_one(rng, rows, columns)
    return [[x * s + int(rng.integers(2)) * y for x, y in zip(row, table[0], strict=True)]
            for s, row in zip(scale, table, strict=True)]  # fmt: skip


def repeated(rng: np.random.Generator, rows: int, columns: int) -> Rows:
    """Rows drawn from a few, some negated."""
    few = dense(rng, max(1, rows // 2), columns)
    return [[int(rng.choice((-1, 1))) * x for x in few[int(rng.integers(len(few)))]]
            for _ in range(rows)]  # fmt: skip


def against_a_prime(rng: np.random.Generator, rows: int, columns: int) -> Rows:
    """Deficient modulo one of the primes used, whatever the rank over ℚ."""
    p = int(rng.choice([PRIME_FLOAT32, *PRIMES_FLOAT64]))
    table, other = deficient(rng, rows, columns), dense(rng, rows, columns)
    return [[x + p * y for x, y in zip(*pair, strict=True)]
            for pair in zip(table, other, strict=True)]  # fmt: skip


KINDS: dict[str, Kind] = {
    kind.__name__: kind
    for kind in (dense, bits, deficient, off_by_one, long, repeated, against_a_prime)
}


def drawn(number: int) -> tuple[str, Rows]:
    """Matrix `number`: its kind in turn, its shape and entries from its own seed."""
    rng = np.random.default_rng(number)
    name = list(KINDS)[number % len(KINDS)]
    rows, columns = (int(x) for x in rng.integers(1, 9, 2))
    return name, KINDS[name](rng, rows, columns)


def agree(number: int) -> tuple[str, bool, bool]:
    """Its kind; whether its rows are independent; whether one prime alone would have erred."""
    name, table = drawn(number)
    rows, columns = len(table), len(table[0])
    judge = DomainMatrix(table, (rows, columns), ZZ).to_sparse().to_field().rank()
    exact = rank(table)
    assert exact.rank == judge
    assert all(holds(relation, table) for relation in exact.relations)
    modular = [modular_rank(table, p).rank for p in PRIMES_FLOAT64]
    assert max(modular) == judge, "a deficit modulo every prime"
    assert (smallest_singular_value(balls(table), 1024).lower > 0) == (judge == rows)
    return name, judge == rows, min(modular) < judge


@pytest.mark.parametrize("count", [420, pytest.param(10_000, marks=pytest.mark.slow)])
def test_four_arithmetics_agree(count: int) -> None:
    tally: Counter[tuple[str, bool]] = Counter()
    misled = 0
    for number in range(count):
        name, independent, one_prime_errs = agree(number)
        tally[name, independent] += 1
        misled += one_prime_errs
    assert tally.total() == count
    for name in KINDS:  # both answers occur often, in every kind
        assert min(tally[name, True], tally[name, False]) > count / 200, tally
    assert misled > count / 200, "primes are never needed"
