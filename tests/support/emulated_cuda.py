"""The CUDA path without a GPU: kernels on host threads, cuBLAS from its definition.

`build` compiles the kernel source with the host compiler behind a few macros; a block becomes a
set of threads with real barriers, warps have 4 lanes. `install` puts a stand-in for CuPy in its
place: NumPy arrays with device pointers, the compiled kernel, and a dgemmStridedBatched that
follows the column-major definition entry by entry through those pointers. This tests the
arithmetic, the synchronisation, the strides and offsets; not speed, nor CuPy itself.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncert.verify.rank.engines.cuda_source import SOURCE

HARNESS = r"""
#include <algorithm>
#include <atomic>
#include <barrier>
#include <cmath>
#include <memory>
#include <thread>
#include <vector>
using std::floor; using std::min;
#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
struct Dim { int x; };
static thread_local Dim threadIdx;
static Dim blockIdx, blockDim;
static const int warpSize = 4;
static std::unique_ptr<std::barrier<>> block;
static int lanes[4096];
static void __syncthreads() { block->arrive_and_wait(); }
static int __shfl_down_sync(unsigned, int x, int offset) {
    const int me = threadIdx.x;
    lanes[me] = x; __syncthreads();
    const int y = me % warpSize + offset < warpSize ? lanes[me + offset] : x;
    __syncthreads();
    return y;
}
static void atomicMin(int *at, int x) {
    std::atomic_ref<int> ref(*at);
    int seen = ref.load();
    while (x < seen && !ref.compare_exchange_weak(seen, x)) {}
}
#include "panel.inc"
extern "C" void run(int blocks, int threads, double *stack, long long matrix_stride,
                    int row_stride, int base, int start, int rows, int width, int prime,
                    double over_p, long long *columns, bool *found) {
    blockDim.x = threads;
    block = std::make_unique<std::barrier<>>(threads);
    for (int b = 0; b < blocks; ++b) {
        blockIdx.x = b;
        std::vector<std::thread> team;
        for (int t = 0; t < threads; ++t)
            team.emplace_back([=] {
                threadIdx.x = t;
                panel(stack, matrix_stride, row_stride, base, start, rows, width, prime, over_p,
                      columns, found);
            });
        for (auto &member : team) member.join();
    }
}
"""


def build(folder: Path, panel: int, per_thread: int) -> Any:
    """The kernel as a function of (grid, block, arguments), arguments as CuPy passes them."""
    library = folder / f"panel_{panel}_{per_thread}.so"
    if not library.exists():
        (folder / "panel.inc").write_text(SOURCE)
        (folder / "harness.cpp").write_text(HARNESS)
        flags = [f"-DPANEL={panel}", f"-DPER_THREAD={per_thread}", "-Wno-unknown-pragmas"]
        command = ["g++", "-std=c++20", "-O2", "-shared", "-fPIC", "-pthread", *flags]
        subprocess.run([*command, "harness.cpp", "-o", library.name], cwd=folder, check=True)
    run = ctypes.CDLL(str(library)).run

    def launch(grid: tuple[int], block: tuple[int], arguments: tuple[Any, ...]) -> None:
        kinds = {np.int64: ctypes.c_longlong, np.int32: ctypes.c_int, np.float64: ctypes.c_double}
        converted = [
            ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else kinds[type(a)](a)
            for a in arguments
        ]
        run(ctypes.c_int(grid[0]), ctypes.c_int(block[0]), *converted)

    return launch


class DeviceArray(np.ndarray):
    """A NumPy array with CuPy's pointer attribute."""

    @property
    def data(self) -> Any:  # type: ignore[override]
        return types.SimpleNamespace(ptr=self.__array_interface__["data"][0])


def device_array(values: Any) -> DeviceArray:
    return np.ascontiguousarray(values).view(DeviceArray)


def dgemm_strided_batched(
    handle: int, transa: int, transb: int, m: int, n: int, k: int,
    alpha: int, a: int, lda: int, stride_a: int, b: int, ldb: int, stride_b: int,
    beta: int, c: int, ldc: int, stride_c: int, count: int,
) -> None:  # fmt: skip
    """C_s = alpha A_s B_s + beta C_s, column-major, from raw pointers."""
    assert transa == transb == 0

    def view(pointer: int, rows: int, columns: int, ld: int, stride: int) -> np.ndarray:
        size = (count - 1) * stride + (columns - 1) * ld + rows
        flat = np.ctypeslib.as_array(ctypes.cast(pointer, ctypes.POINTER(ctypes.c_double)), (size,))
        return np.lib.stride_tricks.as_strided(
            flat, (count, rows, columns), (8 * stride, 8, 8 * ld), writeable=True
        )

    scale, keep = (ctypes.cast(x, ctypes.POINTER(ctypes.c_double))[0] for x in (alpha, beta))
    out = view(c, m, n, ldc, stride_c)
    out[:] = scale * (view(a, m, k, lda, stride_a) @ view(b, k, n, ldb, stride_b)) + keep * out


def install(monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[dict[str, Any]]:
    """Stand-ins for cupy and its cuBLAS in sys.modules; returns the list of kernel launches."""
    launches: list[dict[str, Any]] = []

    class RawKernel:
        def __init__(self, source: str, name: str, options: tuple[str, ...]) -> None:
            assert (source, name) == (SOURCE, "panel")
            values = {o.split("=")[0]: int(o.split("=")[1]) for o in options}
            self.per_thread = values["-DPER_THREAD"]
            self.launch = build(folder, values["-DPANEL"], self.per_thread)

        def __call__(self, grid: tuple[int], block: tuple[int], arguments: Any) -> None:
            width = int(arguments[6])
            assert block[0] * self.per_thread >= width and block[0] % 32 == 0
            launches.append({"grid": grid, "block": block, "width": width})
            self.launch(grid, block, arguments)

    cupy = types.ModuleType("cupy")
    cupy.int32, cupy.int64, cupy.float64, cupy.bool_ = np.int32, np.int64, np.float64, np.bool_
    cupy.empty = lambda shape, dtype: device_array(np.empty(shape, dtype))
    cupy.full = lambda shape, value: device_array(np.full(shape, value))
    cupy.ascontiguousarray = device_array
    cupy.RawKernel = RawKernel
    cupy.cuda = types.SimpleNamespace(device=types.SimpleNamespace(get_cublas_handle=lambda: 1))
    cublas = types.ModuleType("cublas")
    cublas.CUBLAS_OP_N, cublas.CUBLAS_POINTER_MODE_HOST = 0, 0
    cublas.getPointerMode = lambda handle: 1
    cublas.setPointerMode = lambda handle, mode: None
    cublas.dgemmStridedBatched = dgemm_strided_batched
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setitem(sys.modules, "cupy_backends.cuda.libs.cublas", cublas)
    return launches
