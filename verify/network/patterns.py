"""What is claimed of a retrieval: how near its softmax comes to the patterns that it stores.

The bound and the impossibility are proved in constructions/network/retrieval.py. Here both sides of
the bound are enclosed on the finished weights, and what exactness takes instead is computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flint import arb_mat, ctx, fmpq_mat

from attncert.constructions.errors import InputError
from attncert.constructions.network import relu
from attncert.constructions.network.retrieval import Retrieval
from attncert.constructions.numerals import short
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import OVER_Q, Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.interpolation.enclosure import decimal, row_bounds
from attncert.verify.methods.statements import Step
from attncert.verify.methods.states import View
from attncert.verify.network.within import rounded_up

BITS = 512  # of the balls: errors below 1e-150 are not told from 0
_ARITHMETIC = f"ball arithmetic (Arb), {BITS} bits"
_SOURCE = "docs/networks.md, retrieval"


def claims(built: Retrieval) -> list[Claim]:
    """The conclusion stands last. Raises InputError for logits that the balls do not hold."""
    with ctx.workprec(BITS):
        outputs = built.network.enclosures(built.data, BITS)
        errors = row_bounds(outputs - arb_mat(built.data.label_matrix))
    if not all(high.is_finite() for _, high in errors):
        raise InputError("beta", f"so small that {BITS} bits hold the logits", short(built.beta))
    worst = decimal(max(high for _, high in errors), up=True)
    error = Claim(
        ids.LAYER_ERROR,
        f"The largest error is at most {worst}.",
        Level.ENCLOSED,
        numbers={"errors": [[decimal(x, up=False), decimal(y, up=True)] for x, y in errors]},
        arithmetic=_ARITHMETIC,
    )
    # A single pattern is retrieved exactly; of those that are not separated nothing is said.
    never = [_NEVER_EXACT] if built.data.T > 1 and _apart(built) else []
    return [error, _separated(built), *never, _by_relus(built), _retrieved(built, worst)]


def _behind_by_its_gap(at: View) -> Iterator[Any]:
    """p_j / p_i is e to the difference of their logits, which are exact."""
    block: Any = at.network.blocks[0]
    d, (head,) = at.data.d, block.heads
    yield head.value * block.output, "==", fmpq_mat(d, d, [i % (d + 1) == 0 for i in range(d * d)])
    for i, (logits, gap) in enumerate(zip(at.logits(), at.built.gaps, strict=True)):
        own = logits.pop(i)
        if gap is not None:
            yield [x + at.built.beta * gap for x in logits], "<=", own, i
    yield {"bounds": [decimal(x.upper(), up=True) for x in at.built.bounds()]}


BOUND = Step(
    r"Values and output are the identity, and the logit of every other pattern is at least "
    r"$\beta\Delta_i$ below that of pattern $i$: so its error is at most "
    r"$(N-1)e^{-\beta\Delta_i}\max_j\|x_j-x_i\|_\infty$.",
    _behind_by_its_gap,
    where=("pattern",),
    source=_SOURCE,
)


def _separated(built: Retrieval) -> Claim:
    return Claim(
        ids.RETRIEVAL_SEPARATED,
        f"Of {counted(built.data.T, 'pattern')} {_apart(built)} are separated: "
        r"$\Delta_i=x_i\cdot x_i-\max_{j\ne i}x_j\cdot x_i>0$.",
        Level.PROVED,
        numbers={
            "not separated": [built.examples[i] for i in built.not_separated],
            "gaps": [None if gap is None else short(gap) for gap in built.gaps],
        },
        arithmetic=OVER_Q,
        source=_SOURCE,
    )


_NEVER_EXACT = Claim(
    ids.RETRIEVAL_NEVER_EXACT,
    "With growing β the error of a separated pattern goes to 0, but no β makes it 0: all weights "
    r"are positive, so $x_i\cdot\mathrm{output}<x_i\cdot x_i$.",
    Level.ARGUED,
    rests_on=(ids.RETRIEVAL_SEPARATED,),
    source=_SOURCE,
)


def _by_relus(built: Retrieval) -> Claim:
    """What exactness takes, of the same pairs."""
    network = relu.build(built.data).network
    return Claim.checked(
        ids.RETRIEVAL_BY_RELUS,
        f"One hidden layer of {counted(network.units, 'ReLU')} outputs every pattern exactly, with "
        f"{counted(network.parameters, 'parameter')}.",
        network.outputs(built.data) == built.data.label_matrix,
        numbers={"parameters": network.parameters, "bits in all": network.bits},
        arithmetic=OVER_Q,
        source="docs/networks.md, one hidden layer of ReLUs",
    )


def _retrieved(built: Retrieval, worst: str) -> Claim:
    within, N = rounded_up(worst), built.data.T
    return Claim(
        ids.RETRIEVAL,
        f"The softmax retrieves {counted(N, 'pattern', 'all')} to within {within} at "
        f"β = {short(built.beta)}; {_apart(built)} of {N} are separated.",
        Level.ENCLOSED,
        numbers={"within": str(within), "beta": short(built.beta)},
        rests_on=(ids.LAYER_ERROR, ids.RETRIEVAL_SEPARATED),
    )


def _apart(built: Retrieval) -> int:
    return built.data.T - len(built.not_separated)
