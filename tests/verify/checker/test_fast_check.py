"""The fast check agrees in arithmetic with Python's integers, and in verdicts with the checker."""

from __future__ import annotations

import copy
import random
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.adversarial_certificates import layer
from support.every_claim import TRUE
from support.small_certificates import (
    CASES,
    PRIME,
    changed,
    sealed,
    written,
)

from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.verify.checking.fast import check as fast
from attncert.verify.checking.fast import full_rank

PRIMES = [3, 101, 11863067, 2**31 - 1, PRIME]
RANK_CASES = [name for name in CASES if name.startswith("full-rank")]
primes = st.sampled_from(PRIMES)


# Arithmetic.


@given(st.data(), primes, st.integers(1, 5), st.integers(1, 64), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_matrix_products(data: st.DataObject, p: int, rows: int, inner: int, columns: int) -> None:
    seed = data.draw(st.integers(0, 2**32))
    draw = random.Random(seed)
    top = data.draw(st.sampled_from([0, p - 1, p // 2]))  # equal entries give the largest sums
    a, b = (
        [[top or draw.randrange(p) for _ in range(wide)] for _ in range(high)]
        for high, wide in ((rows, inner), (inner, columns))
    )
    expected = [
        [sum(x * b[k][j] for k, x in enumerate(row)) % p for j in range(columns)] for row in a
    ]
    assert full_rank.product_mod(np.array(a), np.array(b), p).tolist() == expected


@given(st.lists(st.integers(0, 2**31 - 1), min_size=1), primes)
def test_powers_of_two(exponents: list[int], p: int) -> None:
    exponents = [x % (p - 1) for x in exponents]
    tables = full_rank.powers(2, p), full_rank.powers(pow(2, 2**16, p), p)
    powers = full_rank.power_of_two(np.array(exponents), tables, p)
    assert powers.tolist() == [pow(2, x, p) for x in exponents]


def first_dependent(rows: list[list[int]], p: int) -> int | None:
    pivots: list[tuple[int, list[int]]] = []
    for t, row in enumerate(rows):
        for column, pivot in pivots:
            row = [(x - row[column] * y) % p for x, y in zip(row, pivot, strict=True)]
        column = next((j for j, x in enumerate(row) if x), -1)
        if column < 0:
            return t
        pivots.append((column, [x * pow(row[column], -1, p) % p for x in row]))
    return None


@pytest.mark.parametrize("p", PRIMES)
@pytest.mark.parametrize(
    ("T", "width", "planted"),
    [
        (1, 1, 0),
        (1, 3, None),
        (5, 5, 4),
        (70, 70, None),
        (70, 71, 69),
        (66, 140, 65),
        (130, 130, 3),
        (70, 69, 69),
    ],
)
def test_first_dependent_row(p: int, T: int, width: int, planted: int | None) -> None:
    """There are blocks of 64 rows, square and wide (folded); a row depends on earlier ones."""
    draw = random.Random(f"{p} {T} {width} {planted}")
    rows = [[draw.randrange(p) for _ in range(width)] for _ in range(T)]
    if planted is not None:
        factors = [draw.randrange(p) for _ in range(planted)]
        columns = zip(*rows[:planted], strict=True) if planted else [()] * width
        rows[planted] = [
            sum(f * x for f, x in zip(factors, column, strict=True)) % p for column in columns
        ]
    expected = first_dependent(rows, p)
    assert planted is None or expected is not None
    assert full_rank.first_dependent_row(np.array(rows), p) == expected


def test_an_unlucky_fold_is_not_believed() -> None:
    """For independent rows that vanish when folded, the full matrix decides."""
    width = 2 + full_rank.BLOCK
    draw = np.random.default_rng(0)
    first, second = (draw.integers(1, PRIME, size=width) for _ in range(2))
    Z = np.zeros((2, 2 * width), dtype=np.int64)
    for i in range(2):
        Z[i, i], Z[i, i + width] = second[i] % PRIME, -first[i] % PRIME
    assert not ((Z[:, :width] * first % PRIME + Z[:, width:] * second % PRIME) % PRIME).any()
    assert full_rank.first_dependent_row(Z, PRIME) is None
    Z[1] = Z[0]
    assert full_rank.first_dependent_row(Z, PRIME) == 1


# Verdicts.


def test_a_prime_beyond_31_bits_is_for_the_other_checker(tmp_path: Path) -> None:
    long = changed(CASES["full-rank"](), "rank.prime", str(2**61 - 1))
    verdict = fast.check_file(written(long, tmp_path))
    assert verdict.status == "over limit" and "leave out --fast" in verdict.message


@pytest.mark.parametrize("name", [name for name in CASES if name not in RANK_CASES])
def test_other_claims_are_refused(name: str, tmp_path: Path) -> None:
    verdict = fast.check_file(written(CASES[name](), tmp_path))
    assert verdict.status == "over limit"
    assert verdict.message.endswith("can be checked this way: leave out --fast")


@pytest.mark.parametrize("claim", fast.FAST_CLAIMS)
def test_over_a_limit_nothing_is_said_of_the_claim(claim: str, tmp_path: Path) -> None:
    true = TRUE[claim]
    if claim == "every-labelling":  # its prime is too large for float64
        true = changed(true, "rank.prime", str(PRIMES_FLOAT64[0]))
    path = written(true, tmp_path)
    assert fast.check_file(path).status == "holds"
    for limits in ((0.0,), (1e-9,), (float("nan"),), (600.0, 0.001)):
        verdict = fast.check_file(path, *limits)
        assert verdict.status == "over limit" and "above --limit-" in verdict.message


def test_long_saturation_costs_what_is_counted(tmp_path: Path) -> None:
    """The drops barely exceed the required bits, so sums of long powers of two decide."""
    n, bits = 40, 100_000
    file = layer("full-rank", n=n, contexts=[[["0"]] * (n - 1) + [[str(bits + 5)]]])
    path = written(sealed(file | {"saturation": {"bits": bits, "own": True}}), tmp_path)
    start = time.process_time()
    assert "head 0, example 0: 1-p >= 2^-" in fast.check_file(path).message
    assert time.process_time() - start < 2
    assert fast.check_file(path, 600.0, 2.5).status == "over limit"


def test_a_planted_error_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict rests on this arithmetic: with a wrong power of two, it changes."""
    path = written(CASES["full-rank"](), tmp_path)
    assert fast.check_file(path).status == "holds"
    monkeypatch.setattr(full_rank, "power_of_two", lambda x, tables, p: 0 * x + 1)
    certificate = copy.deepcopy(CASES["full-rank"]())
    uniform = [
        [sum(int(token[j]) for token in context) for j in range(3)]
        for context in certificate["data"]["contexts"]
    ]
    assert first_dependent([row * 3 for row in uniform], PRIME) is not None  # 4 means in ℚ³
    assert fast.check_file(path).status == "wrong"
