"""Parameters and bits against T: two figures side by side, with one legend."""

from __future__ import annotations

from collections.abc import Iterator

from attncert.reports.prove.figures import WIDTH
from attncert.reports.words.drawing import Figure
from attncert.verify.network.compare import Comparison

_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000")
_PANELS = {"parameters": "parameters", "bits in all": "bits"}


def figure(answer: Comparison) -> Figure:
    """Layers of attention with circles and full lines, networks with squares and dashes; what
    almost no labels can do without, dotted."""
    drawn = Figure(figsize=(WIDTH, 4.6), layout="constrained")
    panels = drawn.subplots(1, 2)
    for axes, (cost, name) in zip(panels, _PANELS.items(), strict=True):
        for number, row in enumerate(answer.rows):
            points = [(x.examples, float(x.costs[cost])) for x in answer.table
                      if x.method is row.method and x.exact and x.costs.get(cost)]  # fmt: skip
            if not any(x.exact for x in answer.table if x.method is row.method):
                continue
            style = "o-" if row.method.layer else "s--"
            axes.plot(*_columns(points), style, markersize=4, linewidth=1,
                      color=_COLOURS[number % len(_COLOURS)], label=row.method.name)  # fmt: skip
        points = [(f.examples, getattr(f, name)) for f in answer.floors if getattr(f, name)]
        if points:
            label = "given labels: law N; T log2 V bits"
            axes.plot(*_columns(points), "k:", label=label)
        if any(len(line.get_xdata()) for line in axes.lines):  # else no logarithms to show
            axes.set_xscale("log")
            axes.set_yscale("log")
        axes.set_xlabel("examples T")
        axes.set_title(name)
    drawn.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4,
                 frameon=False, fontsize=7.5)  # fmt: skip
    return drawn


def _columns(points: list[tuple[int, float]]) -> Iterator[list[float]]:
    yield [x for x, _ in points]
    yield [y for _, y in points]
