"""Ranks on a Dask cluster: the same numbers, lost workers, and false records."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.ending_rows import EndingRows
from support.slow_shards import two_workers

from attncert import Capacity, Prove, capacity, prove
from attncert.constructions.data import generators
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.verify.claims import ids
from attncert.verify.rank.whole_layer import jacobian_rows, spread
from attncert.verify.sharding import engine
from attncert.verify.sharding.engine import dask
from attncert.verify.statements.steps import conclusions

P = PRIMES_FLOAT64[0]


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread, "_BLOCK", 8)
    monkeypatch.setattr(conclusions, "BLOCKS_FROM", 0)
    monkeypatch.setattr(jacobian_rows, "_SMALL", 0)


def test_prove_gives_the_same_certificate_and_its_rank_is_assumed(tmp_path: Path) -> None:
    data = generators.random(30, 3, 4, seed=1)
    alone = prove(data, Prove("width-one", claim="full-rank", device="cpu"))
    with two_workers(tmp_path) as address:
        question = Prove("width-one", claim="full-rank", device="cpu", dask=address)
        there = prove(data, question)
    assert there.certificate == alone.certificate is not None
    assert there.trace[ids.RANK].numbers == alone.trace[ids.RANK].numbers
    assert (alone.standing.value, there.standing.value) == ("proved", "assumed")


@pytest.mark.parametrize("layers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_capacity_gives_the_same_numbers(layers: int, tmp_path: Path) -> None:
    data = generators.random(24, 3, 4, seed=2)
    alone = capacity(data, Capacity(heads=3, layers=layers, device="cpu"))
    with two_workers(tmp_path) as address:
        there = capacity(data, Capacity(heads=3, layers=layers, device="cpu", dask=address))
    assert there.certificates == alone.certificates
    assert [(x.least, x.most) for x in there.notions] == [(x.least, x.most) for x in alone.notions]
    rank = ids.LAW_RANK if layers == 1 else ids.DEPTH_RANK
    assert there.trace[rank].numbers == alone.trace[rank].numbers
    assert (alone.trace.standing(rank).value, there.trace.standing(rank).value) == (
        "proved",
        "assumed",
    )


def planted(T: int, width: int) -> Dataset:
    """Integer queries, one of which is the sum of two queries in other blocks."""
    queries = np.random.default_rng(1).integers(-9, 10, (T, width))
    queries[:, 0] = np.arange(T)
    queries[T - 3] = queries[2] + queries[T // 2]
    return Dataset.of(np.eye(2, width, dtype=int), queries, np.zeros(T, dtype=int))


def test_a_planted_dependence_is_found(tmp_path: Path) -> None:
    data = planted(40, 50)
    make = partial(EndingRows, at=-1, ended="")
    with two_workers(tmp_path) as address, dask(address) as cluster:
        assert spread.spread_rank(make, data, P, data.T, cluster) == 39


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    data, ended = planted(40, 50), tmp_path / "ended"
    make = partial(EndingRows, at=20, ended=str(ended))
    with two_workers(tmp_path, processes=True) as address, dask(address) as cluster:
        before = set(cluster.nthreads())
        assert spread.spread_rank(make, data, P, data.T, cluster) == 39
        assert ended.exists() and before != set(cluster.nthreads())


@pytest.mark.parametrize(
    ("lie", "words"),
    [
        ({"rank": 7}, "one that differs from what is computed here"),
        ({"rank": 9}, "records do not fit their shards"),
        ({"rank": -1}, "records do not fit their shards"),
        ({"rank": True}, "records do not fit their shards"),
        ([], "records do not fit their shards"),
    ],
)
def test_a_worker_that_lies_is_refused(
    lie: Any, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def remote_only(shard: Any, panels: Any) -> Any:
        return lie if "Dask" in threading.current_thread().name else honest(shard, panels)

    honest = spread._record
    monkeypatch.setattr(spread, "_record", remote_only)
    data, make = planted(24, 30), partial(EndingRows, at=-1, ended="")
    with (
        two_workers(tmp_path) as address,
        dask(address) as cluster,
        pytest.raises(InputError, match=words),
    ):
        spread.spread_rank(make, data, P, data.T, cluster)


def test_a_worker_of_another_version_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = engine.remote
    monkeypatch.setattr(
        spread, "remote", lambda *words: true(*words).replace(engine.version("attncert"), "0.0.9")
    )
    data, make = planted(24, 30), partial(EndingRows, at=-1, ended="")
    with (
        two_workers(tmp_path) as address,
        dask(address) as cluster,
        pytest.raises(InputError, match=r"by one of version 0\.0\.9"),
    ):
        spread.spread_rank(make, data, P, data.T, cluster)
