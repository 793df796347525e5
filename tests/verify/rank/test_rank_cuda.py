"""NVRTC compiles the CUDA path, which runs thread by thread without a GPU. Speed is not tested."""

from __future__ import annotations

import ctypes
import importlib.util
import re
import shutil
import types
from pathlib import Path

import numpy as np
import pytest
from support import stand_in
from support.shares import share
from support.stand_in import kernels

from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.verify.rank.engines.cuda import (
    CudaKernels,
    compile_options,
    launch_bound,
    launch_shape,
)
from attncert.verify.rank.engines.cuda_source import SOURCE

P = PRIMES_FLOAT64[0]
REGISTERS = 65_536  # the number for each block, on all three devices
needs_host_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


def balanced(rng: np.random.Generator, shape: tuple[int, ...], p: int = P) -> np.ndarray:
    return (rng.integers(0, p, shape) - p // 2).astype(np.float64)


def nvrtc() -> ctypes.CDLL:
    """NVIDIA's compiler from its wheel; it needs no device."""
    found = importlib.util.find_spec("nvidia")
    for place in found.submodule_search_locations or () if found else ():
        for library in sorted(Path(place).glob("*/lib/libnvrtc.so.1[2-9]"), reverse=True):
            return ctypes.CDLL(str(library))
    pytest.skip("no NVRTC: pip install nvidia-cuda-nvrtc")


def compiled(compiler: ctypes.CDLL, architecture: int, options: tuple[str, ...]) -> str:
    """The compiler's messages about the machine code."""
    program = ctypes.c_void_p()
    source = SOURCE.encode()
    assert (
        compiler.nvrtcCreateProgram(ctypes.byref(program), source, b"panel.cu", 0, None, None) == 0
    )
    words = [f"--gpu-architecture=sm_{architecture}", "--ptxas-options=-v", *options]
    given = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
    status = compiler.nvrtcCompileProgram(program, len(words), given)
    size = ctypes.c_size_t()
    compiler.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    compiler.nvrtcGetProgramLog(program, log)
    assert status == 0, log.value.decode()
    compiler.nvrtcGetCUBINSize(program, ctypes.byref(size))
    assert size.value > 10_000
    return log.value.decode()


CUTS = [(80, 208), (100, 1024)]
REST = [(a, width) for width in (208, 1024, 1280, 5000) for a in (80, 90, 100)]


@pytest.mark.parametrize(
    ("architecture", "width"),
    [*CUTS, *(pytest.param(*cut, marks=pytest.mark.slow) for cut in REST if cut not in CUTS)],
)
def test_the_kernel_compiles_and_a_block_has_registers(architecture: int, width: int) -> None:
    threads, per_thread = launch_shape(width)
    log = compiled(nvrtc(), architecture, compile_options(per_thread, launch_bound(threads)))
    assert f"sm_{architecture}" in log and "warning" not in log
    registers = int(re.search(r"Used (\d+) registers", log).group(1))
    assert registers * threads <= REGISTERS


@needs_host_compiler
@pytest.mark.parametrize(
    ("threads", "per_thread", "p"),
    share([(*cut, p) for p in (11, P) for cut in ((4, 10), (40, 1), (8, 5))], 4),
)
def test_a_panel_is_what_integers_say(folder: Path, threads: int, per_thread: int, p: int) -> None:
    """Zero entries, and hence pivots in later columns, are common in the field with 11 elements."""
    want, got, columns, found, arguments = panel_case(threads, p)
    kernels.build(folder, SOURCE, 16, per_thread)((3,), (threads,), arguments)
    out_columns, out_found = arguments[-2:]
    assert np.array_equal(out_found, found) and not found.all()
    assert np.array_equal(np.where(found, out_columns, 0), np.where(found, columns, 0))
    assert np.array_equal(got % p, want % p)
    assert np.abs(got).max() <= p / 2 + 4


def panel_case(seed: int, p: int) -> tuple[np.ndarray, ...]:
    """Three matrices before and after a panel, its pivots, and the kernel's arguments."""
    stack = balanced(np.random.default_rng(seed + p), (3, 30, 40), p)
    stack[1, 20] = stack[1, 18]  # a dependent row
    stack[2, 16:, 3] = 0  # no pivot in this column
    want, got = stack.copy(), stack.copy()
    columns, found = eliminated(want[:, 16:29, 3:], p)
    outputs = np.zeros((3, 13), np.int64), np.zeros((3, 13), np.bool_)
    numbers = (np.int64(1200), np.int32(40), *map(np.int32, (16, 3, 13, 37, p)))
    return want, got, columns, found, (got, *numbers, np.float64(1.0 / p), *outputs)


def eliminated(stack: np.ndarray, p: int) -> tuple[np.ndarray, np.ndarray]:
    """In each row in turn, the first nonzero entry becomes 1 and is cleared from the other rows."""
    columns, found = np.zeros(stack.shape[:2], np.int64), np.zeros(stack.shape[:2], np.bool_)
    stack %= p
    for matrix, pivots, there in zip(stack, columns, found, strict=True):
        for i in range(len(matrix)):
            there[i] = matrix[i].any()
            if there[i]:
                pivots[i] = column = np.flatnonzero(matrix[i])[0]
                matrix[i] = matrix[i] * pow(int(matrix[i, column]), -1, p) % p
                others = np.arange(len(matrix)) != i
                product = np.outer(matrix[others, column], matrix[i])
                matrix[others] = (matrix[others] - product) % p
    return columns, found


def test_an_inexact_dgemm_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted defect: products rounded to float32, as reduced-precision units would."""

    def rounded(*arguments: int) -> None:
        kernels.dgemm_strided_batched(*arguments)
        c, count, rows, columns = arguments[14], arguments[17], arguments[3], arguments[4]
        assert count == 1 and arguments[15] == rows
        pointer = ctypes.cast(c, ctypes.POINTER(ctypes.c_double))
        out = np.ctypeslib.as_array(pointer, (rows * columns,))
        out[:] = out.astype(np.float32)

    with stand_in.installed() as cupy:
        CudaKernels()
        library = vars(cupy.cuda.cublas) | {"dgemmStridedBatched": rounded}
        monkeypatch.setattr(cupy.cuda, "cublas", types.SimpleNamespace(**library))
        with pytest.raises(RuntimeError, match="not exact"):
            CudaKernels()
