"""One hidden layer of K ReLUs (after Zhang, Bengio, Hardt, Recht, Vinyals 2017, Theorem 1).

*Hinges.* Let f be linear between points p_0 < ... < p_k, with values f_0, ..., f_k there. Then

    f(s) = f_0 + Σ_i c_i relu(s - p_i)  on [p_0, p_k],    c_i = slope after p_i - slope before it,

i = 0, ..., k-1, where the slope before p_0 counts as 0: both sides are f_0 at p_0, and their slopes
agree from there on. So no system of equations has to be solved.

*The network.* Let s_1 < ... < s_K be the positions of the inputs on a line. The function that is 0
at s_1 - 1 and the label y_j at s_j, linear in between, has the knots s_1 - 1, s_1, ..., s_(K-1): K
hidden units, for labels of any width. The knots are positions of inputs, because other numbers
would be longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from flint import fmpq, fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.blocks import FeedForward
from attncert.constructions.network.inputs import Inputs, Line, LineNetwork, differences
from attncert.constructions.network.network import Network, readout

Numbers = Sequence[fmpq]


def build(data: Dataset | Inputs, seed: int = 0) -> LineNetwork:
    """A projection to a line, K ReLUs and a readout. Arithmetic: exact. Raises HypothesisFails
    unless labels are a function of inputs.

    >>> data = Dataset.of([[0]], [[1], [4], [2]], ["1/2", 3, -5])
    >>> build(data).network.outputs(data).entries()
    [1/2, 3, -5]
    """
    line = Line.of(data, seed)
    knots, coefficients = rise(line.positions, line.labels)
    blocks = line.projection, relus(knots), readout(fmpq_mat(coefficients))
    return LineNetwork(Network(blocks), line)


def rise(positions: Numbers, heights: Sequence[Numbers]) -> tuple[Numbers, list[list[fmpq]]]:
    """Knots and coefficients of the function that is 0 one unit before the first position and has
    these heights at the positions."""
    ground = [fmpq(0)] * len(heights[0])
    points = [positions[0] - 1, *positions]
    return points[:-1], hinges(points, [ground, *heights])


def hinges(points: Numbers, heights: Sequence[Numbers]) -> list[list[fmpq]]:
    """c_0, ..., c_(k-1) for k + 1 points, from the values of all functions at each point.

    >>> hinges([fmpq(0), fmpq(1), fmpq(3)], [[fmpq(5)], [fmpq(7)], [fmpq(7)]])
    [[2], [-2]]
    """
    before = [fmpq(0)] * len(heights[0])
    changes = []
    for gap, (low, high) in zip(differences(points), pairwise(heights), strict=True):
        slopes = [(b - a) / gap for a, b in zip(low, high, strict=True)]
        changes.append([b - a for a, b in zip(before, slopes, strict=True)])
        before = slopes
    return changes


def relus(knots: Numbers) -> FeedForward:
    """The block of relu(s - p) for all knots p."""
    count = len(knots)
    bias = fmpq_mat(1, count, [-p for p in knots])
    return FeedForward(fmpq_mat(1, count, [1] * count), bias, activation="relu")
