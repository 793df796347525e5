"""Foreign numbers of one hash: nothing that tells them apart compares all pairs."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.keys import Key, distinct
from attncert.verify.tightness.relations import rows
from attncert.verify.tightness.relations.sums import same_sums

P = 2**61 - 1  # the hash of P k is 0
MANY = [P * k for k in range(1, 15_001)]  # in a set: seconds; sorted, or by keys: none


def test_keys_are_equal_as_tuples_are_and_have_hashes_of_their_own() -> None:
    made = [Key((x, 1)) for x in MANY[:300]]
    assert made[4] == (5 * P, 1) and Key(((1, 2), (3, 4))) == Key(((1, 2), (3, 4)))
    assert len(set(made + made)) == 300
    assert len({hash(key) for key in made}) == 300 > len({hash(tuple(key)) for key in made})


def _distinct() -> None:
    assert len(distinct(MANY)) == len(MANY)


def _sums() -> None:
    kind = Key((x,) for x in MANY)
    assert same_sums([kind, kind], {0: 1, 1: -1})


@pytest.mark.parametrize("work", [_distinct, _sums])
def test_numbers_of_one_hash_cost_no_more_than_others(work: Callable[[], None]) -> None:
    start = time.process_time()
    work()
    assert time.process_time() - start < 1


def test_the_equations_of_relations_are_as_long_as_their_numbers() -> None:
    """Each class has its own common denominator: with one for all, 300 classes of scales of 4,000
    digits would make numbers of 1.2 million digits."""
    scales = [2**64 + 2 * t + 1 for t in range(12)]
    data = Dataset.of([[1, 0], [0, 1]], [[r, 0] for r in scales] * 2, list(range(24)))
    assert len(rows.row_relations(data)) == 12
    wide = rows._equations(rows._parts(data))
    assert max(int(x).bit_length() for x in wide.ravel()) <= 65
