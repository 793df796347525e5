"""The report of `attncert layer`: errors relative to the labels' spread, the contribution of each
head, how the layer was read, and how it compares with Theorem 1."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from flint import arb

from attncert.constructions.arrays import FloatArray
from attncert.constructions.numerals import short
from attncert.reports.prove.blocks import MARGIN
from attncert.reports.prove.heat_map import heat_map
from attncert.reports.report import PageParts, Table
from attncert.reports.words.claims import lines
from attncert.reports.words.drawing import Picture
from attncert.reports.words.text import plain
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.words import listed, widened
from attncert.verify.outputs.error import interval, outward
from attncert.verify.third_party.layer.layer import LayerAnswer
from attncert.verify.third_party.layer.layer_audit import LayerAudit

_SHOWN = 60  # examples in a table; the JSON holds all of them


def page_parts(answer: LayerAnswer) -> PageParts:
    audit = answer.audit
    context = {
        "audit": audit,
        "weights": answer.weights,
        "attention": answer.attention,
        "reading": answer.reading,
        "sigma": "" if audit is None else _sigma(audit),
        "tolerance": "" if audit is None else _tolerance(audit),
        "wide": widened(answer.data.m, answer.weights.layer.value_width),
        "shown": [x for x in lines(answer.trace) if not x.id.startswith("theorem1.")],
        "margin": MARGIN,
        "tables": [make(audit) for make in _TABLES] if audit else [],
    }
    more = tuple(_sentences(answer))
    return PageParts("layer.md.j2", context, exhibits(answer), partial(_figures, audit), more=more)


def _figures(audit: LayerAudit | None) -> dict[str, Picture]:
    return {} if audit is None else {"saturation": heat_map(saturation(audit), "example")}


def exhibits(answer: LayerAnswer) -> dict[str, Any]:
    """How the layer was read, and the numbers of each head; the claims have the errors."""
    stored, attention, audit = answer.weights, answer.attention, answer.audit
    read = {
        "dtype": stored.dtype,
        "format": stored.format,
        "prefix": stored.prefix,
        "biases": stored.biased,
        "logit unit": attention.unit,
        "scale": attention.scale,
        "masked": answer.masked,
    }
    return read if audit is None else read | {"limit": audit.limit, "heads": audit.heads}


def _sentences(answer: LayerAnswer) -> Iterator[str]:
    audit, reading = answer.audit, answer.reading
    if audit is None:
        return
    yield _rank(answer)
    if reading is not None and reading.level is Level.ASSUMED:
        yield plain(reading.statement)


def _rank(answer: LayerAnswer) -> str:
    level, standing = answer.trace[ids.LAYER_RANK].level, answer.trace.standing(ids.LAYER_RANK)
    if level is Level.REFUTED:
        return f"All labels at once: no, rank Z < T = {answer.data.T}."
    words = level.value
    if standing is not level:
        words = f"{words} of the layer as it was read: {standing.value}"
    return f"All labels at once: rank Z = T = {answer.data.T} ({words})."


def _tolerance(audit: LayerAudit) -> str:
    """The requirement for each output, and its origin."""
    limit = audit.limit
    bound = "nearer to its own label" if limit.bound is None else short(limit.bound)
    source = "by default (--tolerance sets another)" if limit.default else "by --tolerance"
    return f"{bound}, {source}"


def _sigma(audit: LayerAudit) -> str:
    low, high = outward(audit.sigma.lower, audit.sigma.upper)
    if audit[ids.LAYER_RANK].level is Level.REFUTED:
        return "0: its rank is below $T$"
    return interval(low, high) if audit.sigma.lower > 0 else f"at most {high}"


def saturation(audit: LayerAudit) -> FloatArray:
    """-log2 of the attention outside the largest weight, at the midpoint: heads × examples."""
    return np.array([[_bits(off_peak) for off_peak in row] for row in audit.off_peak])


def _bits(off_peak: arb) -> float:
    middle = off_peak.mid()
    return float((-middle.log() / arb.const_log2()).mid()) if middle > 0 else math.inf


def heads_table(audit: LayerAudit) -> Table:
    """The contribution of each head, and a comparison with a head of the proof."""
    rows = []
    for h, head in enumerate(audit.heads):
        shares = head.gives.values()
        rows.append((
            str(h + 1), interval(*head.without), listed(list(head.gives)),
            f"{sum(shares) / len(shares):.2f}" if shares else "-",
            str(head.rank), str(len(head.saturated)),
            f"{sum(head.led[t].holds for t in head.earlier)} of {len(head.earlier)}" if h else "-",
        ))  # fmt: skip
    return Table(
        "The heads",
        (
            "head", "largest error without it", "gives most to", "its share there",
            "rank of $M_h$", "saturated", "earlier ones lead by a bit",
        ),
        tuple(rows),
        "without it: its contribution to the outputs, value bias included, is left out (enclosed); "
        "gives most to: the examples for which its contribution minus the average of that "
        "contribution is larger than any other head's (float64), with its mean share of all "
        "contributions there; saturated: examples with all but $2^{-10}$ of the attention on one "
        "row; earlier: the examples to which the heads above give most",
    )  # fmt: skip


def examples_table(audit: LayerAudit) -> Table:
    data, rows = audit.attention.data, []
    heads = {t: h for h, head in enumerate(audit.heads, start=1) for t in head.gives}
    margins = audit[ids.LAYER_MEMORIZES].numbers.get("margins")
    for t in range(min(data.T, _SHOWN)):
        margin = [] if margins is None else [interval(*margins[t])]
        rows.append((str(t), interval(*audit.errors[t]), *margin, str(heads.get(t, "none"))))
    more = f"; {data.T - _SHOWN} more are in the JSON" if data.T > _SHOWN else ""
    margin = [] if margins is None else ["margin"]
    return Table(
        "The examples",
        ("example", "error", *margin, "carried by head"),
        tuple(rows),
        f"error: one number is exact, two are bounds{more}",
    )


def theorem_table(audit: LayerAudit) -> Table:
    compared = [claim for claim in audit.claims if claim.id.startswith("theorem1.")]
    return Table(
        "How the layer compares with Theorem 1",
        ("claim", "found", "how"),
        tuple((claim.statement, _described(claim.level), claim.arithmetic) for claim in compared),
        '"No" says nothing against the layer: it may memorize in a different way from the proof of '
        "Theorem 1, or with other groups.",
    )


_TABLES = (heads_table, examples_table, theorem_table)


def _described(level: Level) -> str:
    if level is Level.REFUTED:
        return "no"
    return f"yes ({level.value})" if level.holds else level.value
