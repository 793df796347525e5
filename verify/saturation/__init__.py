"""Saturation on demand: every earlier example attends to its row with 1 - p < 2^-B, in every head.

`rational.rational` decides 1 - p < 2^-B over ℚ at the layer's own weights, `least.least` shows that
no smaller c suffices, and `claims.conclusion` concludes. This module has what they share: the heads
that move examples, and the pairs that the statement is about.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from attncert.constructions.construction import BuiltLayer, SteeringHead
from attncert.verify.claims.words import counted

SOURCE = "ours: saturation on demand (docs/mathematics.md, section 4)"


class SaturatedPair(NamedTuple):
    """A head, counted from 0, an earlier example that it must saturate, and its row L_s."""

    head: int
    example: int
    row: int


def pairs(built: BuiltLayer) -> Iterator[SaturatedPair]:
    """The earlier examples of each head, head by head."""
    for h, record in enumerate(built.heads):
        targets = record.targets if isinstance(record, SteeringHead) else ()
        for s, row in zip(record.earlier, targets, strict=True):
            yield SaturatedPair(h, s, row)


def moving_heads(built: BuiltLayer) -> Iterator[tuple[int, SteeringHead]]:
    """The heads with a term c·u vᵀ and earlier examples, with their numbers from 0."""
    for h, record in enumerate(built.heads):
        if isinstance(record, SteeringHead) and record.selector is not None and record.earlier:
            yield h, record


def in_words(built: BuiltLayer) -> str:
    """The pairs in words: "all 91 pairs of a head and an earlier example"."""
    count = sum(1 for _ in pairs(built))
    return f"{counted(count, 'pair', 'all')} of a head and an earlier example"
