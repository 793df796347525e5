"""The outputs of a network, exact or enclosed, and the certificates about them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Context, Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from flint import arb, arb_mat, ctx, fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.network.arithmetic import Inexact
from attncert.constructions.network.blocks import SMOOTH, Attention, Normalization
from attncert.constructions.network.file import as_json
from attncert.constructions.network.network import Network
from attncert.constructions.network.positional import GeneralAttention
from attncert.constructions.numerals import numeral
from attncert.verify.certificates.certificate import Certificate, TooLarge, envelope, sealed
from attncert.verify.checker import Limits, Rejected
from attncert.verify.checker.claims import judge, with_prefixes
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level, timed

# What `certificate` bounds: "within", or "margin" and perhaps "domain"; empty for equality.
Bounds = Mapping[str, Any]

RECOMPUTED = 10**7  # limit on the checker's products in pure Python (a few seconds)
_EXPONENTIAL, _ROOT = 200, 20  # costs of one exponential and one root, in products
_LEAST = Decimal("1e-100")  # the least certified bound: smaller bounds take too long in pure Python


def exact_outputs(network: Network, data: Dataset) -> fmpq_mat | None:
    """The exact outputs, T×m; None if irrational or too long. Raises InputError for wrong
    shapes."""
    try:
        outputs = network.outputs(data)
    except Inexact:
        return None
    require_width(outputs, data)
    return outputs


def balls(network: Network, data: Dataset) -> arb_mat:
    """The outputs, T×m, at the working precision of FLINT's context; all NaN if this precision does
    not decide a tie or a sign. Raises InputError if shapes do not agree."""
    try:
        outputs = network.enclosures(data, ctx.prec)
    except Inexact:
        return arb_mat(data.T, data.m, [arb("nan")] * (data.T * data.m))
    require_width(outputs, data)
    return outputs


def require_width(outputs: Any, data: Dataset) -> None:
    if outputs.ncols() != data.m:
        raise InputError("network", f"of output width {data.m}, like the labels", outputs.ncols())


def certified_error(error: str) -> Decimal:
    """The smallest two-digit number above the error, but at least 1e-100.

    >>> certified_error("0.0333334"), certified_error("0.5")
    (Decimal('0.034'), Decimal('0.51'))
    """
    return max(Context(prec=2).next_plus(Decimal(error)), _LEAST)


def certified_margin(margin: str) -> Decimal:
    """The largest three-digit number below the margin.

    >>> certified_margin("0.0333334"), certified_margin("0.5")
    (Decimal('0.0333'), Decimal('0.499'))
    """
    return Context(prec=3).next_minus(Decimal(margin))


def certificate(
    data: Dataset,
    network: Network,
    *,
    construction: str,
    produced_by: Mapping[str, Any],
    within: Fraction | None = None,
    margin: Fraction | None = None,
    domain: Mapping[str, Any] | None = None,
) -> Certificate:
    """A certificate for the claim "network"; with a bound on errors, for "outputs-within"; with a
    bound on margins, for "nearest" or, if a `domain` is given too, "generates". If earlier blocks
    computed the data, the file contains the original data and all blocks. Raises TooLarge."""
    claim, more = "network", dict[str, Any]()
    if within is not None:
        claim, more = "outputs-within", {"within": numeral(within)}
    elif margin is not None:
        claim, more = "nearest", {"nearest": {"margin": numeral(margin)}}
        if domain is not None:
            claim, more = "generates", more | {"domain": domain}
    about: dict[str, Any] = {"construction": construction, "provenance": produced_by}
    blocks = data.origin.blocks + as_json(network)
    return sealed(envelope(claim, data.origin.stored(data), **about) | {"network": blocks} | more)


def certified(
    data: Dataset, network: Network, *, exact: bool, bounds: Bounds, **provenance: Any
) -> tuple[list[Claim], dict[str, Any]]:
    """The claim that the checker accepts the certificate, if the check is quick, and either
    `certificate` or `uncertified` with the reason. exact: whether the outputs are rational."""
    if bounds.get("margin", _LEAST) < _LEAST:
        return [], {"uncertified": f"the checker takes too long for margins below {_LEAST}"}
    try:
        body = certificate(data, network, **{**provenance, **bounds})
    except TooLarge as reason:
        return [], {"uncertified": str(reason)}
    work = products(network, data)
    if "domain" in bounds:
        work += work * situations_of(bounds["domain"]) // data.T
    if work > RECOMPUTED:
        return [], {"certificate": body}
    confirmation = timed(partial(recomputed, body, exact))
    if confirmation.level.holds:
        return [confirmation], {"certificate": body}
    refusal = (confirmation.witness or {})["reason"]
    known = [] if confirmation.level is Level.UNDECIDED else [confirmation]
    return known, {"uncertified": f"the checker says that {refusal}"}


def products(network: Network, data: Dataset) -> int:
    """The approximate number of products in the checker's evaluation. An exponential, SiLU or GELU
    counts as 200."""
    T, tokens, total = data.T, data.n if data.shared else data.T * data.n, 0
    for block in network.leaves:
        attends, every = isinstance(block, Attention), block.of == "all"
        vectors = T + tokens if attends or every else T
        total += vectors * sum(int(x.nrows() * x.ncols()) for x in block.matrices)
        if getattr(block, "activation", "") in SMOOTH:
            total += _EXPONENTIAL * block.units * vectors
        if isinstance(block, Normalization):
            total += _ROOT * int(block.gain.ncols()) * vectors
        if isinstance(block, Attention):
            each = 2 if isinstance(block, GeneralAttention) else 1  # caps, rotations
            total += each * _EXPONENTIAL * len(block.heads) * data.n * (vectors if every else T)
    return total


def situations_of(domain: Mapping[str, Any]) -> int:
    """An upper bound on the number of situations of a domain with these certificate keys."""
    letters, width = domain["letters"], domain["width"] or len(domain["letters"])
    states = len({state for state, *_ in domain["step"]})
    ends = range(1, len(letters) + 1)
    windows = (letters[max(0, end - width) : end] for end in ends)
    if domain["width"] is None:
        windows = (letters for _ in ends)
    return states * sum(math.prod(map(len, window)) for window in windows)


def recomputed(body: dict[str, Any], exact: bool = True) -> Claim:
    """The checker's verdict: refuted if it rejects the file, undecided if its limits are
    exceeded."""
    limits, witness = Limits(math.inf, math.inf), None
    level, sentence = Level.PROVED if exact else Level.ENCLOSED, "the bounds are equivalent"
    try:
        sentence = judge(with_prefixes(body, limits), limits)
        in_balls = limits.long and body["claim"] != "network"  # long numbers may be judged in balls
        if in_balls or body["claim"] == "generates":
            level = Level.ENCLOSED
    except Rejected as rejection:
        status, reason = rejection.args
        level = Level.UNDECIDED if status == "over limit" else Level.REFUTED
        witness = {"reason": reason}
    return Claim(
        ids.NETWORK_RECOMPUTED,
        f"The checker, which shares no arithmetic with the prover, says: {sentence}.",
        level,
        witness=witness,
        arithmetic="balls of integers" if level is Level.ENCLOSED else "integers",
        source="docs/certificate.md, blocks",
    )
