"""The Jacobian of a layer's outputs by all its weights, modulo p, and its rank.

Head h gives example t, with context E and query e, the logits ln 2 · E K Qᵀ e: in the layer's real
weights K and Q' = ln 2 · Q they are E K Q'ᵀ e. With p = softmax, z = Eᵀp, C = Eᵀ(diag p - ppᵀ)E,
the value matrix V and the head's rows O of the output matrix, label j is the sum over the heads of
(VO)_jᵀ z, and with γ = C (VO)_j its derivatives are

    by K_ab:  γ_a (Q'ᵀe)_b = ln 2 · γ_a (Qᵀe)_b        by Q'_ab:  e_a (Kᵀγ)_b
    by V_ab:  z_a O_bj                                  by O_bj:   (Vᵀz)_b

*How ln 2 is removed.* So J = J₀ D: D is diagonal, ln 2 in the columns of keys and 1 elsewhere, and
J₀ is rational where the logits are integral. D is invertible: rank J = rank J₀. Contexts and
queries are taken times their denominators here, each matrix of weights in integers without a common
factor: this multiplies every column of J₀ by a number of its own that is not 0. What is left has
softmax sums as its only denominators, and none is 0 modulo p: a minor that is not 0 modulo p is not
0, so the rank modulo p is at most rank J.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq_mat

from attncert.constructions.arrays import IntArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.exact.modular import SumVanishes
from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.constructions.layer import Layer, parameter_count
from attncert.constructions.progress import Progress, silent
from attncert.verify.features import residue_rank
from attncert.verify.rank.engines.arithmetic import matmul, reduce
from attncert.verify.rank.residues import residues, to_host
from attncert.verify.rank.whole_layer.feature_rows import FeatureRows
from attncert.verify.rank.whole_layer.sizes import HEIGHT
from attncert.verify.rank.whole_layer.streaming import Elimination

MOST_BYTES = 4 << 30  # that the elimination of a Jacobian may hold
_SMALL = 300  # rows up to which FLINT decides


def require_small(rows: int, columns: int) -> None:
    """Raise InputError unless an elimination of so many rows and columns fits in MOST_BYTES.

    >>> require_small(10**5, 10**5)
    Traceback (most recent call last):
    attncert.InputError: DATA: must be small enough for a Jacobian of 10^9 numbers, not 100,000 \
times 100,000
    """
    if 4 * rows * columns > MOST_BYTES:
        size = f"{rows:,} times {columns:,}"
        raise InputError("DATA", "small enough for a Jacobian of 10^9 numbers", size)


class JacobianRows:
    """J₀ modulo p by blocks of examples. The layer has values and an output matrix.

    p: a prime below 2^24. columns: those of J₀ that are made, in this order; None: all. They are
    numbered as weights are in certificates: key, query, value row by row and head by head, then the
    output matrix.
    """

    def __init__(
        self, data: Dataset, layer: Layer, p: int, columns: IntArray | None = None, xp: Any = np
    ) -> None:
        if layer.output is None or layer.value_width is None:
            raise ValueError("the layer has no readout")
        self.data, self.p, self._xp = data, p, xp
        self._softmax = FeatureRows(data, layer, p, xp=xp).softmax
        self._heads = len(layer.heads)
        self._key = self._stack([head.key for head in layer.heads])
        self._query = self._stack([head.query for head in layer.heads])
        self._value = self._stack([head.value for head in layer.heads])
        output = self._stack([layer.output])
        self._output = xp.reshape(output, (self._heads, layer.value_width, -1))
        self.columns = _all_columns(data, layer) if columns is None else columns

    def rows(self, start: int, stop: int) -> Any:
        """(b·m, columns) balanced float64, the m rows of each of b examples. Raises SumVanishes."""
        xp, p, data, H = self._xp, self.p, self.data, self._heads
        d, m, b = data.d, data.m, stop - start
        softmax = self._softmax(start, stop)  # (b, H, n)
        stored = data.contexts.stored[0:1] if data.shared else data.contexts.stored[start:stop]
        contexts = xp.asarray(residues(stored, p))  # (b or 1, n, d)
        queries = xp.asarray(residues(data.queries.stored[start:stop], p))
        mixed = matmul(self._value, self._output, p)  # VO, (H, d, m)
        side_by_side = xp.reshape(xp.permute_dims(mixed, (1, 0, 2)), (d, H * m))
        scores = matmul(contexts, side_by_side, p)  # (b or 1, n, H·m)
        scores = xp.reshape(scores, (contexts.shape[0], data.n, H, m))
        weights = xp.permute_dims(softmax, (0, 2, 1))[:, :, :, None]  # (b, n, H, 1)
        means = reduce(xp.sum(reduce(weights * scores, p), axis=1), p)
        slopes = reduce(weights * reduce(scores - means[:, None, :, :], p), p)
        turned = xp.permute_dims(contexts, (0, 2, 1))
        gamma = matmul(turned, xp.reshape(slopes, (b, data.n, H * m)), p)  # (b, d, H·m)
        gamma = xp.permute_dims(xp.reshape(gamma, (b, d, H, m)), (0, 3, 2, 1))  # (b, m, H, d)
        z = matmul(softmax, contexts, p)  # (b, H, d)
        asking = xp.reshape(xp.permute_dims(self._query, (1, 0, 2)), (d, -1))
        q = matmul(queries, asking, p)
        q = xp.reshape(q, (b, 1, H, 1, -1))
        back = matmul(gamma[:, :, :, None, :], self._key, p)  # Kᵀγ, (b, m, H, 1, d_h)
        output = xp.permute_dims(self._output, (2, 0, 1))  # (m, H, d_v)
        blocks = (
            gamma[..., None] * q,
            queries[:, None, None, :, None] * back,
            z[:, None, :, :, None] * output[None, :, :, None, :],
        )
        heads = [xp.reshape(reduce(block, p), (b, m, H, -1)) for block in blocks]
        hidden = matmul(z[:, :, None, :], self._value, p)  # Vᵀz, (b, H, 1, d_v)
        last = xp.reshape(hidden, (b, 1, -1, 1)) * xp.asarray(np.eye(m))[None, :, None, :]
        parts = xp.reshape(xp.concat(heads, axis=3), (b, m, -1)), xp.reshape(last, (b, m, -1))
        whole = xp.reshape(xp.concat(parts, axis=2), (b * m, -1))
        return xp.take(whole, xp.asarray(self.columns), axis=1)

    def _stack(self, matrices: Sequence[fmpq_mat | None]) -> Any:
        """(H, rows, columns) residues, each matrix in integers without a common factor."""
        tables = []
        for matrix in matrices:
            assert matrix is not None
            whole = [int(x) for x in matrix.numer_denom()[0].entries()]
            flat = np.array(whole, dtype=object) // (math.gcd(*whole) or 1)
            tables.append(residues(flat, self.p).reshape(matrix.nrows(), matrix.ncols()))
        return self._xp.asarray(np.stack(tables))


def _all_columns(data: Dataset, layer: Layer) -> IntArray:
    widths = layer.head_width, layer.value_width or 0
    return np.arange(parameter_count(data.d, data.m, len(layer.heads), *widths))


def at_once(T: int, m: int) -> int:
    """Examples whose rows are made at a time."""
    return T if T * m <= _SMALL else max(1, HEIGHT // m)


@dataclass(frozen=True)
class JacobianRank:
    """rank: modulo the prime, a lower bound of rank J. rows: T·m. tried: (prime, rank or None where
    a softmax sum is 0 modulo it)."""

    rank: int
    rows: int
    prime: int
    tried: tuple[tuple[int, int | None], ...]

    @property
    def full(self) -> bool:
        return self.rank == self.rows


def jacobian_rank(
    data: Dataset,
    layer: Layer,
    *,
    enough: int | None = None,
    columns: IntArray | None = None,
    primes: Sequence[int] = PRIMES_FLOAT64,
    xp: Any = np,
    progress: Progress = silent,
) -> JacobianRank:
    """The largest rank of J found modulo one of the primes; stops at `enough` (default T·m).

    Exact, a lower bound of the rank over ℝ. columns: as `JacobianRows` has them; fewer cannot raise
    the rank. They are taken in a random order: so all heads take part in every block of columns,
    and a block of rows finds its pivots at once. Raises features.NotIntegral where a logit is not
    an integer.

    >>> from attncert.constructions.data.generators import random
    >>> data = random(T=6, n=2, d=3, seed=1)
    >>> from attncert.constructions.given.zeros import draw_groups
    >>> jacobian_rank(data, draw_groups(data, (2,), seed=1).layer).rank
    6
    """
    rows = data.T * data.m
    enough = rows if enough is None else enough
    best, tried = JacobianRank(0, rows, primes[0], ()), list[tuple[int, int | None]]()
    step = at_once(data.T, data.m)
    every = _all_columns(data, layer) if columns is None else columns
    order = np.random.default_rng(0).permutation(every)
    for p in primes:
        if data.contexts.denominator % p == 0:
            continue
        jacobian = JacobianRows(data, layer, p, order, xp)
        try:
            rank = _small(jacobian) if rows <= _SMALL else _streamed(jacobian, step, progress)
        except SumVanishes:
            tried.append((p, None))
            continue
        tried.append((p, rank))
        if rank > best.rank:
            best = JacobianRank(rank, rows, p, ())
        if best.rank >= enough:
            break
    return JacobianRank(best.rank, rows, best.prime, tuple(tried))


def _small(jacobian: JacobianRows) -> int:
    """By FLINT, which has nothing to compile first."""
    table = to_host(jacobian.rows(0, jacobian.data.T)).astype(np.int64) % jacobian.p
    return residue_rank(table, jacobian.p)


def _streamed(jacobian: JacobianRows, step: int, progress: Progress) -> int:
    """step: examples at once."""
    elimination, T = Elimination(len(jacobian.columns), jacobian.p), jacobian.data.T
    for start in range(0, T, step):
        block = jacobian.rows(start, min(start + step, T))
        for row in range(0, block.shape[0], HEIGHT):
            elimination.add(block[row : min(row + HEIGHT, block.shape[0]), :])
        progress(min(start + step, T), T)
    return elimination.rank
