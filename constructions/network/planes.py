"""Hyperplanes that contain a group of inputs and avoid the others.

Each input has a kind. A plane is an affine form z = c + a·x that is 0 at the inputs of its group
and not 0 at inputs of foreign kinds: those that no member has. For affinely independent members, at
most p of them, whose affine hull has no foreign input, it exists: the forms that are 0 on the hull
are a space, an input outside the hull excludes a proper subspace, and random integers avoid these
(`columns`). It is scaled so that z is an even integer at all inputs: |z| ≥ 2 where it is not 0.

*Groups* grow one input at a time, modulo a prime. With a first coordinate 1 (a common denominator),
affine hulls are spans. Let the rests of all inputs modulo the span of the group be known. Input x
may join if no foreign input's rest is 0 or a multiple of that of x. An input in the span over ℚ is
in the span modulo the prime, too, because members that are independent there have a minor that is
invertible there. So an unlucky prime can only make groups smaller. One input is always a group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat

from attncert.constructions.arrays import BoolArray, IntArray
from attncert.constructions.exact.modular import monic_mod
from attncert.constructions.exact.primes import PRIMES_31
from attncert.constructions.network.blocks import FeedForward
from attncert.constructions.network.inputs import Inputs, columns
from attncert.constructions.network.network import Network

_PRIME = PRIMES_31[0]
_PLACED = -1  # the kind of inputs that have a plane: foreign to all others


@dataclass(frozen=True)
class Plane:
    """members: inputs (rows of `Inputs.vectors`) with z = 0. form: c, a_1, ..., a_p over ℚ."""

    members: tuple[int, ...]
    form: tuple[fmpq, ...]


@dataclass(frozen=True)
class PlaneNetwork:
    """A network with a few hidden units for each plane.

    fewest: how many planes serve in general position, with p inputs on each.
    """

    network: Network
    inputs: Inputs
    planes: tuple[Plane, ...]
    fewest: int


def planes(
    inputs: Inputs, pools: Iterable[Sequence[int]], kinds: Sequence[int], seed: int
) -> Iterator[Plane]:
    """Planes whose members are all inputs of the pools, each once, pool by pool."""
    points, denominator = inputs.affine.numer_denom()
    residues = np.array([[int(x) % _PRIME for x in row] for row in points.tolist()])
    kind = np.array(kinds)
    for pool in pools:
        while len(pool):
            members = _group(residues, pool, kind)
            foreign = ~np.isin(kind, kind[members])
            on, form = _through(points, members, foreign, seed)
            yield Plane(on, tuple((form * fmpq(denominator)).entries()))
            kind[list(on)] = _PLACED
            pool = [t for t in pool if kind[t] != _PLACED]


def units(forms: Sequence[Sequence[fmpq]], of: str, activation: str) -> FeedForward:
    """The block with a unit for each form c, a_1, ..., a_p."""
    bias = fmpq_mat([[form[0] for form in forms]])
    weights = fmpq_mat([form[1:] for form in forms]).transpose()
    return FeedForward(weights, bias, of, activation)


def _group(residues: IntArray, pool: Sequence[int], kinds: IntArray) -> list[int]:
    """The first of the pool, and those that join it in turn."""
    rests, members = residues, [pool[0]]
    most = min(residues.shape[1] - 1, len(pool))
    while len(members) < most and rests[members[-1]].any():
        rests = _beyond(rests, members[-1])
        member = _joining(rests, members, pool, kinds)
        if member is None:
            break
        members.append(member)
    return members


def _beyond(rests: IntArray, t: int) -> IntArray:
    """The rests when that of t is in the span, too."""
    place = int(rests[t].argmax())
    pivot = rests[t] * pow(int(rests[t, place]), -1, _PRIME) % _PRIME
    beyond: IntArray = (rests - rests[:, [place]] * pivot) % _PRIME
    return beyond


def _joining(
    rests: IntArray, members: list[int], pool: Sequence[int], kinds: IntArray
) -> int | None:
    """An input of the pool outside the span with which the group meets no foreign input.

    Rests are multiples of each other where they are equal over their first entries; these are
    compared by a sum with fixed weights, and sums may agree by chance: then fewer may join.
    """
    inside = set(np.flatnonzero(~rests.any(axis=1)).tolist())
    if not {kinds[t] for t in inside} <= {kinds[t] for t in members}:
        return None
    weights = np.random.default_rng(0).integers(1, _PRIME, rests.shape[1])
    codes = (monic_mod(rests, _PRIME) * weights % _PRIME).sum(axis=1)
    for t in pool:
        if t not in inside and (kinds[codes == codes[t]] == kinds[t]).all():
            return t
    return None


def _through(
    points: fmpz_mat, members: list[int], foreign: BoolArray, seed: int
) -> tuple[tuple[int, ...], fmpq_mat]:
    """All inputs on a plane through the members and no foreign input; its form, of the points."""
    width = points.ncols()
    kernel, nullity = fmpz_mat([[points[t, j] for j in range(width)] for t in members]).nullspace()
    basis = fmpz_mat(kernel.transpose().tolist()[:nullity]).transpose()
    for column in columns(nullity, seed):
        form = basis * column
        heights = (points * form).entries()
        on = tuple(t for t, z in enumerate(heights) if z == 0)
        if not foreign[list(on)].any():
            break
    factor = gcd(*map(int, heights)) or 1
    return on, fmpq_mat(form) * fmpq(2, factor)
