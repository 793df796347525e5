"""Threshold units in pairs (after Baum 1988, who has dichotomies; here any labels).

Inputs with one label are of one kind, and each plane (constructions/network/planes.py) has members
of one kind: with θ(z) = 1 for z ≥ 0, else 0, and z = a·x + c, which is 0 at the members and at
least 2 away from 0 at inputs of other kinds and at those that have a plane of their own,

    θ(z + 1) - θ(z - 1)  is  1 - 0 at the members,  1 - 1 or 0 - 0 at the others.

So the output y_0 + Σ_planes (y - y_0)(θ(z + 1) - θ(z - 1)) is each input's label, y_0 the most
frequent one, whose inputs need no plane. In general position Σ ⌈T_y/p⌉ planes serve, over the
labels y ≠ y_0, each with T_y inputs. Other positions need more, and one for each input is enough.
"""

from __future__ import annotations

from flint import fmpq, fmpq_mat, fmpz

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.blocks import FeedForward
from attncert.constructions.network.inputs import Inputs, keys
from attncert.constructions.network.network import Network, readout
from attncert.constructions.network.planes import Plane, PlaneNetwork, planes
from attncert.constructions.network.states import listed


def build(data: Dataset, *, seed: int = 0) -> PlaneNetwork:
    """Two threshold units for each plane, and a readout: exact. Raises HypothesisFails for equal
    inputs with different labels.

    >>> data = Dataset.of([[0]], [[1], [2], [3], [4]], [0, 5, 0, "1/2"])
    >>> network = build(data).network
    >>> network.outputs(data).entries(), network.units
    ([0, 5, 0, 1/2], 4)
    """
    inputs = Inputs.of_data(data)
    pools = _pools(inputs)
    kinds = {t: kind for kind, pool in enumerate(pools) for t in pool}
    ordered = [kinds[t] for t in range(len(kinds))]
    pairs = tuple(planes(inputs, pools[1:], ordered, seed))
    best = sum(-(-len(pool) // inputs.width) for pool in pools[1:])
    labels = listed(inputs.labels)
    base = labels[pools[0][0]]
    steps = [
        [y - y_0 for y, y_0 in zip(labels[pair.members[0]], base, strict=True)] for pair in pairs
    ]
    network = _network(inputs, pairs, steps, base)
    return PlaneNetwork(network, inputs, pairs, best)


def _pools(inputs: Inputs) -> list[list[int]]:
    """Inputs by label, the most frequent label first."""
    pools: dict[tuple[int, ...], list[int]] = {}
    for t, key in enumerate(keys(inputs.labels)):
        pools.setdefault(key, []).append(t)
    most = max(pools.values(), key=len)
    return [most, *(pool for pool in pools.values() if pool is not most)]


def _network(
    inputs: Inputs, pairs: tuple[Plane, ...], steps: list[list[fmpq]], base: list[fmpq]
) -> Network:
    bias = fmpq_mat(1, len(base), base)
    if not pairs:
        return Network((readout(fmpq_mat(inputs.width, len(base)), bias, inputs.of),))
    columns = [pair.a.entries() for pair in pairs for _ in "+-"]
    shifts = [pair.c + sign for pair in pairs for sign in (fmpz(1), fmpz(-1))]
    hidden = FeedForward(
        weights=fmpq_mat(columns).transpose(),
        bias=fmpq_mat(1, len(shifts), shifts),
        of=inputs.of,
        activation="threshold",
    )
    output = fmpq_mat([[sign * y for y in step] for step in steps for sign in (1, -1)])
    return Network((hidden, readout(output, bias)))
