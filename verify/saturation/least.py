"""That no smaller c saturates: in every head, at one less some earlier example falls short.

Derivation (ours). With a and b as in `symbolic`, the drops of the other rows below L_s at c' are
c'·(a_L - a_i) + b_L - b_i. They grow with c', as a_L is the largest (step 6), so 1 - p falls; hence
the c' that give 1 - p < 2^-B for all earlier s are a half-line of whole numbers, and its end is
proved by the inequality at it and the failure of the inequality at one less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attncert.constructions.arrays import BoolArray, FloatArray, ObjectArray
from attncert.constructions.construction import Construction, SteeringHead
from attncert.constructions.data.conversion import objects
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact import integers
from attncert.constructions.search.saturation import Saturation
from attncert.verify import features
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import OVER_Q, Claim
from attncert.verify.claims.ids import of_head
from attncert.verify.saturation import SOURCE
from attncert.verify.saturation.rational import below
from attncert.verify.steps.shared import lead
from attncert.verify.tables import Table, behind_targets, dense

_LONG = 100  # bits of a c beyond which float64 is no help


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
    def others(self) -> int:
        """n - 1."""
        return int(self.gaps.shape[1])

    @property
    def rate(self) -> int | None:
        """The least of the gaps; None where there is none."""
        return int(self.gaps.min()) if self.gaps.size else None

    def take(self, examples: BoolArray) -> Drops:
        """Those of some of the examples."""
        return Drops(self.gaps[examples], self.rests[examples])

    def at(self, c: int) -> ObjectArray:
        """c·gaps + rests."""
        below: ObjectArray = c * self.gaps + self.rests
        return below

    def near(self, c: int, bits: int | None = None) -> Drops:
        """Those of few examples, by float64, with all that have a drop of `bits` or less at c; or,
        if no bits are given, with all that are at most log2 n bits further than the least of all.

        The numbers are rounded to float64 and again in the sum, and cut where they are too long for
        it: by `slack` at most. (c below 2^100 times gaps below 2^900: no float64 overflows.)
        """
        if c.bit_length() > _LONG:
            return self
        gaps, rests, cut = self._floats
        grown = c * gaps
        slack = 2.0**-50 * (np.abs(grown) + np.abs(rests)) + (c + 1 if cut else 0)
        drops = grown + rests
        least = (drops + slack).min()
        most = least + gaps.shape[1].bit_length() if bits is None else bits
        return self.take((drops - slack).min(axis=1) <= most)

    @cached_property
    def _floats(self) -> tuple[FloatArray, FloatArray, bool]:
        """gaps and rests over one power of two, 1 if it can be; and whether it is not 1."""
        longest = max(integers.largest(self.gaps), integers.largest(self.rests)).bit_length()
        cut = max(0, longest - 1000 + _LONG)
        tables = (self.gaps >> cut, self.rests >> cut) if cut else (self.gaps, self.rests)
        return tables[0].astype(np.float64), tables[1].astype(np.float64), cut > 0


def drops_behind(now: Table, grows: Table, record: SteeringHead) -> Drops | None:
    """Those of the earlier examples, from their logits at the head's c and what c multiplies, both
    (N, n); None where the latter is not whole."""
    c, targets = int(record.c or 0), record.targets
    whole = whole_table(dense(grows))
    return None if whole is None else Drops.of(whole, dense(now) - c * whole, targets)


def least(data: Dataset, built: Construction, demand: Saturation) -> Claim:
    """The claim "saturation.least": the least positive whole c in every head, found here by
    bisection; *refuted* where a head's own c is smaller, or its rows do not lead in the limit.

    A head's c can be larger, where the rank was not certified at less: the claim says in which.
    """
    ends, larger, wrong = dict[int, int](), dict[int, int](), list[int]()
    for h, record in enumerate(built.heads):
        if not isinstance(record, SteeringHead) or record.selector is None or not record.earlier:
            continue
        drops, c = drops_of(data, built, h), int(record.c or 0)
        end = least_c(drops, demand.bits)
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
        f"$1-p<2^{{-{demand.bits}}}$ for all of them was found: at one less (where that is "
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


def drops_of(data: Dataset, built: Construction, h: int) -> Drops:
    """How far the rows of the earlier examples of head h are behind L_s, as functions of c."""
    record = built.heads[h]
    assert isinstance(record, SteeringHead) and record.c is not None
    now = features.logit_table(built.layer.heads[h], data)[list(record.earlier)]
    drops = drops_behind(now, lead(data, record), record)
    if drops is None:
        raise ValueError("c multiplies something that is not whole")
    return drops


def least_c(drops: Drops, bits: int) -> int | None:
    """The least whole c ≥ 1 with 1 - p < 2^-bits at all; None where some row never leads.

    Where all drops of an example are at least `enough`, 1 - p < 2^-bits: only others are looked at.
    """
    if not drops.led:
        return None
    if drops.rate is None:
        return 1
    enough = bits + drops.others.bit_length()
    high = 1
    while falls_short(drops.near(high, enough), high, bits) is not None:
        high *= 2
    low = high // 2  # 0, or a c at which some example falls short
    while high - low > 1:
        middle = (low + high) // 2
        if falls_short(drops.near(middle, enough), middle, bits) is None:
            high = middle
        else:
            low = middle
    return high


def falls_short(drops: Drops, c: int, bits: int) -> int | None:
    """The first of the examples with 1 - p ≥ 2^-bits at this c; None if there is none. Exact."""
    for k, behind in enumerate(drops.at(c).tolist()):
        if behind and not below(behind, bits):
            return k
    return None


def whole_table(table: ObjectArray) -> ObjectArray | None:
    """The table as Python integers; None where some entry is not whole.

    >>> from flint import fmpq
    >>> whole_table(np.array([fmpq(6, 2), 1], dtype=object)).tolist()
    [3, 1]
    """
    flat = table.ravel().tolist()
    if all(type(x) is int for x in flat):
        return table
    if any(x != int(x) for x in flat):
        return None
    return objects([int(x) for x in flat], table.shape)
