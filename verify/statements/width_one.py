"""Heads of width one (ours; docs/width-one.md): the steps of the proof, checked for each head.

There are two kinds of heads. For a head used in the proof, all steps are checked. For a short head,
claims are made only about its matrix and, as for all heads, about the rank of the features so far.
"""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq

from attncert.constructions import width_one
from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.hashing import distinct
from attncert.constructions.width_one.theorem import WidthOneHead
from attncert.verify.features import features
from attncert.verify.features.tables import leads
from attncert.verify.provenance.sequences import by_class
from attncert.verify.statements import paper
from attncert.verify.statements.construction import Construction, LayerTheorem, Request
from attncert.verify.statements.known import OF_THEOREM_1, PARTITION
from attncert.verify.statements.states import View
from attncert.verify.statements.steps import shared
from attncert.verify.statements.steps.heads import (
    Relations,
    entries,
    lead,
    logits,
    moving,
    placing,
    weights_of,
)
from attncert.verify.statements.steps.shared import EXAMPLE, EXAMPLE_ENTRY, one_group

_PROOF = "docs/width-one.md"


def _coefficients(at: View, head: WidthOneHead, number: int) -> Relations:
    """v1·e_t = α_t, and the recorded logits of the group are α_t·E⁽ᵗ⁾u."""
    products, scale = features.query_products(at.data, head.v1)
    separated = entries(at.data, head.separator)
    for t, alpha, own in zip(head.group, head.alphas, head.logits, strict=True):
        yield fmpq(int(products[t, 0]), scale), "==", alpha, t
        yield [alpha * x for x in separated(t)[: len(own)]], "==", list(own), t
    yield {"alphas": sorted(set(head.alphas))}
    if not head.short:
        yield {"uses": {"A1": f"{one_group(head)}: α is free"}}


def _curve(at: View, head: WidthOneHead, number: int) -> Relations:
    """The entries of E⁽ᵗ⁾u are distinct for t in the group: the curve lemma applies."""
    if head.short:
        return
    group = head.group[:1] if at.data.shared else head.group
    separated = entries(at.data, head.separator)
    different = [len(distinct(separated(t))) for t in group]
    yield different, "==", [at.data.tokens(t) for t in group], group
    yield {
        "group size": len(head.group),
        "uses": {"A2": "contexts of the group have rank n, so their rows are distinct"},
    }


def _weights(at: View, head: WidthOneHead, number: int) -> Relations:
    """key·queryᵀ is u (c v0 + v1)ᵀ, which has rank at most one (if d_h = 1, by its shape).

    It follows that the group's logits are α_t·E⁽ᵗ⁾u for every c.
    """
    weights, query = weights_of(at, number), head.v1
    if head.selector is not None:
        query = query + head.selector * fmpq(head.c)
    if (weights.key, weights.query) == (head.separator, query):
        yield weights.key, "==", head.separator
        rank = int(all(any(x.entries()) for x in (weights.key, query)))
    else:
        built = weights.key * weights.query.transpose()
        yield built, "==", head.separator * query.transpose()
        rank = int(built.rank())
    yield rank, "<=", 1
    yield {"rank of M": rank, "head width": weights.width}


def _saturation(at: View, head: WidthOneHead, number: int) -> Relations:
    """L_s is the row where (v0·e_s)·E⁽ˢ⁾u is largest: as c grows, s attends to it. At this c its
    logit need not be the largest; the recorded gap, which may be negative, is still checked."""
    yield leads(lead(at.data, head), head.targets), ">", 0, head.earlier
    least = min(leads(logits(at, number)[list(head.earlier)], head.targets), default=None)
    yield from shared.least_lead(head, least)
    yield {} if least is None else {"lead at this c, bits": least}


COEFFICIENTS = placing(
    "$v_1\\cdot e_t=\\alpha_t$ on the group, whose logits are $\\alpha_tE^{(t)}u$.",
    _coefficients,
    where=EXAMPLE_ENTRY,
    source=f"{_PROOF}, section 3, step 5",
)
WEIGHTS = placing(
    "The layer's $M_h=W_KW_Q^\\top$ is $u(c\\,v_0+v_1)^\\top$ (up to $\\ln 2$), of rank at most "
    "one; by the coefficients and the selector its group's logits are $\\alpha_tE^{(t)}u$, "
    "whatever $c$.",
    _weights,
    rests_on=("coefficients", "selector"),
    where=("row", "column"),
    source=f"{_PROOF}, section 3, the head",
)
STEPS = {
    "coefficients": COEFFICIENTS,
    "selector": shared.selector("v_0", source=f"{_PROOF}, section 3, step 2"),
    "curve": placing(
        "For $t$ in the group the entries of $E^{(t)}u$ are distinct, so that any $n$ values of "
        "$\\alpha_t$ give independent features (curve lemma).",
        _curve,
        rests_on=("A2",),
        applies=lambda at: not all(head.short for head in at.built.heads),
        where=EXAMPLE,
        source=f"{_PROOF}, lemma 2",
    ),
    "separator": replace(shared.SEPARATOR, source=f"{_PROOF}, section 3, step 1"),
    "weights": WEIGHTS,
    "integral": replace(shared.INTEGRAL, source=f"{_PROOF}, section 5"),
    "saturation": moving(
        "As $c\\to\\infty$ every earlier $s$ attends to the one row $L_s$ where "
        "$(v_0\\cdot e_s)E^{(s)}u$ is largest.",
        _saturation,
        rests_on=("selector", "separator"),
        where=EXAMPLE,
        source=f"{_PROOF}, section 3, step 3",
    ),
    "independence": replace(shared.INDEPENDENCE, source=f"{_PROOF}, section 3, step 4"),
    "rank": replace(shared.RANK, source=f"{_PROOF}, section 3, step 6"),
    "groups": replace(shared.GROUPS, source=_PROOF),
}


def _build(data: Dataset, request: Request) -> BuiltLayer:
    return width_one.build(
        data,
        heads=request.heads,
        short_heads=request.value_width >= data.m,  # a short head may place more than d_v examples
        saturation=request.saturation,
        seed=request.seed,
        progress=request.progress,
    )


_HEADS = (
    "A head of the proof is $M_h=u(c\\,v_0+v_1)^\\top$. Its group is the examples that it places; "
    "their logits $\\alpha_tE^{(t)}u$ do not depend on $c$. $c$ is the least whole number at which "
    "the rank of all heads so far is certified, possibly before any head saturates. $B$ is the "
    "smallest lead, in bits at this $c$, of the row that an earlier example attends to in the "
    "limit; it is negative if that row does not lead yet. A short head is not part of the proof: "
    "its key and query are as short as possible, it has neither a selector nor $c$, and only the "
    "rank is claimed for it."
)
CONSTRUCTION = Construction(
    name="width-one",
    title="heads of width one",
    theorem="the theorem on heads of width one (ours)",
    source="docs/width-one.md",
    build=_build,
    subject=lambda data, request: by_class(data.expanded()),
    hypotheses={**OF_THEOREM_1, "partition": PARTITION},
    steps=STEPS,
    options=("heads", "value_width", "saturate", "round", "before"),
    layer=LayerTheorem(
        r="n",
        follows=paper.certified_partition,
        heads=_HEADS,
    ),
)
