"""Two hidden layers of about √K units each (after Yun, Sra, Jadbabaie 2019, Theorem 3.1; our form).

The positions s_1 < ... < s_K are cut into groups of at most L. On a group g, the labels are

    Σ_ℓ c_gℓ relu(s - b_gℓ),  ℓ = 1, ..., L,

as in constructions/network/relu.py, with c_gℓ = 0 if ℓ exceeds the size of g. Unit (ℓ, ±) of the
second layer is the ReLU of a function that is max(±c_gℓ, 0)·(s - b_gℓ) on the hull of each group g,
and linear in the gaps between hulls. A nonnegative factor commutes with a ReLU, so the unit is
max(±c_gℓ, 0)·relu(s - b_gℓ) there, and (ℓ, +) minus (ℓ, -) is the ℓ-th term: these add up to the
label. All these functions bend only at the ends of the gaps, which are the same for all of them. So
the first layer has 2G - 1 units for G groups: one at s_1 - 1, two for each gap (one if a group is a
single point). The second has 2L for each of m labels. With L about √(K/m), this makes O(√(Km))
units and about 4Km parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isqrt

from flint import fmpq, fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.blocks import FeedForward
from attncert.constructions.network.inputs import Inputs, Line, LineNetwork
from attncert.constructions.network.network import Network, readout
from attncert.constructions.network.relu import Numbers, hinges, relus, rise


def build(data: Dataset | Inputs, seed: int = 0) -> LineNetwork:
    """A projection to a line, then two layers of ReLUs. Arithmetic: exact. Raises HypothesisFails
    unless labels are a function of inputs.

    >>> data = Dataset.of([[0]], [[1], [4], [2], [7]], ["1/2", 3, -5, 0])
    >>> build(data).network.outputs(data).entries()
    [1/2, 3, -5, 0]
    """
    line = Line.of(data, seed)
    length = max(1, isqrt(len(line.order) // line.outputs))
    groups = (*range(0, len(line.order), length), len(line.order))
    points, heights = _bends(line, groups, length)
    rows = hinges(points, heights)
    bias = fmpq_mat(1, len(heights[0]), heights[0])
    second = FeedForward(fmpq_mat(rows), bias, activation="relu")
    signs = readout(_signs(length, line.outputs))
    network = Network((line.projection, relus(points[:-1]), second, signs))
    return LineNetwork(network, line)


def _bends(line: Line, groups: tuple[int, ...], length: int) -> tuple[list[fmpq], list[list[fmpq]]]:
    """s_1 - 1 and the ends of the hulls, and the inputs of the second layer's units there."""
    points, heights = list[fmpq](), list[list[fmpq]]()
    for start, stop in pairwise(groups):
        low, high = line.positions[start], line.positions[stop - 1]
        knots, coefficients = rise(line.positions[start:stop], line.labels[start:stop])
        ends = {low if start else low - 1, high}  # one number if they are equal
        for end in sorted(ends):
            points.append(end)
            heights.append(_inputs_at(end, knots, coefficients, length))
    return points, heights


def _inputs_at(s: fmpq, knots: Numbers, coefficients: Sequence[Numbers], length: int) -> list[fmpq]:
    """The values of max(±c_ℓ, 0)·(s - b_ℓ), + and - for each label in turn, ℓ by ℓ."""
    heights = [
        max(sign * c, fmpq(0)) * (s - knot)
        for knot, row in zip(knots, coefficients, strict=True)
        for c in row
        for sign in (1, -1)
    ]
    padding = (length - len(knots)) * 2 * len(coefficients[0])
    return heights + [fmpq(0)] * padding


def _signs(length: int, outputs: int) -> fmpq_mat:
    """The 2Lm×m matrix with 1 and -1 for the two units of each label, ℓ by ℓ."""
    rows = [[sign * (i == j) for j in range(outputs)] for i in range(outputs) for sign in (1, -1)]
    return fmpq_mat([row for _ in range(length) for row in rows])
