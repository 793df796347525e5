"""Placing examples one at a time: the primitive of all layers that are built here.

Let S be the rows placed so far and C one feature column for each, chosen so that A = Z[S, C] is
invertible. A new head appends a block of d columns: row s ∈ S gets x_s there, a new example t gets
x_t. Eliminating S leaves, for t, the *residual*

    ρ_t = x_t - Λ_t X_S,     Λ_t = Z[t, C] A⁻¹,

and the rows S ∪ {placed members of the group} ∪ {t} are independent if ρ_t lies outside the span
of the placed members' residuals. Inadmissible x_t therefore form an affine flat of dimension at
most the number placed, at most n - 2: n independent candidates cannot all lie in it (in the first
group Λ is empty and the span has dimension at most n - 1: the same holds). So a choice always
exists, and it is made by looking, never by luck.

Everything is kept twice: mod p, which decides, and in float64, which only prefers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attncert.constructions.arrays import FloatArray
from attncert.constructions.exact.modular import echelon_mod, matmul_mod, reduced

# A cheaper candidate is preferred if it gives away at most this many bits of conditioning.
SLACK_BITS = 3
_ROWS = 64  # rows eliminated together
_PANEL = 256  # rows of P multiplied together


@dataclass(frozen=True)
class Block:
    """Rows in a head's new columns, (N, d): residues mod p and float64."""

    mod: FloatArray
    float: FloatArray

    def __getitem__(self, rows: Any) -> Block:
        return Block(self.mod[rows], self.float[rows])

    def plus(self, other: Block, p: int) -> Block:
        """Entrywise sum, broadcast."""
        return Block(reduced(self.mod + other.mod, p), self.float + other.float)


class Span:
    """Residuals placed so far in one group: echelon rows mod p, the identity at their pivots, and
    an orthonormal basis in float."""

    def __init__(self, prime: int, d: int) -> None:
        self.prime = prime
        self._pivots: list[int] = []
        self._echelon = np.zeros((0, d))
        self._basis = np.zeros((0, d))

    def beyond(self, rows: Block) -> Block:
        """What is left of each row (k, d) outside the span: 0 mod p where it lies in it."""
        with np.errstate(all="ignore"):
            return Block(self._reduce(rows.mod), self._project(rows.float))

    def add(self, rest: Block) -> None:
        """Add a (1, d) row, given by what is left of it outside the span, not 0 mod p."""
        p, pivot = self.prime, int(np.flatnonzero(rest.mod[0])[0])
        new = reduced(rest.mod * pow(int(rest.mod[0, pivot]), -1, p), p)
        old = reduced(self._echelon - matmul_mod(self._echelon[:, [pivot]], new, p), p)
        self._pivots.append(pivot)
        self._echelon = np.vstack([old, new])
        with np.errstate(all="ignore"):
            length = np.linalg.norm(rest.float)
            if length > 0:
                self._basis = np.vstack([self._basis, rest.float / length])

    def _reduce(self, rows: FloatArray) -> FloatArray:
        known = matmul_mod(rows[:, self._pivots], self._echelon, self.prime)
        return reduced(rows - known, self.prime)

    def _project(self, rows: FloatArray) -> FloatArray:
        for _ in range(2):  # twice is enough (Kahan)
            rows = rows - (rows @ self._basis.T) @ self._basis
        return rows


def choose(rests: Block, costs: Sequence[float]) -> int | None:
    """The cheapest candidate within SLACK_BITS of the farthest one; None if all lie in the span.

    rests: (k, d), what is left of the candidates outside the span. costs: k numbers, 0 the
    cheapest. Ties go to the farther.
    """
    with np.errstate(all="ignore"):
        lengths = np.nan_to_num(np.linalg.norm(rests.float, axis=1)).tolist()
    outside = np.count_nonzero(rests.mod, axis=1)
    usable = [(costs[k], -far, k) for k, far in enumerate(lengths) if outside[k]]
    if not usable:
        return None
    near = min(far for _, far, _ in usable) / 2**SLACK_BITS
    return min(option for option in usable if option[1] <= near)[2]


class Placement:
    """The rows placed so far, one pivot column for each, and A = Z[S, C] factored as L·U.

    rows:    examples in the order in which they were placed.
    columns: (head, column) of the pivots; the g rows of a group have their pivots in its head.

    Block elimination by heads, right-looking: L is kept for all T examples (L = Z[:, C] U⁻¹, so
    that Λ = L[t] P), U never, and P = L[S]⁻¹ only grows by rows: N·T·d operations for a residual.
    """

    def __init__(self, examples: int, prime: int) -> None:
        self.prime = prime
        self.rows: list[int] = []
        self.columns: list[tuple[int, int]] = []
        self._heads = 0
        size = examples, examples  # zeros take no memory before they are written to
        self._left = Block(np.zeros(size), np.zeros(size))
        self._inverse = Block(np.zeros(size), np.zeros(size))

    def eliminators(self, examples: list[int]) -> Block:
        """Λ of these examples, (g, N): what is subtracted of each row placed."""
        left, inverse = self._factors(examples)
        return Block(
            matmul_mod(left.mod, inverse.mod, self.prime), _guide(left.float, inverse.float)
        )

    def residual(self, eliminators: Block, targets: Block, placed: Block) -> Block:
        """x_t - Λ_t X_S for targets (g, d) and the placed rows' block X_S (N, d)."""
        return self._difference(targets, eliminators, placed)

    def remainder(self, examples: list[int] | slice, block: Block) -> Block:
        """The residuals of these examples for a new head with features `block` (T, d): (g, d).

        The same as `residual`, by way of P X_S: fast for many examples.
        """
        left, _ = self._factors(examples)
        return self._difference(block[examples], left, self._upper(block))

    def independent(
        self, examples: list[int], block: Block, most: int
    ) -> tuple[list[int], list[int]]:
        """`independent_rows` of the remainder of these examples, which is worked out as far as it
        is looked at."""
        upper = self._upper(block)

        def rest(some: slice) -> Block:
            left, _ = self._factors(examples[some])
            return self._difference(block[examples[some]], left, upper)

        return _independent(rest, (len(examples), block.mod.shape[1]), self.prime, most)

    def _upper(self, block: Block) -> Block:
        """P X_S for a new head with features `block` (T, d): (N, d). P is lower triangular."""
        count, placed = len(self.rows), block[self.rows]
        mod, guide = np.zeros_like(placed.mod), np.zeros_like(placed.float)
        for start in range(0, count, _PANEL):
            stop = min(start + _PANEL, count)
            panel = slice(start, stop), slice(stop)
            mod[start:stop] = matmul_mod(self._inverse.mod[panel], placed.mod[:stop], self.prime)
            guide[start:stop] = _guide(self._inverse.float[panel], placed.float[:stop])
        return Block(mod, guide)

    def pivots(
        self, group: list[int], block: Block, eliminators: Block | None = None
    ) -> list[int] | None:
        """Columns of the new block that make the group's residuals invertible; None if none do.

        block: (T, d), the new head's features of all examples. eliminators: of the group, if known.
        """
        if eliminators is None:
            rest = self.remainder(group, block)
        else:
            rest = self.residual(eliminators, block[group], block[self.rows])
        rows, columns = independent_rows(rest, self.prime)
        return columns if len(rows) == len(group) else None

    def extend(
        self, group: list[int], block: Block, pivots: list[int], eliminators: Block | None = None
    ) -> None:
        """Place the group, whose head has these features (T, d) and these pivot columns.

        With σ the group's residuals at the pivots, L gains the columns ρ σ⁻¹ (ρ: all residuals
        there; the identity on the group) and P the rows [-Λ, I].
        """
        p, old, new = self.prime, len(self.rows), len(self.rows) + len(group)
        columns = Block(block.mod[:, pivots], block.float[:, pivots])
        rest = self.remainder(slice(None), columns)
        eliminators = self.eliminators(group) if eliminators is None else eliminators
        schur = rest[group]
        self._left.mod[:, old:new] = matmul_mod(rest.mod, _inverse_mod(schur.mod, p), p)
        self._left.float[:, old:new] = _guide(rest.float, _inverse_float(schur.float))
        self._inverse.mod[old:new, :old] = reduced(-eliminators.mod, p)
        self._inverse.float[old:new, :old] = -eliminators.float
        for inverse in (self._inverse.mod, self._inverse.float):
            inverse[old:new, old:new] = np.eye(len(group))
        self.rows += group
        self.columns += [(self._heads, j) for j in pivots]
        self._heads += 1

    def _factors(self, examples: list[int] | slice) -> tuple[Block, Block]:
        """L of these examples (g, N), and P (N, N)."""
        count = len(self.rows)
        return (
            Block(self._left.mod[examples, :count], self._left.float[examples, :count]),
            Block(self._inverse.mod[:count, :count], self._inverse.float[:count, :count]),
        )

    def _difference(self, targets: Block, left: Block, right: Block) -> Block:
        product = matmul_mod(left.mod, right.mod, self.prime)
        with np.errstate(all="ignore"):
            guide = targets.float - _guide(left.float, right.float)
        return Block(reduced(targets.mod - product, self.prime), guide)


def independent_rows(block: Block, p: int, most: int | None = None) -> tuple[list[int], list[int]]:
    """The first rows of the block (N, d) that are independent mod p, at most `most`, and pivots.

    Each row, in order, is kept unless it depends on those kept before; its pivot is the largest
    float entry among those that are not 0 mod p. The kept rows are invertible at the pivots.
    """
    return _independent(lambda some: block[some], block.mod.shape, p, most)


def _independent(
    of: Callable[[slice], Block], shape: tuple[int, ...], p: int, most: int | None
) -> tuple[list[int], list[int]]:
    """The same of rows (N, d) that `of` gives a few at a time."""
    count, d = shape
    most = min(count, d) if most is None else min(most, count, d)
    echelon = Block(np.zeros((0, d)), np.zeros((0, d)))
    rows: list[int] = []
    pivots: list[int] = []
    for start in range(0, count, _ROWS):
        some = of(slice(start, start + _ROWS))
        mod, guide = some.mod.copy(), some.float.copy()
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
    """Gauss-Jordan in place, row by row; the independent rows and their pivot columns."""
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


def _inverse_mod(matrix: FloatArray, p: int) -> FloatArray:
    """Inverse of an invertible matrix of residues."""
    g = len(matrix)
    return echelon_mod(np.hstack([matrix, np.eye(g)]), p)[0][:, g:]


def _inverse_float(matrix: FloatArray) -> FloatArray:
    """Inverse or pseudo-inverse, for guidance only: an array whatever comes in."""
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
