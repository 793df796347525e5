"""The claim that weights near given weights output the labels, and its certificate.

Unknowns, an inverse and a radius are chosen; this choice need not be trusted. An LU factorization
of the transposed Jacobian picks a square block. Its inverse is rounded to a grid, which adds at
most 1/128 to κ and shortens the file. Large files omit this inverse, since the fast check computes
its own. The radius is a small multiple of the length of Newton's first step. Then the theorem of
`contraction.py` is applied, with enclosures that share no code with the choice.

κ grows with the radius, which grows with the errors (about 1e-13 for float64 weights). If the
weights are large, the box becomes too large for Newton's map to contract. In that case the first
step of the map is rounded to 24 bits and taken in rational arithmetic. The error, and so the
radius, then becomes 2^24 times smaller, unless second derivatives matter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.linalg.lapack import dgetrf

from attncert.constructions.arrays import FloatArray, ObjectArray
from attncert.constructions.brief import in_brief
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.given.attention import Shape
from attncert.constructions.layer import Layer
from attncert.constructions.network.blocks import Attention
from attncert.constructions.network.network import Network
from attncert.constructions.numerals import numeral
from attncert.verify.certificates.certificate import Certificate, layer_body, sealed
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import About, Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.depth.certificate import network_body
from attncert.verify.depth.law import Architecture
from attncert.verify.newton.contraction import (
    Contraction,
    contractions,
    distances,
    inverted,
    judged,
)
from attncert.verify.newton.models import Model
from attncert.verify.newton.network_enclosure import derivatives, errors

CLAIM, NETWORK_CLAIM = "interpolation-near", "network-near"
MOST_UNKNOWNS = 5000  # the largest T·m for which a file is written
MOST_WITH_INVERSE = 2000  # the largest T·m for which the file contains the inverse
ERROR_BITS = 128
_SLACK = (4, 2)  # radii to try, in units of Newton's first step, for κ up to 3/4 and up to 1/2
_FINER = 24  # bits of a step after rounding
_SOURCE = "ours; verify/newton/contraction.py"


@dataclass(frozen=True)
class Near:
    """The outcome of `certify`. why: the reason if the theorem does not apply. condition: the
    condition number of the square block, in float64. stepped: whether `exact` holds the weights
    after one step of Newton's map.
    """

    data: Dataset
    exact: Network
    unknowns: tuple[int, ...]
    inverse: FloatArray
    radius: Fraction
    contraction: Contraction
    condition: float
    why: str = ""
    stepped: bool = False

    def __repr__(self) -> str:
        return in_brief(
            self,
            self.data.name,
            holds=self.holds,
            unknowns=len(self.unknowns),
            why=self.why or None,
        )

    @property
    def holds(self) -> bool:
        return self.contraction.inside

    @property
    def with_inverse(self) -> bool:
        """Whether the certificate contains the inverse. Without it, only the fast check decides."""
        return len(self.unknowns) <= MOST_WITH_INVERSE


def certify(data: Dataset, weights: FloatArray, shape: Shape | Architecture) -> Near:
    """Find a radius within which some weights output the labels of `data` exactly.

    weights: finite float64 numbers in the order of `Shape`. The model has exactly these weights
    (with base e), or the weights after one step of Newton's map. Arithmetic: Arb, and float64 with
    proved bounds. Failure proves nothing.
    """
    model, N = Model.of(data, shape), data.T * data.m
    exact = model.exact(weights)
    blank = np.zeros((0, 0)), Fraction(0), Contraction(math.inf, math.inf, False), math.inf
    if model.parameters < N:
        have = counted(model.parameters, "weight")
        why = f"the labels require {counted(N, 'unknown')}, and the model has {have}"
        return Near(data, exact, (), *blank, why)
    with np.errstate(all="ignore"):
        J = model.jacobian(weights)
    if not np.isfinite(J).all():
        return Near(data, exact, (), *blank, "derivatives beyond the range of float64")
    unknowns = independent_columns(J)
    block = J[:, list(unknowns)]
    inverse = on_grid(inverted(block), float(np.abs(block).sum()))
    if np.isnan(inverse).any():
        return Near(data, exact, unknowns, *blank, "the Jacobian is singular")
    condition = float(np.abs(block).sum(axis=1).max() * np.abs(inverse).sum(axis=1).max())
    contraction, radius = Contraction(math.inf, math.inf, False), Fraction(0)
    for after_step in (False, True):
        wrong = errors(data, exact, ERROR_BITS)
        eta = distances(inverse, wrong)
        for slack in _SLACK if np.isfinite(eta).all() else ():
            radius = rounded_up(max(slack * float(eta.max()), 2.0**-200))
            kappa = contractions(inverse, derivatives(data, exact, unknowns, radius))
            contraction = judged(eta, kappa, radius)
            if contraction.inside:
                found = unknowns, inverse, radius, contraction, condition
                return Near(data, exact, *found, stepped=after_step)
        if after_step or not np.isfinite(eta).all():
            break
        exact = model.exact(stepped(weights, unknowns, inverse @ wrong.mid))
    constants = f"eta {contraction.eta:.2g}, kappa {contraction.kappa:.2g}"
    why = f"Newton's map was not shown to contract: {constants}"
    return Near(data, exact, unknowns, inverse, radius, contraction, condition, why)


def stepped(weights: FloatArray, unknowns: tuple[int, ...], step: FloatArray) -> ObjectArray:
    """The weights minus a step in the unknowns: exact, once the step is rounded to a grid.

    >>> stepped(np.array([0.5, 3.0]), (1,), np.array([1 / 3])).tolist()
    [Fraction(1, 2), Fraction(89478485, 33554432)]
    """
    grid = 2 ** max(0, _FINER - math.frexp(np.abs(step).max())[1])
    exact = np.array([Fraction(x) for x in weights.tolist()], dtype=object)
    for k, x in zip(unknowns, step.tolist(), strict=True):
        exact[k] -= Fraction(round(Fraction(x) * grid), grid)
    return exact


def independent_columns(J: FloatArray) -> tuple[int, ...]:
    """As many columns as rows, in ascending order: the pivot rows of an LU factorization of Jᵀ.

    QR with column pivoting finds blocks that are hardly better (the norms of the inverses are
    within a factor of 1.5 for N = 40 to 1,800) and takes 25 times as long at N = 1,800.
    """
    order = np.arange(J.shape[1])
    for i, k in enumerate(dgetrf(J.T)[1]):
        order[[i, k]] = order[[k, i]]
    return tuple(sorted(int(k) for k in order[: len(J)]))


def on_grid(inverse: FloatArray, weight: float) -> FloatArray:
    """The inverse rounded to multiples of 2^-g with 2^-g <= 1/(64 weight). If weight is at least
    the sum of |block|, each row of |(rounded - inverse) block| adds up to at most 1/128. Entries of
    more than 2^53 grid steps are not rounded.

    >>> on_grid(np.array([[0.3]]), 1.0).tolist()
    [[0.296875]]
    """
    with np.errstate(all="ignore"):
        grid = 2.0 ** (math.ceil(math.log2(max(weight, 1.0))) + 6)
        rounded = np.rint(inverse * grid) / grid
        return np.where(np.abs(inverse * grid) < 2.0**53, rounded, inverse)


def rounded_up(x: float) -> Fraction:
    """The least p·10^k >= x with a single digit p.

    >>> rounded_up(2.1e-9), rounded_up(10.0)
    (Fraction(3, 1000000000), Fraction(10, 1))
    """
    power = Fraction(10) ** math.floor(math.log10(x))
    return math.ceil(Fraction(x) / power) * power


def brief(radius: Fraction) -> str:
    """A result of `rounded_up` as a digit times a power of ten; any other number as p/q.

    >>> brief(Fraction(3, 10**15)), brief(Fraction(1, 3))
    ('3e-15', '1/3')
    """
    text = f"{float(radius):.0e}".replace("e-0", "e-").replace("e+00", "")
    return text if Fraction(text) == radius else numeral(radius)


def claim(near: Near) -> Claim:
    """The claim: enclosed, or undecided if the theorem does not apply."""
    statement = (
        f"within {brief(near.radius)} of these weights, in the maximum norm, there are real "
        "weights whose outputs equal the labels exactly, with the true exponential"
    )
    numbers: dict[str, Any] = {"examples": near.data.T, "unknowns": len(near.unknowns)}
    for name, bound in (("eta", near.contraction.eta), ("kappa", near.contraction.kappa)):
        if math.isfinite(bound):
            numbers |= {name: bound, "radius": brief(near.radius)}
    return Claim(
        ids.INTERPOLATION_NEAR,
        statement,
        Level.ENCLOSED if near.holds else Level.UNDECIDED,
        numbers,
        None if near.holds else {"reason": near.why},
        f"ball arithmetic (Arb), {ERROR_BITS} bits; float64 with proved bounds",
        source=_SOURCE,
        about=About.THESE_LABELS,
    )


def near_certificate(
    near: Near, *, construction: str, produced_by: Mapping[str, Any]
) -> Certificate:
    """The certificate of a claim that holds. Raises TooLarge if it is too large for the checker."""
    first, *others = near.exact.blocks
    if others:
        body = network_body(NETWORK_CLAIM, near.data, near.exact, construction, produced_by)
    else:
        assert isinstance(first, Attention)
        about: dict[str, Any] = {"construction": construction, "provenance": produced_by}
        layer = Layer(first.heads, first.output)
        body = layer_body(CLAIM, near.data, layer, unit="1", **about)
    content = {
        "radius": numeral(near.radius),
        "unknowns": list(near.unknowns),
        "inverse": ExactArray.of(near.inverse).strings() if near.with_inverse else None,
    }
    return sealed(body | {"near": content})
