"""Steps 2 to 8 of the paper's proof, head by head, each checked on what was built.

Every check recomputes its numbers from the data and the vectors on record, over ℚ, or from the
layer's weights; none calls the builder. No check uses the outcome of another: an error is caught
in the step where it occurs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from flint import fmpq, fmpq_mat

from attncert.constructions.construction import Construction
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Head
from attncert.constructions.numerals import numeral
from attncert.constructions.paper.theorem import PaperHead
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.ids import of_head
from attncert.verify.claims.words import counted
from attncert.verify.steps import in_order, shared
from attncert.verify.tables import Table, leads, log2_off_peak


def _before(
    data: Dataset, built: Construction, record: PaperHead, weights: Head, number: int
) -> Iterator[in_order.Check]:
    yield partial(duals, data, record, number)
    yield partial(steering, data, record, number)
    if record.earlier:
        yield partial(shared.selector, data, record, number)
        yield partial(shared.separator, data, record, number)
    yield partial(head_weights, data, record, weights, built.r, number)


def duals(data: Dataset, head: PaperHead, number: int) -> Claim:
    """Step 2: ê_t·e_t' = 1 if t = t', else 0, for t, t' in the group."""
    queries = data.queries[list(head.group)].matrix()
    table = queries * _side_by_side(head.duals, data.d)
    size = len(head.group)
    wrong = [
        (i, j) for i in range(size) for j in range(size) if table[i, j] != (1 if i == j else 0)
    ]
    return shared.claim(
        number,
        ids.DUALS,
        "The dual vectors $\\hat e_t$ of the group satisfy $\\hat e_t\\cdot e_{t'}=\\delta_{tt'}$.",
        not wrong,
        {"group size": size},
        lambda: {
            "examples": [head.group[k] for k in wrong[0]],
            "product": numeral(table[wrong[0][0], wrong[0][1]]),
        },
        source="docs/audit-of-theorem-1.md, step 2",
        uses={"A1": f"independence of {counted(size, 'query')} of one group"},
        rests_on=(ids.PARTITION,),
    )


def steering(data: Dataset, head: PaperHead, number: int) -> Claim:
    """Step 2: E⁽ᵗ⁾w_t = g_t for t in the group."""
    wrong = []
    for t, w, logits in zip(head.group, head.steering, head.logits, strict=True):
        if [int(x.p) if x.q == 1 else None for x in (data.context(t) * w).entries()] != list(
            logits
        ):
            wrong.append(t)
    spread = max((max(g) - min(g) for g in head.logits), default=0)
    uniform = sum(len(set(g)) == 1 for g in head.logits)
    return shared.claim(
        number,
        ids.STEERING,
        "The steering vectors $w_t$ give the group its logits: $E^{(t)}w_t=g_t$.",
        not wrong,
        {"largest logit range": spread, "barycentre targets": uniform},
        lambda: {"example": wrong[0]},
        source="docs/audit-of-theorem-1.md, step 2",
        uses={"A2": "contexts of the group have rank n: g_t may be anything"} if spread else {},
        rests_on=(ids.A2,),
    )


def head_weights(data: Dataset, head: PaperHead, weights: Head, r: int, number: int) -> Claim:
    """Step 5: key·queryᵀ is c·u vᵀ + Σ w_t ê_tᵀ, of rank at most r ≤ d_h.

    That the group's logits are then g_t, free of c, is steps 2 and 3, on which this one rests.
    """
    built = weights.key * weights.query.transpose()
    formula = fmpq_mat(data.d, data.d)
    for w, dual in zip(head.steering, head.duals, strict=True):
        formula += w * dual.transpose()
    if head.separator is not None and head.selector is not None:
        formula += head.separator * head.selector.transpose() * fmpq(head.c)
    rank = int(built.rank())
    return shared.claim(
        number,
        ids.WEIGHTS,
        "The layer's $M_h = W_K W_Q^\\top$ is $c\\,uv^\\top+\\sum_t w_t\\hat e_t^\\top$ (up to "
        "$\\ln 2$) and has rank at most $r\\le d_h$; so its group's logits are "
        "$g_t$, free of $c$.",
        built == formula and rank <= r,
        {"rank of M": rank, "r": r, "head width": weights.width},
        lambda: {"rank": rank, "equal": built == formula},
        source="docs/audit-of-theorem-1.md, step 5",
        rests_on=tuple(
            of_head(number, step)
            for step in (ids.DUALS, ids.STEERING, *((ids.SELECTOR,) if head.earlier else ()))
        ),
    )


def saturation(data: Dataset, head: PaperHead, table: Table, number: int) -> Claim:
    """Steps 6 and 8: every earlier s attends to L_s, with 1 - p ≤ (n-1)·2^-B.

    L_s is where (v·e_s)·E⁽ˢ⁾u is largest, and the layer's own logits lead there by B bits or more:
    each other weight is then at most 2^-B of the target's.
    """
    limit, rows = leads(shared.lead(data, head), head.targets), table[list(head.earlier)]
    wrong = [s for s, by in zip(head.earlier, limit, strict=False) if by <= 0]
    bits = min(leads(rows, head.targets), default=None)
    off_peak = log2_off_peak(rows)
    return shared.claim(
        number,
        ids.SATURATION,
        "Every earlier $s$ attends most to the row $L_s$ where $(v\\cdot e_s)E^{(s)}u$ is "
        "largest: $1-p\\le(n-1)2^{-B}$, which says nothing where it is 1 or more.",
        not wrong and bits == head.gap_bits and (bits is None or bits >= 1),
        {"c": head.c, "B": bits, "worst log2(1-p)": round(float(off_peak.max()), 3)}
        if bits is not None
        else {"c": head.c},
        lambda: {"examples with another row": wrong, "least gap": bits, "claimed": head.gap_bits},
        source="docs/audit-of-theorem-1.md, steps 6 and 8",
        rests_on=(of_head(number, ids.SELECTOR), of_head(number, ids.SEPARATOR)),
    )


def _side_by_side(vectors: tuple[fmpq_mat, ...], d: int) -> fmpq_mat:
    rows = [x for vector in vectors for x in vector.entries()]
    return fmpq_mat(len(vectors), d, rows).transpose()


head_claims = in_order.steering(_before, saturation)
