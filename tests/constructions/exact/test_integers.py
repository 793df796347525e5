"""Integer arrays that never overflow, untrusted numbers with equal hashes, and primes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy
from flint import fmpz_mat
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact import integers, primes
from attncert.constructions.exact.hashing import Hashed, distinct
from attncert.verify.limits.tightness.relations import rows
from attncert.verify.rank.engines.arithmetic import lazy_terms

EDGE = [
    0, 1, -1, 2**26, 2**31, 2**52, 2**53 - 1, 2**53, 2**53 + 1, 2**61, 2**62 - 1, 2**62,
    2**63 - 1, -(2**63) + 1, 2**63, -(2**64), 10**40, -(10**400),
]  # fmt: skip
values = st.one_of(st.integers(-9, 9), st.integers(), st.sampled_from(EDGE))


def array(entries: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    """int64 if everything fits, otherwise objects, as in practice."""
    fits = all(-(2**62) < x < 2**62 for x in entries)
    out = np.empty(len(entries), dtype=np.int64 if fits else object)
    out[:] = entries
    return out.reshape(shape)


def arrays(rows: int, columns: int) -> st.SearchStrategy[np.ndarray]:
    cells = st.lists(values, min_size=rows * columns, max_size=rows * columns)
    return st.builds(lambda entries: array(entries, (rows, columns)), cells)


@settings(max_examples=120, deadline=None)
@given(st.data(), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))
def test_product(data: st.DataObject, r: int, k: int, c: int) -> None:
    a, b = data.draw(arrays(r, k)), data.draw(arrays(k, c))
    wanted = [
        [sum(x * y for x, y in zip(row, column, strict=True)) for column in b.T.tolist()]
        for row in a.tolist()
    ]
    found = integers.product(a, b)
    assert found.shape == (r, c)
    assert found.tolist() == (wanted if c else [[] for _ in range(r)])
    assert found.dtype in (np.int64, object)


@pytest.mark.parametrize("size", [2**26 - 1, 2**26, 2**26 + 1, 2**31 + 1, 2**52 + 1])
def test_product_at_the_edge_of_the_mantissa(size: int) -> None:
    """Sums just above and below 2^53, all odd: a float product would round them."""
    a = np.full((1, 3), size, dtype=np.int64)
    b = np.array([[size], [-size], [1]], dtype=np.int64)
    assert integers.product(a, b).tolist() == [[size]]
    assert integers.product(a, np.abs(b)).tolist() == [[2 * size * size + size]]


OPERATIONS: list[tuple[Callable[..., np.ndarray], Callable[[int, int], int]]] = [
    (integers.add, lambda x, y: x + y),
    (integers.subtract, lambda x, y: x - y),
    (integers.multiply, lambda x, y: x * y),
]


@pytest.mark.parametrize(("function", "plain"), OPERATIONS, ids=["add", "subtract", "multiply"])
@settings(max_examples=120, deadline=None)
@given(x=values, y=values, z=values)
@example(x=2**62 - 1, y=2**62 - 1, z=1)
@example(x=-(2**63) + 1, y=-(2**63) + 1, z=2**31)
@example(x=2**32, y=2**31, z=-1)
def test_entrywise(
    function: Callable[..., np.ndarray], plain: Callable[[int, int], int], x: int, y: int, z: int
) -> None:
    a, b = array([x, z], (2,)), array([y, z], (2,))
    assert function(a, b).tolist() == [plain(x, y), plain(z, z)]
    column = array([y, x, z], (3, 1))  # broadcast
    assert function(a, column).tolist() == [[plain(x, w), plain(z, w)] for w in (y, x, z)]


@settings(max_examples=60, deadline=None)
@given(arrays(2, 3))
def test_flint_and_back(matrix: np.ndarray) -> None:
    through = integers.to_flint(matrix)
    assert through == fmpz_mat(2, 3, [int(x) for x in matrix.ravel()])
    assert integers.from_flint(through).tolist() == matrix.tolist()


P = 2**61 - 1  # the hash of P k is 0
MANY = [P * k for k in range(1, 15_001)]  # a set of them takes seconds, sorting almost no time


def test_keys_are_equal_as_tuples_are_and_have_hashes_of_their_own() -> None:
    made = [Hashed((x, 1)) for x in MANY[:300]]
    assert made[4] == (5 * P, 1) and Hashed(((1, 2), (3, 4))) == Hashed(((1, 2), (3, 4)))
    assert len(set(made + made)) == 300
    assert len({hash(key) for key in made}) == 300 > len({hash(tuple(key)) for key in made})


def test_numbers_of_one_hash_cost_no_more_than_others() -> None:
    start = time.process_time()
    assert len(distinct(MANY)) == len(MANY)
    assert time.process_time() - start < 10


def test_the_equations_of_relations_are_as_long_as_their_numbers() -> None:
    """Each class has its own common denominator. With a single denominator for all, 300 classes
    whose scales have 4,000 digits would need 1.2 million digits."""
    scales = [2**64 + 2 * t + 1 for t in range(12)]
    data = Dataset.of([[1, 0], [0, 1]], [[r, 0] for r in scales] * 2, list(range(24)))
    assert len(rows.row_relations(data)) == 12
    wide = rows._equations(rows._parts(data))
    assert max(int(x).bit_length() for x in wide.ravel()) <= 65


ALL = (
    *primes.PRIMES_21,
    primes.PRIME_FLOAT32,
    *primes.PRIMES_FLOAT64,
    *primes.PRIMES_31,
    primes.PRIME_62,
)


@pytest.mark.parametrize("p", ALL)
def test_constants_are_safe_primes_with_two_primitive(p: int) -> None:
    assert sympy.isprime(p)
    assert sympy.isprime((p - 1) // 2)
    assert sympy.n_order(2, p) == p - 1


def test_constants_are_the_largest_of_their_kind() -> None:
    assert tuple(primes.safe_primes_below(2**31, 3)) == primes.PRIMES_31
    assert primes.safe_primes_below(2**62, 1) == [primes.PRIME_62]
    largest = next(p for p in range(12_000_000, 2, -1) if lazy_terms(p, "float64") >= 256)
    assert tuple(primes.safe_primes_below(largest + 1, 3)) == primes.PRIMES_FLOAT64
    largest = next(p for p in range(2**12, 2, -1) if lazy_terms(p, "float32") >= 56)
    assert primes.safe_primes_below(largest + 1, 1) == [primes.PRIME_FLOAT32]
