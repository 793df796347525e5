"""What is claimed of generic weights: what was drawn, the ranks, what follows for other weights.

The weights were drawn at random and the rank decides: there are no steps of a proof to repeat, and
neither A1 nor A2 is used. Each head is checked: its weights are the small integers of the record,
its logits are integral, and the rank is full after it.

*Almost all weights* (docs/width-one.md, corollary 2, without its hypotheses). With these weights
some T×T minor of Z is not zero. As a function of all real weights of the same shape it is real
analytic, so its zeros are a closed set of measure zero: all other weights serve these examples,
too. That is an argument, not a computation: the claim is *argued*, and rests on the rank.
"""

from __future__ import annotations

from collections.abc import Iterator

from flint import fmpq

from attncert.constructions.construction import Construction
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.generic import GenericHead
from attncert.constructions.layer import Head
from attncert.constructions.numerals import numeral
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.steps import in_order, shared

_SOURCE = "ours, docs/width-one.md, corollary 2"
_BUILT = "ours, constructions/generic.py"


def head_claims(
    data: Dataset, construction: Construction, *, with_ranks: bool = True
) -> Iterator[Claim]:
    """All claims of all heads in order, each timed; with_ranks: the rank after every head too."""
    ties = (distinct,) if data.shared and construction.head_width == 1 else ()
    checks = in_order.each_head(small, *ties, source=_BUILT)
    return checks(data, construction, with_ranks=with_ranks)


def small(data: Dataset, head: GenericHead, weights: Head, number: int) -> Claim:
    """Keys and queries are integers of at most `bound`, times the denominators of the data."""
    units = fmpq(data.contexts.denominator), fmpq(data.queries.denominator)
    matrices = weights.key, weights.query
    drawn = [m / unit for m, unit in zip(matrices, units, strict=True)]
    large = [numeral(x) for m in drawn for x in m.entries() if x.q != 1 or abs(x.p) > head.bound]
    recorded = matrices == (head.key, head.query)
    return shared.claim(
        number,
        ids.SMALL,
        "The layer's $W_K$ and $W_Q$ (up to $\\ln 2$) are the integers that were drawn, no larger "
        "than the bound, times the common denominators of contexts and queries.",
        not large and recorded,
        {"bound": head.bound, "draws": head.draws, "head width": weights.width},
        lambda: {"entries": large[:8], "as on record": recorded},
        source=_BUILT,
    )


def distinct(data: Dataset, head: GenericHead, weights: Head, number: int) -> Claim:
    """The entries of Eu are distinct. Shared context, u = W_K of width one."""
    rows = shared.tied(data, weights.key, [0])
    return shared.claim(
        number,
        ids.DISTINCT,
        "The entries of $Eu$, $u=W_K$, are distinct: with a tie two softmax weights agree for all "
        "examples, and the head could place one example less.",
        not rows,
        {},
        lambda: {"context with a tie": 0},
        source=_BUILT,
    )


def almost_all(data: Dataset, construction: Construction) -> list[Claim]:
    """What the rank at these weights says of all weights of this shape."""
    heads, width = len(construction.layer.heads), construction.head_width
    return [
        Claim(
            ids.ALMOST_ALL,
            f"Almost all real weights of {counted(heads, 'head')} of width {width} serve every "
            "labelling of these examples: those with $\\operatorname{rank}Z<T$ are a closed "
            "set of measure zero, because a minor of $Z$ is real-analytic in the weights and is "
            "not zero at the ones drawn. How close to that set given weights lie is not said.",
            Level.ARGUED,
            numbers={"heads": heads, "head width": width, "T": data.T},
            rests_on=(ids.RANK,),
            source=_SOURCE,
        )
    ]
