"""The report of `attncert capacity --layers L`: the three notions, and the layers needed."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

from attncert.reports.pages.capacity import NAMES, ends_of, exhibited, further_files, row_of
from attncert.reports.report import PageParts
from attncert.reports.words.claims import lines
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
