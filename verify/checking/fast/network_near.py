"""The fast check of "network-near" certificates: Arb and BLAS with proved bounds.

The file is read by verify/checker. The network is enclosed by `newton/network_enclosure.py`, whose
derivatives are those that found the weights; the theorem is applied by `contraction.py`. The matrix
of the file is rounded to float64, which is harmless: the theorem holds for every matrix.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from attncert.constructions.network.file import of_json
from attncert.verify.checker import Limits, need
from attncert.verify.checker.network_near import Parts
from attncert.verify.checker.reading import dims
from attncert.verify.checking.fast.near import contracted
from attncert.verify.checking.fast.reading import dataset, exact
from attncert.verify.derivatives.networks import weights_of
from attncert.verify.newton.network_enclosure import derivatives, errors

_LEAST_BITS, MOST_BITS = 128, 4096  # bits of balls: a claim that needs more is not shown


def judge(cert: dict[str, Any], parts: Parts, limits: Limits) -> str:
    """The claim in one line, or Rejected."""
    T, m = dims(cert, "examples labels")
    N, (p, q), network = T * m, parts.radius, of_json(cert["network"])
    numbered = max(parts.unknowns) < weights_of(network)
    need(numbered, "near.unknowns must be numbers of weights", "wrong")
    limits.hold(8.0 * (6 * N * N + 2 * N * weights_of(network)))
    data = dataset(cert, limits, parts.contexts, parts.queries, parts.labels)
    inverse = exact(parts.inverse, N, N).floats()
    bits, radius = min(MOST_BITS, _LEAST_BITS + 2 * (q // p).bit_length()), Fraction(p, q)
    return contracted(
        cert,
        inverse,
        radius,
        lambda: errors(data, network, bits),
        lambda: derivatives(data, network, parts.unknowns, radius),
        limits,
    )
