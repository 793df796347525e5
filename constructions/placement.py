"""Placing examples one at a time: the single primitive of all constructions here (step 7).

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

from dataclasses import dataclass

import numpy as np

from constructions.modular import matmul_mod

# A cheaper candidate is preferred if it gives away at most this many bits of conditioning.
SLACK_BITS = 3


@dataclass(frozen=True)
class Block:
    """Rows in a head's new columns, (N, d): residues mod p and float64."""

    mod: np.ndarray
    float: np.ndarray

    def __getitem__(self, rows: object) -> Block:
        return Block(self.mod[rows], self.float[rows])  # type: ignore[index]


class Span:
    """Residuals placed so far in one group: echelon rows mod p, an orthonormal basis in float."""

    def __init__(self, prime: int) -> None:
        self.prime = prime
        self._echelon: list[tuple[int, np.ndarray]] = []
        self._basis: list[np.ndarray] = []

    def distance(self, row: Block) -> float | None:
        """Distance of a (1, d) row to the span, in float64; None if it lies in the span mod p."""
        if not self._reduce(row.mod[0]).any():
            return None
        return float(np.linalg.norm(self._project(row.float[0])))

    def add(self, row: Block) -> None:
        reduced = self._reduce(row.mod[0])
        pivot = int(np.flatnonzero(reduced)[0])
        inverse = pow(int(reduced[pivot]), -1, self.prime)
        self._echelon.append((pivot, np.mod(reduced * inverse, self.prime)))
        rest = self._project(row.float[0])
        length = np.linalg.norm(rest)
        if length > 0:
            self._basis.append(rest / length)

    def _reduce(self, row: np.ndarray) -> np.ndarray:
        for pivot, echelon in self._echelon:
            row = np.mod(row - row[pivot] * echelon, self.prime)
        return row

    def _project(self, row: np.ndarray) -> np.ndarray:
        for _ in range(2):  # twice is enough (Kahan)
            for b in self._basis:
                row = row - (row @ b) * b
        return row


def choose(span: Span, candidates: Block, costs: list[float]) -> int | None:
    """The cheapest candidate within SLACK_BITS of the farthest; None if all are in the span.

    candidates: (k, d) residuals. costs: k numbers, 0 the cheapest. Ties go to the farther.
    """
    distances = [span.distance(candidates[k : k + 1]) for k in range(len(costs))]
    usable = [(costs[k], -far, k) for k, far in enumerate(distances) if far is not None]
    if not usable:
        return None
    near = min(far for _, far, _ in usable) / 2**SLACK_BITS
    return min(option for option in usable if option[1] <= near)[2]


class Placement:
    """The rows placed so far, one pivot column for each, and the inverse of A = Z[S, C].

    rows:    examples in the order in which they were placed.
    columns: (head, column) of the pivots; the g rows of a group have their pivots in its head.
    """

    def __init__(self, examples: int, prime: int) -> None:
        self.prime = prime
        self.rows: list[int] = []
        self.columns: list[tuple[int, int]] = []
        self._heads = 0
        self._pivots = Block(np.zeros((examples, 0)), np.zeros((examples, 0)))
        self._inverse = Block(np.zeros((0, 0)), np.zeros((0, 0)))

    def multipliers(self, examples: list[int]) -> Block:
        """Λ of these examples, (g, N)."""
        rows = self._pivots[examples]
        return Block(
            matmul_mod(rows.mod, self._inverse.mod, self.prime), rows.float @ self._inverse.float
        )

    def residual(self, multipliers: Block, targets: Block, placed: Block) -> Block:
        """x_t - Λ_t X_S for targets (g, d) and the placed rows' block X_S (N, d)."""
        return Block(
            np.mod(targets.mod - matmul_mod(multipliers.mod, placed.mod, self.prime), self.prime),
            targets.float - multipliers.float @ placed.float,
        )

    def pivots(self, group: list[int], block: Block) -> list[int] | None:
        """Columns of the new block that make the group's residuals invertible; None if none do.

        block: (T, d), the new head's features of all examples.
        """
        residual = self.residual(self.multipliers(group), block[group], block[self.rows])
        return _pivot_columns(residual, self.prime)

    def extend(self, group: list[int], block: Block, pivots: list[int]) -> None:
        """Place the group, whose head has these features (T, d) and these pivot columns.

        With B = X_S, Λ and the Schur complement σ = residual (all at the pivots),
        the inverse of [[A, B], [Z[G, C], X_G]] is [[A⁻¹ + A⁻¹B σ⁻¹ Λ, -A⁻¹B σ⁻¹], [-σ⁻¹Λ, σ⁻¹]].
        """
        p, columns = self.prime, block[:, pivots]
        multipliers = self.multipliers(group)
        schur = self.residual(multipliers, columns[group], columns[self.rows])
        old, placed = self._inverse, columns[self.rows]
        schur_mod, schur_float = _inverse_mod(schur.mod, p), np.linalg.pinv(schur.float)
        left_mod = matmul_mod(matmul_mod(old.mod, placed.mod, p), schur_mod, p)
        left_float = old.float @ placed.float @ schur_float
        self._inverse = Block(
            np.mod(
                np.block(
                    [
                        [old.mod + matmul_mod(left_mod, multipliers.mod, p), -left_mod],
                        [-matmul_mod(schur_mod, multipliers.mod, p), schur_mod],
                    ]
                ),
                p,
            ),
            np.block(
                [
                    [old.float + left_float @ multipliers.float, -left_float],
                    [-schur_float @ multipliers.float, schur_float],
                ]
            ),
        )
        self._pivots = Block(
            np.hstack([self._pivots.mod, columns.mod]),
            np.hstack([self._pivots.float, columns.float]),
        )
        self.rows += group
        self.columns += [(self._heads, j) for j in pivots]
        self._heads += 1


def _pivot_columns(residual: Block, p: int) -> list[int] | None:
    """Greedy elimination: for each row the largest float entry among those nonzero mod p."""
    mod, approx = residual.mod.copy(), residual.float.copy()
    chosen: list[int] = []
    for i in range(len(mod)):
        allowed = mod[i] != 0
        if not allowed.any():
            return None
        j = int(np.argmax(np.where(allowed, np.abs(approx[i]), -1.0)))
        chosen.append(j)
        factor = np.mod(mod[i + 1 :, j] * pow(int(mod[i, j]), -1, p), p)
        mod[i + 1 :] = np.mod(mod[i + 1 :] - factor[:, None] * mod[i], p)
        if approx[i, j]:
            approx[i + 1 :] -= (approx[i + 1 :, j] / approx[i, j])[:, None] * approx[i]
    return chosen


def _inverse_mod(matrix: np.ndarray, p: int) -> np.ndarray:
    """Inverse of a small invertible matrix of residues, by Gauss-Jordan."""
    g = len(matrix)
    work = np.hstack([matrix, np.eye(g)])
    for i in range(g):
        pivot = i + int(np.flatnonzero(work[i:, i])[0])
        work[[i, pivot]] = work[[pivot, i]]
        work[i] = np.mod(work[i] * pow(int(work[i, i]), -1, p), p)
        for k in range(g):
            if k != i:
                work[k] = np.mod(work[k] - work[k, i] * work[i], p)
    return work[:, g:]
