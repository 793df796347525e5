"""All sets of k as shards: they prove what one search does; all sets of six of the digits."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from support.kruskal_cases import planted

from attncert.verify.claims.evidence import Level
from attncert.verify.kruskal.kruskal import kruskal
from attncert.verify.kruskal.methods import middle
from attncert.verify.kruskal.methods.exhaustive import decide
from attncert.verify.kruskal.shards.all_sets import AllSets
from attncert.verify.kruskal.shards.jobs import Job
from attncert.verify.kruskal.vectors import Vectors, load_vectors
from attncert.verify.questions.kruskal import Kruskal
from attncert.verify.scale.engine import run
from attncert.verify.scale.log import Log
from attncert.verify.scale.shards import Record, Shard

GENERAL = Vectors.of(np.random.default_rng(0).integers(0, 64, (24, 13)))


@pytest.mark.parametrize(("k", "first"), [(4, 10**6), (6, 20)])
def test_shards_prove_what_one_search_does(
    k: int, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By quotients, and by the middle."""
    monkeypatch.setitem(middle._FROM, k, first)
    for vectors in (GENERAL, planted(24, 13, k, seed=1)[0]):
        search = AllSets.of(vectors, k)
        plan = search.plan(0)
        records = run(plan.shards(), search, (vectors.array,))
        assert all(search.fits(shard, record, vectors) for shard, record in records.items())
        bound = search.bound(vectors, plan, records.values())
        assert bound == decide(vectors, k).bound() is not None
        assert (
            vectors is not GENERAL or search.bound(vectors, plan, [*records.values()][1:]) is None
        )


# What all sets of six of the digits' queries showed: 674 shards, 13 minutes of one core.


SIX = Path(__file__).parents[3] / "benchmarks" / "results" / "kruskal-digits-6.csv"


def _six() -> dict[Shard, Record]:
    """The records of the committed file."""
    with SIX.open(newline="") as file:
        rows = [list(map(int, row)) for row in list(csv.reader(file))[1:]]
    records = dict[Shard, Record]()
    for start, stop, looked, false in rows:
        counts = {"settled": stop - start, "looked at": looked, "false alarms": false}
        counts |= {f"modulo {p}": stop - start for p in (5, 8191, 65267)}
        records[Shard("all sets of 6", 0, start, stop)] = {"counts": counts, "circuit": None}
    return records


def test_the_committed_records_say_that_every_six_of_the_digits_are_independent() -> None:
    digits, records = load_vectors("digits"), _six()
    search = AllSets.of(digits, 6)
    plan = search.plan(0)
    assert [*records] == plan.shards() and plan.count == 19532
    assert all(search.fits(shard, record, digits) for shard, record in records.items())
    bound = search.bound(digits, plan, records.values(), logged=plan.count)
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


@pytest.mark.slow
def test_with_the_committed_records_the_digits_have_six_or_seven(tmp_path: Path) -> None:
    digits = load_vectors("digits")
    with Log(tmp_path / "log") as log:
        search = Job.of(AllSets.of(digits, 6), digits, 0, log)
        for shard, record in _six().items():
            search.keep(shard, record)
    question = Kruskal(work=425.0, subsets=0, log=str(tmp_path / "log"))
    interval = kruskal(digits, question).interval
    assert (interval.lower.value, interval.upper.value) == (6, 7)
    assert (interval.lower.level, interval.upper.level) == (Level.ASSUMED, Level.PROVED)
    assert "all sets of 7" in interval.stopped
