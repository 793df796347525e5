"""Steps that both proofs share, and how the claim of a step is written.

A step checks one head: the record of what was chosen for it, against the data and the logits of the
layer's own weights. The builder is never called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from attncert.constructions.arrays import IntArray, ObjectArray
from attncert.constructions.construction import Construction, PlacedHead, SteeringHead
from attncert.constructions.data.conversion import objects
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.hashing import distinct
from attncert.constructions.layer import Head
from attncert.constructions.numerals import numeral
from attncert.verify import features
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import OVER_Q, Claim, Level
from attncert.verify.claims.ids import Step, of_head
from attncert.verify.tables import Table, dense, ranges

PAPER = "paper, proof of Theorem 1"


def placement(data: Dataset, construction: Construction, source: str = PAPER) -> Claim:
    """Every example in one group, groups of at most r and r - 1; what is earlier is earlier.

    Where heads place other groups than those of a partition (short and generic heads), no size is
    claimed.
    """
    groups, r = construction.groups, construction.r
    records = construction.heads
    members = sorted(t for group in groups for t in group)
    earlier = [tuple(t for group in groups[:h] for t in group) for h in range(len(groups))]
    sizes = f", the first at most $r={r}$ of them and each further one at most $r-1$"
    too_large = [h for h, group in enumerate(groups) if len(group) > (r if h == 0 else r - 1)]
    if construction.partition is not None or not r:
        sizes, too_large = "", []
    astray = [
        h
        for h, (record, group, before) in enumerate(zip(records, groups, earlier, strict=False))
        if record.group != group or record.earlier != before
    ]
    complete = members == list(range(data.T)) and all(groups)
    counted = len(records) == len(groups) <= len(construction.layer.heads)
    return Claim.checked(
        ids.GROUPS,
        f"Every example is placed by exactly one head{sizes}; earlier examples are those of the "
        "heads before.",
        complete and counted and not too_large and not astray,
        {
            "every example once": complete,
            "one record for each group": counted,
            "groups too large": [h + 1 for h in too_large],
            "heads whose record differs": [h + 1 for h in astray],
        },
        numbers={"groups": len(groups), "examples": data.T},
        arithmetic="comparison of integers",
        source=source,
    )


def selector(data: Dataset, head: SteeringHead, number: int, symbol: str = "v") -> Claim:
    """Step 3: v ⊥ e_t for the group, v·e_s ≠ 0 for every earlier s. symbol: of v, in LaTeX."""
    table, scale = features.query_products(data, head.selector)
    products = table[:, 0]
    inside = [t for t in head.group if products[t] != 0]
    earlier = products[list(head.earlier)]
    vanishing = np.array(head.earlier)[earlier == 0].tolist()
    sizes = np.abs(earlier)

    def over(x: Any) -> str:
        return numeral(fmpq(int(x), scale))

    return claim(
        number,
        ids.SELECTOR,
        f"The selector ${symbol}$ is orthogonal to the group's queries and to no earlier query.",
        not inside and not vanishing,
        {"least product": over(sizes.min()), "largest product": over(sizes.max())},
        lambda: {
            "example": (inside + vanishing)[0],
            "product": over(products[(inside + vanishing)[0]]),
        },
        source=f"{PAPER}, step 3",
        uses={"A1": f"no earlier query in the span of the group: {len(head.group) + 1} at a time"},
        rests_on=(ids.PARTITION,),
    )


def separator(data: Dataset, head: SteeringHead, number: int) -> Claim:
    """Step 4: E⁽ˢ⁾u has a unique maximum and a unique minimum for every earlier s."""
    tied, ranges = [], []
    separated = entries(data, head.separator)
    for s in head.earlier[:1] if data.shared else head.earlier:
        values = sorted(separated(s))
        ranges.append(values[-1] - values[0])
        if len(values) > 1 and (values[-1] == values[-2] or values[0] == values[1]):
            tied.append(s)
    return claim(
        number,
        ids.SEPARATOR,
        "For every earlier $s$ the entries of $E^{(s)}u$ have a unique maximum and minimum.",
        not tied,
        {"largest range": numeral(max(ranges))},
        lambda: {"example": tied[0]},
        source=f"{PAPER}, step 4",
        uses={"A2": "rows of one context are distinct"},
        rests_on=(ids.A2,),
    )


def limit_independence(
    head: SteeringHead, table: Table, so_far: features.Progressive, number: int
) -> Claim:
    """Step 7: in the limit c → ∞ the rows of all examples placed so far are independent."""
    rows = [*head.earlier, *head.group]
    weights = _weights(dense(table[rows]), so_far, rows)
    for k, target in enumerate(head.targets):
        weights[k] = 0
        weights[k, target] = 1
    limit = features.mix_mod(weights, so_far.contexts(rows), so_far.prime)
    rank = so_far.rank(rows, limit)
    return claim(
        number,
        ids.INDEPENDENCE,
        "With $L_s$ in place of every earlier feature, the rows of all examples placed so far are "
        "independent: each new one left the span of all rows before it.",
        rank == len(rows),
        {"rank": rank, "rows": len(rows)},
        lambda: {"rank": rank, "rows": len(rows), "prime": so_far.prime},
        source=f"{PAPER}, step 7 (targets chosen one at a time: ours)",
        arithmetic=f"rank mod {so_far.prime}, which the rank over ℚ is at least",
        uses={"A2": f"{len(head.group)} of n independent rows must leave a flat"},
        rests_on=(of_head(number, ids.SATURATION), ids.A2),
        failed=Level.UNDECIDED,
    )


def finite_rank(
    head: PlacedHead,
    table: Table,
    so_far: features.Progressive,
    number: int,
    source: str = f"{PAPER}, step 8",
) -> Claim:
    """Step 8: the rows placed so far are independent at the c that was chosen."""
    so_far.append(features_of(table, so_far))
    rows = [*head.earlier, *head.group]
    rank = so_far.rank(rows)
    return claim(
        number,
        ids.RANK_SO_FAR,
        "The features of this head and those before it, at their finite weights, are independent "
        "on all examples placed so far.",
        rank == len(rows),
        {"rank": rank, "rows": len(rows)},
        lambda: {"rank": rank, "rows": len(rows), "prime": so_far.prime},
        source=source,
        arithmetic=f"rank mod {so_far.prime}, which the rank over ℚ is at least",
        failed=Level.UNDECIDED,
    )


def lead(data: Dataset, head: SteeringHead) -> Table:
    """(v·e_s)·E⁽ˢ⁾u for the earlier s, (N, n): what c multiplies. Exact: whole numbers where all
    are, else rationals (objects)."""
    steering = Head(head.separator, head.selector)
    table, scale = features.products(steering, data, head.earlier)
    if scale == 1:
        return table
    table = dense(table)
    if not (table % scale).any():
        return table // scale
    return objects([fmpq(x, scale) for x in table.ravel().tolist()], table.shape)


def integral(table: Table, number: int) -> Claim:
    """All logits are integral: `table` could be computed."""
    spread = int(ranges(table).max())
    return claim(
        number,
        ids.INTEGRAL,
        "Every logit of every example is an integral multiple of $\\ln 2$, so that every softmax "
        "weight is a rational number.",
        True,
        {"largest logit range": spread if spread < 2**53 else f"2^{spread.bit_length()}"},
        dict,
        source="docs/mathematics.md, section 3",
    )


def not_integral(error: features.NotIntegral, number: int) -> Claim:
    """The same, refuted."""
    return claim(
        number,
        ids.INTEGRAL,
        "Every logit of every example is an integral multiple of $\\ln 2$.",
        False,
        {},
        lambda: {"example": error.example, "row": error.row, "logit": error.value},
        source="docs/mathematics.md, section 3",
    )


def group_logits(data: Dataset, head: PlacedHead, table: Table, number: int, source: str) -> Claim:
    """The logits on record, from which the readout is solved, are those of the layer."""
    rows = dense(table[list(head.group)]).tolist()
    triples = zip(head.group, head.logits, rows, strict=True)
    wrong = [t for t, logits, own in triples if own[: data.kinds(t)] != list(logits)]
    return claim(
        number,
        ids.LOGITS,
        "The group's logits on record are those of the layer's weights.",
        not wrong,
        {"group size": len(head.group)},
        lambda: {"examples": wrong},
        source=source,
        rests_on=(of_head(number, ids.INTEGRAL),),
    )


def claim(
    number: int,
    step: Step,
    statement: str,
    holds: bool,
    numbers: dict[str, Any],
    witness: Callable[[], dict[str, Any]],
    *,
    arithmetic: str = OVER_Q,
    failed: Level = Level.REFUTED,
    **rest: Any,
) -> Claim:
    """The claim of this step: proved if it holds, else `failed`, with the witness."""
    rest |= {"numbers": numbers, "arithmetic": arithmetic}
    return Claim.checked(of_head(number, step), statement, holds, witness, failed=failed, **rest)


def tied(data: Dataset, u: fmpq_mat, examples: Sequence[int]) -> list[int]:
    """Examples for which two entries of E⁽ᵗ⁾u are equal; u (d×1)."""
    products, looked_at = entries(data, u), examples[:1] if data.shared else examples
    out = [t for t in looked_at if len(distinct(products(t))) < data.tokens(t)]
    return list(examples) if out and data.shared else out


def entries(data: Dataset, u: fmpq_mat) -> Callable[[int], list[fmpq]]:
    """E⁽ᵗ⁾u by example t, one rational for each token; u (d×1). Computed once, for all contexts."""
    table, scale = features.token_products(data, u)
    if data.shared:
        once = [fmpq(x, scale) for x in table[0, :, 0].tolist()]
        return lambda t: once
    return lambda t: [fmpq(x, scale) for x in table[t, : data.tokens(t), 0].tolist()]


def features_of(table: Table, so_far: features.Progressive) -> IntArray:
    """The features mod p of one head for all examples, from its logits (T, n)."""
    every = range(len(table))
    weights = _weights(dense(table), so_far, every)
    return features.mix_mod(weights, so_far.contexts(every), so_far.prime)


def _weights(table: ObjectArray, so_far: features.Progressive, examples: Sequence[int]) -> IntArray:
    """Softmax weights mod p; all 0, which is evidence of nothing, where a sum vanishes."""
    try:
        return features.softmax_mod(table, so_far.prime, so_far.times(examples))
    except ZeroDivisionError:
        return np.zeros(table.shape, dtype=np.int64)
