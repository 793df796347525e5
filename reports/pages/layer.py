"""The report of `attncert layer`: errors relative to the labels' spread, the worth of each head,
and how the layer was read."""

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
from attncert.reports.words.text import plain
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.words import widened
from attncert.verify.outputs.error import Limit, interval, outward
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
        "tolerance": "" if answer.limit is None else _tolerance(answer.limit),
        "wide": widened(answer.data.m, answer.weights.layer.value_width),
        "claims": lines(answer.trace),
        "margin": MARGIN,
        "tables": [make(answer, audit) for make in _TABLES] if audit else [],
    }
    more = tuple(_sentences(answer))
    return PageParts("layer.md.j2", context, exhibits(answer), partial(_figures, audit), more=more)


def _figures(audit: LayerAudit | None) -> dict[str, bytes]:
    return {} if audit is None else {"saturation": heat_map(saturation(audit), "example")}


def exhibits(answer: LayerAnswer) -> dict[str, Any]:
    """How the layer was read, and the numbers of each head; the errors are in the claims."""
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
    return read if audit is None else read | {"limit": answer.limit, "heads": _heads(audit)}


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


def _heads(audit: LayerAudit) -> list[dict[str, Any]]:
    return [{"saturated": x.saturated, "without": x.without} for x in audit.heads]


def _tolerance(limit: Limit) -> str:
    """The requirement for each output, and its origin."""
    bound = "nearer to its own label" if limit.bound is None else short(limit.bound)
    source = "by default (--tolerance sets another)" if limit.default else "by --tolerance"
    return f"{bound}, {source}"


def _sigma(audit: LayerAudit) -> str:
    low, high = outward(audit.sigma.lower, audit.sigma.upper)
    if audit.rank.level is Level.REFUTED:
        return "0: its rank is below $T$"
    return interval(low, high) if audit.sigma.lower > 0 else f"at most {high}"


def saturation(audit: LayerAudit) -> FloatArray:
    """-log2 of the attention outside the largest weight, from the midpoint of its enclosure:
    heads × examples."""
    return np.array([[_bits(off_peak) for off_peak in head.off_peak] for head in audit.heads])


def _bits(off_peak: arb) -> float:
    middle = off_peak.mid()
    return float((-middle.log() / arb.const_log2()).mid()) if middle > 0 else math.inf


def heads_table(answer: LayerAnswer, audit: LayerAudit) -> Table:
    """The worth of each head."""
    rows = [
        (str(h), interval(*head.without), str(len(head.saturated)))
        for h, head in enumerate(audit.heads, start=1)
    ]
    return Table(
        "The heads",
        ("head", "largest error without it", "saturated"),
        tuple(rows),
        "without it: its contribution to the outputs, value bias included, is left out (enclosed); "
        "saturated: examples with all but $2^{-10}$ of the attention on one row",
    )


def examples_table(answer: LayerAnswer, audit: LayerAudit) -> Table:
    T = answer.data.T
    errors = answer.trace[ids.LAYER_ERROR].numbers["errors"]
    margins = answer.trace[ids.LAYER_MEMORIZES].numbers.get("margins")
    columns = [errors] if margins is None else [errors, margins]
    rows = [(str(t), *(interval(*x[t]) for x in columns)) for t in range(min(T, _SHOWN))]
    more = f"; {T - _SHOWN} more are in the JSON" if T > _SHOWN else ""
    return Table(
        "The examples",
        ("example", "error", "margin")[: 1 + len(columns)],
        tuple(rows),
        f"error: a single number is exact, two numbers are bounds{more}",
    )


_TABLES = (heads_table, examples_table)
