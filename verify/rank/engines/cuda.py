"""The two heavy steps of `batched.py` on a CUDA device, through CuPy.

The panel is one kernel with one thread block per matrix and columns in registers
(`cuda_source.py`). The product is cuBLAS's strided-batched dgemm, in place, with alpha = -1 and
beta = 1, because CuPy's batched `@` would copy both operands and the result. Everything is float64:
a float32 product might run in TF32, which would break Lemma 2.

CuPy is imported only when `CudaKernels` is built; `devices.py` decides whether to build it.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.verify.rank.engines.cuda_source import SOURCE

WIDTH = 16  # rows per panel


def launch_shape(width: int) -> tuple[int, int]:
    """(threads per block, columns per thread) for a panel of `width` columns.

    A block has at most 65,536 registers: 64 per thread for 1,024 threads, or about 100, which two
    columns per thread need, for 640 threads. More than five columns are kept in local memory.

    >>> launch_shape(208), launch_shape(1280), launch_shape(5000)
    ((224, 1), (640, 2), (1024, 5))
    """
    if width <= 1024:
        return max(32, -(-width // 32) * 32), 1
    if width <= 1280:
        return -(-width // 64) * 32, 2
    per_thread = max(5, -(-width // 1024))
    return -(-width // (32 * per_thread)) * 32, per_thread


def launch_bound(threads: int) -> int:
    """The largest block size that the compiler must allow for, which limits the registers of a
    thread. Small blocks get as many registers as the compiler would use anyway (56 on sm_90, 96 on
    sm_100).

    >>> [launch_bound(threads) for threads in (224, 640, 768)]
    [256, 640, 1024]
    """
    return next(bound for bound in (256, 640, 1024) if threads <= bound)


def compile_options(per_thread: int, bound: int) -> tuple[str, ...]:
    return f"-DPANEL={WIDTH}", f"-DPER_THREAD={per_thread}", f"-DTHREADS={bound}"


class CudaKernels:
    """The two kernels. Each changes a stack, a CuPy array (float64, C order), in place."""

    def __init__(self) -> None:
        self._cupy: Any = importlib.import_module("cupy")
        self._cublas: Any = self._cupy.cuda.cublas  # accessing this attribute locates the library
        self._compiled: dict[tuple[int, int], Any] = {}
        self._self_test()

    def panel(self, stack: Any, base: int, stop: int, start: int, p: int) -> tuple[Any, Any]:
        """Eliminate rows base:stop among themselves in the columns from `start`. They are balanced
        afterwards. The first nonzero entry of each row in turn is scaled to 1, and its column is
        cleared in the other rows. Returns the pivot columns counted from `start`, (S, rows) int64,
        and whether each row has one, (S, rows); a row without a pivot becomes zero.
        """
        cupy = self._cupy
        count, rows, n = stack.shape[0], stop - base, stack.shape[2]
        columns = cupy.empty((count, rows), dtype=cupy.int64)
        independent = cupy.empty((count, rows), dtype=cupy.bool_)
        threads, per_thread = launch_shape(n - start)
        self._kernel(per_thread, launch_bound(threads))(
            (count,),
            (threads,),
            (
                stack,
                cupy.int64(stack.strides[0] // 8),
                cupy.int32(stack.strides[1] // 8),
                cupy.int32(base),
                cupy.int32(start),
                cupy.int32(rows),
                cupy.int32(n - start),
                cupy.int32(p),
                cupy.float64(1.0 / p),
                columns,
                independent,
            ),
        )
        return columns, independent

    def subtract(
        self, stack: Any, pivots: tuple[int, int], others: tuple[int, int], start: int, factors: Any
    ) -> None:
        """stack[:, others, start:] -= factors @ stack[:, pivots, start:]; rows are ranges (a, b).

        cuBLAS is column-major: it computes C -= L U as C^T -= U^T L^T in the same memory.
        """
        count, m, n = stack.shape
        factors = self._cupy.ascontiguousarray(factors)
        rows, inner = factors.shape[1:]
        alpha, beta = np.array(-1.0), np.array(1.0)  # float64 in host memory
        handle = self._cupy.cuda.device.get_cublas_handle()
        mode = self._cublas.getPointerMode(handle)
        self._cublas.setPointerMode(handle, self._cublas.CUBLAS_POINTER_MODE_HOST)
        try:
            self._cublas.dgemmStridedBatched(
                handle,
                self._cublas.CUBLAS_OP_N,
                self._cublas.CUBLAS_OP_N,
                n - start,
                rows,
                inner,
                alpha.ctypes.data,
                stack.data.ptr + 8 * (pivots[0] * n + start),
                n,
                m * n,
                factors.data.ptr,
                inner,
                rows * inner,
                beta.ctypes.data,
                stack.data.ptr + 8 * (others[0] * n + start),
                n,
                m * n,
                count,
            )
        finally:
            self._cublas.setPointerMode(handle, mode)

    def _kernel(self, per_thread: int, bound: int) -> Any:
        key = per_thread, bound
        if key not in self._compiled:
            options = compile_options(*key)
            self._compiled[key] = self._cupy.RawKernel(SOURCE, "panel", options=options)
        return self._compiled[key]

    def _self_test(self) -> None:
        """Check the largest products that the bound allows against integers, in order to reject
        emulated doubles."""
        cupy, extreme = self._cupy, PRIMES_FLOAT64[0] // 2
        stack = cupy.full((1, 2 * WIDTH, WIDTH), float(extreme))
        factors = cupy.full((1, WIDTH, WIDTH), float(extreme))
        for _ in range(15):
            self.subtract(stack, (0, WIDTH), (WIDTH, 2 * WIDTH), 0, factors)
        want = extreme - 15 * WIDTH * extreme**2
        if not bool((stack[:, WIDTH:, :] == float(want)).all()):
            raise RuntimeError("cuBLAS dgemm is not exact on integers below 2^53 on this device")
