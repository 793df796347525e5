"""Steps of `prove --construction retrieval`: how near a softmax comes to the patterns it stores.

The bound and the impossibility are proved in constructions/network/retrieval.py. Here both sides of
the bound are enclosed on the finished weights, and what exactness takes instead is computed.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb, arb_mat, ctx

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.network import relu
from attncert.constructions.network.retrieval import Retrieval
from attncert.constructions.numerals import short
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import OVER_Q, Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.interpolation.enclosure import decimal, row_bounds
from attncert.verify.network.method import Rows
from attncert.verify.network.within import rounded_up

BITS = 512  # of the balls: errors below 1e-150 are not told from 0
_ARITHMETIC = f"ball arithmetic (Arb), {BITS} bits"
_SOURCE = "docs/networks.md, retrieval"


def errors(data: Dataset, built: Retrieval, rows: Sequence[Rows]) -> Claim:
    bounds = _errors(built, rows)
    worst = max(high for _, high in bounds)
    return Claim(
        ids.LAYER_ERROR,
        f"The largest error is at most {decimal(worst, up=True)}.",
        Level.ENCLOSED,
        numbers={"errors": [[decimal(x, up=False), decimal(y, up=True)] for x, y in bounds]},
        arithmetic=_ARITHMETIC,
    )


def separated(data: Dataset, built: Retrieval, rows: Sequence[Rows]) -> Claim:
    return Claim(
        ids.RETRIEVAL_SEPARATED,
        f"Of {counted(data.T, 'pattern')} {_apart(built)} are separated: "
        r"$\Delta_i=x_i\cdot x_i-\max_{j\ne i}x_j\cdot x_i>0$.",
        Level.PROVED,
        numbers={
            "not separated": [built.examples[i] for i in built.not_separated],
            "gaps": [None if gap is None else short(gap) for gap in built.gaps],
        },
        arithmetic=OVER_Q,
        source=_SOURCE,
    )


def bound(data: Dataset, built: Retrieval, rows: Sequence[Rows]) -> Claim:
    """Where both are equal up to the precision, the proof alone decides."""
    enclosed = _errors(built, rows)
    with ctx.workprec(BITS):
        bounds = built.bounds()
        above = [i for i, (low, _) in enumerate(enclosed) if low > bounds[i]]
        below = sum(bool(high <= x) for (_, high), x in zip(enclosed, bounds, strict=True))
    level = Level.ENCLOSED if below == data.T else Level.ARGUED
    return Claim(
        ids.RETRIEVAL_BOUND,
        r"The error of each pattern is at most "
        r"$(N-1)e^{-\beta\Delta_i}\max_j\|x_j-x_i\|_\infty$.",
        Level.REFUTED if above else level,
        numbers={
            "below by enclosures": below,
            "patterns": data.T,
            "bounds": [decimal(x.upper(), up=True) for x in bounds],
        },
        witness={"examples": [built.examples[i] for i in above][:12]} if above else None,
        arithmetic=_ARITHMETIC,
        source=_SOURCE,
    )


def never_exact(data: Dataset, built: Retrieval, rows: Sequence[Rows]) -> Claim | None:
    """A single pattern is retrieved exactly; of patterns that are not separated nothing is said."""
    if data.T == 1 or not _apart(built):
        return None
    return Claim(
        ids.RETRIEVAL_NEVER_EXACT,
        "With growing β the error of a separated pattern goes to 0, but no β makes it 0: all "
        r"weights are positive, so $x_i\cdot\mathrm{output}<x_i\cdot x_i$.",
        Level.ARGUED,
        rests_on=(ids.RETRIEVAL_SEPARATED,),
        source=_SOURCE,
    )


def by_relus(data: Dataset, built: Retrieval, rows: Sequence[Rows]) -> Claim:
    """What exactness takes, of the same pairs."""
    network = relu.build(data).network
    return Claim.checked(
        ids.RETRIEVAL_BY_RELUS,
        f"One hidden layer of {counted(network.units, 'ReLU')} outputs every pattern exactly, with "
        f"{counted(network.parameters, 'parameter')}.",
        network.outputs(data) == data.label_matrix,
        numbers={"parameters": network.parameters, "bits in all": network.bits},
        arithmetic=OVER_Q,
        source="docs/networks.md, one hidden layer of ReLUs",
    )


STEPS = (errors, separated, bound, never_exact, by_relus)


def retrieved(built: Retrieval, rows: Sequence[Rows]) -> Claim:
    """The conclusion."""
    beta, patterns = short(built.beta), counted(built.data.T, "pattern", "all")
    worst = decimal(max(high for _, high in _errors(built, rows)), up=True)
    within = rounded_up(worst)
    return Claim(
        ids.RETRIEVAL,
        f"The softmax retrieves {patterns} to within {within} at β = {beta}; "
        f"{_apart(built)} of {built.data.T} are separated.",
        Level.ENCLOSED,
        numbers={"within": str(within), "beta": beta},
        rests_on=(ids.LAYER_ERROR, ids.RETRIEVAL_SEPARATED),
    )


def _errors(built: Retrieval, rows: Sequence[Rows]) -> list[tuple[arb, arb]]:
    """Of each pattern, between two numbers."""
    with ctx.workprec(BITS):
        bounds = row_bounds(arb_mat(rows[-1]) - arb_mat(built.data.label_matrix))
    if not all(high.is_finite() for _, high in bounds):
        raise InputError("beta", f"so small that {BITS} bits hold the logits", short(built.beta))
    return bounds


def _apart(built: Retrieval) -> int:
    return built.data.T - len(built.not_separated)
