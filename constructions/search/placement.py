"""Placing examples one at a time: the basic step of every construction of a layer.

Let S be the rows placed so far and C one feature column for each, chosen so that A = Z[S, C] is
invertible. A new head appends a block of d columns: row s ∈ S gets x_s there, and a new example t
gets x_t. Eliminating S leaves, for t, the *residual*

    ρ_t = x_t - Λ_t X_S,     Λ_t = Z[t, C] A⁻¹,

and the rows S ∪ {placed members of the group} ∪ {t} are independent if ρ_t lies outside the span
of the placed members' residuals. Inadmissible x_t therefore form an affine flat of dimension at
most the number placed, at most n - 2: n independent candidates cannot all lie in it (nor in the
first group, where Λ is empty and the span has dimension at most n - 1). So an admissible candidate
always exists, and every candidate is tested.

All numbers are kept twice: mod p for decisions, and in float64 only for ranking candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attncert.constructions.arrays import FloatArray
from attncert.constructions.exact.modular import matmul_mod, modular, reduced

# A cheaper candidate may lose at most this many bits of conditioning.
SLACK_BITS = 3
_ROWS = 64  # the number of rows eliminated together
_SLAB = 2048  # the number of rows of a table that are copied together


@dataclass(frozen=True)
class Block:
    """Rows in a head's new columns, (N, d): residues mod p and float64."""

    mod: FloatArray
    float: FloatArray

    def __getitem__(self, rows: Any) -> Block:
        return Block(self.mod[rows], self.float[rows])

    def __setitem__(self, rows: Any, block: Block) -> None:
        self.mod[rows], self.float[rows] = block.mod, block.float

    def plus(self, other: Block, p: int) -> Block:
        return Block(reduced(self.mod + other.mod, p), self.float + other.float)


class Span:
    """Residuals placed so far in one group: echelon rows mod p, which are the identity at their
    pivots, and an orthonormal basis in float64."""

    def __init__(self, prime: int, d: int) -> None:
        self.prime = prime
        self._pivots: list[int] = []
        self._echelon = np.zeros((0, d))
        self._basis = np.zeros((0, d))

    def beyond(self, rows: Block) -> Block:
        """The component of each row (k, d) outside the span; 0 mod p if the row is in it."""
        known = matmul_mod(rows.mod[:, self._pivots], self._echelon, self.prime)
        guide = rows.float
        with np.errstate(all="ignore"):
            for _ in range(2):  # twice is enough (Kahan)
                guide = guide - (guide @ self._basis.T) @ self._basis
        return Block(reduced(rows.mod - known, self.prime), guide)

    def add(self, rest: Block) -> None:
        """Add a (1, d) row, given by its component outside the span, which is not 0 mod p."""
        p, pivot = self.prime, int(np.flatnonzero(rest.mod[0])[0])
        new = reduced(rest.mod * pow(int(rest.mod[0, pivot]), -1, p), p)
        old = reduced(self._echelon - matmul_mod(self._echelon[:, [pivot]], new, p), p)
        self._pivots.append(pivot)
        self._echelon = np.vstack([old, new])
        with np.errstate(all="ignore"):
            length = np.linalg.norm(rest.float)
            if length > 0:
                self._basis = np.vstack([self._basis, rest.float / length])


def choose(rests: Block, costs: Sequence[float]) -> int | None:
    """The index of the cheapest candidate within SLACK_BITS of the farthest; None if all are 0 mod
    p. rests (k, d): components outside the span. A tie goes to the farther candidate."""
    with np.errstate(all="ignore"):
        lengths = np.nan_to_num(np.linalg.norm(rests.float, axis=1)).tolist()
    outside = np.count_nonzero(rests.mod, axis=1)
    usable = [(costs[k], -far, k) for k, far in enumerate(lengths) if outside[k]]
    if not usable:
        return None
    near = min(far for _, far, _ in usable) / 2**SLACK_BITS
    return min(option for option in usable if option[1] <= near)[2]


class Placement:
    """The rows placed so far, and A = Z[S, C] at their pivot columns, factored as L·U.

    The elimination proceeds head by head. With L = Z[:, C] U⁻¹, L[S] is lower triangular by groups,
    with the identity on each, and Λ = L[t] L[S]⁻¹. One table holds, first and in order, the rows of
    L[S]⁻¹ for the placed examples, and then the rows of L for all examples not placed yet. U is
    not kept."""

    def __init__(self, examples: int, prime: int) -> None:
        self.prime = prime
        self.rows: list[int] = []
        size = examples, examples  # zeros take no memory before they are written to
        self._table = Block(np.zeros(size), np.zeros(size))
        self._examples, self._row = np.arange(examples), np.arange(examples)  # of the table

    @property
    def unplaced(self) -> list[int]:
        """The examples not placed yet, in increasing order."""
        return sorted(self._examples[len(self.rows) :].tolist())

    def eliminators(self, examples: list[int]) -> Block:
        """Λ of these examples, (g, N): the coefficients of the placed rows."""
        N = len(self.rows)
        left = self._table[self._row[examples], :N]
        parts = [
            self._product(left[:, some.start :], self._table[some.start : N, some])
            for some in _slabs(N)
        ]
        return joined(parts, axis=1)

    def residual(self, eliminators: Block, targets: Block, placed: Block) -> Block:
        """The residuals x_t - Λ_t X_S. targets: x_t, (g, d). placed: X_S, (N, d)."""
        return self._difference(targets, eliminators, placed)

    def remainder(self, examples: list[int], block: Block) -> Block:
        """The residuals (g, d) for a new head with features `block` (T, d): `residual` for many
        examples."""
        N, images = len(self.rows), block[self.rows]
        parts = [
            self._product(self._table[some, : some.stop], images[: some.stop]) for some in _slabs(N)
        ]
        upper, where = joined(parts), self._row[examples]
        parts = [
            self._difference(block[examples[some]], self._table[where[some], :N], upper)
            for some in _slabs(len(examples))
        ]
        return joined(parts)

    def pivots(
        self, group: list[int], block: Block, eliminators: Block | None = None
    ) -> list[int] | None:
        """Columns of the new block (T, d) at which the group's residuals are invertible, if any."""
        if eliminators is None:
            rest = self.remainder(group, block)
        else:
            rest = self.residual(eliminators, block[group], block[self.rows])
        rows, columns = independent_rows(rest, self.prime)
        return columns if len(rows) == len(group) else None

    def extend(
        self, group: list[int], block: Block, pivots: list[int], rest: Block | None = None
    ) -> None:
        """Place the group, whose head has these features (T, d) and these pivot columns.

        rest: the residuals of all unplaced examples, if known. With σ the group's residuals at the
        pivots, L gains the columns ρ σ⁻¹ (ρ: all residuals there), the identity on the group.
        """
        old, new = len(self.rows), len(self.rows) + len(group)
        others, columns = self.unplaced, block[:, pivots]
        rest = self.remainder(others, columns) if rest is None else rest[:, pivots]
        place = {t: i for i, t in enumerate(others)}
        square = _inverse(rest[[place[t] for t in group]], self.prime)
        self._table[self._row[others], old:new] = self._product(rest, square)
        below = self.eliminators(group)
        for row, t in enumerate(group, start=old):
            self._exchange(row, int(self._row[t]))
        self._table[old:new, :old] = Block(reduced(-below.mod, self.prime), -below.float)
        self._table[old:new, old:new] = Block(*[np.eye(len(group))] * 2)
        self.rows += group

    def _exchange(self, a: int, b: int) -> None:
        """Exchange two rows of the table."""
        self._table[[a, b]] = self._table[[b, a]]
        self._examples[[a, b]] = self._examples[[b, a]]
        self._row[self._examples[[a, b]]] = a, b

    def _product(self, a: Block, b: Block) -> Block:
        return Block(matmul_mod(a.mod, b.mod, self.prime), _guide(a.float, b.float))

    def _difference(self, targets: Block, left: Block, right: Block) -> Block:
        product = matmul_mod(left.mod, right.mod, self.prime)
        with np.errstate(all="ignore"):
            guide = targets.float - _guide(left.float, right.float)
        return Block(reduced(targets.mod - product, self.prime), guide)


def independent_rows(block: Block, p: int, most: int | None = None) -> tuple[list[int], list[int]]:
    """The first rows of the block (N, d) that are independent mod p, at most `most`, with pivots.

    Each row, in order, is kept unless it depends on those kept before; its pivot is the largest
    float entry among those that are not 0 mod p. The kept rows are invertible at the pivots.
    """
    count, d = block.mod.shape
    most = min(count, d) if most is None else min(most, count, d)
    echelon = Block(np.zeros((0, d)), np.zeros((0, d)))
    rows: list[int] = []
    pivots: list[int] = []
    for start in range(0, count, _ROWS):
        some = slice(start, start + _ROWS)
        mod, guide = block.mod[some].copy(), block.float[some].copy()
        with np.errstate(all="ignore"):
            if rows:
                mod = reduced(mod - matmul_mod(mod[:, pivots], echelon.mod, p), p)
                guide -= guide[:, pivots] @ echelon.float
            independent, chosen = _eliminate(mod, guide, p, most - len(rows))
            if rows and independent:
                shift = matmul_mod(echelon.mod[:, chosen], mod[independent], p)
                echelon = Block(
                    reduced(echelon.mod - shift, p),
                    echelon.float - echelon.float[:, chosen] @ guide[independent],
                )
        echelon = Block(
            np.vstack([echelon.mod, mod[independent]]),
            np.vstack([echelon.float, guide[independent]]),
        )
        rows += [start + i for i in independent]
        pivots += chosen
        if len(rows) == most:
            break
    return rows, pivots


def _eliminate(
    mod: FloatArray, guide: FloatArray, p: int, most: int
) -> tuple[list[int], list[int]]:
    """Gauss-Jordan elimination in place, row by row; returns independent rows and pivot columns."""
    independent: list[int] = []
    pivots: list[int] = []
    for i in range(len(mod)):
        if len(independent) == most:
            break
        allowed = mod[i] != 0
        if not allowed.any():
            continue
        j = int(np.argmax(np.where(allowed, np.abs(guide[i]), -1.0)))  # a NaN is allowed, too
        mod[i] = reduced(mod[i] * pow(int(mod[i, j]), -1, p), p)
        factor = mod[:, j].copy()
        factor[i] = 0
        mod[:] = reduced(mod - factor[:, None] * mod[i], p)
        if guide[i, j]:
            guide[i] /= guide[i, j]
            factor = guide[:, j].copy()
            factor[i] = 0
            guide -= factor[:, None] * guide[i]
        independent.append(i)
        pivots.append(j)
    return independent, pivots


def _slabs(rows: int) -> list[slice]:
    """Slices of rows; one empty slice if there are none."""
    return [slice(k, min(k + _SLAB, rows)) for k in range(0, max(rows, 1), _SLAB)]


def joined(parts: Sequence[Block], axis: int = 0) -> Block:
    """Blocks one below the other, or side by side if the axis is 1."""
    if len(parts) == 1:
        return parts[0]
    return Block(
        np.concatenate([part.mod for part in parts], axis),
        np.concatenate([part.float for part in parts], axis),
    )


def _inverse(square: Block, p: int) -> Block:
    """The inverse of a matrix that is invertible mod p. Its floats are only used for ranking."""
    entries = map(int, modular(square.mod, p).inv().entries())
    mod = np.fromiter(entries, np.float64, square.mod.size).reshape(square.mod.shape)
    return Block(mod, _inverse_float(square.float))


def _inverse_float(matrix: FloatArray) -> FloatArray:
    """The inverse or pseudo-inverse, for ranking only; never raises an error."""
    matrix = np.nan_to_num(matrix, posinf=0.0, neginf=0.0)
    with np.errstate(all="ignore"):
        try:
            inverse = np.linalg.inv(matrix)
        except np.linalg.LinAlgError:
            inverse = np.linalg.pinv(matrix)
    return inverse.astype(np.float64, copy=False)


def _guide(a: FloatArray, b: FloatArray) -> FloatArray:
    with np.errstate(all="ignore"):
        product: FloatArray = a @ b
    return product
