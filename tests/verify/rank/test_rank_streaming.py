"""Elimination in row blocks, in every array library, and the choice of a device."""

from __future__ import annotations

import itertools
import types

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.rank_cases import balanced, flint_rank, of_rank

from attncert.constructions.errors import InputError
from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.verify.rank.engines import devices
from attncert.verify.rank.engines.devices import choose_device
from attncert.verify.rank.modular import IndependenceTester
from attncert.verify.rank.whole_layer.streaming import Elimination

P = PRIMES_FLOAT64[0]


def blocks(matrix: np.ndarray, cuts: list[int]) -> list[np.ndarray]:
    edges = sorted({0, len(matrix), *(c % (len(matrix) + 1) for c in cuts)})
    return [matrix[a:b] for a, b in itertools.pairwise(edges)]


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 60),
    st.integers(0, 60),
    st.integers(0, 60),
    st.sampled_from([11, 59, 1019, P]),
    st.lists(st.integers(0, 60), max_size=4),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_every_block_raises_the_rank_by_what_flint_says(
    m: int, n: int, rank: int, p: int, cuts: list[int], sparse: bool, seed: int
) -> None:
    """Small fields and sparse rows put pivots far from the first columns, and leave rows without a
    pivot."""
    rng = np.random.default_rng(seed)
    matrix = balanced(of_rank(rng, m, n, min(rank, m, n), p), p)
    if sparse:
        matrix *= rng.random((m, n)) < 0.1
    here, strict = Elimination(n, p), Elimination(n, p)
    seen = 0
    for block in blocks(matrix, cuts):
        kept = block.copy()
        found = here.add(block)
        assert np.array_equal(block, kept)
        assert found == strict.add(array_api_strict.asarray(block))
        seen += len(block)
        assert here.rank == flint_rank(matrix[:seen], p)
    for a, b in zip(here._panels, strict._panels, strict=True):
        assert np.array_equal(a.rows, np.asarray(b.rows))
        assert np.abs(a.rows).max(initial=0) <= p / 2 + 4


TABLE = [[1.0, 2.0, 0.0], [0.0, 1.0, 1.0], [1.0, 3.0, 1.0]]


def test_cuda_without_cupy_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise ModuleNotFoundError("No module named 'cupy'")

    monkeypatch.setattr(devices, "_load_cupy", missing)
    with pytest.raises(InputError, match=r"device: must be cpu or auto .*CuPy is not installed"):
        IndependenceTester(TABLE, device="cuda").subsets([[0, 1]])


@pytest.mark.parametrize("failure", ["raises", "none"])
def test_cupy_without_a_device_is_refused_or_passed_over(
    monkeypatch: pytest.MonkeyPatch, failure: str
) -> None:
    def count() -> int:
        if failure == "raises":
            raise RuntimeError("cudaErrorInsufficientDriver: too old")
        return 0

    cupy = types.ModuleType("cupy")
    cupy.cuda = types.SimpleNamespace(runtime=types.SimpleNamespace(getDeviceCount=count))
    monkeypatch.setattr(devices, "_load_cupy", lambda: cupy)
    with pytest.raises(InputError, match=r"no device|InsufficientDriver") as raised:
        choose_device("cuda")
    assert "\n" not in str(raised.value)
    assert choose_device("auto").kind == "cpu"


def test_a_usable_gpu_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = types.SimpleNamespace(
        getDeviceCount=lambda: 1,
        getDevice=lambda: 0,
        getDeviceProperties=lambda index: {"name": b"Some GPU"},
        runtimeGetVersion=lambda: 13000,
    )
    cupy = types.ModuleType("cupy")
    cupy.cuda, cupy.__version__ = types.SimpleNamespace(runtime=runtime), "14.0"
    monkeypatch.setattr(devices, "_load_cupy", lambda: cupy)
    for choice in ("auto", "cuda"):
        found = choose_device(choice)
        assert (found.kind, found.name) == ("cuda", "Some GPU")
        assert found.versions["cupy"] == "14.0" and found.versions["cuda_runtime"] == "13000"
    assert choose_device("cpu").kind == "cpu"
