"""Random subsets are uniform, can be split anywhere, and are tested exactly; the bound
agrees with SciPy's."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from flint import fmpz_mat
from hypothesis import given, settings
from hypothesis import strategies as st
from support.rank_cases import holds

from attncert.verify.claims.evidence import Level
from attncert.verify.kruskal.bounds import Contradiction
from attncert.verify.kruskal.shards.draws import BLOCK, sequences
from attncert.verify.kruskal.shards.sampled import failing_at_most
from attncert.verify.kruskal.shards.subsets import Sampler
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.rational import Relation
from attncert.verify.sharding.engine import run


def sampled(vectors: Vectors, k: int, count: int, seed: int = 0) -> Any:
    sampler = Sampler.of(vectors, k, count, device="cpu")
    plan = sampler.plan(seed)
    records = run(plan.shards(), sampler, (vectors.array,))
    return sampler.summary(vectors, plan, records.values())


def planted(N: int = 60, d: int = 12, size: int = 3, seed: int = 0) -> Vectors:
    """Small random integers; the last of the first `size` vectors is the sum of the others."""
    rng = np.random.default_rng(seed)
    table = rng.integers(-50, 51, (N, d))
    table[size - 1] = table[: size - 1].sum(axis=0)
    return Vectors.of(table)


# Draws.


@settings(max_examples=50, deadline=None)
@given(
    vectors=st.integers(1, 40),
    start=st.integers(0, 300),
    length=st.integers(0, 40),
    count=st.integers(0, 200),
    cut=st.integers(0, 200),
)
def test_draws_do_not_depend_on_how_they_are_cut(
    vectors: int, start: int, length: int, count: int, cut: int
) -> None:
    length, cut = min(length, vectors), min(cut, count)
    whole = sequences(vectors, length, 5, start, start + count)
    parts = [
        sequences(vectors, length, 5, start, start + cut),
        sequences(vectors, length, 5, start + cut, start + count),
    ]
    assert whole.shape == (count, length) and (np.concatenate(parts) == whole).all()
    assert all(len(set(row)) == length for row in whole.tolist())
    assert count * length == 0 or (whole.min() >= 0 and whole.max() < vectors)


def test_draws_are_uniform_over_ordered_subsets() -> None:
    """A chi-square test over all 60 sequences of 3 out of 5; draws depend on seed and number."""
    counts = Counter(map(tuple, sequences(5, 3, 1, 0, 60_000).tolist()))
    assert set(counts) == set(itertools.permutations(range(5), 3))
    statistic = sum((n - 1000) ** 2 / 1000 for n in counts.values())
    assert 30 < statistic < 100  # 59 degrees of freedom: the 0.05 % and 99.95 % points
    first, other = sequences(30, 9, 1, 0, BLOCK), sequences(30, 9, 2, 0, BLOCK)
    assert not (first == other).any(axis=1).all()
    assert len(set(map(tuple, sequences(30, 9, 1, 0, 4 * BLOCK).tolist()))) == 4 * BLOCK


# The bound.


@given(trials=st.integers(1, 2000), data=st.data())
def test_the_bound_is_the_one_of_the_beta_distribution(trials: int, data: st.DataObject) -> None:
    from scipy.stats import beta, binom  # slow to import

    failures = data.draw(st.integers(0, trials))
    bound = failing_at_most(failures, trials)
    if failures == trials:
        assert bound == 1.0
    else:
        assert math.isclose(bound, beta.ppf(0.95, failures + 1, trials - failures), rel_tol=1e-9)
        assert math.isclose(binom.cdf(failures, trials, bound), 0.05, rel_tol=1e-6)


# Subsets.


@pytest.mark.parametrize("k", [1, 3, 7, 12])
def test_every_subset_is_judged_as_flint_judges_it(k: int) -> None:
    vectors = planted()
    found = sampled(vectors, k, 400, seed=4)
    drawn = sequences(vectors.N, k, 4, 0, 400).tolist()
    ranks = [fmpz_mat(vectors.array[rows].tolist()).rank() for rows in drawn]
    assert found.independent == sum(rank == k for rank in ranks)
    assert (found.counts["dependent"], found.counts["undecided"]) == (400 - found.independent, 0)
    assert (found.witness is None) == (found.counts["dependent"] == 0)
    if found.witness:
        assert found.witness == Relation((0, 1, 2), (1, 1, -1))
        assert holds(found.witness, vectors.array)


def test_counting_stops_short_of_long_exact_decisions_and_then_says_undecided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("attncert.verify.kruskal.shards.subsets._EXACT_WORK", 1)
    rank_two = np.arange(40).reshape(20, 2) @ np.array([[1, 2, 3, 4], [4, 1, 1, 7]])
    found = sampled(Vectors.of(rank_two), 4, 64)
    assert found.independent == 0 and found.counts["dependent"] + found.counts["undecided"] == 64
    assert found.counts["undecided"] > 0 and found.witness is not None and found.witness.size == 3
    assert found.failing_at_most == 1.0


def test_a_claim_is_called_sampled_and_bounds_no_rank() -> None:
    found = sampled(planted(size=2, N=300), 3, 200)
    claim = found.claim()
    assert found.counts["dependent"] == 0 and claim.level is Level.SAMPLED
    assert "does not bound the Kruskal rank" in claim.statement
    assert "0.0148671" in claim.statement  # 1 - 0.05 ** (1 / 200), rounded up
    assert claim.numbers["failing at most"] >= 1 - 0.05 ** (1 / 200)


# Records of workers.

EDITS: dict[str, dict[str, Any]] = {
    "index out of range": {"circuit": [0, 1, 2, 60]},
    "index twice": {"circuit": [0, 0, 2]},
    "count negative": {"counts": {"independent": -1, "dependent": 65}},
    "another count": {"counts": {"\x1b[31m": 64}},
    "more than kernels count": {"counts": {"independent": 2**63}},
    "dependent without a circuit": {"counts": {"dependent": 64}},
    "too few": {"counts": {"independent": 63}},
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_a_record_of_another_form_fits_no_shard(edit: dict[str, Any]) -> None:
    vectors = planted()
    sampler = Sampler.of(vectors, 5, 64, device="cpu")
    (shard,) = sampler.plan(0).shards()
    record = {"counts": {"independent": 64}, "circuit": None}
    assert sampler.fits(vectors, shard, record)
    assert not sampler.fits(vectors, shard, record | edit)


def test_a_circuit_that_is_none_is_a_contradiction() -> None:
    vectors = planted()
    sampler = Sampler.of(vectors, 5, 64, device="cpu")
    record = {"counts": {"dependent": 64}, "circuit": [0, 1, 3]}
    with pytest.raises(Contradiction, match="but they are not"):
        sampler.summary(vectors, sampler.plan(0), [record])
