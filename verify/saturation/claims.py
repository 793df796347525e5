"""Saturation on demand, claim by claim: the inequality, the least c, and the conclusion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.ids import of_head
from attncert.verify.saturation import SOURCE, moving_heads
from attncert.verify.saturation.least import least
from attncert.verify.saturation.rational import rational


def checks(data: Dataset, built: BuiltLayer, bits: int) -> list[Callable[[], Claim]]:
    """The check of the inequality, and the check that c is the least."""
    return [partial(rational, data, built, bits), partial(least, data, built, bits)]


def conclusion(built: BuiltLayer, bits: int, routes: Sequence[Claim]) -> Claim:
    """The conclusion; it rests on the exact inequality, the least c, and the steps that define L_s.

    routes: the claims of the two checks. One that is refuted refutes this one.
    """
    against = [claim.id for claim in routes if claim.level is Level.REFUTED]
    steered = [of_head(h + 1, "saturation") for h, _ in moving_heads(built)]
    later = any("larger for the rank" in claim.numbers for claim in routes)
    least = "the least $c$ that gives it"
    return Claim(
        ids.SATURATION_ASKED,
        "In every head every earlier example attends to its row $L_s$ with "
        f"$1-p<2^{{-{bits}}}$, at {least}"
        + (", or the least larger one at which the rank is certified." if later else "."),
        Level.REFUTED if against else Level.PROVED,
        numbers={"bits": bits},
        witness={"see": against} if against else None,
        rests_on=() if against else (ids.SATURATION_RATIONAL, ids.SATURATION_LEAST, *steered),
        source=SOURCE,
    )
