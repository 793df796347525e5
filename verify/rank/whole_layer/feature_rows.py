"""Rows of a layer's feature matrix Z modulo p, a few examples at a time, for any array library.

For head h and example t, z = sum_i 2^(k_i) E_i / sum_i 2^(k_i) with integers k = E key query^T e.
The computation does not depend on the size of k:

1. **Logits modulo p - 1** suffice, because 2^(p-1) = 1 modulo p. They are products of residues in
   float64, exact by the lemmas of `arithmetic.py`, which also hold if the modulus is not a prime. k
   must be known to be an integer. It is a product of integers over a scale s, so it is an integer
   if every factor of s divides all entries of the head's key or query. Other heads compute their
   logits from exact integers (`features.logits`); at width one in a shared context, only T + n
   integers are needed for each head.
2. **Powers** of two come from two tables, 2^k = 2^(4096 a) 2^b.
3. **Fewer columns** (optional): the d columns of every head are multiplied by one random d×c
   matrix. If rows of the product are independent, so are these rows of Z. If contexts are shared, a
   block of Z is (weights)(E), and E has n rows, so c >= n preserves its rank, except with a
   probability of order 1/p; the product is formed only once, for E.

The columns of the heads are interleaved, so that the first columns belong to all heads and a block
of examples finds its pivots in them at once (`streaming.py`). Z is multiplied by the common
denominator of the contexts, which no prime in use divides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import fmpz_mat

from attncert.constructions.arrays import FloatArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.modular import SumVanishes
from attncert.constructions.layer import Head, Layer
from attncert.verify.features import features
from attncert.verify.features.tables import Outer
from attncert.verify.rank.engines.arithmetic import inverse, matmul, random_projection, reduce
from attncert.verify.rank.residues import as_table, residues
from attncert.verify.rank.whole_layer.sizes import rows_at_once

_SPLIT = 4096  # exponents below p < 2^24 are written as 4096 a + b


class FeatureRows:
    """The matrix Z of a layer modulo p, in blocks of examples.

    p: a prime below 2^24 that does not divide the contexts' denominator.
    width: the columns per head, c; the default d gives Z itself. xp: the array namespace of the
    results. columns: the number of columns, H·c. at_once: how many examples to request at a time.

    >>> from attncert.constructions.data.generators import random
    >>> from flint import fmpq_mat
    >>> data = random(T=3, n=2, d=2, seed=1)
    >>> layer = Layer((Head(fmpq_mat(2, 1, [1, 2]), fmpq_mat(2, 1, [1, -1])),))
    >>> FeatureRows(data, layer, 11).rows(0, 3).shape
    (3, 2)
    """

    def __init__(
        self,
        data: Dataset,
        layer: Layer,
        p: int,
        *,
        width: int | None = None,
        xp: Any = np,
    ) -> None:
        if data.contexts.denominator % p == 0:
            raise ZeroDivisionError(f"{p} divides the contexts' denominator")
        self.data, self.p, self.heads = data, p, len(layer.heads)
        self.width = data.d if width is None else width
        self.at_once = rows_at_once(data, layer)
        self.columns = self.heads * self.width
        self._xp, self._mod = xp, p - 1
        self._tables = [xp.asarray(table) for table in _powers_of_two(p)]
        self._mixing = self._random_columns()
        keys, queries, scales = zip(*(_scaled(h, data) for h in layer.heads), strict=True)
        self._exact = layer.heads if max(scales) > 1 else ()
        self._outer = self._exact and self._outer_products()
        self._keys = xp.asarray(_side_by_side(keys, self._mod))
        self._queries = xp.asarray(_side_by_side(queries, self._mod))
        if data.shared:
            context = data.contexts.stored[0]
            self._context = self._narrow(xp.asarray(residues(context, p)))
            self._left = matmul(xp.asarray(residues(context, p - 1)), self._keys, p - 1)

    def rows(self, start: int, stop: int) -> Any:
        """The rows of Z modulo p for the examples start .. stop-1: (stop - start, columns),
        balanced float64.

        Raises SumVanishes, and features.NotIntegral if a logit is not an integer.
        """
        xp, p, data = self._xp, self.p, self.data
        weights = self.softmax(start, stop)
        b, heads, n = weights.shape
        if data.shared:
            mixed = matmul(xp.reshape(weights, (b * heads, n)), self._context, p)
        else:
            mixed = matmul(weights, self._contexts(start, stop, p), p)  # (b, H, d)
            mixed = self._narrow(xp.reshape(mixed, (b * heads, data.d)))
        mixed = xp.reshape(mixed, (b, heads, self.width))
        return xp.reshape(xp.permute_dims(mixed, (0, 2, 1)), (b, self.columns))

    def softmax(self, start: int, stop: int) -> Any:
        """Softmax weights modulo p, (b, H, n), balanced float64. Raises the errors of `rows`."""
        xp, p = self._xp, self.p
        weights = self._powers(self._logits(start, stop))
        if self.data.times is not None:
            times = xp.asarray(self.data.times[start:stop].astype(np.float64))
            weights = reduce(weights * times[:, None, :], p)
        sums = reduce(xp.sum(weights, axis=2), p)  # exact for n < 2^28 balanced residues
        if bool(xp.any(sums == 0)):
            raise SumVanishes(p)
        return reduce(weights * inverse(sums, p)[:, :, None], p)

    def _logits(self, start: int, stop: int) -> Any:
        """The logits modulo p - 1, (b, H, n), balanced."""
        xp, m, data = self._xp, self._mod, self.data
        if self._outer:
            by, rows = self._outer
            return reduce(xp.asarray(by[start:stop, :, None] * rows), m)
        if self._exact:
            return xp.asarray(self._exact_logits(start, stop))
        queries = xp.asarray(residues(data.queries.stored[start:stop], m))
        right = xp.reshape(matmul(queries, self._queries, m), (stop - start, self.heads, -1))
        if data.shared:
            left = xp.permute_dims(xp.reshape(self._left, (data.n, self.heads, -1)), (1, 0, 2))
            table = matmul(left, xp.permute_dims(right, (1, 2, 0)), m)  # (H, n, b)
            return xp.permute_dims(table, (2, 0, 1))
        rows = xp.reshape(self._contexts(start, stop, m), (-1, data.d))
        left = xp.reshape(matmul(rows, self._keys, m), (stop - start, data.n, self.heads, -1))
        table = matmul(xp.permute_dims(left, (0, 2, 1, 3)), right[:, :, :, None], m)
        return table[:, :, :, 0]

    def _contexts(self, start: int, stop: int, m: int) -> Any:
        """The contexts of these examples, modulo p or p - 1, (b, n, d)."""
        return self._xp.asarray(residues(self.data.contexts.stored[start:stop], m))

    def _outer_products(self) -> tuple[FloatArray, FloatArray] | None:
        """The factors (T, H) and (H, n), modulo p - 1, if the logits of every head are products
        by[t, h]·rows[h, i]; otherwise None."""
        if not self.data.shared or any(head.width != 1 for head in self._exact):
            return None
        tables = [features.logit_table(head, self.data) for head in self._exact]
        outer = [table for table in tables if isinstance(table, Outer)]
        if len(outer) < len(tables):
            return None
        by = [residues(table.by, self._mod) for table in outer]
        rows = [residues(table.rows[0], self._mod) for table in outer]
        return np.stack(by, axis=1), np.stack(rows)

    def _exact_logits(self, start: int, stop: int) -> FloatArray:
        part = self.data.take(range(start, stop))
        tables = [features.logits(head, part) for head in self._exact]
        logits = np.stack([residues(table, self._mod) for table in tables], axis=1)
        return np.pad(logits, ((0, 0), (0, 0), (0, self.data.n - part.n)))

    def _powers(self, exponents: Any) -> Any:
        """2^k modulo p for each balanced k modulo p - 1."""
        xp = self._xp
        flat = xp.reshape(exponents, (-1,))
        flat = xp.where(flat < 0, flat + float(self._mod), flat)  # at most p/2 + 4 below 0
        high = xp.floor(flat / _SPLIT)
        low = flat - high * _SPLIT
        coarse, fine = self._tables
        factors = xp.take(coarse, xp.astype(high, xp.int64), axis=0)
        powers = factors * xp.take(fine, xp.astype(low, xp.int64), axis=0)
        return xp.reshape(reduce(powers, self.p), exponents.shape)

    def _random_columns(self) -> Any:
        """The d×c matrix, or None if all d columns are kept."""
        if self.width == self.data.d:
            return None
        rng = np.random.default_rng([0, self.p, self.width])
        return self._xp.asarray(random_projection(np.eye(self.data.d), self.width, self.p, rng))

    def _narrow(self, rows: Any) -> Any:
        return rows if self._mixing is None else matmul(rows, self._mixing, self.p)


def _scaled(head: Head, data: Dataset) -> tuple[fmpz_mat, fmpz_mat, int]:
    """Integers K, Q and s > 0 with E key query^T e = (N_E K)(Q^T N_e)/s, where N are the numerators
    of the data. Common factors of s and all of K, then of s and all of Q, are divided out."""
    key, key_scale = head.key.numer_denom()
    query, query_scale = head.query.numer_denom()
    scale = int(key_scale) * int(query_scale)
    scale *= data.contexts.denominator * data.queries.denominator
    parts = []
    for part in (key, query):
        common = math.gcd(scale, *(int(x) for x in part.entries()))
        scale //= common
        entries = [x // common for x in part.entries()]
        parts.append(fmpz_mat(part.nrows(), part.ncols(), entries))
    return parts[0], parts[1], scale


def _side_by_side(matrices: Sequence[fmpz_mat], m: int) -> FloatArray:
    """[M_1 ... M_H] modulo m, balanced float64, (d, H·d_h)."""
    return np.hstack([residues(as_table(matrix), m) for matrix in matrices])


def _powers_of_two(p: int) -> tuple[FloatArray, FloatArray]:
    """Balanced residues of 2^(4096 a) and 2^b, for all a and b that occur in exponents below p."""
    tables = []
    for base, count in ((pow(2, _SPLIT, p), -(-p // _SPLIT) + 1), (2, _SPLIT)):
        powers = [1]
        for _ in range(count - 1):
            powers.append(powers[-1] * base % p)
        tables.append(residues(np.array(powers, dtype=np.int64), p))
    return tables[0], tables[1]
