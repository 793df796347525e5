"""CUDA kernels without a GPU: blocks and threads as coroutines, barriers checked.

`build` compiles the kernel's source with the host compiler behind a few macros. A thread runs until
it waits at a barrier, of its block or of its warp (4 lanes here); a barrier opens when all threads
of the block, or warp, wait at the same line of the source, and a launch in which no thread can
continue ends with BarrierError. Every launch runs three times, with the threads in order,
backwards, and with the warps shuffled; a result that depends on their order ends with OrderError. A
missing barrier shows up as one of these errors. This tests arithmetic, synchronisation, strides and
offsets, but not speed.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HARNESS = r"""
#include <math.h>
#include <stdlib.h>
#include <ucontext.h>
static int min(int a, int b) { return a < b ? a : b; }
#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(most)
struct Dim { int x; };
static Dim threadIdx, blockIdx, blockDim;
static const int warpSize = 4;
enum State { READY, AT_WARP, AT_BLOCK, DONE };
struct Thread { ucontext_t context; char *stack; State state; int line; int lane; };
static Thread team[1024];
static int order[1024];
static const int STACK = 65536;
static ucontext_t scheduler;
static void wait_at(State where, int line) {
    Thread &me = team[threadIdx.x];
    me.state = where; me.line = line;
    swapcontext(&me.context, &scheduler);
}
#define __syncthreads() wait_at(AT_BLOCK, __LINE__)
static int shuffle_down(unsigned mask, int x, int offset, int line) {
    if (mask != 0xffffffffu) abort();
    const int me = threadIdx.x;
    team[me].lane = x; wait_at(AT_WARP, line);
    const int y = me % warpSize + offset < warpSize ? team[me + offset].lane : x;
    wait_at(AT_WARP, line);
    return y;
}
#define __shfl_down_sync(mask, x, offset) shuffle_down(mask, x, offset, __LINE__)
static void atomicMin(int *at, int x) { *at = min(*at, x); }
#include KERNEL
static struct {
    double *stack; long long matrix_stride; int row_stride, base, start, rows, width, prime;
    double over_p; long long *columns; bool *found;
} given;
static void body() {
    panel(given.stack, given.matrix_stride, given.row_stride, given.base, given.start, given.rows,
          given.width, given.prime, given.over_p, given.columns, given.found);
    team[threadIdx.x].state = DONE;
}
static bool opened(int from, int count, State where) {
    for (int t = from; t < from + count; ++t)
        if (team[t].state != where || team[t].line != team[from].line) return false;
    for (int t = from; t < from + count; ++t) team[t].state = READY;
    return true;
}
static bool run_block() {
    const int threads = blockDim.x;
    for (int t = 0; t < threads; ++t) {
        Thread &thread = team[t];
        thread.state = READY;
        getcontext(&thread.context);
        thread.context.uc_stack.ss_sp = thread.stack;
        thread.context.uc_stack.ss_size = STACK;
        thread.context.uc_link = &scheduler;
        makecontext(&thread.context, body, 0);
    }
    for (;;) { // each warp goes as far as it can before the next one
        for (int w = 0; w < threads; w += warpSize)
            do {
                for (int i = w; i < w + warpSize; ++i)
                    if (team[order[i]].state == READY) {
                        threadIdx.x = order[i];
                        swapcontext(&scheduler, &team[order[i]].context);
                    }
            } while (opened(order[w] / warpSize * warpSize, warpSize, AT_WARP));
        if (opened(0, threads, AT_BLOCK)) continue;
        for (int t = 0; t < threads; ++t) if (team[t].state != DONE) return false;
        return true;
    }
}
extern "C" int run(int way, int blocks, int threads, double *stack, long long matrix_stride,
                   int row_stride, int base, int start, int rows, int width, int prime,
                   double over_p, long long *columns, bool *found) {
    given = {stack, matrix_stride, row_stride, base, start, rows, width, prime, over_p, columns,
             found};
    blockDim.x = threads;
    srand(1);
    for (int t = 0; t < threads; ++t) {
        if (!team[t].stack) team[t].stack = (char *)malloc(STACK);
        order[t] = way == 1 ? threads - 1 - t : t;
    }
    for (int b = 0; b < blocks; ++b) {
        blockIdx.x = b;
        for (int w = threads / warpSize - 1; way == 2 && w > 0; --w) {
            const int other = rand() % (w + 1);
            for (int i = 0; i < warpSize; ++i) {
                const int here = order[w * warpSize + i];
                order[w * warpSize + i] = order[other * warpSize + i];
                order[other * warpSize + i] = here;
            }
        }
        if (!run_block()) return 1;
    }
    return 0;
}
"""
WAYS = 3
_KINDS = {np.int64: ctypes.c_longlong, np.int32: ctypes.c_int, np.float64: ctypes.c_double}

Launch = Callable[[tuple[int], tuple[int], tuple[Any, ...]], None]


class BarrierError(AssertionError):
    """Threads wait at different barriers, or for threads that have ended."""


class OrderError(AssertionError):
    """The result depends on the order in which the threads run."""


def build(folder: Path, source: str, panel: int, per_thread: int) -> Launch:
    """The kernel as a function of (grid, block, arguments): NumPy arrays, which it changes in
    place, and NumPy scalars of the types that the kernel takes."""
    name = f"panel_{panel}_{per_thread}_{abs(hash(source))}"
    library = folder / f"{name}.so"
    if not library.exists():
        (folder / f"{name}.inc").write_text(source)
        (folder / "harness.cpp").write_text(HARNESS)
        flags = [f"-DPANEL={panel}", f"-DPER_THREAD={per_thread}", f'-DKERNEL="{name}.inc"']
        flags += ["-Wno-unknown-pragmas", "-std=c++17", "-O1", "-shared", "-fPIC"]
        command = ["g++", *flags, "harness.cpp", "-o", library.name]
        subprocess.run(command, cwd=folder, check=True)
    run = ctypes.CDLL(str(library)).run

    def launch(grid: tuple[int], block: tuple[int], arguments: tuple[Any, ...]) -> None:
        results = []
        for way in range(WAYS):
            own = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
            if run(way, ctypes.c_int(grid[0]), ctypes.c_int(block[0]), *map(_converted, own)):
                raise BarrierError(f"{grid[0]} blocks of {block[0]} threads")
            results.append([a for a in own if isinstance(a, np.ndarray)])
        for others in results[1:]:
            if not all(np.array_equal(a, b) for a, b in zip(results[0], others, strict=True)):
                raise OrderError(f"{grid[0]} blocks of {block[0]} threads")
        changed = (a for a in arguments if isinstance(a, np.ndarray))
        for there, result in zip(changed, results[0], strict=True):
            there[...] = result

    return launch


def _converted(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    return _KINDS[type(argument)](argument)


def dgemm_strided_batched(
    handle: int, transa: int, transb: int, m: int, n: int, k: int,
    alpha: int, a: int, lda: int, stride_a: int, b: int, ldb: int, stride_b: int,
    beta: int, c: int, ldc: int, stride_c: int, count: int, /,
) -> None:  # fmt: skip
    """C_s = alpha A_s B_s + beta C_s, column-major, from raw pointers, as cuBLAS defines it."""
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
