"""At a head's c, the least possible, every earlier s attends to one row L_s with 1 - p < 2^-B.

Derivation (ours). In units of ln 2, the logits are integers k_i, so p = 2^k_L / Σ_i 2^k_i, and

    1 - p < 2^-B   ⟺   2^B·Σ_{i≠L} 2^k_i < Σ_i 2^k_i.

Both sides are multiplied by 2^-min k. A row that is more than M = n(B + 1) bits below L is moved up
to M bits below L, which bounds the length of the powers and never changes whether the inequality
holds (docs/certificate.md, "Saturation").

The logits at c' are c'·a + b, so the other rows are c'·(a_L - a_i) + b_L - b_i below L_s. These
drops increase with c', since a_L is the largest (step 6), so 1 - p decreases. Hence the c' with 1 -
p < 2^-B for all earlier s are precisely the integers from some c on. This c is proved to be the
least: the inequality holds at c, for the layer's own weights, and fails at c - 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flint import fmpz

from attncert.constructions.arrays import ObjectArray
from attncert.constructions.construction import BuiltLayer, SteeringHead
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Head
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import OVER_Q, Claim
from attncert.verify.claims.ids import of_head
from attncert.verify.features import features
from attncert.verify.features.tables import behind_targets, dense
from attncert.verify.statements.steps.heads import lead

_SOURCE = "ours: saturation on demand (docs/mathematics.md, section 4)"


class Drops(NamedTuple):
    """How far the rows of each earlier s are below L_s at c: c·gaps + rests, with gaps a_L - a_i
    and rests b_L - b_i for i ≠ L, as (N, n - 1) arrays of Python integers."""

    gaps: ObjectArray
    rests: ObjectArray


def saturated(data: Dataset, built: BuiltLayer, bits: int) -> Claim:
    """The claim for this number of bits: refuted if some c falls short, or if a head's rows do not
    lead in the limit. If the rank was not certified at a smaller c, a head's c is not the least
    such c. Exact."""
    ends, larger, wrong = dict[int, int](), dict[int, int](), list[int]()
    for h, record in _moving_heads(built):
        drops, c = drops_of(data, built.layer.heads[h], record), int(record.c or 0)
        if c < 1 or (drops.gaps <= 0).any() or falls_short(drops, c, bits):
            wrong.append(h + 1)
        elif c == 1 or falls_short(drops, c - 1, bits):
            ends[h + 1] = c
        else:
            larger[h + 1] = c
    numbers = {
        "bits": bits,
        "pairs": sum(len(record.earlier) for record in built.heads),
        "least c": ", ".join(map(str, ends.values())) or "none needed",
    }
    if larger:
        numbers["larger for the rank"] = ", ".join(f"head {h}: {c}" for h, c in larger.items())
    steps = [of_head(h, step) for h in sorted(ends | larger) for step in ("weights", "saturation")]
    return Claim.checked(
        ids.SATURATION_ASKED,
        "In every head every earlier example attends to its row $L_s$ with "
        f"$1-p<2^{{-{bits}}}$, at the least $c$ that gives it"
        + (", or the least larger one at which the rank is certified." if larger else "."),
        not wrong,
        {"heads": wrong},
        numbers=numbers,
        arithmetic=f"{OVER_Q}, integers after clearing denominators",
        rests_on=() if wrong else tuple(steps),
        source=_SOURCE,
    )


def _moving_heads(built: BuiltLayer) -> Iterator[tuple[int, SteeringHead]]:
    """The heads that have a term c·u vᵀ and earlier examples, each with its number, from 0."""
    for h, record in enumerate(built.heads):
        if isinstance(record, SteeringHead) and record.selector is not None and record.earlier:
            yield h, record


def drops_of(data: Dataset, head: Head, record: SteeringHead) -> Drops:
    """The drops of the rows below L_s for this head's earlier examples, as functions of c."""
    grows = dense(lead(data, record))
    if any(type(x) is not int for x in grows.ravel().tolist()):
        raise ValueError("c multiplies a number that is not an integer")
    logits = dense(features.logit_table(head, data)[list(record.earlier)])
    stays = logits - int(record.c or 0) * grows
    return Drops(behind_targets(grows, record.targets), behind_targets(stays, record.targets))


def falls_short(drops: Drops, c: int, bits: int) -> bool:
    """Whether 1 - p ≥ 2^-bits for some example at this c. Exact.

    If all drops of an example are at least `enough`, then 1 - p < 2^-bits; only the other examples
    are computed.
    """
    if not drops.gaps.size:
        return False
    behind, enough = c * drops.gaps + drops.rests, bits + drops.gaps.shape[1].bit_length()
    close = behind[behind.min(axis=1) < enough]
    return not all(_below(drop, bits) for drop in close.tolist())


def _below(behind: Sequence[int], bits: int) -> bool:
    """Whether 2^B·Σ 2^-δ < 1 + Σ 2^-δ. behind: δ of the other rows, negative for rows above L."""
    if min(behind) < 1:
        return False
    most = (len(behind) + 1) * (bits + 1)
    others = sum((fmpz(1) << (most - min(drop, most)) for drop in behind), fmpz(0))
    return bool((others << bits) < others + (fmpz(1) << most))
