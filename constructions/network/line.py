"""Inputs on a line, and piecewise linear functions of it as sums of ReLUs.

*Distinct positions.* The differences of K distinct vectors x_t are not 0, so s_t = a·x_t are
distinct for all a outside K(K-1)/2 hyperplanes: small random integers, checked.

*Hinges.* Let f be linear between points p_0 < ... < p_k, with values f_0, ..., f_k there. Then

    f(s) = f_0 + Σ_i c_i relu(s - p_i)  on [p_0, p_k],    c_i = slope behind p_i - slope before it,

i = 0, ..., k-1, where the slope before p_0 counts as 0: both sides are f_0 at p_0, and their slopes
agree from there on. No system is solved. The knots are points of the data: knots between them would
have longer numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from flint import fmpq, fmpq_mat

from attncert.constructions.brief import in_brief
from attncert.constructions.network.blocks import FeedForward
from attncert.constructions.network.inputs import Inputs, columns
from attncert.constructions.network.network import Network
from attncert.constructions.network.states import listed

Numbers = Sequence[fmpq]


@dataclass(frozen=True, repr=False)
class Line:
    """The inputs as distinct positions s = x·a.

    a: p×1. order: the inputs (rows of `Inputs.vectors`) by increasing position. positions, labels:
    in this order.
    """

    a: fmpq_mat
    order: tuple[int, ...]
    positions: tuple[fmpq, ...]
    labels: tuple[tuple[fmpq, ...], ...]

    def __repr__(self) -> str:
        return in_brief(self, inputs=len(self.order))

    @classmethod
    def of_inputs(cls, inputs: Inputs, seed: int) -> Line:
        for column in columns(inputs.width, seed):
            a = fmpq_mat(column) * fmpq(inputs.scale)
            images = (inputs.vectors * a).entries()
            order = sorted(range(len(images)), key=images.__getitem__)
            positions = tuple(images[t] for t in order)
            if all(gap > 0 for gap in differences(positions)):
                labels = listed(inputs.labels)
                return cls(a, tuple(order), positions, tuple(tuple(labels[t]) for t in order))
        raise AssertionError("columns never end")

    @property
    def outputs(self) -> int:
        """m, the numbers in a label."""
        return len(self.labels[0])

    def projection(self, of: str) -> FeedForward:
        """The block that turns an input into its position."""
        return FeedForward(self.a, fmpq_mat(1, 1), of)


@dataclass(frozen=True)
class LineNetwork:
    """A network that reads labels off positions on a line; its first block is the projection."""

    network: Network
    inputs: Inputs
    line: Line


def differences(numbers: Numbers) -> list[fmpq]:
    """Of each number after the first and the one before it."""
    return [b - a for a, b in pairwise(numbers)]


def hinges(points: Numbers, heights: Sequence[Numbers]) -> list[list[fmpq]]:
    """c_0, ..., c_(k-1) for k + 1 points, a list of one number for each function.

    heights: for each point the values of all functions.

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
