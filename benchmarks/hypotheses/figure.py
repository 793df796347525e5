"""The matrix of marks as a grid of coloured cells."""

from __future__ import annotations

from figures import style, to_svg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from attncert.reports.report import Table, figure_file
from attncert.reports.words.text import plain

UNEXPECTED = "≠"
MEANINGS = {
    "memorized": "the step fails on some instances; on all of those memorization still holds "
    "(a full rank was certified): sufficient, not seen to be necessary",
    "both": "the step fails; memorization holds on some of the failing instances and is "
    "impossible, for all weights, on others",
    "impossible": "the step fails, and memorization is impossible on every failing instance drawn",
    "undecided": "the step fails; memorization was decided on none of the failing instances",
    UNEXPECTED: "not as expected",
}

# The colours are pale and can be told apart with any form of colour vision; each cell also has
# a mark.
_FILLS = ("#cfeee3", "#d6ecfa", "#faf5bd", "#e6e6e6", "#d3dff5", "#f3d5e7", "#fbe3b8")
_BAD = "#f8cfb8"
_CELL = (0.62, 0.21)  # width and height in inches
_LETTER = 0.068  # width of a label's character in inches
_LONGEST = 60  # the longest label, in characters


def files(matrix: Table) -> dict[str, bytes]:
    """The figure as SVG, by the name of its file."""
    with style():
        return {figure_file("steps"): to_svg(grid(matrix))}


def grid(matrix: Table) -> Figure:
    """One cell for each row and column, with its mark; slanting labels above the columns."""
    names = [_short(plain(row[0])) for row in matrix.rows]
    tops = [_short(plain(c)) for c in matrix.columns[1:]]
    widest = max((len(mark) for row in matrix.rows for mark in row[1:]), default=1)
    cell = max(_CELL[0], _LETTER * (widest + 2))
    margin = _LETTER * max(map(len, names), default=0) + 0.2
    above = 0.75 * _LETTER * max(map(len, tops), default=0) + 0.35
    width = margin + cell * len(tops) + above
    height = above + _CELL[1] * len(names) + 0.1
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((margin / width, 0.1 / height, cell * len(tops) / width,
                            _CELL[1] * len(names) / height))  # fmt: skip
    axes.set(xlim=(0, len(tops)), ylim=(len(names), 0))
    fills = dict(zip(MEANINGS, _FILLS, strict=False)) | {UNEXPECTED: _BAD}
    for i, row in enumerate(matrix.rows):
        for j, mark in enumerate(row[1:]):
            if not mark:
                continue
            square = Rectangle((j, i), 1, 1, facecolor=fills[mark], edgecolor="white", linewidth=1)
            axes.add_patch(square)
            axes.text(j + 0.5, i + 0.5, plain(mark), ha="center", va="center", fontsize=7)
    axes.xaxis.tick_top()
    axes.set_xticks([j + 0.5 for j in range(len(tops))], tops, rotation=45, ha="left", fontsize=7)
    axes.set_yticks([i + 0.5 for i in range(len(names))], names, fontsize=7)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…"
