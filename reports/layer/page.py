"""The report of `attncert layer`: errors beside the labels' spread, what each head is worth, how
the layer was read, and how it compares with Theorem 1."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from attncert.constructions.numerals import numeral, short
from attncert.reports.answers import PageParts
from attncert.reports.layer.tables import (
    examples_table,
    heads_table,
    saturation,
    theorem_table,
)
from attncert.reports.prove.figures import heat_map
from attncert.reports.report import figure_file
from attncert.reports.words.claims import lines
from attncert.reports.words.drawing import style, to_svg
from attncert.reports.words.table import Table
from attncert.reports.words.text import plain
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.words import widened
from attncert.verify.layer.error import LayerAudit, bounds, interval
from attncert.verify.layer.layer import LayerAnswer


def page_parts(answer: LayerAnswer) -> PageParts:
    audit = answer.audit
    context = {
        "audit": audit,
        "weights": answer.weights,
        "attention": answer.attention,
        "reading": answer.reading,
        "sigma": "" if audit is None else _sigma(audit),
        "tolerance": "" if audit is None else _tolerance(answer, audit),
        "wide": widened(answer.data.m, answer.weights.layer.value_width),
        "shown": [x for x in lines(answer.trace) if not x.id.startswith("theorem1.")],
        "tables": [] if audit is None else _tables(answer, audit),
    }
    more = tuple(_sentences(answer))
    return PageParts("layer.md.j2", context, exhibits(answer), partial(_figures, audit), more)


def _figures(audit: LayerAudit | None) -> dict[str, bytes]:
    if audit is None:
        return {}
    with style():
        return {figure_file("saturation"): to_svg(heat_map(saturation(audit), "example"))}


def exhibits(answer: LayerAnswer) -> dict[str, Any]:
    """How the layer was read, the errors, and what each head does."""
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
    if audit is None:
        return read
    return read | {
        "tolerance": numeral(audit.limit.bound),
        "errors must be": "below the tolerance" if audit.limit.strict else "at most the tolerance",
        "error": audit[ids.LAYER_ERROR].numbers["error"],
        "errors": audit.errors,
        "singular value": [audit.sigma.lower, audit.sigma.upper],
        "heads": [
            {
                "rank of M": head.rank,
                "carries": head.group,
                "peaks": head.peaks,
                "saturated": head.saturated,
                "error without it": audit.ablation.without[h],
                "gives most to": audit.ablation.most_for(h),
            }
            for h, head in enumerate(audit.heads)
        ],
        "beyond the tolerance": audit[ids.LAYER_MEMORIZES].numbers["beyond"],
        "undecided": audit[ids.LAYER_MEMORIZES].numbers["open"],
    }


def _tables(answer: LayerAnswer, audit: LayerAudit) -> list[Table]:
    grouped = answer.weights.groups is not None
    return [
        heads_table(audit, grouped),
        examples_table(audit),
        theorem_table(audit, grouped),
    ]


def _sentences(answer: LayerAnswer) -> Iterator[str]:
    """For a terminal: the rank, another scale that passes, and what is assumed."""
    audit, reading = answer.audit, answer.reading
    if audit is None:
        return
    yield _rank(answer)
    if audit.rescaled is not None:
        yield _rescaled(audit)
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


def _rescaled(audit: LayerAudit) -> str:
    used = audit.attention.scale
    return f"Only with --scale {audit.rescaled} are all errors small enough, not with {used}."


def _tolerance(answer: LayerAnswer, audit: LayerAudit) -> str:
    """The limit, and where it is from."""
    bound = short(audit.limit.bound)
    if audit.limit.default:
        return f"{bound}, by default (--tolerance sets another)"
    source = "error of the property" if answer.question.tolerance is None else "--tolerance"
    return f"{bound}, as given ({source})"


def _sigma(audit: LayerAudit) -> str:
    low, high = bounds(audit.sigma)
    if audit[ids.LAYER_RANK].level is Level.REFUTED:
        return "0: its rank is below $T$"
    return interval(low, high) if audit.sigma.lower > 0 else f"at most {high}"
