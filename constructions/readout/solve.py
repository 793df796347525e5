"""Step 9: the readout. Solve Z V = Y exactly, with V supported on the pivot columns.

Every head contributes one column for each example that it placed, so the system is square, T×T, and
invertible (`search/placement.py` ensures that). If d_v ≥ m, the value matrix of head h is block h
of V padded with zero columns, and W_O is H stacked copies of [I_m; 0]                (paper).
If d_v < m but each head has at most d_v columns, the values pick these columns, whatever the
labels, and W_O holds the solution                            (ours; docs/width-one.md, section 9).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.layer import (
    Head,
    Layer,
    integer_logits,
    logit_ranges,
    powers_of_two,
)
from attncert.constructions.progress import Progress, silent
from attncert.constructions.readout.lifting import lifted

# Up to this many unknowns, FLINT eliminates without fractions, in time quasi-linear in the bits.
ELIMINATED = 15
# Above this bits²·T, FLINT takes longer than the half second needed to load the compiled lifting.
LIFTING_WORK = 2 * 10**11


@dataclass(frozen=True)
class PivotSystem:
    """`matrix` = diag(scale)·Z[:, C], with rows scaled to integers; (head, column) of each
    pivot."""

    matrix: fmpz_mat
    scale: tuple[int, ...]
    columns: tuple[tuple[int, int], ...]


def predicted_bits(construction: BuiltLayer, data: Dataset) -> int:
    """The expected number of bits of the determinant of the pivot system, hence of the readout.

    It is the sum of all logit ranges: each softmax denominator has about as many bits as its range,
    and row t of the cleared system has the product of its denominators as a factor.
    """
    heads = construction.layer.heads[: len(construction.heads)]  # idle heads are all 0
    return sum(sum(logit_ranges(head, data)) for head in heads)


def pivot_system(construction: BuiltLayer, data: Dataset) -> PivotSystem:
    """Row t, at the pivots of head h: (Σ_i 2^k_i E⁽ᵗ⁾_i / S_th) times Π_h S_th. Exact."""
    contexts = [data.rows(t).numerators.tolist() for t in range(len(data.contexts))]
    numerators: list[list[list[int]]] = [[] for _ in range(data.T)]
    sums: list[list[int]] = [[] for _ in range(data.T)]
    for layer_head, head in zip(construction.layer.heads, construction.heads, strict=False):
        for t, logits in enumerate(integer_logits(layer_head, data)):
            powers = powers_of_two(logits)
            context = contexts[0 if data.shared else t]
            sums[t].append(sum(powers))
            numerators[t].append(
                [
                    sum(w * row[j] for w, row in zip(powers, context, strict=True))
                    for j in head.pivots
                ]
            )
    rows, scale = [], []
    for blocks, denominators in zip(numerators, sums, strict=True):
        product = 1
        for denominator in denominators:
            product *= denominator
        row = [
            x * (product // denominator)
            for block, denominator in zip(blocks, denominators, strict=True)
            for x in block
        ]
        common = 0
        for x in row:
            common = int(fmpz(common).gcd(x))
        common = int(fmpz(common).gcd(product)) or 1
        rows.append([x // common for x in row])
        scale.append(product // common)
    columns = tuple((h, j) for h, head in enumerate(construction.heads) for j in head.pivots)
    denominator = data.contexts.denominator
    return PivotSystem(fmpz_mat(rows), tuple(s * denominator for s in scale), columns)


def solve(system: PivotSystem, right: fmpq_mat) -> fmpq_mat:
    """The T×k solution X of Z[:, C] X = right. Exact (FLINT: Dixon lifting)."""
    cleared, denominator = right.numer_denom()
    scaled = [[s * x for x in row] for s, row in zip(system.scale, cleared.tolist(), strict=True)]
    return fmpq_mat(system.matrix).solve(fmpq_mat(fmpz_mat(scaled))) / denominator


def lifting_is_shorter(bits: int, T: int) -> bool:
    """Above ELIMINATED unknowns, FLINT was measured to take 2e-12·bits²·T s, lifting 2e-11·bits² s.

    >>> lifting_is_shorter(35_000, 193), lifting_is_shorter(580_000, 5)
    (True, False)
    """
    return T > ELIMINATED and bits * bits * T > LIFTING_WORK


def readout(
    construction: BuiltLayer, data: Dataset, right: fmpq_mat, progress: Progress = silent
) -> fmpq_mat:
    """The T×k solution X of Z[:, C] X = right. Exact.

    FLINT solves the cleared system, whose entries are long; for large systems the lifting, if it
    applies, never clears denominators and is many times as fast (constructions/readout/lifting.py).
    FLINT also solves small systems with long logits.
    """
    bits = predicted_bits(construction, data)
    if lifting_is_shorter(bits, data.T):
        cleared, denominator = right.numer_denom()
        columns: list[list[fmpq]] = []
        width = int(cleared.ncols())
        for j, column in enumerate(zip(*cleared.tolist(), strict=True)):

            def step(count: int, of: int, j: int = j) -> None:
                progress(j * of + count, width * of)

            solution = lifted(construction, data, [int(y) for y in column], bits, step)
            if solution is None:
                break
            columns.append([x / denominator for x in solution])
        else:
            return fmpq_mat(columns).transpose()
    return solve(pivot_system(construction, data), right)


def with_readout(
    construction: BuiltLayer, data: Dataset, at_pivots: fmpq_mat, value_width: int | None = None
) -> Layer:
    """The layer with values and output: VO has rows `at_pivots` (T×m) at the pivots, 0 elsewhere.

    value_width: d_v, default m. Raises HypothesisFails if d_v is below m and below the number of
    examples that some head placed.
    """
    m, idle = data.m, len(construction.layer.heads) - len(construction.heads)
    pivots = [*(head.pivots for head in construction.heads), *[()] * idle]
    width, most = m if value_width is None else value_width, max(map(len, pivots))
    if width < min(m, most):
        raise HypothesisFails(
            "value-width",
            f"values of width {width} for labels of width {m} and groups of up to {most}",
            {"d_v": width, "m": m},
        )
    solution = iter(at_pivots.tolist())
    heads, outputs = [], list[list[Any]]()
    for head, columns in zip(construction.layer.heads, pivots, strict=True):
        rows = [[0] * width for _ in range(data.d)]
        solved = [next(solution) for _ in columns]
        stacked = [[int(i == j) for j in range(m)] for i in range(width)]
        for i, (j, row) in enumerate(zip(columns, solved, strict=True)):
            if width >= m:
                rows[j] = [*row, *[0] * (width - m)]
            else:
                rows[j][i], stacked[i] = 1, row
        if width < m:
            stacked[len(columns) :] = [[0] * m for _ in range(width - len(columns))]
        heads.append(Head(head.key, head.query, fmpq_mat(rows)))
        outputs += stacked
    return Layer(tuple(heads), fmpq_mat(outputs))


def right_inverse(construction: BuiltLayer, data: Dataset) -> fmpq_mat:
    """R (H·d × T) with Z R = I: the readout as a linear map of the labels. Exact."""
    T, d = data.T, data.d
    system = pivot_system(construction, data)
    identity = fmpq_mat(T, T, [int(i == j) for i in range(T) for j in range(T)])
    solved = solve(system, identity).tolist()
    rows = [[0] * T for _ in range(len(construction.layer.heads) * d)]
    for (h, j), row in zip(system.columns, solved, strict=True):
        rows[h * d + j] = row
    return fmpq_mat(rows)
