"""Hyperplanes that contain a group of inputs and avoid the others.

Each input has a kind. A plane is a pair (a, c) with a·x + c = 0 at the inputs of its group and ≠ 0
at every input whose kind no member has. For affinely independent members, at most p of them, whose
affine hull contains no such input, it exists: the directions a that are constant on the hull are a
lattice, an input outside the hull excludes a proper subspace of them, and c follows from a. Random
integers find one (`columns`). All numbers here are integers, times the denominators in common, and
a and c are even: so |a·x + c| ≥ 2 outside.

*Groups* grow one input at a time, modulo a prime. With a last coordinate 1 (a denominator), affine
hulls become spans. Let the rests of all inputs modulo the span of the group be known. Input x may
join if no input of a kind foreign to the grown group is in its span: its rest would be 0, or a
multiple of that of x. An input in the span over ℚ is in the span modulo the prime, too, because
members that are independent there have a minor that is invertible there. So an unlucky prime can
only make groups smaller. A single input is always a group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpz, fmpz_mat

from attncert.constructions.arrays import BoolArray, IntArray
from attncert.constructions.exact import integers
from attncert.constructions.exact.modular import monic_mod
from attncert.constructions.exact.primes import PRIMES_31
from attncert.constructions.network.inputs import Inputs, columns
from attncert.constructions.network.network import Network

_PRIME = PRIMES_31[0]
_PLACED = -1  # the kind of those that have a plane: foreign to all others


@dataclass(frozen=True)
class Plane:
    """members: inputs (rows of `Inputs.vectors`) with a·x + c = 0. a: p×1 and c: even integers."""

    members: tuple[int, ...]
    a: fmpz_mat
    c: fmpz


@dataclass(frozen=True)
class PlaneNetwork:
    """A network with a few hidden units for each plane.

    groups_at_best: in general position, with p inputs in each group.
    """

    network: Network
    inputs: Inputs
    planes: tuple[Plane, ...]
    groups_at_best: int


def planes(
    inputs: Inputs, pools: Iterable[Sequence[int]], kinds: Sequence[int], seed: int
) -> Iterator[Plane]:
    """Planes whose members are all inputs of the pools, each once, pool by pool."""
    numerators, denominator = inputs.vectors.numer_denom()
    residues, kind = _residues(numerators, denominator), np.array(kinds)
    for pool in pools:
        while len(pool):
            members = _group(residues, pool, kind)
            foreign = ~np.isin(kind, kind[members])
            plane = _through(numerators, denominator, members, foreign, seed)
            yield plane
            kind[list(plane.members)] = _PLACED
            pool = [t for t in pool if kind[t] != _PLACED]


def _residues(numerators: fmpz_mat, denominator: fmpz) -> IntArray:
    """K×(p+1) modulo the prime: vectors times the denominator, and the denominator."""
    rows = integers.from_flint(numerators)
    last = np.full((len(rows), 1), int(denominator) % _PRIME)
    return np.hstack([np.mod(rows, _PRIME).astype(np.int64), last])


def _group(residues: IntArray, pool: Sequence[int], kinds: IntArray) -> list[int]:
    """The first of the pool, and those that join it in turn."""
    rests, members = residues, [pool[0]]
    while len(members) < residues.shape[1] - 1 and rests[members[-1]].any():
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
    inside = ~rests.any(axis=1)
    if not np.isin(kinds[inside], kinds[members]).all():
        return None
    weights = np.random.default_rng(0).integers(1, _PRIME, rests.shape[1])
    codes = (monic_mod(rests, _PRIME) * weights % _PRIME).sum(axis=1)
    for t in pool:
        if not inside[t] and (kinds[codes == codes[t]] == kinds[t]).all():
            return t
    return None


def _through(
    numerators: fmpz_mat, denominator: fmpz, members: list[int], foreign: BoolArray, seed: int
) -> Plane:
    """A plane through the members and no foreign input."""
    rows = numerators.tolist()
    first = rows[members[0]]
    edges = [x - y for t in members[1:] for x, y in zip(rows[t], first, strict=True)]
    basis = _kernel(fmpz_mat(len(members) - 1, len(first), edges))
    for column in columns(int(basis.ncols()), seed):
        direction = _primitive((basis * column).entries())
        heights = (numerators * fmpz_mat(len(first), 1, direction)).entries()
        level = heights[members[0]]
        on = [t for t, height in enumerate(heights) if height == level]
        if not foreign[on].any():
            a = [2 * denominator * x for x in direction]
            return Plane(tuple(on), fmpz_mat(len(a), 1, a), -2 * level)
    raise AssertionError("columns never end")


def _kernel(rows: fmpz_mat) -> fmpz_mat:
    """Independent integer columns, without common factors, that are 0 on the rows."""
    table, nullity = rows.nullspace()
    basis = [_primitive(column) for column in table.transpose().tolist()[:nullity]]
    return fmpz_mat(basis).transpose()


def _primitive(entries: list[fmpz]) -> list[fmpz]:
    """Over their common factor."""
    factor = fmpz(0)
    for x in entries:
        factor = factor.gcd(x)
    return [x // factor for x in entries] if factor else entries
