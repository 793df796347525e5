"""Logits and features of a layer, recomputed only from the data and the weights.

Nothing is taken from the builder, since the logits that it records are among the things to check.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from flint import fmpq_mat, nmod_mat

from attncert.constructions.arrays import IntArray, IntegerArray, ObjectArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact import integers, modular
from attncert.constructions.exact.contexts import context_products
from attncert.constructions.exact.primes import PRIMES_31
from attncert.constructions.layer import Head, Layer
from attncert.constructions.network.arithmetic import Inexact
from attncert.verify.features.tables import Outer, Table, dense


def usable_primes(data: Dataset) -> tuple[int, ...]:
    """The primes in PRIMES_31 that do not divide the denominator of the contexts."""
    return tuple(p for p in PRIMES_31 if data.contexts.denominator % p)


class NotIntegral(Inexact):
    """A logit is not an integral multiple of ln 2, so the softmax weights are not rational."""

    def __init__(self, example: int, row: int, logit: str) -> None:
        self.example, self.row, self.value = example, row, logit
        super().__init__(f"logit {row} of example {example} is {logit}, not an integer")

    def __reduce__(self) -> tuple[Any, ...]:
        return NotIntegral, (self.example, self.row, self.value)


def logits(head: Head, data: Dataset) -> ObjectArray:
    """(E⁽ᵗ⁾·key)·(queryᵀ·e_t) for all t, as a (T, n) object array of integers in units of ln 2.

    Exact. Raises NotIntegral.
    """
    return dense(logit_table(head, data))


def logit_table(head: Head, data: Dataset) -> Table:
    """The same logits; at width one, as an outer product. Exact. Raises NotIntegral."""
    table, scale = products(head, data)
    if scale == 1:
        return table
    table = dense(table)
    if (table % scale).any():
        t, i = (int(x) for x in np.argwhere(table % scale)[0])
        raise NotIntegral(t, i, f"{table[t, i]}/{scale}")
    whole: ObjectArray = table // scale
    return whole


def products(head: Head, data: Dataset, examples: Sequence[int] | None = None) -> tuple[Table, int]:
    """The products (E⁽ᵗ⁾·key)·(queryᵀ·e_t) for these t (None for all) as integers, (N, n), over one
    positive denominator. Exact. At width one, an outer product over the denominator 1 if its
    entries are integers."""
    left, key_scale = token_products(data, head.key)
    products, query_scale = query_products(data, head.query)
    right, scale = products.astype(object), key_scale * query_scale
    if examples is not None:
        left, right = left if data.shared else left[list(examples)], right[list(examples)]
    if head.width == 1:
        outer = Outer.of(right[:, 0], left[:, :, 0], scale)
        return (outer, 1) if outer else (right * left[:, :, 0], scale)
    table = sum(left[:, :, k] * right[:, k : k + 1] for k in range(head.width))
    return table, scale


def query_products(data: Dataset, columns: fmpq_mat) -> tuple[IntegerArray, int]:
    """columnsᵀ·e_t for all t as integers, (T, w), over one denominator. Exact. columns: d×w."""
    whole, scale = columns.numer_denom()
    products = integers.product(data.queries.stored, integers.from_flint(whole))
    return products, int(scale) * data.queries.denominator


def token_products(data: Dataset, columns: fmpq_mat) -> tuple[ObjectArray, int]:
    """E⁽ᵗ⁾·columns for all contexts as integers, (T or 1, n, w) objects, over one denominator.
    Exact. columns: d×w."""
    whole, scale = columns.numer_denom()
    products = context_products(data, integers.from_flint(whole))
    return products.astype(object), int(scale) * data.contexts.denominator


def softmax_mod(table: ObjectArray, p: int, times: IntArray | None = None) -> IntArray:
    """The softmax weights 2^k / Σ 2^k mod p, (T, n) int64. times: how often each token counts.
    Raises SumVanishes if Σ ≡ 0."""
    return modular.softmax_mod(table, p, times).astype(np.int64)


def mix_mod(weights: IntArray, contexts: IntArray, p: int) -> IntArray:
    """Σ_i weight_ti E_ti mod p, (T, d) int64; contexts (T or 1, n, d) residues below 2^31."""
    total = np.zeros((len(weights), contexts.shape[2]), dtype=np.int64)
    for i in range(contexts.shape[1]):
        total = (total + weights[:, i : i + 1] * contexts[:, i, :]) % p
    return total


def contexts_mod(data: Dataset, p: int) -> IntArray:
    """Contexts mod p, (T or 1, n, d) int64. Raises ZeroDivisionError if p divides a denominator."""
    if data.contexts.denominator % p == 0:
        raise ZeroDivisionError(f"{p} divides the contexts' denominator")
    inverse = pow(data.contexts.denominator, -1, p)
    return np.mod(data.contexts.numerators, p).astype(np.int64) * inverse % p


def features_mod(data: Dataset, tables: Iterable[ObjectArray], p: int) -> IntArray:
    """Z mod p, (T, H·d) int64, from the logits of the heads. Raises ArithmeticError if the features
    are not defined mod p because p divides the denominator of the contexts or a softmax sum."""
    contexts = contexts_mod(data, p)
    return np.hstack([mix_mod(softmax_mod(table, p, data.times), contexts, p) for table in tables])


def feature_residues(
    data: Dataset, tables: Sequence[ObjectArray]
) -> Iterator[tuple[IntArray, int]]:
    """(Z mod p, p) for the primes in PRIMES_31 modulo which the features exist."""
    for p in PRIMES_31:
        try:
            yield features_mod(data, tables, p), p
        except ArithmeticError:
            continue


def rank_of(data: Dataset, layer: Layer) -> tuple[int, int]:
    """The largest rank of Z modulo a prime in PRIMES_31, and this prime; 0 if no features exist.

    The rank is a lower bound on the rank over ℚ. The first prime with full rank ends the search.
    """
    best, prime = 0, PRIMES_31[0]
    with suppress(NotIntegral):
        for matrix, p in feature_residues(data, [logits(head, data) for head in layer.heads]):
            rank = residue_rank(matrix, p)
            if rank > best:
                best, prime = rank, p
            if best == min(matrix.shape):
                break
    return best, prime


class Progressive:
    """The features mod p of the heads appended so far, one by one."""

    def __init__(self, data: Dataset, prime: int) -> None:
        self.prime = prime
        self._contexts = contexts_mod(data, prime)
        self._times = data.times
        self._blocks: list[IntArray] = []

    def contexts(self, rows: Sequence[int]) -> IntArray:
        """The contexts of these examples mod p, (N or 1, n, d)."""
        return self._contexts if len(self._contexts) == 1 else self._contexts[list(rows)]

    def times(self, rows: Sequence[int]) -> IntArray | None:
        """How often each row is a token of these examples, (N, n); None if every row is a token
        exactly once."""
        return None if self._times is None else self._times[list(rows)]

    def append(self, block: IntArray) -> None:
        """Append the features of the next head for all examples, (T, d) mod p."""
        self._blocks.append(block)

    def rank(self, rows: Sequence[int], further: IntArray | None = None) -> int:
        """The rank mod p of the features of these examples, with a further block if given."""
        blocks = [block[list(rows)] for block in self._blocks]
        if further is not None:
            blocks.append(further)
        return residue_rank(np.hstack(blocks), self.prime)


def residue_rank(matrix: IntArray, p: int) -> int:
    """The rank over F_p (FLINT)."""
    rows, columns = matrix.shape
    return int(nmod_mat(rows, columns, matrix.ravel().tolist(), p).rank())


def related_rows(table: IntArray, p: int) -> tuple[int, list[int]]:
    """The rank modulo p, and the rows with a nonzero coefficient in some relation. The other rows
    are independent of one another and of these rows.

    >>> related_rows(np.array([[1, 0, 0], [0, 1, 1], [0, 2, 2], [0, 0, 5]]), 7)
    (3, [1, 2])
    """
    matrix = nmod_mat(*table.T.shape, table.T.ravel().tolist(), p)
    null_space, nullity = matrix.nullspace()
    basis = np.array([int(x) for x in null_space.entries()]).reshape(len(table), -1)[:, :nullity]
    return len(table) - nullity, [int(t) for t in np.flatnonzero(basis.any(axis=1))]
