"""Interpolation with the true exponential, in mpmath intervals or, for large layers, in Arb balls.

This evaluation does not rely on softmax weights being powers of two: ln 2 is an interval, the
logits are real, and the softmax is a quotient of exponentials. Intervals contain every rounding
error, so both verdicts are theorems about the true numbers. Intervals cannot show equality itself.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from flint import arb_mat, ctx

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer
from attncert.constructions.network.network import Network
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim
from attncert.verify.outputs import intervals
from attncert.verify.outputs.enclosure import enclosed_error

TOLERANCE = Fraction(1, 2**1000)
FIRST_BITS = 2048  # fewer bits never reach the tolerance


def multiprecision(data: Dataset, layer: Layer) -> Claim:
    """Whether the outputs agree with the labels to 2^-1000, computed with the true exponential.
    Logits need not be integer multiples of ln 2. The claim "interpolation.multiprecision" is
    *enclosed*, *refuted* with the example that has the largest difference, or *undecided*, as in
    `enclosed_error`."""
    network, small = Network.of_layer(layer), intervals.affordable(data, layer)

    def outputs() -> arb_mat:
        if small:
            return intervals.outputs(data, layer, ctx.prec)
        return network.enclosures(data, ctx.prec)

    claim = enclosed_error(data, outputs, tolerance=TOLERANCE, first_bits=FIRST_BITS)
    library = "interval arithmetic (mpmath)" if small else "ball arithmetic (Arb)"
    return replace(
        claim,
        id=ids.MULTIPRECISION,
        statement=r"$|A(E^{(t)}, e^{(t)}) - y^{(t)}| \le 2^{-1000}$ for all $T$ examples, with "
        "the true exponential",
        numbers={
            "examples": data.T,
            "precision_bits": claim.numbers["precision_bits"],
            "error": claim.numbers["error"],
        },
        source="ours; verify/outputs/multiprecision.py",
        arithmetic=f"{library}, {claim.numbers['precision_bits']} bits",
    )
