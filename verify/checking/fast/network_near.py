"""The fast check of "network-near" certificates: Arb and BLAS with proved bounds.

The file is read by verify/checker. The network is enclosed by `near/network_enclosure.py`, whose
derivatives are those that found the weights; the theorem is applied by `contraction.py`. The matrix
of the file is rounded to float64, which is harmless: the theorem holds for every matrix.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from attncert.constructions.network.file import of_json
from attncert.verify.checker import Limits, need
from attncert.verify.checker.network_near import Parts
from attncert.verify.checker.reading import all_of, dims
from attncert.verify.checking.fast.reading import dataset, exact
from attncert.verify.derivatives.networks import weights_of
from attncert.verify.newton.contraction import contractions, distances, judged
from attncert.verify.newton.network_enclosure import derivatives, errors

_LEAST_BITS, MOST_BITS = 128, 4096  # of balls: a claim that needs more is not shown to hold


def judge(cert: dict[str, Any], parts: Parts, limits: Limits) -> str:
    """The claim in one line, or Rejected."""
    T, m = dims(cert, "examples labels")
    N, (p, q), network = T * m, parts.radius, of_json(cert["network"])
    numbered = max(parts.unknowns) < weights_of(network)
    need(numbered, "near.unknowns must be numbers of weights", "wrong")
    limits.hold(8.0 * (6 * N * N + 2 * N * weights_of(network)))
    data = dataset(cert, limits, parts.contexts, parts.queries, parts.labels)
    inverse = exact(parts.inverse, N, N).floats()
    bits = min(MOST_BITS, _LEAST_BITS + 2 * (q // p).bit_length())
    limits.on_time()
    eta = distances(inverse, errors(data, network, bits))
    limits.on_time()
    kappa = contractions(inverse, derivatives(data, network, parts.unknowns, Fraction(p, q)))
    contraction, radius = judged(eta, kappa, Fraction(p, q)), f"{cert['near']['radius']:.40}"
    constants = f"kappa {contraction.kappa:.3g}, first step {contraction.eta:.3g}"
    missed = f"{constants} in a radius of {radius}"
    need(contraction.inside, f"the map was not shown to contract the box: {missed}", "wrong")
    return (
        f"weights within {radius} of these give the labels of {all_of(T)}, "
        f"exactly (contraction by {contraction.kappa:.2g} in dimension {N})"
    )
