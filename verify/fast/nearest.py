"""The fast check of "nearest" certificates: FLINT, as for the other claims about networks."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import arb_mat

from attncert.constructions.network.arithmetic import Inexact, TooLong
from attncert.verify.checker import Limits, need
from attncert.verify.checker.nearest import Parts, sentence
from attncert.verify.fast.network import MOST_BITS, network_and_data, refusals
from attncert.verify.interpolation.nearest import enclosed_margins, margins
from attncert.verify.network.within import balls, require_width


def judge(cert: dict[str, Any], parts: Parts, limits: Limits) -> str:
    """The claim in one line, or Rejected."""
    margin = Fraction(*parts.margin)
    with refusals():
        network, data = network_and_data(cert, parts.network, limits)
        limits.hold(200.0 * data.T * len(parts.others))

        def outputs() -> arb_mat:
            limits.on_time()
            return balls(network, data)

        try:
            exact = network.outputs(data)
            require_width(exact, data)
            of_all = margins(data, exact, margin)
        except TooLong:
            raise
        except Inexact:
            of_all = enclosed_margins(data, outputs, margin, MOST_BITS)
    for t, level in enumerate(of_all.levels):
        need(level.holds, f"the margin of example {t} may be smaller", "wrong")
    return sentence(cert)
