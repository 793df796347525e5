"""The fast check of "interpolation-near" certificates: Arb and BLAS with proved bounds.

It shares no arithmetic with verify/checker_near.py, and nothing at all with what fitted the
weights: the layer is enclosed by `enclosure.py`, the theorem applied by `contraction.py`. The
matrix of the file is rounded to float64, which does no harm: the theorem holds for every matrix.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray, narrow
from attncert.constructions.layer import Head, Layer
from attncert.verify.checker import Work, integers, need, typed
from attncert.verify.checker_near import parts
from attncert.verify.near.contraction import contractions, distances, judged
from attncert.verify.near.enclosure import derivatives, errors

MOST_BITS = 4096  # of balls: a claim that needs more is refused, as not seen to hold


def judge(cert: dict[str, Any], work: Work) -> str:
    """The claim in one line, or Rejected."""
    T, n, d, m, H, d_h, d_v = cert["dims"].values()
    N, weights = T * m, H * (2 * d * d_h + d * d_v + d_v * m)
    heads, last, p, q, unknowns, matrix = parts(cert, work)
    data, built, longest = read(cert, work, heads, last)
    inverse = exact(work, matrix, "near.inverse", N, N).floats()

    bits = min(MOST_BITS, 96 + 2 * (q // p).bit_length() + longest)
    # Dot products in Arb, exponentials, entries brought to float64; one product of matrices.
    work.spend(1e-7 * T * H * n * d * (4 + 3 * m) * (1 + bits / 640))
    work.spend(4e-6 * T * H * n * (1 + m) * (1 + bits / 640))
    work.spend(6e-6 * T * H * (2 * d * m + m * d_h + d_v) + 4e-4 * H)
    work.spend(1e-9 * N**3 + 2e-7 * N * weights, 8.0 * (6 * N * N + 4 * N * weights / H))
    tokens = n * d * (1 if data.shared else T) + H * n * (m + 3)
    work.spend(0.0, 150.0 * (tokens + T * H * d * (m + 2)))
    eta = distances(inverse, errors(data, built, bits))
    kappa = contractions(inverse, derivatives(data, built, unknowns, Fraction(p, q)))
    shown, radius = judged(eta, kappa, Fraction(p, q)), cert["near"]["radius"]
    missed = f"kappa {shown.kappa:.3g}, first step {shown.eta:.3g} in a radius of {radius:.40}"
    need(shown.inside, f"the map is not seen to contract the box: {missed}", "wrong")
    return (
        f"weights within {radius:.40} of these give the labels of all {T} examples, "
        f"exactly (contraction by {shown.kappa:.2g} in {N} unknowns)"
    )


def read(
    cert: dict[str, Any], work: Any, heads: list[Any], output: list[Any]
) -> tuple[Dataset, Layer, int]:
    """The data and the layer of a certificate, and the bits of the layer's longest number."""
    T, n, d, m, H, d_h, d_v = cert["dims"].values()
    data = Dataset(
        exact(work, cert["data"]["contexts"], "contexts", T, n, d),
        exact(work, cert["data"]["queries"], "queries", T, d),
        exact(work, cert["data"]["labels"], "labels", T, m),
    )
    found = [
        exact(work, [head[name] for head in heads], name, H, d, width)
        for name, width in (("key", d_h), ("query", d_h), ("value", d_v))
    ]
    last = exact(work, output, "output", H * d_v, m).matrix()
    layer = Layer(tuple(Head(*(part[h].matrix() for part in found)) for h in range(H)), last)
    return data, layer, max(x.bits() for x in found)


def exact(work: Any, value: Any, where: str, *shape: int) -> ExactArray:
    """Nested lists of numbers as the certificate has them; contexts may be one for all."""
    if where == "contexts" and len(typed(value, list, where)) == 1:
        shape = (1, *shape[1:])
    nested, unit, bits = integers(work, value, where, *shape)
    if bits > 62 and where != "near.inverse":  # FLINT's fractions, made from longer ones
        work.hold(2 * math.prod(shape), bits)
        work.pass_by((2 * math.prod(shape), bits))
        work.spend(5e-14 * math.prod(shape) * bits * bits)  # to lowest terms
    for _ in shape[1:]:
        nested = [x for row in nested for x in row]
    return ExactArray(narrow(nested, shape), unit)
