"""The CUDA path, without a GPU: compiled by nvcc, run on host threads. Speed is not tested."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support import emulated_cuda
from support.emulated_cuda import device_array
from support.shares import share

from attncert.verify.rank.engines import batched, cpu
from attncert.verify.rank.engines.cuda import CudaKernels, launch_shape
from attncert.verify.rank.engines.cuda_source import SOURCE
from attncert.verify.rank.primes import PRIMES_FLOAT64

P = PRIMES_FLOAT64[0]
needs_host_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


def balanced(rng: np.random.Generator, shape: tuple[int, ...], p: int = P) -> np.ndarray:
    return (rng.integers(0, p, shape) - p // 2).astype(np.float64)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
@pytest.mark.parametrize("per_thread", share([1, 2, 20], 3))
def test_the_kernel_compiles_for_sm_90(tmp_path: Path, per_thread: int) -> None:
    (tmp_path / "panel.cu").write_text(SOURCE)
    command = ["nvcc", "-arch=compute_90", "-Werror", "all-warnings", f"-DPER_THREAD={per_thread}"]
    subprocess.run([*command, "-ptx", "panel.cu", "-o", "panel.ptx"], cwd=tmp_path, check=True)
    ptx = (tmp_path / "panel.ptx").read_text()
    assert ".target sm_90" in ptx and ".entry panel(" in ptx


@needs_host_compiler
@pytest.mark.parametrize(
    ("threads", "per_thread", "p"),
    share([(*cut, p) for p in (11, P) for cut in ((4, 10), (40, 1), (8, 5))], 4),
)
def test_a_panel_equals_the_array_panel(
    folder: Path, threads: int, per_thread: int, p: int
) -> None:
    """In the field of 11 elements zero entries, hence pivots elsewhere, are common."""
    rng = np.random.default_rng(threads + p)
    stack = balanced(rng, (3, 30, 40), p)
    stack[1, 20] = stack[1, 18]  # a dependent row
    stack[2, 16:, 3] = 0  # no pivot in this column
    want, got = stack.copy(), stack.copy()
    columns, found = batched.ARRAY.panel(want, 16, 29, 3, p)
    out_columns, out_found = np.zeros((3, 13), np.int64), np.zeros((3, 13), np.bool_)
    kernel = emulated_cuda.build(folder, 16, per_thread)
    numbers = (np.int64(1200), np.int32(40), *map(np.int32, (16, 3, 13, 37, p)))
    kernel((3,), (threads,), (got, *numbers, np.float64(1.0 / p), out_columns, out_found))
    assert np.array_equal(out_found, found) and not found.all()
    assert np.array_equal(np.where(found, out_columns, 0), np.where(found, columns, 0))
    assert np.array_equal(got % p, want % p)
    assert np.abs(got).max() <= p / 2 + 4


@needs_host_compiler
def test_the_whole_cuda_path_against_the_cpu(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launches = emulated_cuda.install(monkeypatch, folder)
    kernels = CudaKernels()
    rng = np.random.default_rng(0)
    stack = balanced(rng, (4, 60, 64))
    stack[1, 40] = stack[1, 2] - stack[1, 5]
    stack[3, 10:, 7] = 0
    want = [int(cpu.prefixes(matrix, np.arange(60)[None], P)[0]) for matrix in stack]
    got = batched.prefixes(device_array(stack.copy()), P, kernels)
    assert np.asarray(got).tolist() == want
    assert want[0] == 60 and want[1] == 40
    assert len(launches) == 4 and all(launch["grid"] == (4,) for launch in launches)


@needs_host_compiler
def test_an_inexact_dgemm_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted defect: products rounded to float32, as reduced-precision units would."""
    import sys

    emulated_cuda.install(monkeypatch, folder)
    cublas = sys.modules["cupy_backends.cuda.libs.cublas"]
    exact = cublas.dgemmStridedBatched

    def rounded(*arguments: int) -> None:
        exact(*arguments)
        c, count, rows, columns = arguments[14], arguments[17], arguments[3], arguments[4]
        assert count == 1 and arguments[15] == rows
        out = np.ctypeslib.as_array(
            emulated_cuda.ctypes.cast(
                c, emulated_cuda.ctypes.POINTER(emulated_cuda.ctypes.c_double)
            ),
            (rows * columns,),
        )
        out[:] = out.astype(np.float32)

    monkeypatch.setattr(cublas, "dgemmStridedBatched", rounded)
    with pytest.raises(RuntimeError, match="not exact"):
        CudaKernels()


@pytest.mark.parametrize("width", [1, 31, 32, 208, 768, 1024, 1025, 1280, 1281, 5000, 12545])
def test_launches_cover_the_panel_within_the_registers(width: int) -> None:
    threads, per_thread = launch_shape(width)
    registers = {1: 56, 2: 96}.get(per_thread, 62)  # nvcc -Xptxas -v, sm_90
    assert threads * per_thread >= width
    assert threads % 32 == 0 and threads <= 1024 and threads * registers <= 65536
