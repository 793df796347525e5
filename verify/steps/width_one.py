"""The steps of the width-one proof (docs/width-one.md), head by head, on what was built.

Heads come in two kinds. The steps of a head of the proof are checked one by one. For a short head
nothing of the proof is claimed, only what its matrix is and, as for all heads, the rank of the
features so far.

The checks of selector, separator, limit and rank are those of the paper's steps: they need only a
record's group, earlier examples, `selector`, `separator` and targets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from flint import fmpq

from attncert.constructions.construction import Construction
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Head
from attncert.constructions.width_one.theorem import WidthOneHead
from attncert.verify import features
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, timed
from attncert.verify.claims.ids import of_head
from attncert.verify.claims.words import counted
from attncert.verify.steps import in_order, shared
from attncert.verify.tables import Table, leads

_PROOF = "ours, docs/width-one.md"
_PLACES = {
    ids.COEFFICIENTS: "section 3, step 5",
    ids.CURVE: "lemma 2",
    ids.SEPARATOR: "section 3, step 1",
    ids.SELECTOR: "section 3, step 2",
    ids.WEIGHTS: "section 3, the head",
    ids.INTEGRAL: "section 5",
    ids.SATURATION: "section 3, step 3",
    ids.INDEPENDENCE: "section 3, step 4",
    ids.RANK_SO_FAR: "section 3, step 6",
}


def _before(
    data: Dataset, built: Construction, record: WidthOneHead, weights: Head, number: int
) -> Iterator[in_order.Check]:
    yield partial(coefficients, data, record, number)
    if record.selector is not None:
        yield partial(shared.selector, data, record, number, "v_0")
    if not record.short:
        yield partial(curve, data, record, number)
    if record.selector is not None:
        yield partial(shared.separator, data, record, number)
    yield partial(head_weights, data, record, weights, number)


def _wording(record: WidthOneHead, check: Callable[[], Claim]) -> Claim:
    """Run a check; steps that are also the paper's are named by their place in this proof."""
    claim = timed(check)
    if record.short:
        return replace(claim, uses={}, source=f"{_PROOF}, section 6 (short heads)")
    of = ids.head_and_step(claim.id)
    assert of is not None, "every check here is a step of a head"
    return replace(claim, source=f"{_PROOF}, {_PLACES[of[1]]}")


def coefficients(data: Dataset, head: WidthOneHead, number: int) -> Claim:
    """v1·e_t = α_t, and the group's logits on record are α_t·E⁽ᵗ⁾u."""
    products, scale = features.query_products(data, head.v1)
    rows, below = features.token_products(data, head.separator)
    wrong = []
    for t, alpha, logits in zip(head.group, head.alphas, head.logits, strict=True):
        row = rows[0 if data.shared else t, : data.tokens(t), 0].tolist()
        if products[t, 0] != alpha * scale or [alpha * x for x in row] != [
            k * below for k in logits
        ]:
            wrong.append(t)
    return shared.claim(
        number,
        ids.COEFFICIENTS,
        "$v_1\\cdot e_t=\\alpha_t$ on the group, whose logits are $\\alpha_tE^{(t)}u$.",
        not wrong,
        {"alphas": sorted(set(head.alphas))},
        lambda: {"examples": wrong},
        uses={"A1": f"independence of {counted(len(head.group), 'query')} of one group: α is free"},
    )


def curve(data: Dataset, head: WidthOneHead, number: int) -> Claim:
    """The entries of E⁽ᵗ⁾u are distinct for t in the group: the curve lemma applies."""
    tied = shared.tied(data, head.separator, head.group)
    return shared.claim(
        number,
        ids.CURVE,
        "For $t$ in the group the entries of $E^{(t)}u$ are distinct, so that any $n$ values of "
        "$\\alpha_t$ give independent features (curve lemma).",
        not tied,
        {"group size": len(head.group)},
        lambda: {"examples with a tie": tied},
        uses={"A2": "contexts of the group have rank n, so their rows are distinct"},
        rests_on=(ids.A2,),
    )


def head_weights(data: Dataset, head: WidthOneHead, weights: Head, number: int) -> Claim:
    """key·queryᵀ is u (c v0 + v1)ᵀ, of rank at most one (one column times one row, where d_h = 1).

    That the group's logits are then α_t·E⁽ᵗ⁾u, free of c, is what this rests on.
    """
    query = head.v1
    if head.selector is not None:
        query = query + head.selector * fmpq(head.c)
    if (weights.key, weights.query) == (head.separator, query):
        equal, rank = True, int(all(any(x.entries()) for x in (weights.key, query)))
    else:
        built = weights.key * weights.query.transpose()
        equal, rank = bool(built == head.separator * query.transpose()), int(built.rank())
    return shared.claim(
        number,
        ids.WEIGHTS,
        "The layer's $M_h=W_KW_Q^\\top$ is $u(c\\,v_0+v_1)^\\top$ (up to $\\ln 2$), of rank at "
        "most one; by the coefficients and the selector its group's logits are "
        "$\\alpha_tE^{(t)}u$, free of $c$.",
        equal and rank <= 1,
        {"rank of M": rank, "head width": weights.width},
        lambda: {"rank": rank, "equal": equal},
        rests_on=tuple(
            of_head(number, step)
            for step in (ids.COEFFICIENTS, *(() if head.selector is None else (ids.SELECTOR,)))
        ),
    )


def saturation(data: Dataset, head: WidthOneHead, table: Table, number: int) -> Claim:
    """L_s is where (v0·e_s)·E⁽ˢ⁾u is largest: what s attends to as c grows.

    c is the least at which the rank is full, so at this c the rows need not lead yet: the record's
    gap, negative if some do not, is checked as it is.
    """
    limit = leads(shared.lead(data, head), head.targets)
    wrong = [s for s, by in zip(head.earlier, limit, strict=False) if by <= 0]
    least = min(leads(table[list(head.earlier)], head.targets), default=None)
    return in_the_limit(head, number, "$L_s$", wrong, least)


def in_the_limit(
    head: WidthOneHead, number: int, row: str, wrong: list[int], least: int | None
) -> Claim:
    """The claim. wrong: earlier examples whose target is another row; least: the lead at this c."""
    return shared.claim(
        number,
        ids.SATURATION,
        f"As $c\\to\\infty$ every earlier $s$ attends to the one row {row} where "
        "$(v_0\\cdot e_s)E^{(s)}u$ is largest.",
        not wrong and least == head.gap_bits,
        {"c": head.c} if least is None else {"c": head.c, "lead at this c, bits": least},
        lambda: {"examples with another row": wrong, "lead": least, "on record": head.gap_bits},
        rests_on=(of_head(number, ids.SELECTOR), of_head(number, ids.SEPARATOR)),
    )


head_claims = in_order.steering(_before, saturation, _wording)
