"""One hidden layer of K ReLUs (after Zhang, Bengio, Hardt, Recht, Vinyals 2017, Theorem 1).

Let s_1 < ... < s_K be the positions of the inputs on a line (constructions/network/line.py). The
function that is 0 at s_1 - 1, y_j at s_j, and linear in between is Σ_j c_j relu(s - b_j) with knots
b_1 = s_1 - 1 and b_j = s_(j-1): K hidden units, one for each input, for any number of labels.
"""

from __future__ import annotations

from flint import fmpq, fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.blocks import FeedForward
from attncert.constructions.network.inputs import Inputs
from attncert.constructions.network.line import Line, LineNetwork, Numbers, hinges
from attncert.constructions.network.network import Network, readout


def build(data: Dataset, *, seed: int = 0) -> LineNetwork:
    """Position, K ReLUs, readout: exact. Raises HypothesisFails for equal inputs with different
    labels.

    >>> data = Dataset.of([[0]], [[1], [4], [2]], ["1/2", 3, -5])
    >>> build(data).network.outputs(data).entries()
    [1/2, 3, -5]
    """
    return read(Inputs.of_data(data), seed)


def read(inputs: Inputs, seed: int) -> LineNetwork:
    """The same for inputs that are known."""
    line = Line.of_inputs(inputs, seed)
    knots, coefficients = rise(line.positions, line.labels)
    units = len(knots)
    hidden = FeedForward(
        weights=fmpq_mat(1, units, [1] * units),
        bias=fmpq_mat(1, units, [-knot for knot in knots]),
        activation="relu",
    )
    output = fmpq_mat(units, line.outputs, [c for row in coefficients for c in row])
    network = Network((line.projection(inputs.of), hidden, readout(output)))
    return LineNetwork(network, inputs, line)


def rise(
    positions: Numbers, heights: tuple[tuple[fmpq, ...], ...]
) -> tuple[Numbers, list[Numbers]]:
    """Knots and coefficients of the function that rises from 0 to the first height, and on."""
    ground = [fmpq(0)] * len(heights[0])
    points = [positions[0] - 1, *positions]
    return points[:-1], hinges(points, [ground, *heights])
