"""Logits and features of a layer, recomputed from the data and the weights alone.

Nothing is taken from the builder: what it believes its logits to be is one of the things checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

import numpy as np
from flint import fmpq_mat, fmpz_mat, nmod_mat

from attncert.constructions.arrays import IntArray, IntegerArray, ObjectArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact import integers
from attncert.constructions.exact.primes import PRIMES_31
from attncert.constructions.layer import Head, Layer
from attncert.constructions.network.arithmetic import Inexact
from attncert.verify.tables import Outer, Table, dense


def usable_primes(data: Dataset) -> tuple[int, ...]:
    """Those of PRIMES_31 modulo which the contexts exist: they do not divide the denominator."""
    return tuple(p for p in PRIMES_31 if data.contexts.denominator % p)


_TOGETHER = 2**22  # numbers of the contexts looked at together


class NotIntegral(Inexact):
    """A logit is not an integral multiple of ln 2, so the softmax weights are not rational."""

    def __init__(self, example: int, row: int, logit: str) -> None:
        self.example, self.row, self.value = example, row, logit
        super().__init__(f"logit {row} of example {example} is {logit}, not an integer")


def logits(head: Head, data: Dataset) -> ObjectArray:
    """(E⁽ᵗ⁾·key)·(queryᵀ·e_t) for all t: a (T, n) object array of integers (units of ln 2).

    Exact. Raises NotIntegral.
    """
    return dense(logit_table(head, data))


def logit_table(head: Head, data: Dataset) -> Table:
    """The same, at width one as the outer product that it is. Exact. Raises NotIntegral."""
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
    """(E⁽ᵗ⁾·key)·(queryᵀ·e_t) for these t (all, if None) as integers, (N, n), over one positive
    scale; exact. At width one an outer product over 1, if that can be."""
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
    """columnsᵀ·e_t for all t as integers, (T, w), over one positive scale; exact. columns: d×w."""
    whole, scale = columns.numer_denom()
    products = integers.product(data.queries.stored, integers.from_flint(whole))
    return products, int(scale) * data.queries.denominator


def token_products(data: Dataset, columns: fmpq_mat) -> tuple[ObjectArray, int]:
    """E⁽ᵗ⁾·columns for all contexts as integers, (T or 1, n, w) objects, over one positive scale;
    columns: d×w. Exact: in int64 where no sum can leave it, else FLINT.

    Of large contexts a few are looked at together, for FLINT takes eight bytes a number and the
    time of a proof, and in int64 only the coordinates in which some column is not 0.
    """
    whole, scale = columns.numer_denom()
    count, n, d = data.contexts.shape
    step, parts = max(1, _TOGETHER // (n * d)), []
    numbers, scale = _objects(whole), int(scale) * data.contexts.denominator
    longest = max([1, *np.abs(numbers).sum(axis=0).tolist()])
    short = longest * max(1, integers.largest(data.contexts.stored)) < 2**63
    used = np.flatnonzero(numbers.any(axis=1))
    for start in range(0, count, step):
        where = slice(start, start + step)
        if short:
            some = data.contexts[where, :, used].numerators.astype(np.int64)
            part = (some @ numbers[used].astype(np.int64)).astype(object)
        else:
            rows = data.contexts[where].reshape((-1, d))
            part = _objects((data.token_rows if step >= count else rows.integer_matrix()) * whole)
        parts.append(part.reshape(-1, n, columns.ncols()))
    return np.concatenate(parts), scale


def softmax_mod(table: ObjectArray, p: int, times: IntArray | None = None) -> IntArray:
    """Softmax weights 2^k / Σ 2^k mod p, (T, n) int64; each `times` over. Raises ZeroDivisionError
    if Σ ≡ 0."""
    rows = []
    for t, row in enumerate(table.tolist()):
        powers = [pow(2, int(k) % (p - 1), p) for k in row]
        if times is not None:
            powers = [w * often for w, often in zip(powers, times[t].tolist(), strict=True)]
        total = sum(powers) % p
        if total == 0:
            raise ZeroDivisionError(f"a softmax sum is 0 mod {p}")
        inverse = pow(total, -1, p)
        rows.append([w * inverse % p for w in powers])
    return np.array(rows, dtype=np.int64)


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
    """Z mod p, (T, H·d) int64, from the heads' logits. Raises ZeroDivisionError."""
    contexts = contexts_mod(data, p)
    return np.hstack([mix_mod(softmax_mod(table, p, data.times), contexts, p) for table in tables])


def feature_residues(
    data: Dataset, tables: Sequence[ObjectArray]
) -> Iterator[tuple[IntArray, int]]:
    """(Z mod p, p) for those of PRIMES_31 modulo which the features exist."""
    for p in PRIMES_31:
        try:
            yield features_mod(data, tables, p), p
        except ZeroDivisionError:
            continue


def rank_of(data: Dataset, layer: Layer) -> tuple[int, int]:
    """The largest rank of Z modulo PRIMES_31, and that prime; rank 0 where no features exist.

    The rank over ℚ is at least that. The first prime of a full rank ends the search.
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
    """Features mod p of the heads seen so far, for ranks that grow head by head."""

    def __init__(self, data: Dataset, prime: int) -> None:
        self.prime = prime
        self._contexts = contexts_mod(data, prime)
        self._times = data.times
        self._blocks: list[IntArray] = []

    def contexts(self, rows: Sequence[int]) -> IntArray:
        """Contexts of these examples mod p, (N or 1, n, d)."""
        return self._contexts if len(self._contexts) == 1 else self._contexts[list(rows)]

    def times(self, rows: Sequence[int]) -> IntArray | None:
        """How often each row is a token of these examples, (N, n); None: once."""
        return None if self._times is None else self._times[list(rows)]

    def append(self, block: IntArray) -> None:
        """The next head's features of all examples, (T, d) mod p."""
        self._blocks.append(block)

    def rank(self, rows: Sequence[int], further: IntArray | None = None) -> int:
        """Rank mod p of these examples' features, with one more block for them if given."""
        blocks = [block[list(rows)] for block in self._blocks]
        if further is not None:
            blocks.append(further)
        return residue_rank(np.hstack(blocks), self.prime)


def residue_rank(matrix: IntArray, p: int) -> int:
    """Rank over F_p (FLINT)."""
    rows, columns = matrix.shape
    return int(nmod_mat(rows, columns, matrix.ravel().tolist(), p).rank())


def related_rows(table: IntArray, p: int) -> tuple[int, list[int]]:
    """The rank modulo p, and the rows with a coefficient that is not 0 in some relation. The others
    are independent of one another and of these.

    >>> related_rows(np.array([[1, 0, 0], [0, 1, 1], [0, 2, 2], [0, 0, 5]]), 7)
    (3, [1, 2])
    """
    matrix = nmod_mat(*table.T.shape, table.T.ravel().tolist(), p)
    null_space, nullity = matrix.nullspace()
    basis = np.array([int(x) for x in null_space.entries()]).reshape(len(table), -1)[:, :nullity]
    return len(table) - nullity, [int(t) for t in np.flatnonzero(basis.any(axis=1))]


def _objects(matrix: fmpz_mat) -> ObjectArray:
    out = np.empty(matrix.nrows() * matrix.ncols(), dtype=object)
    out[:] = [int(x) for x in matrix.entries()]
    return out.reshape(matrix.nrows(), matrix.ncols())
