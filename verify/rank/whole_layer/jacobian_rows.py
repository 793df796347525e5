"""The Jacobian of a layer's outputs with respect to all its weights, modulo p, and its rank.

For an example with context E and query e, a head has the logits ln 2 · E K Qᵀ e. In terms of the
real weights K and Q' = ln 2 · Q, they are E K Q'ᵀ e. The derivatives are given by (1) in
`constructions/given/attention.py`, with Q' in place of Q.

*How ln 2 is removed.* Q' occurs only in the derivatives with respect to K, so J = J₀ D, where D is
diagonal with ln 2 in the columns of keys and 1 elsewhere, and J₀ is rational if the logits are
integral. D is invertible, so rank J = rank J₀. The code multiplies contexts and queries by their
denominators, and scales each matrix of weights to integers without a common factor, which
multiplies each column of J₀ by a nonzero number. The softmax sums are then the only denominators,
and none is 0 modulo p. A minor that is not 0 modulo p is not 0, so the rank modulo p is at most
rank J.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from flint import fmpq_mat

from attncert.constructions.arrays import IntArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.exact.modular import SumVanishes
from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.constructions.given.attention import chain
from attncert.constructions.layer import Layer, parameter_count
from attncert.constructions.progress import Progress, silent
from attncert.verify.features.features import residue_rank
from attncert.verify.rank.engines.arithmetic import matmul, reduce, require_exact_products
from attncert.verify.rank.residues import as_table, residues, to_host
from attncert.verify.rank.whole_layer.feature_rows import FeatureRows
from attncert.verify.rank.whole_layer.sizes import HEIGHT
from attncert.verify.rank.whole_layer.spread import ERRORS, Errors, spread_rank
from attncert.verify.rank.whole_layer.streaming import Elimination
from attncert.verify.sharding.engine import Cluster

MOST_BYTES = 4 << 30  # memory for the elimination of a Jacobian
_SMALL = 300  # with at most this many rows, FLINT computes the rank


def require_small(rows: int, columns: int) -> None:
    """Raise InputError unless an elimination of this size fits in MOST_BYTES.

    >>> require_small(10**5, 10**5)
    Traceback (most recent call last):
    attncert.InputError: DATA: must be small enough for a Jacobian of 10^9 numbers, not 100,000 \
times 100,000
    """
    if 4 * rows * columns > MOST_BYTES:
        size = f"{rows:,} times {columns:,}"
        raise InputError("DATA", "small enough for a Jacobian of 10^9 numbers", size)


class JacobianRows:
    """J₀ modulo p, in blocks of examples. The layer must have values and an output matrix.

    p: a prime below 2^24. columns: the columns of J₀ to return, in this order; None for all. They
    are numbered like the weights in certificates: key, query and value of each head, row by row,
    then the output matrix.
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

    @property
    def at_once(self) -> int:
        return at_once(self.data.T, self.data.m)

    def rows(self, start: int, stop: int) -> Any:
        """The m rows of each example: (b·m, columns), balanced float64. Raises SumVanishes."""
        xp, p, data = self._xp, self.p, self.data
        stored = data.contexts.stored[0:1] if data.shared else data.contexts.stored[start:stop]
        contexts = xp.asarray(residues(stored, p))  # (b or 1, n, d)
        queries = xp.asarray(residues(data.queries.stored[start:stop], p))
        softmax = xp.matrix_transpose(self._softmax(start, stop))  # (b, n, H)
        asking = xp.reshape(xp.permute_dims(self._query, (1, 0, 2)), (data.d, -1))
        q = xp.reshape(matmul(queries, asking, p), (stop - start, self._heads, -1))
        _, derivatives = chain(
            contexts, queries, softmax, q, (self._key, self._value, self._output),
            product=lambda a, b: matmul(a, b, p), reduced=lambda x: reduce(x, p),
        )  # fmt: skip
        whole = xp.reshape(derivatives, ((stop - start) * data.m, -1))
        return xp.take(whole, xp.asarray(self.columns), axis=1)

    def _stack(self, matrices: Sequence[fmpq_mat | None]) -> Any:
        """Residues (H, rows, columns); each matrix is scaled to integers without a common
        factor."""
        tables = []
        for matrix in matrices:
            assert matrix is not None
            table = as_table(matrix.numer_denom()[0])
            tables.append(residues(table // (math.gcd(*table.ravel().tolist()) or 1), self.p))
        return self._xp.asarray(np.stack(tables))


def _all_columns(data: Dataset, layer: Layer) -> IntArray:
    widths = layer.head_width, layer.value_width or 0
    return np.arange(parameter_count(data.d, data.m, len(layer.heads), *widths))


def at_once(T: int, m: int) -> int:
    """The number of examples whose rows are computed at a time."""
    return T if T * m <= _SMALL else max(1, HEIGHT // m)


@dataclass(frozen=True)
class JacobianRank:
    """rank: the rank modulo the prime, a lower bound on rank J. rows: T·m."""

    rank: int
    rows: int
    prime: int

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
    cluster: Cluster | None = None,
    progress: Progress = silent,
) -> JacobianRank:
    """The largest rank of J found modulo a prime. The search stops at `enough` (default T·m).

    The result is exact, and a lower bound on the rank over ℝ. columns: as for `JacobianRows`; fewer
    columns cannot raise the rank. They are put in a random order, so that every block of columns
    contains columns of all heads and a block of rows finds its pivots at once. cluster: as for
    `rank_of`. Raises features.NotIntegral if a logit is not an integer.

    >>> from attncert.constructions.data.generators import random
    >>> data = random(T=6, n=2, d=3, seed=1)
    >>> from attncert.constructions.given.zeros import draw_groups
    >>> jacobian_rank(data, draw_groups(data, (2,), seed=1).layer).rank
    6
    """
    require_exact_products(xp, PRIMES_FLOAT64[0])
    rows = data.T * data.m
    enough = rows if enough is None else enough
    best = JacobianRank(0, rows, primes[0])
    every = _all_columns(data, layer) if columns is None else columns
    order = np.random.default_rng(0).permutation(every)
    for p in primes:
        if data.contexts.denominator % p == 0:
            continue
        make = partial(JacobianRows, layer=layer, p=p, columns=order)
        with suppress(SumVanishes):
            rank = rank_of(make, data, p, rows, xp=xp, cluster=cluster, progress=progress)
            best = max(best, JacobianRank(rank, rows, p), key=lambda found: found.rank)
        if best.rank >= enough:
            break
    return best


class Rows(Protocol):
    """The rows of a matrix modulo p, computed for `at_once` examples at a time."""

    data: Dataset
    p: int
    columns: IntArray

    @property
    def at_once(self) -> int: ...

    def rows(self, start: int, stop: int) -> Any: ...


def rank_of(
    make: Callable[..., Rows],
    data: Dataset,
    p: int,
    count: int,
    *,
    xp: Any = np,
    cluster: Cluster | None = None,
    progress: Progress = silent,
    errors: Errors = ERRORS,
) -> int:
    """The rank modulo p of the rows that `make` computes for these data with the namespace xp.

    cluster: eliminates a large table on its workers (`is_spread`); the rank is then assumed.
    errors: exceptions raised by `make` or by its rows, which are passed on unchanged.
    """
    if cluster is not None and is_spread(count, cluster):
        return spread_rank(make, data, p, count, cluster, progress, errors)
    return rank_of_rows(make(data, xp=xp), count, progress)


def is_spread(count: int, cluster: Cluster | None) -> bool:
    """Whether `rank_of` lets workers compute the rank of a matrix with this many rows."""
    return cluster is not None and count > _SMALL


def rank_of_rows(table: Rows, count: int, progress: Progress = silent) -> int:
    """The rank modulo p. count: the number of rows. Errors raised by `rows` propagate."""
    T, step = table.data.T, table.at_once
    if count <= _SMALL:  # FLINT needs no compilation
        blocks = [to_host(table.rows(t, min(t + step, T))) for t in range(0, T, step)]
        whole = np.concatenate(blocks).astype(np.int64) % table.p
        return residue_rank(whole, table.p)
    elimination = Elimination(len(table.columns), table.p)
    for start in range(0, T, step):
        block = table.rows(start, min(start + step, T))
        for row in range(0, block.shape[0], HEIGHT):
            elimination.add(block[row : min(row + HEIGHT, block.shape[0]), :])
        progress(min(start + step, T), T)
    return elimination.rank
