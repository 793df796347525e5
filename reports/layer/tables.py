"""The tables and the heat map of a layer: what each head does, each example, the proof."""

from __future__ import annotations

import math
from decimal import ROUND_DOWN, Decimal

import numpy as np
from flint import arb

from attncert.constructions.arrays import FloatArray
from attncert.reports.words.table import Table
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.words import listed
from attncert.verify.layer.error import LayerAudit, interval

_SHOWN = 60  # examples in a table; the JSON holds all


def saturation(audit: LayerAudit) -> FloatArray:
    """-log2 of the attention outside the largest weight, by the middle of its enclosure: heads ×
    examples."""
    return np.array([[_bits(off_peak) for off_peak in row] for row in audit.off_peak])


def _bits(off_peak: arb) -> float:
    middle = off_peak.mid()
    return float((-middle.log() / arb.const_log2()).mid()) if middle > 0 else math.inf


def heads_table(audit: LayerAudit, grouped: bool) -> Table:
    """What each head is worth, and how it compares with a head of the proof."""
    rows = []
    for h, head in enumerate(audit.heads):
        most = audit.ablation.most_for(h)
        shares = [float(audit.ablation.share[t]) for t in most]
        rows.append((
            str(h + 1), interval(*audit.ablation.without[h]), listed(most),
            f"{sum(shares) / len(shares):.2f}" if shares else "-",
            *([listed(head.group)] if grouped else []), str(head.rank), str(len(head.saturated)),
            f"{len(set(head.earlier) & set(head.led))} of {len(head.earlier)}" if h else "-",
        ))  # fmt: skip
    carries = "carries: as the file's groups say; " if grouped else ""
    earlier = "carried by the heads above" if grouped else "those that the heads above give most to"
    return Table(
        "The heads",
        (
            "head", "largest error without it", "gives most to", "its share there",
            *(["carries"] if grouped else []), "rank of $M_h$", "saturated",
            "earlier ones lead by a bit",
        ),
        tuple(rows),
        "without it: what the head adds to the outputs, its value bias included, is left out "
        "(enclosed); gives most to: its part of the output, less the average of that part, is "
        "larger than any other head's (float64), and its mean share of all parts there; "
        f"{carries}saturated: examples with all but $2^{{-10}}$ of the attention on one row; "
        f"earlier: {earlier}",
    )  # fmt: skip


def _digits(bound: str) -> str:
    """A lower bound of a weight, cut after four digits: 1 is 1, and nothing below it is.

    >>> _digits("0.999999"), _digits("1"), _digits("0.25"), _digits("1e-301029")
    ('0.9999', '1', '0.25', '0')
    """
    return f"{Decimal(bound).quantize(Decimal('0.0001'), ROUND_DOWN).normalize():f}"


def examples_table(audit: LayerAudit) -> Table:
    data, rows = audit.attention.data, []
    home = {t: h for h, head in enumerate(audit.heads, start=1) for t in head.group}
    for t in range(min(data.T, _SHOWN)):
        low, high = audit.errors[t]
        peaks = ", ".join(_digits(head.peaks[t][1]) for head in audit.heads)
        error = low if low == high else f"{low} to {high}"
        rows.append((str(t), error, str(home.get(t, "none")), peaks))
    more = f"; {data.T - _SHOWN} more in the JSON" if data.T > _SHOWN else ""
    return Table(
        "The examples",
        ("example", "error", "carried by head", "largest weight, head by head"),
        tuple(rows),
        "error: one number is exact, two are bounds; weights are cut after four digits, not "
        f"rounded; both bounds are in the JSON{more}",
    )


def theorem_table(audit: LayerAudit, grouped: bool) -> Table:
    compared = [claim for claim in audit.claims if claim.id.startswith("theorem1.")]
    return Table(
        "How the layer compares with Theorem 1",
        ("claim", "found", "how"),
        tuple((claim.statement, _described(claim.level), claim.arithmetic) for claim in compared),
        "A no is not a finding against the layer: it may memorize in another way than the proof of "
        "Theorem 1. It means that the layer is of another kind"
        + (
            "."
            if grouped
            else ", or that it was built with other groups; if you know these, put them into the "
            'file as "groups".'
        ),
    )


def _described(level: Level) -> str:
    if level is Level.REFUTED:
        return "no"
    return f"yes ({level.value})" if level.holds else level.value
