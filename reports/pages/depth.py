"""The report of `attncert capacity --layers L`: the notions, the layers, and a figure of both."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

from matplotlib.figure import Figure

from attncert.reports.pages.capacity import NAMES, ends_of, exhibited, further_files, row_of
from attncert.reports.report import PageParts
from attncert.reports.words.claims import lines
from attncert.reports.words.figure import style, to_svg
from attncert.verify.claims.words import counted
from attncert.verify.depth.capacity import DepthCapacity
from attncert.verify.depth.notions import Notion


def page_parts(answer: DepthCapacity) -> PageParts:
    context = {
        "who": answer.shape.words(),
        "rows": [row_of(answer, row) for row in answer.notions],
        "claims": lines(answer.trace),
    }
    return PageParts(
        "depth.md.j2",
        context,
        exhibits(answer),
        figures=lambda: {"depth": _figure(answer)},
        files=partial(further_files, answer.certificates),
        more=(*(_sentence(answer, row) for row in answer.notions), _by_layers(answer)),
    )


def exhibits(answer: DepthCapacity) -> dict[str, Any]:
    need, enough = answer.fewest_layers
    return {
        "architecture": asdict(answer.shape),
        "spans": asdict(answer.spans),
        "notions": exhibited(answer),
        "layers": {"needed": need, "enough": enough},
        "by layers": [asdict(depth) for depth in answer.depths],
    }


def _sentence(answer: DepthCapacity, row: Notion) -> str:
    needed, enough = row.needed, row.enough and row.enough.number
    ends = ends_of(row)
    labels, layers = counted(answer.labels, "label number"), counted(answer.shape.layers, "layer")
    served = f"{NAMES[row.about].capitalize()}: {ends} of {labels}"
    if needed is None:
        return f"{served}; no number of heads in {layers} is enough for all."
    heads = f"{needed:,} or more heads" if enough is None else f"{needed:,} to {enough:,} heads"
    heads = counted(needed, "head") if needed == enough else heads
    return f"{served}; all need {heads} in each of {layers}."


def _by_layers(answer: DepthCapacity) -> str:
    need, enough = answer.fewest_layers
    heads = counted(answer.shape.heads, "head")
    if need is None:
        return f"No number of layers of {heads} that was tried is enough for some labellings."
    if need == enough == 1:
        return f"With {heads}, 1 layer is enough for some labellings."
    if need == enough:
        return f"With {heads} in each, {counted(need, 'layer')} are the fewest for some labellings."
    return f"With {heads} in each, some labellings need {counted(need, 'layer')} or more."


@style()
def _figure(answer: DepthCapacity) -> bytes:
    """Certified rank and bound against parameters, a point for each number of layers."""
    figure = Figure(figsize=(5.2, 3.4), layout="constrained")
    axes = figure.subplots()
    parameters = [depth.parameters for depth in answer.depths]
    axes.plot(parameters, [x.bound for x in answer.depths], "_", ms=14, label="at most, $N_L$")
    axes.plot(parameters, [x.rank for x in answer.depths], "o", ms=5, label="certified")
    axes.axhline(answer.labels, lw=0.8, ls=":", color="0.4")
    for depth in answer.depths:
        where = (depth.parameters, depth.rank)
        text = counted(depth.layers, "layer")
        axes.annotate(text, where, xytext=(6, -11), textcoords="offset points")
    axes.set_xlabel("parameters")
    axes.set_ylabel("label numbers")
    axes.set_ylim(bottom=0)
    axes.margins(x=0.15)
    axes.legend(loc="upper left")
    return to_svg(figure)
