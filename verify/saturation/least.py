"""No smaller c saturates: in every head, some earlier example falls short at c - 1.

Derivation (ours). Let a and b be as in `symbolic`. The drops of the other rows below L_s at c' are
c'·(a_L - a_i) + b_L - b_i. They grow with c', since a_L is the largest (step 6), so 1 - p falls.
Hence the c' that give 1 - p < 2^-B for all earlier s are all integers from some c on. That c
is proved to be the least: the inequality holds at c and fails at c - 1.
"""

from __future__ import annotations

from typing import NamedTuple

from attncert.constructions.arrays import ObjectArray
from attncert.constructions.construction import BuiltLayer, SteeringHead
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Head
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import OVER_Q, Claim
from attncert.verify.claims.ids import of_head
from attncert.verify.features import features
from attncert.verify.features.tables import behind_targets, dense
from attncert.verify.saturation import SOURCE, moving_heads
from attncert.verify.saturation.rational import below
from attncert.verify.statements.steps.heads import lead


class Drops(NamedTuple):
    """How far the rows of each earlier s are below L_s at c: c·gaps + rests, (N, n - 1) Python
    integers (objects), gaps a_L - a_i and rests b_L - b_i for i ≠ L."""

    gaps: ObjectArray
    rests: ObjectArray


def least(data: Dataset, built: BuiltLayer, bits: int) -> Claim:
    """The claim "saturation.least": at one less than a head's c some earlier example falls short;
    *refuted* if c itself falls short, or if a head's rows do not lead in the limit.

    A head's c is larger if the rank was not certified at less; the claim names such heads.
    """
    ends, larger, wrong = dict[int, int](), dict[int, int](), list[int]()
    for h, record in moving_heads(built):
        drops, c = drops_of(data, built.layer.heads[h], record), int(record.c or 0)
        if c < 1 or (drops.gaps <= 0).any() or falls_short(drops, c, bits):
            wrong.append(h + 1)
        elif c == 1 or falls_short(drops, c - 1, bits):
            ends[h + 1] = c
        else:
            larger[h + 1] = c
    every, more = "every head", ""
    if larger:
        every = f"every head but {', '.join(map(str, larger))}"
        more = " In these $c$ is larger, because the rank was not certified at less."
    return Claim.checked(
        ids.SATURATION_LEAST,
        f"In {every} that has earlier examples $c$ is the least positive whole number with "
        f"$1-p<2^{{-{bits}}}$ for all of them: at one less (if that is positive) some example "
        f"falls short.{more}",
        not wrong,
        lambda: {"heads": wrong},
        numbers={"least c": ", ".join(map(str, ends.values())) or "none needed"}
        | ({"larger for the rank": ", ".join(f"head {h}: {c}" for h, c in larger.items())}
           if larger else {}),
        arithmetic=OVER_Q,
        rests_on=tuple(of_head(h, "weights") for h in (*ends, *larger)),
        source=SOURCE,
    )  # fmt: skip


def drops_of(data: Dataset, head: Head, record: SteeringHead) -> Drops:
    """The distances of the rows of this head's earlier examples behind L_s, as functions of c."""
    grows = dense(lead(data, record))
    if any(type(x) is not int for x in grows.ravel().tolist()):
        raise ValueError("c multiplies a number that is not an integer")
    logits = dense(features.logit_table(head, data)[list(record.earlier)])
    stays = logits - int(record.c or 0) * grows
    return Drops(behind_targets(grows, record.targets), behind_targets(stays, record.targets))


def falls_short(drops: Drops, c: int, bits: int) -> bool:
    """Whether 1 - p ≥ 2^-bits for some example at this c. Exact.

    If all drops of an example are at least `enough`, then 1 - p < 2^-bits: the others are decided.
    """
    if not drops.gaps.size:
        return False
    behind, enough = c * drops.gaps + drops.rests, bits + drops.gaps.shape[1].bit_length()
    close = behind[behind.min(axis=1) < enough]
    return not all(below(drop, bits) for drop in close.tolist())
