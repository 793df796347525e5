"""Compares CUDA kernels with the CPU engine and FLINT: edge-case sizes, wrong primes, memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import nmod_mat
from support.devices import Gpu
from support.rank_cases import CASES, Case, exact_rank
from support.shares import share

from attncert.constructions.errors import InputError
from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.verify.rank.engines import batched, cpu
from attncert.verify.rank.engines.cuda import CudaKernels
from attncert.verify.rank.modular import IndependenceTester

pytestmark = pytest.mark.gpu
P = PRIMES_FLOAT64[0]
SHAPES = [  # panels of one row and of several, columns around 32, 1,024, 1,280 (launch_shape)
    (33, 47), (1, 1), (1, 5), (16, 16), (17, 17), (15, 31), (16, 33), (33, 32), (32, 33), (64, 64),
    (18, 1024), (18, 1025), (18, 1281), (17, 5000),
]  # fmt: skip


@pytest.fixture(scope="module")
def kernels(gpu: Gpu) -> CudaKernels:
    return CudaKernels()


def matrices(rows: int, columns: int, p: int) -> np.ndarray:
    """A generic matrix, one with rows that depend on others, and one with few nonzero columns."""
    rng = np.random.default_rng([rows, columns, p])
    stack = (rng.integers(0, p, (3, rows, columns)) - p // 2).astype(np.float64)
    if rows > 2:
        stack[1, rows // 2] = stack[1, 0]
        stack[1, -1] = 0
    stack[2, :, : columns // 2] = 0
    return stack


def flint_prefix(matrix: np.ndarray, p: int) -> int:
    """How many leading rows are independent modulo p, by bisection with FLINT's ranks."""
    entries = matrix.astype(np.int64) % p

    def independent(count: int) -> bool:
        rows = entries[:count]
        return not count or nmod_mat(count, rows.shape[1], rows.ravel().tolist(), p).rank() == count

    low, high = 0, len(entries)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if independent(middle) else (low, middle - 1)
    return low


@pytest.mark.parametrize("p", [P, *(pytest.param(q, marks=pytest.mark.slow) for q in (11, 1019))])
@pytest.mark.parametrize(("rows", "columns"), share(SHAPES, 14))
def test_prefixes_of_any_shape(
    gpu: Gpu, kernels: CudaKernels, rows: int, columns: int, p: int
) -> None:
    stack = matrices(rows, columns, p)
    got = batched.prefixes(gpu.cupy.asarray(stack), p, kernels).get().tolist()
    index = np.arange(rows)[None]
    assert got == [int(cpu.prefixes(np.ascontiguousarray(m), index, p)[0]) for m in stack]
    assert got == [flint_prefix(m, p) for m in stack]


@pytest.mark.parametrize(
    ("base", "stop", "start"), share([(15, 31, 16), (15, 16, 0), (0, 1, 30), (31, 32, 39)], 4)
)
def test_the_product_is_exact_and_touches_nothing_else(
    gpu: Gpu, kernels: CudaKernels, base: int, stop: int, start: int
) -> None:
    stack = matrices(40, 40, P)
    multipliers = matrices(40 - stop, stop - base, P)
    there = gpu.cupy.asarray(stack)
    kernels.subtract(there, (base, stop), (stop, 40), start, gpu.cupy.asarray(multipliers))
    whole = stack.astype(np.int64).astype(object)
    product = multipliers.astype(np.int64).astype(object) @ whole[:, base:stop, start:]
    whole[:, stop:, start:] -= product
    assert (there.get().astype(np.int64).astype(object) == whole).all()


def test_subsets_and_prefixes_equal_those_of_the_cpu(gpu: Gpu) -> None:
    rng = np.random.default_rng(0)
    table = rng.standard_normal((50, 24)).astype(np.float32)
    table[7] = table[3] - table[5]
    subsets = np.array([rng.permutation(50)[:17] for _ in range(9)])
    subsets[2, :3] = 3, 5, 7
    subsets[4, 16] = subsets[4, 2]
    tester = IndependenceTester(table, device="cuda")
    found = tester.subsets(subsets)
    assert tester.device.kind == "cuda" and found.sum() == 7
    want = IndependenceTester(table, device="cpu")
    assert np.array_equal(found, want.subsets(subsets))
    exact = [exact_rank(table[s].astype(np.float64)) == 17 for s in subsets]
    assert found.tolist() == exact


@pytest.mark.parametrize("case", share([c for c in CASES if 0 < c.shape[0] <= c.shape[1]], 9))
def test_planted_ranks(gpu: Gpu, case: Case) -> None:
    rows = case.shape[0]
    found = IndependenceTester(case.matrix, device="cuda").subsets([list(range(rows))])
    assert found.tolist() == [case.rank == rows]


def test_a_table_on_the_device(gpu: Gpu) -> None:
    """Some entries are 0 modulo the first prime, and a table may already be on the device."""
    table = np.diag([float(P), 1.0, 2.0**-40])
    for given in (table, gpu.cupy.asarray(table)):
        found = IndependenceTester(given, device="cuda").subsets([[0, 1, 2], [0, 1, 1]])
        assert found.tolist() == [True, False]


@pytest.mark.parametrize("p", [7, 15, 1, 2**26 + 1, 2**61 - 1, 67_108_859])
def test_wrong_primes_are_refused(gpu: Gpu, kernels: CudaKernels, p: int) -> None:
    with pytest.raises(InputError, match="prime"):
        batched.prefixes(gpu.cupy.zeros((1, 20, 20)), p, kernels)


def test_memory_is_bounded_and_too_little_is_refused(gpu: Gpu) -> None:
    rng = np.random.default_rng(1)
    table = rng.standard_normal((60, 40))
    subsets = np.array([rng.permutation(60)[:30] for _ in range(12)])
    least = 8 * 60 * 32 + 4 * 8 * 30 * 32
    with pytest.raises(InputError, match=f"memory: must be at least {least} bytes"):
        IndependenceTester(table, device="cuda", memory=least - 1).subsets(subsets)
    found: list[Any] = []

    def job() -> None:
        tester = IndependenceTester(table, device="cuda", memory=3 * least)
        found.append(tester.subsets(subsets))

    assert gpu.most_bytes(job) <= 3 * least and found[0].all()


def test_a_budget_is_at_most_what_is_free(gpu: Gpu) -> None:
    free, _ = gpu.cupy.cuda.runtime.memGetInfo()
    tester = IndependenceTester([[1, 2], [3, 4]], device="cuda", memory=2**60)
    assert free // 2 < tester.memory < 2**45
