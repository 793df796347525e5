"""Independence of many subsets of one table, certified modulo primes.

Rank k modulo one prime proves that k vectors are independent over Q: some k×k minor is nonzero
modulo p, hence nonzero. A smaller rank proves nothing: further primes and other random coordinates
are tried. Subsets that remain are *undecided*; `rational.find_relation` decides them exactly, with
a witness.

The first step computes exact residues of the table (`residues`). One random projection then serves
all subsets of one size (`arithmetic.random_projection`), so that an elimination costs k^3 instead
of k^2 d; for many subsets, a basis of the table (`cpu.systematic`) is cheaper still. Finally, each
subset is eliminated (`cpu`, or `batched` with `cuda`); a proved bound makes all sums exact
(`arithmetic`). On CPU threads, if there is much to do, the first prime, 1019, is small enough for
float32, which is faster than float64. It leaves about one independent subset in 1019 undecided,
which is then tried with a float64 prime. If there is less work, no time is spent on compiling the
loops for float32.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from attncert.constructions.arrays import BoolArray, IntArray
from attncert.constructions.errors import InputError
from attncert.constructions.exact.primes import PRIME_FLOAT32, PRIMES_FLOAT64
from attncert.verify.rank.engines import batched, cpu
from attncert.verify.rank.engines.arithmetic import random_projection
from attncert.verify.rank.engines.cuda import CudaKernels
from attncert.verify.rank.engines.devices import DeviceChoice, choose_device
from attncert.verify.rank.residues import as_table, residues, to_host
from attncert.verify.sharding.threads import available_threads

_ROW_BLOCK = 4096  # vectors projected at a time
_LANES = 16  # projections have a multiple of 16 columns, so that failures are rarer at no cost
_FLOAT32_FROM = 10**9  # multiplications: one second; compiling for float32 takes four
_FLOAT64_STEPS = tuple((p, "float64") for p in PRIMES_FLOAT64[:2])


@dataclass(frozen=True, eq=False)
class ModularRank:
    """The rank modulo `prime`, a proved lower bound on the rank over Q.

    rows, columns: a `rank`×`rank` minor that is nonzero modulo the prime; columns are in the order
    of their pivot rows. `rows` is the lexicographically first independent set modulo p.
    """

    rank: int
    prime: int
    rows: tuple[int, ...]
    columns: tuple[int, ...]


def modular_rank(matrix: Any, p: int = PRIMES_FLOAT64[0]) -> ModularRank:
    """The rank of a matrix modulo the prime p, with a nonzero minor, computed on one CPU thread.

    matrix: (m, n), see `residues.as_table`. p: from 11 to about 6.7 * 10^7.

    >>> modular_rank([[1, 2], [2, 4], [10**40, 0]])
    ModularRank(rank=2, prime=11863067, rows=(0, 2), columns=(0, 1))
    >>> modular_rank([[1]], 2**61 - 1)
    Traceback (most recent call last):
    attncert.InputError: prime: must be at most about 67108856 for elimination in \
float64, not 2305843009213693951
    """
    array = as_table(matrix, "matrix")
    independent, columns = cpu.profile(residues(array, p), p)
    rows = tuple(int(i) for i in np.flatnonzero(independent))
    return ModularRank(len(rows), p, rows, tuple(int(j) for j in columns))


class IndependenceTester:
    """A table, prepared once for each prime, any number of whose subsets can be tested.

    table: (N, d), see `residues.as_table`; floats are regarded as exact. device: auto, cpu or cuda.
    memory: the bytes that copies of the table and matrices may take; default: 2 GiB, or a quarter
    of the free memory of a GPU. threads: CPU threads; default: all cores of the process. expected:
    the total number of subsets over all calls, if known.
    """

    def __init__(
        self,
        table: Any,
        *,
        device: DeviceChoice = "auto",
        memory: int | None = None,
        threads: int | None = None,
        expected: int = 0,
    ) -> None:
        self.device = choose_device(device)
        self.table = as_table(table)
        self.memory = self.device.memory(memory)
        self.threads = max(1, threads or available_threads())
        self.expected = expected
        self._cache: dict[Any, Any] = {}
        self._lock = threading.Lock()
        self._xp = self.device.namespace
        if self.device.kind != "cpu":
            self._kernels = CudaKernels()

    def subsets(self, subsets: Any) -> BoolArray:
        """Which of these subsets of the rows, as (S, k) indices, are proved independent over Q.

        False means undecided: the subset is dependent modulo each prime, as is every subset that
        contains a row twice. Raises InputError if there is not enough memory.

        >>> table = [[0.5, 0.0, 1.0], [1.0, 0.0, 2.0], [0.0, 3.0, 1e-300]]
        >>> IndependenceTester(table, device="cpu").subsets([[0, 2], [0, 1]]).tolist()
        [True, False]
        """
        index = np.ascontiguousarray(subsets, dtype=np.int64)
        proved = self._by_systematic_form(index) | (index.shape[1] == 0)
        for p, dtype in self._ladder(index):
            pending = np.flatnonzero(~proved)
            if len(pending) == 0:
                break
            proved[pending] = self._lengths_modulo(index[pending], p, dtype) == index.shape[1]
        return proved

    def _ladder(self, index: IntArray) -> tuple[tuple[int, str], ...]:
        """The primes to try in turn, and the type of their residues."""
        much = max(len(index), self.expected) * index.shape[1] ** 3 >= _FLOAT32_FROM
        first = ((PRIME_FLOAT32, "float32"),) if self.device.kind == "cpu" and much else ()
        return (*first, *_FLOAT64_STEPS)

    def _by_systematic_form(self, index: IntArray) -> BoolArray:
        """Which subsets are proved independent in a basis of the table modulo the first prime. All
        are False if the basis, computed on one thread, takes more multiplications than it saves."""
        (n, d), k, (p, dtype) = self.table.shape, index.shape[1], self._ladder(index)[0]
        rank = min(n, d)
        saved = max(len(index), self.expected) * (k**3 - (k * (1 - rank / n)) ** 3) / 3
        fits = 24 * n * d < self.memory  # for residues, their transpose and the systematic form
        if self.device.kind != "cpu" or not fits or saved < self.threads * n * d * rank:
            return np.zeros(len(index), dtype=bool)
        with self._lock:
            if "systematic" not in self._cache:
                table = residues(self.table, p).astype(dtype)
                self._cache["systematic"] = cpu.systematic(table, p)
        return cpu.independent(self._cache["systematic"], index, p, self.threads)

    def _lengths_modulo(self, subsets: IntArray, p: int, dtype: str) -> IntArray:
        """The number of leading rows of each subset that are independent modulo p."""
        count, k = subsets.shape
        table, local = self._projected(subsets, k, p, dtype)
        if self.device.kind == "cpu":
            return cpu.prefixes(table, local, p, self.threads)
        xp, (rows, width) = self._xp, table.shape
        each = 4 * 8 * k * width  # the stack, a product, and two temporaries of that size
        free = self.memory - 8 * rows * width
        if free < each:
            need = 8 * rows * width + each
            raise InputError("memory", f"at least {need} bytes for subsets of {k}", self.memory)
        step = free // each
        lengths = np.empty(count, dtype=np.int64)
        for start in range(0, count, step):
            part = xp.asarray(local[start : start + step].ravel(), device=table.device)
            stack = xp.reshape(xp.take(table, part, axis=0), (-1, k, width))
            lengths[start : start + step] = to_host(batched.prefixes(stack, p, self._kernels))
        return lengths

    def _projected(self, subsets: IntArray, k: int, p: int, dtype: str) -> tuple[Any, IntArray]:
        """A projected table for these subsets, and the subsets as indices of its rows. If few
        subsets remain, the table contains only their rows; otherwise the whole table is prepared
        once. It is computed in row blocks, so that not all residues of a large table are in memory
        at once.
        """
        n, d = self.table.shape
        width = min(d, -(-k // _LANES) * _LANES)
        if subsets.size < n:
            rows = np.unique(subsets)
            return self._in_coordinates(rows, width, p, dtype), np.searchsorted(rows, subsets)
        key = (dtype, p, width)
        with self._lock:
            if key not in self._cache:
                self._cache[key] = self._in_coordinates(np.arange(n), width, p, dtype)
        return self._cache[key], subsets

    def _in_coordinates(self, rows: IntArray, width: int, p: int, dtype: str) -> Any:
        """These rows of the table, projected to `width` coordinates."""
        if 8 * len(rows) * width > self.memory:
            need = 8 * len(rows) * width
            raise InputError("memory", f"at least {need} bytes for this table", self.memory)
        blocks = []
        for start in range(0, len(rows), _ROW_BLOCK):
            part = self.table[rows[start : start + _ROW_BLOCK]]
            block = self._xp.asarray(residues(part, p))
            if width < self.table.shape[1]:
                rng = np.random.default_rng([0, p, width])
                block = random_projection(block, width, p, rng)
            blocks.append(block)
        table = self._xp.concat(blocks, axis=0)
        if self.device.kind == "cpu":
            table = np.ascontiguousarray(table, dtype=dtype)
        return table
