"""The paper's Theorem 1: steps 2 to 8 of its proof, checked for each head that was built.

Every step recomputes its numbers over ℚ, from the data and the recorded vectors or from the layer's
weights. No step calls the builder or uses the result of another step, so that an error is found in
the step where it occurs.
"""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq, fmpq_mat

from attncert.constructions import paper
from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.paper.theorem import PaperHead
from attncert.verify.claims.evidence import Claim
from attncert.verify.features.tables import leads, log2_off_peak
from attncert.verify.limits.partition.claims import memorizes
from attncert.verify.provenance.sequences import by_class
from attncert.verify.statements.construction import Construction, LayerTheorem, calling
from attncert.verify.statements.known import OF_THEOREM_1, PARTITION
from attncert.verify.statements.states import View
from attncert.verify.statements.steps import shared
from attncert.verify.statements.steps.heads import (
    Relations,
    lead,
    logits,
    moving,
    placing,
    weights_of,
)
from attncert.verify.statements.steps.shared import EXAMPLE, EXAMPLE_ENTRY, PAPER, one_group

_AUDIT = "docs/audit-of-theorem-1.md"


def _duals(at: View, head: PaperHead, number: int) -> Relations:
    """Step 2: ê_t·e_t' = 1 if t = t', else 0, for t, t' in the group."""
    size = len(head.group)
    queries = at.data.queries[list(head.group)].matrix()
    one = fmpq_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])
    yield queries * _side_by_side(head.duals, at.data.d), "==", one, head.group
    yield {"group size": size, "uses": {"A1": one_group(head)}}


def _side_by_side(vectors: tuple[fmpq_mat, ...], d: int) -> fmpq_mat:
    rows = [x for vector in vectors for x in vector.entries()]
    return fmpq_mat(len(vectors), d, rows).transpose()


def _steering(at: View, head: PaperHead, number: int) -> Relations:
    """Step 2: E⁽ᵗ⁾w_t = g_t for t in the group."""
    for t, w, own in zip(head.group, head.steering, head.logits, strict=True):
        yield (at.data.context(t) * w).entries(), "==", list(own), t
    spread = max((max(g) - min(g) for g in head.logits), default=0)
    yield {
        "largest logit range": spread,
        "barycentre targets": sum(len(set(g)) == 1 for g in head.logits),
        "uses": {"A2": "contexts of the group have rank n: g_t may be anything"} if spread else {},
    }


def _weights(at: View, head: PaperHead, number: int) -> Relations:
    """Step 5: key·queryᵀ is c·u vᵀ + Σ w_t ê_tᵀ, of rank at most r ≤ d_h.

    By steps 2 and 3, on which this step rests, the group's logits are then g_t for every c.
    """
    weights = weights_of(at, number)
    built = weights.key * weights.query.transpose()
    formula = fmpq_mat(at.data.d, at.data.d)
    for w, dual in zip(head.steering, head.duals, strict=True):
        formula += w * dual.transpose()
    if head.separator is not None and head.selector is not None:
        formula += head.separator * head.selector.transpose() * fmpq(head.c)
    rank = int(built.rank())
    yield built, "==", formula
    yield rank, "<=", at.built.r
    yield {"rank of M": rank, "r": at.built.r, "head width": weights.width}


def _saturation(at: View, head: PaperHead, number: int) -> Relations:
    """Steps 6 and 8: every earlier s attends to L_s with 1 - p ≤ (n-1)·2^-B. The layer's logit at
    L_s exceeds all others by B bits or more, so each other weight is at most 2^-B times that of
    L_s."""
    limit, rows = leads(lead(at.data, head), head.targets), logits(at, number)[list(head.earlier)]
    bits = min(leads(rows, head.targets), default=None)
    yield limit, ">", 0, head.earlier
    yield from shared.least_lead(head, bits)
    if bits is not None:
        yield bits, ">=", 1
        worst = round(float(log2_off_peak(rows).max()), 3)
        yield {"B": bits, "worst log2(1-p)": worst}


STEPS = {
    "duals": placing(
        "The dual vectors $\\hat e_t$ of the group satisfy $\\hat e_t\\cdot e_{t'}=\\delta_{tt'}$.",
        _duals,
        rests_on=("partition",),
        where=EXAMPLE_ENTRY,
        source=f"{_AUDIT}, step 2",
    ),
    "steering": placing(
        "The steering vectors $w_t$ give the group its logits: $E^{(t)}w_t=g_t$.",
        _steering,
        rests_on=("A2",),
        where=EXAMPLE_ENTRY,
        source=f"{_AUDIT}, step 2",
    ),
    "selector": shared.selector("v", source=f"{PAPER}, step 3"),
    "separator": shared.SEPARATOR,
    "weights": placing(
        "The layer's $M_h = W_K W_Q^\\top$ is $c\\,uv^\\top+\\sum_t w_t\\hat e_t^\\top$ (up to "
        "$\\ln 2$) and has rank at most $r\\le d_h$; so its group's logits are $g_t$, whatever "
        "$c$.",
        _weights,
        rests_on=("duals", "steering", "selector"),
        where=("row", "column"),
        source=f"{_AUDIT}, step 5",
    ),
    "integral": shared.INTEGRAL,
    "saturation": moving(
        "Every earlier $s$ attends most to the row $L_s$ where $(v\\cdot e_s)E^{(s)}u$ is "
        "largest: $1-p\\le(n-1)2^{-B}$, which says nothing if it is 1 or more.",
        _saturation,
        rests_on=("selector", "separator"),
        where=EXAMPLE,
        source=f"{_AUDIT}, steps 6 and 8",
    ),
    "independence": shared.INDEPENDENCE,
    "rank": shared.RANK,
    "groups": replace(shared.GROUPS, source="paper, Theorem 1"),
}


def certified_partition(data: Dataset, built: BuiltLayer) -> list[Claim]:
    """The claim that these groups meet the partition condition, which suffices."""
    groups = built.partition or built.groups
    return [memorizes(groups, built.r, of=data.T, width_one=built.r == data.n)]


_HEADS = (
    "A head is $M_h=c\\,uv^\\top+\\sum_tw_t\\hat e_t^\\top$ over its group, the "
    "examples that it places: $\\hat e_t$ is dual to the query $e_t$ in the group (1 on it, 0 "
    "on the others), $w_t$ gives the group its logits, $v$ is orthogonal to the group and to "
    "no earlier query, and $u$ separates the rows of their contexts. $c$ is the multiplier "
    "that makes each earlier example attend to one row of its context; $B$ is the smallest "
    "logit gap over them, in bits, so that $1-p_{\\max}\\le(n-1)2^{-B}$. No claim rests on this "
    "bound: the rank at this $c$ is certified directly."
)
CONSTRUCTION = Construction(
    name="paper",
    title="the paper's construction",
    theorem="Theorem 1 of Mahdavi, Liao and Thrampoulidis (ICLR 2024)",
    source="docs/audit-of-theorem-1.md",
    build=calling(paper.build, "head_width", "heads", "saturation", "seed", "progress"),
    subject=lambda data, request: by_class(data.expanded()),
    hypotheses={**OF_THEOREM_1, "partition": PARTITION},
    steps=STEPS,
    options=(
        "heads", "head_width", "value_width", "saturate", "round", "before",
    ),
    layer=LayerTheorem(
        r="\\min(n,d_h)",
        strength=min,
        width=lambda n: n,
        follows=certified_partition,
        heads=_HEADS,
    ),
)  # fmt: skip
