"""Limits that hold for all weights, on one data set: as claims, for where no weights were built.

The least of the bounds as one number is in universal.py. Here are the claims from which a reader
sees that it holds, and only those that say something: a bound below T, a relation that exists.
"""

from __future__ import annotations

from attncert.constructions.construction import fewest_heads
from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.tightness.labels import label_rank
from attncert.verify.tightness.relations.flat import column_bound
from attncert.verify.tightness.relations.rows import few_tied, row_bound, row_relations
from attncert.verify.tightness.shared_contexts.largest_rank import applies, shared_capacity
from attncert.verify.tightness.values import all_at_value_width

__all__ = ["limits"]

MOST_FEATURES = 20_000  # T·H·d up to which weights are built to test or to show a bound


def limits(data: Dataset, heads: int | None, value_width: int) -> list[Claim]:
    """Limits that hold for all weights. heads: as asked for; None: any number of them."""
    claims: list[Claim] = []
    if heads is not None:
        claims += column_bound(data, heads, tested=data.T * heads * data.d <= MOST_FEATURES)
        labels = [label_rank(data, heads, value_width)] if data.labelled else []
        claims += [claim for claim in labels if claim.level is Level.REFUTED]
    if few_tied(data) and row_relations(data):
        claims += row_bound(data, probes=3)
    if heads is not None:
        claims = all_at_value_width(claims, data, heads, value_width)
    if any(claim.level is Level.REFUTED for claim in claims):
        return claims
    enough = heads or fewest_heads(data.T, data.n, data.n) or 1
    wide = heads is not None or value_width >= data.m  # narrow values may need any number of heads
    if data.T * enough * data.d <= MOST_FEATURES and wide and applies(data):
        claims += shared_capacity(data, enough)
    return claims if heads is None else all_at_value_width(claims, data, heads, value_width)
