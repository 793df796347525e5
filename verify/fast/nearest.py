"""The fast check of "nearest" certificates: FLINT, as for the other claims about networks."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from attncert.verify.checker import Limits, Rejected
from attncert.verify.checker.nearest import Parts, sentence
from attncert.verify.claims.evidence import Level
from attncert.verify.fast.network import MOST_BITS, enclosed, exact_as_far, network_and_data
from attncert.verify.interpolation.nearest import enclosed_margins, margins


def judge(cert: dict[str, Any], parts: Parts, limits: Limits) -> str:
    """The claim in one line, or Rejected."""
    margin = Fraction(*parts.margin)
    network, data = network_and_data(cert, parts.network, limits)
    limits.hold(200.0 * data.T * len(parts.others))
    states, rest = exact_as_far(network, data, limits)
    if rest:
        outputs = partial(enclosed, states, rest, data.m, limits)
        of_all = enclosed_margins(data, outputs, margin, MOST_BITS)
    else:
        of_all = margins(data, states.queries, margin)
    for level, status in ((Level.REFUTED, "wrong"), (Level.UNDECIDED, "over limit")):
        if level in of_all.levels:
            t = of_all.levels.index(level)
            raise Rejected(status, f"the margin of example {t} is {level.value}")
    return sentence(cert)
