"""That no smaller c saturates: in every head, at one less some earlier example falls short.

Derivation (ours). With a and b as in `symbolic`, the drops of the other rows below L_s at c' are
c'·(a_L - a_i) + b_L - b_i. They grow with c', as a_L is the largest (step 6), so 1 - p falls; hence
the c' that give 1 - p < 2^-B for all earlier s are a half-line of whole numbers, and its end is
proved by the inequality at it and the failure of the inequality at one less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attncert.constructions.arrays import ObjectArray
from attncert.constructions.construction import BuiltLayer, SteeringHead
from attncert.constructions.data.conversion import objects
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Head
from attncert.verify import features
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import OVER_Q, Claim
from attncert.verify.claims.ids import of_head
from attncert.verify.saturation import SOURCE, moving_heads
from attncert.verify.saturation.rational import below
from attncert.verify.steps.heads import lead
from attncert.verify.tables import Table, behind_targets, dense


@dataclass(frozen=True)
class Drops:
    """How far the rows of each earlier s are below L_s at c: c·gaps + rests, (N, n - 1) Python
    integers (objects), gaps a_L - a_i and rests b_L - b_i for i ≠ L."""

    gaps: ObjectArray
    rests: ObjectArray

    @classmethod
    def of(cls, grows: ObjectArray, stays: ObjectArray, targets: Sequence[int]) -> Drops:
        """grows, stays: a and b (N, n), integers; targets: the rows L_s."""
        return cls(behind_targets(grows, targets), behind_targets(stays, targets))

    @property
    def led(self) -> bool:
        """Whether every L_s leads in the limit."""
        return not (self.gaps <= 0).any()

    @property
    def rate(self) -> int | None:
        """The least of the gaps; None where there is none."""
        return int(self.gaps.min()) if self.gaps.size else None

    def at(self, c: int) -> ObjectArray:
        """c·gaps + rests."""
        return c * self.gaps + self.rests


def drops_behind(now: Table, grows: Table, c: int, targets: Sequence[int]) -> Drops | None:
    """Those of the earlier examples, from their logits at the head's c and what c multiplies, both
    (N, n); None where the latter is not whole."""
    whole = whole_table(dense(grows))
    return None if whole is None else Drops.of(whole, dense(now) - c * whole, targets)


def least(data: Dataset, built: BuiltLayer, bits: int) -> Claim:
    """The claim "saturation.least": the least positive whole c in every head, found here by
    bisection; *refuted* where a head's own c is smaller, or its rows do not lead in the limit.

    A head's c can be larger, where the rank was not certified at less: the claim says in which.
    """
    ends, larger, wrong = dict[int, int](), dict[int, int](), list[int]()
    for h, record in moving_heads(built):
        drops, c = drops_of(data, built.layer.heads[h], record), int(record.c or 0)
        end = least_c(drops, bits)
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
        f"$1-p<2^{{-{bits}}}$ for all of them was found: at one less (where that is "
        f"positive) some example falls short.{more}",
        not wrong,
        lambda: {"heads": wrong},
        numbers={"least c": ", ".join(map(str, ends.values())) or "none needed"}
        | ({"larger for the rank": ", ".join(f"head {h}: {c}" for h, c in larger.items())}
           if larger else {}),
        arithmetic=OVER_Q,
        rests_on=tuple(of_head(h, ids.WEIGHTS) for h in ends),
        source=SOURCE,
    )  # fmt: skip


def drops_of(data: Dataset, head: Head, record: SteeringHead) -> Drops:
    """How far the rows of the earlier examples of this head are behind L_s, as functions of c."""
    now = features.logit_table(head, data)[list(record.earlier)]
    drops = drops_behind(now, lead(data, record), int(record.c or 0), record.targets)
    if drops is None:
        raise ValueError("c multiplies something that is not whole")
    return drops


def least_c(drops: Drops, bits: int) -> int | None:
    """The least whole c ≥ 1 with 1 - p < 2^-bits at all; None where some row never leads."""
    if not drops.led:
        return None
    if drops.rate is None:
        return 1
    high = 1
    while falls_short(drops, high, bits):
        high *= 2
    low = high // 2  # 0, or a c at which some example falls short
    while high - low > 1:
        middle = (low + high) // 2
        if falls_short(drops, middle, bits):
            low = middle
        else:
            high = middle
    return high


def falls_short(drops: Drops, c: int, bits: int) -> bool:
    """Whether 1 - p ≥ 2^-bits for some example at this c. Exact.

    Where all drops of an example are at least `enough`, 1 - p < 2^-bits: only others are looked at.
    """
    behind, enough = drops.at(c), bits + drops.gaps.shape[1].bit_length()
    close = behind[behind.min(axis=1) < enough]
    return not all(below(drop, bits) for drop in close.tolist())


def whole_table(table: ObjectArray) -> ObjectArray | None:
    """The table as Python integers; None where some entry is not whole.

    >>> from flint import fmpq
    >>> whole_table(objects([fmpq(6, 2), 1], (2,))).tolist()
    [3, 1]
    """
    flat = table.ravel().tolist()
    if all(type(x) is int for x in flat):
        return table
    if any(x != int(x) for x in flat):
        return None
    return objects([int(x) for x in flat], table.shape)
