"""`prove --construction retrieval`: how near a softmax comes to the patterns that it stores.

The bound and the impossibility are proved in constructions/network/retrieval.py. Here both sides of
the bound are enclosed on the finished weights, and what exactness takes instead is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb, arb_mat, ctx

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.network import relu, retrieval
from attncert.constructions.network.retrieval import Retrieval
from attncert.constructions.numerals import short
from attncert.constructions.progress import StageProgress
from attncert.verify.certificate import produced_by
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.interpolation.enclosure import decimal, row_bounds
from attncert.verify.network import claims
from attncert.verify.network.method import NetworkMethod
from attncert.verify.network.prove import NetworkProof, concluded, require_own_options
from attncert.verify.network.within import balls, certified, rounded_up
from attncert.verify.questions.prove import Prove

BITS = 512  # of the balls: errors below 1e-150 are not told from 0
_SOURCE = "docs/networks.md, retrieval"
Bounds = Sequence[tuple[arb, arb]]  # an error between two numbers


def prove_retrieval(
    data: Dataset, question: Prove, method: NetworkMethod, progress: StageProgress
) -> NetworkProof:
    """The distinct queries of the data as patterns: how near each is retrieved, and what bounds it.

    Raises InputError for options that say nothing of it.
    """
    require_own_options(question, method.name, ("round", "before"))
    progress("building", 0, 1)
    built = retrieval.build(data, beta=Fraction(question.beta or 1))
    progress("errors", 0, 1)
    errors = errors_of(built)
    known = [error_claim(errors), separated(built), bound(built, errors), *never_exact(built)]
    progress("beside it", 0, 1)
    known += [by_relus(built.data, question.seed), claims.price(built.data, built.network)]
    conclusion = retrieved(built, errors)
    confirmed, file = certified(
        built.data,
        built.network,
        Fraction(conclusion.numbers["within"]),
        construction=method.name,
        produced_by=produced_by(question.line(), question.seed),
    )
    known += [*confirmed, conclusion]
    return concluded(question, built.data, method, known, built=built, **file)


def errors_of(built: Retrieval) -> Bounds:
    with ctx.workprec(BITS):
        outputs = balls(built.network, built.data)
        errors = row_bounds(outputs - arb_mat(built.data.label_matrix))
    if not all(high.is_finite() for _, high in errors):
        raise InputError("beta", f"so small that {BITS} bits hold the logits", short(built.beta))
    return errors


def error_claim(errors: Bounds) -> Claim:
    worst = max(high for _, high in errors)
    return Claim(
        ids.LAYER_ERROR,
        f"The largest error is at most {decimal(worst, up=True)}.",
        Level.ENCLOSED,
        numbers={"errors": [[decimal(x, up=False), decimal(y, up=True)] for x, y in errors]},
        arithmetic=f"ball arithmetic (Arb), {BITS} bits",
    )


def separated(built: Retrieval) -> Claim:
    return Claim(
        ids.RETRIEVAL_SEPARATED,
        f"Of {counted(built.data.T, 'pattern')} {apart(built)} are separated: "
        r"$\Delta_i=x_i\cdot x_i-\max_{j\ne i}x_j\cdot x_i>0$.",
        Level.PROVED,
        numbers={
            "not separated": [built.examples[i] for i in built.not_separated],
            "gaps": [None if gap is None else short(gap) for gap in built.gaps],
        },
        arithmetic="exact over ℚ (FLINT)",
        source=_SOURCE,
    )


def apart(built: Retrieval) -> int:
    return built.data.T - len(built.not_separated)


def bound(built: Retrieval, errors: Bounds) -> Claim:
    """Where both are equal up to the precision, the proof alone decides."""
    with ctx.workprec(BITS):
        bounds = built.bounds()
        above = [i for i, (low, _) in enumerate(errors) if low > bounds[i]]
        below = sum(bool(high <= x) for (_, high), x in zip(errors, bounds, strict=True))
    level = Level.ENCLOSED if below == len(errors) else Level.ARGUED
    return Claim(
        ids.RETRIEVAL_BOUND,
        r"The error of each pattern is at most "
        r"$(N-1)e^{-\beta\Delta_i}\max_j\|x_j-x_i\|_\infty$.",
        Level.REFUTED if above else level,
        numbers={
            "below by enclosures": below,
            "patterns": len(errors),
            "bounds": [decimal(x.upper(), up=True) for x in bounds],
        },
        witness={"examples": [built.examples[i] for i in above][:12]} if above else None,
        arithmetic=f"ball arithmetic (Arb), {BITS} bits",
        source=_SOURCE,
    )


def never_exact(built: Retrieval) -> list[Claim]:
    """A single pattern is retrieved exactly; of patterns that are not separated nothing is said."""
    if built.data.T == 1 or not apart(built):
        return []
    claim = Claim(
        ids.RETRIEVAL_NEVER_EXACT,
        "With growing β the error of a separated pattern goes to 0, but no β makes it 0: all "
        r"weights are positive, so $x_i\cdot\mathrm{output}<x_i\cdot x_i$.",
        Level.ARGUED,
        rests_on=(ids.RETRIEVAL_SEPARATED,),
        source=_SOURCE,
    )
    return [claim]


def by_relus(patterns: Dataset, seed: int) -> Claim:
    """What exactness takes, of the same pairs."""
    network = relu.build(patterns, seed=seed).network
    return Claim.checked(
        ids.RETRIEVAL_BY_RELUS,
        f"One hidden layer of {counted(network.units, 'ReLU')} outputs every pattern exactly, with "
        f"{counted(network.parameters, 'parameter')}.",
        network.outputs(patterns) == patterns.label_matrix,
        numbers={"parameters": network.parameters, "bits in all": network.bits},
        arithmetic="exact over ℚ (FLINT)",
        source="docs/networks.md, one hidden layer of ReLUs",
    )


def retrieved(built: Retrieval, errors: Bounds) -> Claim:
    beta, patterns = short(built.beta), counted(built.data.T, "pattern", "all")
    worst = decimal(max(high for _, high in errors), up=True)
    within = rounded_up(worst)
    return Claim(
        ids.RETRIEVAL,
        f"The softmax retrieves {patterns} to within {within} at β = {beta}; "
        f"{apart(built)} of {built.data.T} are separated.",
        Level.ENCLOSED,
        numbers={"within": str(within), "beta": beta},
        rests_on=(ids.LAYER_ERROR, ids.RETRIEVAL_SEPARATED),
    )
