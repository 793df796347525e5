"""The CUDA source of one panel of the batched elimination, which CuPy compiles (`cuda.py`).

It is a separate module so that it can be compiled and tested without a GPU: the tests build it with
NVRTC for three architectures, run it thread by thread on the host, and compare the results with
Python integers.
"""

from __future__ import annotations

SOURCE = r"""
// One panel of the batched elimination modulo p: one thread block per matrix
// (verify/rank/engines/cuda.py).
//
// Thread x holds the columns x, x + blockDim.x, ... of the panel in registers, PER_THREAD of them,
// and PANEL rows. Row after row: find the first nonzero entry (minimum over the block), let the
// thread that holds its column publish the multipliers and the inverse, scale, subtract.
// Bounds: Lemmas 1 and 2 of verify/rank/engines/arithmetic.py; an entry receives at most PANEL
// products here, and the caller counts the earlier ones.

#ifndef PANEL
#define PANEL 16
#endif
#ifndef PER_THREAD
#define PER_THREAD 1
#endif
#ifndef THREADS // the most threads in a block, which limits the registers of each
#define THREADS 1024
#endif
#if PER_THREAD <= 4 // registers; more columns are in local memory anyway
#define FOR_EACH_COLUMN _Pragma("unroll") for (int t = 0; t < PER_THREAD; ++t)
#else
#define FOR_EACH_COLUMN _Pragma("unroll 1") for (int t = 0; t < PER_THREAD; ++t)
#endif
#define NONE 0x7fffffff

__device__ __forceinline__ double reduced(double x, double p, double over_p)
{
    return x - floor(x * over_p + 0.5) * p;
}

// 1/x modulo p by the extended Euclidean algorithm; p < 2^26, so 32 bits hold every value.
__device__ int inverse_mod(int x, int p)
{
    int a = x < 0 ? x + p : x, b = p, u = 1, v = 0;
    while (a > 0) {
        const int quotient = b / a;
        const int rest = b - quotient * a;
        b = a;
        a = rest;
        const int next = v - quotient * u;
        v = u;
        u = next;
    }
    return 2 * v > p ? v - p : (2 * v < -p ? v + p : v);
}

__device__ __forceinline__ int warp_minimum(int x)
{
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        x = min(x, __shfl_down_sync(0xffffffffu, x, offset));
    return x; // valid in lane 0
}

// stack: (S, m, row_stride) doubles, matrix_stride apart; rows base .. base+rows-1, columns
// start .. start+width-1. columns, found: (S, rows) outputs, the pivot counted from `start`.
extern "C" __global__ void __launch_bounds__(THREADS)
    panel(double *stack, long long matrix_stride, int row_stride, int base, int start, int rows,
          int width, int prime, double over_p, long long *columns, bool *found)
{
    __shared__ double multipliers[PANEL];
    __shared__ double inverse;
    __shared__ int pivot;

    const double p = (double)prime;
    double *const origin =
        stack + blockIdx.x * matrix_stride + (long long)base * row_stride + start;
    double held[PER_THREAD][PANEL];

    FOR_EACH_COLUMN {
        const int column = threadIdx.x + t * blockDim.x;
#pragma unroll
        for (int r = 0; r < PANEL; ++r)
            held[t][r] =
                r < rows && column < width ? origin[(long long)r * row_stride + column] : 0.0;
    }

#pragma unroll
    for (int i = 0; i < PANEL; ++i) {
        if (i >= rows)
            break; // the same for every thread
        if (threadIdx.x == 0)
            pivot = NONE;
        __syncthreads();
        int mine = NONE;
        FOR_EACH_COLUMN {
            held[t][i] = reduced(held[t][i], p, over_p);
            if (held[t][i] != 0.0 && mine == NONE)
                mine = threadIdx.x + t * blockDim.x;
        }
        mine = warp_minimum(mine);
        if (threadIdx.x % warpSize == 0 && mine != NONE)
            atomicMin(&pivot, mine);
        __syncthreads();
        const int column = pivot;
        if (threadIdx.x == 0) {
            columns[(long long)blockIdx.x * rows + i] = column == NONE ? 0 : column;
            found[(long long)blockIdx.x * rows + i] = column != NONE;
        }
        if (column != NONE) {
            FOR_EACH_COLUMN {
                if (threadIdx.x + t * blockDim.x == column) {
#pragma unroll
                    for (int r = 0; r < PANEL; ++r)
                        multipliers[r] = reduced(held[t][r], p, over_p);
                    inverse = (double)inverse_mod((int)held[t][i], prime);
                }
            }
            __syncthreads();
            FOR_EACH_COLUMN {
                const double y = reduced(held[t][i] * inverse, p, over_p);
#pragma unroll
                for (int r = 0; r < PANEL; ++r)
                    held[t][r] -= multipliers[r] * y;
                held[t][i] = y;
            }
        }
        __syncthreads(); // before the next row overwrites what is shared
    }

    FOR_EACH_COLUMN {
        const int column = threadIdx.x + t * blockDim.x;
#pragma unroll
        for (int r = 0; r < PANEL; ++r)
            if (r < rows && column < width)
                origin[(long long)r * row_stride + column] = reduced(held[t][r], p, over_p);
    }
}
"""
