"""Compares the meet-in-the-middle search modulo 5 with enumeration, quotients and planted sets;
tests all sets of k in shards, and all sets of six of the digits."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from flint import nmod_mat
from support.kruskal_cases import is_circuit, planted
from support.shares import share

from attncert.verify.claims.evidence import Level
from attncert.verify.kruskal.methods import middle
from attncert.verify.kruskal.methods.determinants import BLOCK, R, singular
from attncert.verify.kruskal.methods.exhaustive import decide
from attncert.verify.kruskal.methods.middle import Middle
from attncert.verify.kruskal.methods.middle_compiled import REPRESENTATIVES, equal_sums
from attncert.verify.kruskal.shards.all_sets import AllSets
from attncert.verify.kruskal.vectors import Vectors, load_vectors
from attncert.verify.sharding.engine import run
from attncert.verify.sharding.shards import Record, Shard


def searched(vectors: Vectors, k: int) -> Iterator[middle.Findings]:
    """The findings of all slices, 500 at a time."""
    search = Middle(vectors, k)
    for start in range(0, REPRESENTATIVES, 500):
        yield search.look((start, min(start + 500, REPRESENTATIVES)))


SLICES = [(0, 1, 4), (1, REPRESENTATIVES, 1)]


@pytest.mark.parametrize(("k", "slices"), share(itertools.product([5, 6], SLICES), 4))
def test_every_relation_modulo_five_is_seen(k: int, slices: tuple[int, int, int]) -> None:
    """Relations of twelve vectors in four coordinates modulo 5 are counted by enumeration.

    A relation is seen once or, if the sums of its halves are 0, four times, in slice 0.
    """
    start, stop, times = slices
    rng = np.random.default_rng(k)
    rows = rng.integers(0, 5, (12, 4))
    rows[~rows.any(axis=1), 0] = 1
    table = rng.integers(0, 100, (12, 16)) * 5
    table[:, :4] += rows
    search = Middle(Vectors.of(table), k)
    small = np.full((10**4, k), -1, dtype=np.int64)
    hits = np.zeros((8, k), dtype=np.int64)
    tables = (search._scaled, search._pairs, search._checks)
    counts = equal_sums(start, stop, k, *tables, hits, small)
    expected = dict.fromkeys(range(2, k + 1), 0)
    sets: set[tuple[int, ...]] = set()
    for size in expected:
        factors = np.array(list(itertools.product(range(1, 5), repeat=size - 1)))
        factors = np.hstack([np.ones((len(factors), 1), dtype=int), factors])
        half = (size + 1) // 2
        for members in itertools.combinations(range(12), size):
            part_of = rows[list(members)]
            zero = ~(factors @ part_of % 5).any(axis=1)
            nothing = ~(factors[:, :half] @ part_of[:half] % 5).any(axis=1)
            seen = int((zero & (nothing == (start == 0))).sum())
            expected[size] += times * seen
            if seen and size < k - 1:
                sets.add(members)
    listed = [tuple(x for x in row if x >= 0) for row in small[: counts[1]].tolist()]
    assert counts[2:].tolist() == [expected[k], expected[k - 1]]
    assert len(listed) == sum(expected[size] for size in range(2, k - 1))
    assert set(listed) == sets


@pytest.mark.parametrize(
    ("k", "multiples"), share([*((5, m) for m in range(4)), *((6, m) for m in range(5))], 9)
)
def test_a_planted_set_is_found_whatever_five_divides(k: int, multiples: int) -> None:
    """Coefficients divisible by 5 leave a smaller dependent set modulo 5, which is extended."""
    rng = np.random.default_rng(multiples)
    table = rng.integers(-60, 60, (30, 14))
    members = np.sort(rng.choice(30, k, replace=False))
    factors = np.array([5] * multiples + [2, -1, 3, 7, 4][multiples:])[: k - 1]
    table[members[-1]] = factors @ table[members[:-1]]
    table[members[0]] *= (1, 5, 25)[multiples % 3]
    vectors = Vectors.of(table)
    witness = next(x.relation for x in searched(vectors, k) if x.relation is not None)
    assert witness.indices == tuple(members.tolist())
    assert is_circuit(witness, vectors)


@pytest.mark.parametrize("size", share([1, 2, 3, 4, 5], 5))
def test_a_smaller_dependent_set_is_no_proof_of_six(size: int) -> None:
    """Nothing is assumed about smaller sets: a dependent one gives a witness, or no claim."""
    vectors, members = planted(24, 14, size, seed=size) if size > 1 else (None, (3,))
    if vectors is None:
        table = np.random.default_rng(0).integers(1, 60, (24, 14))
        table[3] = 0
        vectors = Vectors.of(table)
    found = next(x for x in searched(vectors, 6) if x.relation is not None or not x.settled)
    assert found.relation is None or found.relation.indices == members


GENERAL = Vectors.of(np.random.default_rng(0).integers(0, 64, (24, 13)))


@pytest.mark.parametrize(("k", "first"), share([(4, 10**6), (6, 20)], 2))
def test_shards_prove_what_one_search_does(
    k: int, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both methods are tried, quotients and meet-in-the-middle."""
    monkeypatch.setitem(middle._FROM, k, first)
    for vectors in (GENERAL, planted(24, 13, k, seed=1)[0]):
        search = AllSets.of(vectors, k)
        plan = search.plan(0)
        records = run(plan.shards(), search, (vectors.array,))
        assert all(search.fits(vectors, shard, records[shard]) for shard in records)
        bound = search.bound(vectors, plan, records.values())
        assert bound == decide(vectors, k) is not None
        assert (
            vectors is not GENERAL or search.bound(vectors, plan, [*records.values()][1:]) is None
        )


# The result for all sets of six of the digits' queries: 674 shards, 13 minutes on one core.


SIX = Path(__file__).parents[3] / "benchmarks" / "results" / "kruskal-digits-6.csv"


def _six() -> dict[Shard, Record]:
    """The records of the committed file."""
    with SIX.open(newline="") as file:
        rows = [list(map(int, row)) for row in list(csv.reader(file))[1:]]
    records = dict[Shard, Record]()
    for start, stop, looked, false in rows:
        counts = {"settled": stop - start, "looked at": looked, "false alarms": false}
        records[Shard("all sets of 6", 0, start, stop)] = {"counts": counts, "circuit": None}
    return records


def test_the_committed_records_say_that_every_six_of_the_digits_are_independent() -> None:
    digits, records = load_vectors("digits"), _six()
    search = AllSets.of(digits, 6)
    plan = search.plan(0)
    assert [*records] == plan.shards() and plan.count == 19532
    assert all(search.fits(digits, shard, record) for shard, record in records.items())
    bound = search.bound(digits, plan, records.values(), "Workers have them.")
    assert bound is not None
    assert (bound.end, bound.value, bound.level) == ("lower", 6, Level.ASSUMED)
    assert bound.numbers["sets"] == math.comb(1782, 6) == 44_101_591_030_013_517
    assert bound.numbers["dependent modulo the first prime"] == 718_795_050


@pytest.mark.slow
@pytest.mark.parametrize("number", [17, 600])
def test_a_committed_record_is_what_a_new_search_yields(number: int) -> None:
    digits = load_vectors("digits")
    search = AllSets.of(digits, 6)
    shard, record = list(_six().items())[number]
    assert run([shard], search, (digits.array,))[shard] == record


def test_a_block_of_determinants_moves_the_dependent_sets_to_the_front() -> None:
    rng = np.random.default_rng(2)
    table = rng.integers(-4096, 4097, size=(BLOCK * 6, 6))
    table[5] = (table[:5].sum(axis=0) + 4095) % R - 4095
    words = np.arange(BLOCK * 6, dtype=np.uint64).reshape(BLOCK, 2, 3)
    sets = words @ np.array([1, 2**12, 2**24], dtype=np.uint64)
    sets = np.roll(sets, 9, axis=0)
    dependent = [
        nmod_mat(6, 6, table[6 * i : 6 * i + 6].ravel().tolist(), R).rank() < 6
        for i in range(BLOCK)
    ]
    assert dependent[0]
    assert singular(sets, table.astype(float)) == sum(dependent)
    assert (
        sets[: sum(dependent), 0]
        .tolist()
        .count(int(words[0, 0] @ np.array([1, 2**12, 2**24], dtype=np.uint64)))
        == 1
    )
