"""What the three routes to interpolation say of a planted layer."""

from __future__ import annotations

from support.small_layers import Planted

from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.interpolation import multiprecision, rational, symbolic

HOLDS = {"rational": Level.PROVED, "symbolic": Level.PROVED, "multiprecision": Level.NUMERICAL}


def routes(p: Planted) -> dict[str, Claim]:
    return {
        "rational": rational.rational(p.data, p.layer),
        "symbolic": symbolic.symbolic(p.data, p.layer, p.right_inverse),
        "multiprecision": multiprecision.multiprecision(p.data, p.layer),
    }


def levels(p: Planted) -> dict[str, Level]:
    return {name: claim.level for name, claim in routes(p).items()}
