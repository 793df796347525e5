"""The fast check of "interpolation-near" and "network-near": Arb and BLAS with proved bounds.

verify/checker reads the file; a layer is a network of one block. `newton/network_enclosure.py`
encloses the network, with the derivative code that was also used to find the weights, and
`contraction.py` applies the theorem. The matrix in the file is rounded to float64, which is allowed
because the theorem holds for every matrix. If the file has no matrix, an approximate inverse of the
derivatives is computed here.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from attncert.constructions.network.file import of_json
from attncert.verify.checker import Limits, need
from attncert.verify.checker.reading import all_of, dims
from attncert.verify.checking.fast.reading import dataset, exact
from attncert.verify.derivatives.networks import weights_of
from attncert.verify.newton.contraction import contractions, distances, inverted, judged
from attncert.verify.newton.network_enclosure import derivatives, errors

LEAST_BITS, MOST_BITS = 256, 4096  # bits of balls; if more are needed, nothing is proved


def judge(cert: dict[str, Any], parts: Any, limits: Limits) -> str:
    """The claim in one line. Raises Rejected. parts: what the checker read for this claim."""
    T, m = dims(cert, "examples labels")
    N, (p, q) = T * m, parts.radius
    network = of_json([cert["layer"]] if "layer" in cert else cert["network"])
    numbered = max(parts.unknowns) < weights_of(network)
    need(numbered, "near.unknowns must be indices of weights", "wrong")
    limits.hold(8.0 * (6 * N * N + 2 * N * weights_of(network)))
    data = dataset(cert, limits, parts.contexts, parts.queries, parts.labels)
    derived = derivatives(data, network, parts.unknowns, Fraction(p, q))
    limits.on_time()
    given = parts.inverse
    inverse = inverted(derived.mid) if given is None else exact(given, N, N).floats()
    bits = min(MOST_BITS, LEAST_BITS + 2 * (q // p).bit_length())
    limits.on_time()
    eta = distances(inverse, errors(data, network, bits))
    kappa = contractions(inverse, derived)
    contraction = judged(eta, kappa, Fraction(p, q))
    shown = f"{cert['near']['radius']:.40}"
    constants = f"kappa {contraction.kappa:.3g}, first step {contraction.eta:.3g}"
    missed = f"{constants} in a radius of {shown}"
    need(contraction.inside, f"the map was not shown to contract the box: {missed}", "wrong")
    return (
        f"weights within {shown} of these give the labels of {all_of(T)}, exactly (contraction by "
        f"{contraction.kappa:.2g} in dimension {N})"
    )
