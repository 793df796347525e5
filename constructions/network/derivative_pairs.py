"""Derivative pairs (after Bubeck, Eldan, Lee, Mikulincer 2020; the exact form is ours).

Each input has its own kind, so a plane (constructions/network/planes.py) has at most p affinely
independent members with any labels, and z = a·x + c is 0 at these and at least 2 away from 0 at all
other inputs. Let u = v·x + w be an affine map that equals the label at the members: it exists since
they are independent. Let q be the denominator of v and w, and M ≥ |q u| at all inputs. With R =
relu:

    [R(M(z + 1) + q u) - M R(z + 1)]  -  [R(M(z - 1) + q u) - M R(z - 1)]

    at a member (z = 0):  M + q u ≥ 0 ≥ -M + q u, so it is  [M + q u - M] - [0 - 0] = q u;
    at other inputs:      z + 1 and z - 1 have the same sign and are at least 1 away from 0, and
                          adding q u to M(z ± 1) does not change it. If that sign is positive, both
                          brackets are q u; if it is negative, both are 0. The difference is 0.

Divided by q and summed over all planes, this is each input's label. (Bubeck et al. divide by δ =
q/M; here the difference quotient of relu takes the place of its derivative.) All m labels share the
units R(z ± 1), so there are 2(m + 1) units for each plane. In general position, ⌈T/p⌉ planes are
enough; other positions need more, at most one for each input.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import lcm

from flint import fmpq, fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.inputs import Inputs
from attncert.constructions.network.planes import Form, Plane, PlaneNetwork, planes


def build(data: Dataset, seed: int = 0) -> PlaneNetwork:
    """A network with 2(m + 1) ReLUs for each plane. Arithmetic: exact. Raises HypothesisFails
    unless labels are a function of inputs.

    >>> data = Dataset.of([[0, 0]], [[1, 0], [0, 2], [3, 1], [4, 4]], [0, 5, -1, "1/2"])
    >>> network = build(data).network
    >>> network.outputs(data).entries(), network.units
    ([0, 5, -1, 1/2], 8)
    """
    inputs = Inputs.of_data(data)
    every = range(len(inputs.examples))
    pairs = list(planes(inputs, [every], every, seed))
    fewest = -(-len(every) // inputs.width)
    return PlaneNetwork.of(inputs, pairs, partial(_units, inputs), "relu", fewest)


def _affine_map(inputs: Inputs, plane: Plane) -> fmpq_mat:
    """An affine map ((p+1)×m, w above v) that is the label at the members; unused rows are 0."""
    points, labels = inputs.affine.tolist(), inputs.labels.tolist()
    system, _ = fmpq_mat([[*points[t], *labels[t]] for t in plane.members]).rref()
    rows = [[fmpq(0)] * len(labels[0]) for _ in points[0]]
    for row in system.tolist():
        pivot = next(j for j, x in enumerate(row) if x)
        rows[pivot] = row[len(rows) :]
    return fmpq_mat(rows)


def _units(inputs: Inputs, plane: Plane) -> Iterator[tuple[Form, Form]]:
    """The hidden units: two for each label, then R(z ± 1)."""
    u, (ahead, behind) = _affine_map(inputs, plane), plane.sides
    factors = []
    for j, column in enumerate(u.transpose().tolist()):
        q = lcm(*(int(x.q) for x in column))
        heights = (inputs.affine * fmpq_mat([[q * x] for x in column])).entries()
        M = max(map(abs, heights)).ceil()
        factors.append(fmpq(M, q))
        for sign, z in ((1, ahead), (-1, behind)):
            form = [M * a + q * v for a, v in zip(z, column, strict=True)]
            yield form, [fmpq(sign * (i == j), q) for i in range(u.ncols())]
    yield ahead, [-factor for factor in factors]
    yield behind, factors
