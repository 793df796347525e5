"""How far the outputs of a network are from labels: enclosed, and certified."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from flint import arb, arb_mat, ctx, fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.network.arithmetic import Inexact
from attncert.constructions.network.network import Network
from attncert.verify.certificate import TooLarge
from attncert.verify.checker import Limits, Rejected
from attncert.verify.checker.claims import judge
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.network.certificate import certificate
from attncert.verify.network.claims import RECOMPUTED, work

_LEAST = Decimal("1e-100")  # that is certified: smaller errors take long in pure Python


def exact_outputs(network: Network, data: Dataset) -> fmpq_mat | None:
    """T×m; None where they are not rational, or too long. Raises InputError for shapes."""
    try:
        outputs = network.outputs(data)
    except Inexact:
        return None
    require_width(outputs, data)
    return outputs


def balls(network: Network, data: Dataset) -> arb_mat:
    """The outputs, T×m, at the working precision of FLINT's context. Where that leaves a tie or a
    sign open nothing is known of them, and they are no numbers. Raises InputError for shapes."""
    try:
        outputs = network.enclosures(data, ctx.prec)
    except Inexact:
        return arb_mat(data.T, data.m, [arb("nan")] * (data.T * data.m))
    require_width(outputs, data)
    return outputs


def require_width(outputs: Any, data: Dataset) -> None:
    if outputs.ncols() != data.m:
        raise InputError("network", f"of {data.m} outputs, as the labels have", outputs.ncols())


def rounded_up(error: str) -> Decimal:
    """A number of two digits above the error, and of no more than a hundred places.

    >>> rounded_up("0.0333334"), rounded_up("0.5")
    (Decimal('0.034'), Decimal('0.51'))
    """
    return max(Context(prec=2).next_plus(Decimal(error)), _LEAST)


def certified(
    data: Dataset, network: Network, within: Fraction | None, **provenance: Any
) -> tuple[list[Claim], dict[str, Any]]:
    """What the checker says of the certificate, where it is quick; and `certificate`, or
    `uncertified` with the reason. within: None for equality."""
    try:
        written = certificate(data, network, within=within, **provenance)
    except TooLarge as reason:
        return [], {"uncertified": str(reason)}
    if work(data, network) > RECOMPUTED:
        return [], {"certificate": written}
    confirmation = _by_checker(written)
    if not confirmation.level.holds:
        return [confirmation], {"uncertified": "the checker does not confirm it"}
    return [confirmation], {"certificate": written}


def _by_checker(written: dict[str, Any]) -> Claim:
    exact = written["claim"] == "network"
    witness = None
    try:
        judge(written, Limits(math.inf, math.inf))
        level = Level.PROVED if exact else Level.ENCLOSED
    except Rejected as rejection:
        level, witness = Level.UNDECIDED, {"reason": rejection.args[1]}
    return Claim(
        ids.NETWORK_RECOMPUTED,
        "The checker of certificates, which shares no arithmetic, comes to the same.",
        level,
        witness=witness,
        arithmetic="integers" if exact else "balls of integers",
        source="docs/certificate.md, blocks",
    )
