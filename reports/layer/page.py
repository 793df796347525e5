"""The report of `attncert layer`: errors beside the labels' spread, what each head is worth, how
the layer was read, and how it compares with Theorem 1."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from attncert.constructions.numerals import numeral, short
from attncert.reports.answers import Room
from attncert.reports.audit.figures import drawn
from attncert.reports.layer.tables import (
    ablation_table,
    examples_table,
    heads_table,
    heat_map,
    theorem_table,
)
from attncert.reports.words.claims import lines
from attncert.reports.words.exhibits import Table
from attncert.reports.words.text import plain
from attncert.verify.audit.layer.error import LayerAudit, bounds, interval
from attncert.verify.audit.layer.layer import LayerAnswer
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level, widened


def room(answer: LayerAnswer) -> Room:
    found = answer.audit
    context = {
        "found": found,
        "weights": answer.weights,
        "attention": answer.attention,
        "reading": answer.reading,
        "sigma": "" if found is None else _sigma(found),
        "tolerance": "" if found is None else _tolerance(answer, found),
        "wide": widened(answer.data.m, answer.weights.layer.value_width),
        "shown": [x for x in lines(answer.trace) if not x.id.startswith("theorem1.")],
        "tables": [] if found is None else _tables(answer, found),
        "map": None if found is None else heat_map(found),
    }
    more = tuple(_sentences(answer))
    return Room("layer.md.j2", context, exhibits(answer), partial(_figures, found), more)


def _figures(found: LayerAudit | None) -> dict[str, bytes]:
    return {} if found is None else drawn([], [heat_map(found)])


def exhibits(answer: LayerAnswer) -> dict[str, Any]:
    """How the layer was read, the errors, and what each head does."""
    stored, attention, found = answer.weights, answer.attention, answer.audit
    read = {
        "dtype": stored.dtype,
        "format": stored.format,
        "prefix": stored.prefix,
        "biases": stored.biased,
        "logit unit": attention.unit,
        "scale": attention.scale,
        "masked": answer.masked,
    }
    if found is None:
        return read
    return read | {
        "tolerance": numeral(found.limit.bound),
        "errors must be": "below the tolerance" if found.limit.strict else "at most the tolerance",
        "error": found[ids.LAYER_ERROR].numbers["error"],
        "errors": found.errors,
        "singular value": [found.sigma.lower, found.sigma.upper],
        "heads": [
            {
                "rank of M": head.rank,
                "carries": head.group,
                "peaks": head.peaks,
                "saturated": head.saturated,
                "error without it": found.ablation.without[h],
                "gives most to": found.ablation.most_for(h),
            }
            for h, head in enumerate(found.heads)
        ],
        "beyond the tolerance": found[ids.LAYER_MEMORIZES].numbers["beyond"],
        "undecided": found[ids.LAYER_MEMORIZES].numbers["open"],
    }


def _tables(answer: LayerAnswer, found: LayerAudit) -> list[Table]:
    grouped = answer.weights.groups is not None
    return [
        ablation_table(found),
        heads_table(found, grouped),
        examples_table(found),
        theorem_table(found, grouped),
    ]


def _sentences(answer: LayerAnswer) -> Iterator[str]:
    """For a terminal: the rank, another scale that passes, and what is assumed."""
    found, reading = answer.audit, answer.reading
    if found is None:
        return
    rank, T = found[ids.LAYER_RANK], answer.data.T
    if rank.level is Level.REFUTED:
        yield f"All labels at once: no, rank Z < T = {T}."
    else:
        yield f"All labels at once: rank Z = T = {T} {rank.level.value}."
    if found.rescaled is not None:
        yield _rescaled(found)
    if reading is not None and reading.level is Level.ASSUMED:
        yield plain(reading.statement)


def _rescaled(found: LayerAudit) -> str:
    used = found.attention.scale
    return f"Only with --scale {found.rescaled} are all errors small enough, not with {used}."


def _tolerance(answer: LayerAnswer, found: LayerAudit) -> str:
    """The limit, and where it is from."""
    bound = short(found.limit.bound)
    if found.limit.default:
        return f"{bound}, by default (--tolerance sets another)"
    given = answer.question.tolerance is not None
    return f"{bound}, as given ({'--tolerance' if given else 'error of the property'})"


def _sigma(found: LayerAudit) -> str:
    low, high = bounds(found.sigma)
    if found[ids.LAYER_RANK].level is Level.REFUTED:
        return "0: its rank is below $T$"
    return interval(low, high) if found.sigma.lower > 0 else f"at most {high}"
