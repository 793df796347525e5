"""That no smaller c saturates: in every head, at one less some earlier example falls short.

Derivation (ours). With a and b as in `symbolic`, the drops of the other rows below L_s at c' are
c'·(a_L - a_i) + b_L - b_i. They grow with c', as a_L is the largest (step 6), so 1 - p falls; hence
the c' that give 1 - p < 2^-B for all earlier s are a half-line of whole numbers, and its end is
proved by the inequality at it and the failure of the inequality at one less.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq

from attncert.constructions.construction import Construction, SteeringHead
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.search.saturation import Saturation
from attncert.verify import features
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import RATIONAL, Claim
from attncert.verify.claims.ids import of_head
from attncert.verify.saturation import SOURCE
from attncert.verify.steps.shared import lead

Drops = list[list[tuple[int, int]]]  # of each earlier s: (a_L - a_i, b_L - b_i) for i ≠ L


def least(data: Dataset, built: Construction, asked: Saturation) -> Claim:
    """The claim "saturation.least": the least positive whole c in every head, found here by
    bisection; *refuted* where a head's own c is smaller, or its rows do not lead in the limit.

    A head's c can be larger, where the rank was not certified at less: the claim says in which.
    """
    ends, larger, wrong = dict[int, int](), dict[int, int](), list[int]()
    for h, record in enumerate(built.heads):
        if not isinstance(record, SteeringHead) or record.selector is None or not record.earlier:
            continue
        drops, c = drops_of(data, built, h), int(record.c or 0)
        end = least_c(drops, asked.bits)
        if end is None or c < end:
            wrong.append(h + 1)
            continue
        ends[h + 1] = end
        if c > end:
            larger[h + 1] = c
    more = ""
    if larger:
        more = " In heads with a larger $c$ the rank was not certified before."
    return Claim.checked(
        ids.SATURATION_LEAST,
        f"In every head that has earlier examples the least positive whole $c$ with "
        f"$1-p<2^{{-{asked.bits}}}$ for all of them was found: at one less (where that is "
        f"positive) some example falls short.{more}",
        not wrong,
        lambda: {"heads": wrong},
        numbers={"least c": ", ".join(map(str, ends.values())) or "none needed"}
        | ({"larger for the rank": ", ".join(f"head {h}: {c}" for h, c in larger.items())}
           if larger else {}),
        arithmetic=RATIONAL,
        rests_on=tuple(of_head(h, ids.WEIGHTS) for h in ends),
        source=SOURCE,
    )  # fmt: skip


def drops_of(data: Dataset, built: Construction, h: int) -> Drops:
    """How far the rows of the earlier examples of head h are behind L_s, as functions of c."""
    record = built.heads[h]
    assert isinstance(record, SteeringHead) and record.c is not None
    now = features.logits(built.layer.heads[h], data)[list(record.earlier)].tolist()
    out: Drops = []
    for grows, logits, row in zip(lead(data, record).tolist(), now, record.targets, strict=True):
        a = [whole(x) for x in grows]
        b = [k - record.c * x for k, x in zip(logits, a, strict=True)]
        out.append([(a[row] - a[i], b[row] - b[i]) for i in range(data.n) if i != row])
    return out


def least_c(drops: Drops, bits: int) -> int | None:
    """The least whole c ≥ 1 with 1 - p < 2^-bits at all; None where some row never leads."""
    if any(gap <= 0 for row in drops for gap, _ in row):
        return None
    high = 1
    while falls_short(drops, high, bits) is not None:
        high *= 2
    low = high // 2  # 0, or a c at which some example falls short
    while high - low > 1:
        middle = (low + high) // 2
        if falls_short(drops, middle, bits) is None:
            high = middle
        else:
            low = middle
    return high


def falls_short(drops: Drops, c: int, bits: int) -> int | None:
    """The first of the examples with 1 - p ≥ 2^-bits at this c; None if there is none. Exact."""
    for k, row in enumerate(drops):
        behind = [c * gap + rest for gap, rest in row]
        if behind and not _below(behind, bits):
            return k
    return None


def _below(behind: Sequence[int], bits: int) -> bool:
    """1 - p < 2^-bits, in integers over 2^most: with S = Σ 2^-δ, 1 - p = S/(1 + S)."""
    nearest = min(behind)
    if nearest < bits:
        return False  # 1 - p ≥ 2^-δ/(1 + 2^-δ) ≥ 2^-(δ + 1)
    if nearest >= bits + len(behind).bit_length():
        return True  # S ≤ len·2^-δ < 2^-bits
    most = (len(behind) + 1) * (bits + 1)  # farther rows change nothing (rational.py)
    total = sum(1 << most - min(drop, most) for drop in behind)
    return total << bits < total + (1 << most)


def whole(x: fmpq) -> int:
    """Raises ValueError where x is none.

    >>> whole(fmpq(6, 2))
    3
    """
    if x.q != 1:
        raise ValueError(f"{x} is not whole")
    return int(x.p)
