"""Threshold units in pairs (after Baum 1988, for dichotomies; here for any labels).

Inputs with the same label are of one kind, and so are the members of each plane
(constructions/network/planes.py). Let θ(z) = 1 for z ≥ 0, else 0, and z = a·x + c, which is 0 at
the members and at least 2 away from 0 at inputs of other kinds and at members of other planes.
Then

    θ(z + 1) - θ(z - 1)  is  1 - 0 at the members,  1 - 1 or 0 - 0 at these other inputs.

So the output y_0 + Σ_planes (y - y_0)(θ(z + 1) - θ(z - 1)) is each input's label, where y_0 is the
most frequent label, whose inputs need no plane. In general position, Σ ⌈T_y/p⌉ planes are enough,
over the labels y ≠ y_0 with T_y inputs each. Other positions need more, at most one for each input.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from flint import fmpq, fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.inputs import Inputs, firsts, hashed
from attncert.constructions.network.network import Network, readout
from attncert.constructions.network.planes import Form, Plane, PlaneNetwork, planes


def build(data: Dataset, seed: int = 0) -> PlaneNetwork:
    """A network with two thresholds for each plane. Arithmetic: exact. Raises HypothesisFails
    unless labels are a function of inputs.

    >>> data = Dataset.of([[0]], [[1], [2], [3], [4]], [0, 5, 0, "1/2"])
    >>> network = build(data).network
    >>> network.outputs(data).entries(), network.units
    ([0, 5, 0, 1/2], 4)
    """
    inputs = Inputs.of_data(data)
    kinds = firsts(hashed(inputs.labels))
    (frequent, _), *others = Counter(kinds).most_common()
    pools = [[t for t, kind in enumerate(kinds) if kind == other] for other, _ in others]
    labels = inputs.labels.tolist()
    base = fmpq_mat([labels[frequent]])
    if not pools:
        constant = readout(fmpq_mat(inputs.width, base.ncols()), base, inputs.of)
        return PlaneNetwork(Network((constant,)), inputs, (), 0)

    def units(plane: Plane) -> Iterator[tuple[Form, Form]]:
        step = fmpq_mat([labels[plane.members[0]]]) - base
        for form, sign in zip(plane.sides, (1, -1), strict=True):
            yield form, (step * fmpq(sign)).entries()

    pairs = list(planes(inputs, pools, kinds, seed))
    fewest = sum(-(-count // inputs.width) for _, count in others)
    return PlaneNetwork.of(inputs, pairs, units, "threshold", fewest, base)
