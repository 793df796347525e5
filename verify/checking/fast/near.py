"""The fast check of "interpolation-near" certificates: Arb and BLAS with proved bounds.

It shares no arithmetic with verify/checker/near.py, and no code with what fitted the weights: the
layer is enclosed by `network_enclosure.py`, and the theorem applied by `contraction.py`. The matrix
of the file is rounded to float64, which is harmless: the theorem holds for every matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from attncert.constructions.arrays import FloatArray
from attncert.constructions.network.network import Network
from attncert.verify.checker import Limits, need
from attncert.verify.checker.near import Parts
from attncert.verify.checker.reading import all_of, dims
from attncert.verify.checking.fast.reading import dataset, exact, layer
from attncert.verify.derivatives.balls import BallArray
from attncert.verify.newton.contraction import contractions, distances, judged
from attncert.verify.newton.network_enclosure import derivatives, errors

MOST_BITS = 4096  # bits of balls: a claim that needs more is not shown to hold


def judge(cert: dict[str, Any], parts: Parts, limits: Limits) -> str:
    """The claim in one line, or Rejected."""
    T, d, m, H, d_h, d_v = dims(cert, "examples width labels heads head_width value_width")
    N, weights, (p, q) = T * m, H * (2 * d * d_h + d * d_v + d_v * m), parts.radius
    limits.hold(8.0 * (6 * N * N + 4 * N * weights / H) + 150.0 * T * H * d * (m + 2))
    data = dataset(cert, limits, parts.contexts, parts.queries, parts.labels)
    built = Network.of_layer(layer(cert, parts.weights), "1")
    inverse = exact(parts.inverse, N, N).floats()
    longest, radius = max(table.bits for table in parts.weights), Fraction(p, q)

    bits = min(MOST_BITS, 96 + 2 * (q // p).bit_length() + longest)
    return contracted(
        cert,
        inverse,
        radius,
        lambda: errors(data, built, bits),
        lambda: derivatives(data, built, parts.unknowns, radius),
        limits,
    )


def contracted(
    cert: dict[str, Any],
    inverse: FloatArray,
    radius: Fraction,
    errors: Callable[[], BallArray],
    derivatives: Callable[[], BallArray],
    limits: Limits,
) -> str:
    """The claim that Newton's map with this inverse contracts the file's box, or Rejected."""
    limits.on_time()
    eta = distances(inverse, errors())
    limits.on_time()
    contraction = judged(eta, contractions(inverse, derivatives()), radius)
    shown = f"{cert['near']['radius']:.40}"
    constants = f"kappa {contraction.kappa:.3g}, first step {contraction.eta:.3g}"
    missed = f"{constants} in a radius of {shown}"
    need(contraction.inside, f"the map was not shown to contract the box: {missed}", "wrong")
    return (
        f"weights within {shown} of these give the labels of {all_of(cert['dims']['examples'])}, "
        f"exactly (contraction by {contraction.kappa:.2g} in dimension {len(inverse)})"
    )
