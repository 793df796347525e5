"""Hyperplanes that contain a group of inputs and avoid the others.

Each input has a kind. A plane is an affine form z = c + a·x that is 0 at the inputs of its group
and not 0 at inputs of foreign kinds: those that no member has. It exists for at most p affinely
independent members whose affine hull contains no foreign input: the forms that are 0 on the hull
form a space, an input outside the hull excludes a proper subspace, and random integers avoid these
(`columns`). It is scaled so that z is an even integer at all inputs, hence |z| ≥ 2 unless it is 0.

*Groups* are the longest initial segments of a pool that have such a plane, of at most p inputs.
With a first coordinate 1 (a common denominator), affine hulls are spans, and x is in the span of
the members if all forms that are 0 at these are 0 at x. If a group has a plane, so does each part
of it: its inputs are all of one kind or all of different kinds, so no input becomes foreign to a
part, and its hull is smaller. So bisection finds the longest segment. One input is always a group.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import gcd

from flint import fmpq, fmpq_mat, fmpz_mat

from attncert.constructions.network.blocks import FeedForward
from attncert.constructions.network.inputs import Inputs, columns
from attncert.constructions.network.network import Network, readout

Form = Sequence[fmpq]

_PLACED = -1  # the kind of inputs that already have a plane, foreign to all others


@dataclass(frozen=True)
class Plane:
    """members: the inputs (rows of `Inputs.vectors`) with z = 0. form: c, a_1, ..., a_p over ℚ."""

    members: tuple[int, ...]
    form: tuple[fmpq, ...]

    @property
    def sides(self) -> list[Form]:
        """z + 1 and z - 1."""
        return [(self.form[0] + sign, *self.form[1:]) for sign in (1, -1)]


@dataclass(frozen=True)
class PlaneNetwork:
    """A network with a few hidden units for each plane; `fewest` planes are enough in general
    position."""

    network: Network
    inputs: Inputs
    planes: tuple[Plane, ...]
    fewest: int

    @classmethod
    def of(
        cls,
        inputs: Inputs,
        planes: Sequence[Plane],
        units: Callable[[Plane], Iterable[tuple[Form, Form]]],
        activation: str,
        fewest: int,
        bias: fmpq_mat | None = None,
    ) -> PlaneNetwork:
        """units: returns the units of a plane, each as a form c, a_1, ..., a_p and a row of the
        readout. bias: of the readout."""
        built = (unit for plane in planes for unit in units(plane))
        forms, rows = zip(*built, strict=True)
        weights = fmpq_mat([form[1:] for form in forms]).transpose()
        hidden = FeedForward(weights, fmpq_mat([[x[0] for x in forms]]), inputs.of, activation)
        network = Network((hidden, readout(fmpq_mat(rows), bias)))
        return cls(network, inputs, tuple(planes), fewest)


def planes(
    inputs: Inputs, pools: Iterable[Sequence[int]], kinds: Sequence[int], seed: int
) -> Iterator[Plane]:
    """Planes, pool by pool, such that each input of the pools is a member of exactly one. The
    inputs of a pool are all of one kind, or all of different kinds."""
    points, denominator = inputs.affine.numer_denom()
    kinds = list(kinds)
    for pool in pools:
        while pool:
            members = _group(points, pool, kinds)
            foreign = [kind not in {kinds[t] for t in members} for kind in kinds]
            on, form = _through(points, members, foreign, seed)
            yield Plane(on, tuple((form * fmpq(denominator)).entries()))
            for t in on:
                kinds[t] = _PLACED
            pool = [t for t in pool if kinds[t] != _PLACED]


def _group(points: fmpz_mat, pool: Sequence[int], kinds: Sequence[int]) -> Sequence[int]:
    lengths = range(2, min(points.ncols() - 1, len(pool)) + 1)
    more = bisect_left(lengths, True, key=lambda k: not _serves(points, pool[:k], kinds))
    return pool[: 1 + more]


def _serves(points: fmpz_mat, members: Sequence[int], kinds: Sequence[int]) -> bool:
    """Whether the members are independent and their hull contains no foreign input."""
    forms, own = _forms(points, members), {kinds[t] for t in members}
    if forms.ncols() > points.ncols() - len(members):
        return False
    heights = (points * forms).tolist()
    return all(any(row) or kind in own for row, kind in zip(heights, kinds, strict=True))


def _forms(points: fmpz_mat, members: Sequence[int]) -> fmpz_mat:
    """A basis of the forms that are 0 at the members, as columns."""
    rows = points.tolist()
    kernel, nullity = fmpz_mat([rows[t] for t in members]).nullspace()
    return fmpz_mat(kernel.transpose().tolist()[:nullity]).transpose()


def _through(
    points: fmpz_mat, members: Sequence[int], foreign: Sequence[bool], seed: int
) -> tuple[tuple[int, ...], fmpq_mat]:
    """All inputs on a plane with the members and no foreign input, and its form on `points`."""
    basis = _forms(points, members)
    for column in columns(basis.ncols(), seed):
        form = basis * column
        heights = (points * form).entries()
        on = tuple(t for t, z in enumerate(heights) if z == 0)
        if not any(foreign[t] for t in on):
            break
    factor = gcd(*map(int, heights)) or 1
    return on, fmpq_mat(form) * fmpq(2, factor)
