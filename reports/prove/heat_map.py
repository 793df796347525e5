"""The heat map of saturation as SVG, heads × examples: a rectangle for each run of equal colour. A
colour of Matplotlib's cividis means the same in every map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise

import numpy as np

from attncert.constructions.arrays import FloatArray
from attncert.reports.words.text import plain
from attncert.verify.claims.words import counted

MOST_CELLS = (60, 120)  # at most this many heads × examples are drawn one by one
MOST_MARKS = 600  # limit on the heads that are outlined; more outlines would overlap
COLOURS = (
    "#fee838", "#e9d34e", "#d1bf61", "#bbad6d", "#a59c74", "#918b78", "#7d7c78",
    "#6a6c71", "#575d6d", "#434e6c", "#2a3f6d", "#003170", "#00224e",
)  # fmt: skip
STARTS = [
    2.0**k for k in range(len(COLOURS) - 1)
]  # the bits at which the second colour starts, ...
GREY, _RED, _INK = "#bbbbbb", "#d55e00", "#333333"
_LEFT, _TOP, _WIDTH, _BELOW = 52, 34, 600, 92  # the map and what surrounds it, in pixels
_WHOLE = 680  # the width of the drawing

Group = tuple[int, int, int]  # a head; its first column and the one after its last


def heat_map(bits: FloatArray, examples: str, groups: Sequence[Group] = ()) -> bytes:
    """bits: -log2(1 - p_max), heads × examples. examples: the label of the x axis. groups: cells
    that are outlined. Large maps show the least saturated pair of each block."""
    heads, columns = bits.shape
    height = round(90 * min(max(0.22 * heads, 0.5), 5.0))
    whole = height + _TOP + _BELOW
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Saturation" '
        f'width="{_WHOLE}" height="{whole}" viewBox="0 0 {_WHOLE} {whole}" fill="{_INK}" '
        f'font-family="DejaVu Sans, Verdana, Arial, sans-serif" font-size="12">',
        f'<rect width="{_WHOLE}" height="{whole}" fill="#ffffff"/>',
        _text(_LEFT, 20, "Saturation: 1 - pₘₐₓ, the attention outside the largest weight", "start"),
        f'<svg x="{_LEFT}" y="{_TOP}" width="{_WIDTH}" height="{height}" overflow="visible" '
        f'viewBox="0 0 {columns} {heads}" preserveAspectRatio="none" shape-rendering="crispEdges">',
        *_cells(bits),
        *_outlines(heads, groups),
        "</svg>",
        *_axes(heads, columns, height, examples),
        *_legend(height + _TOP + 52),
    ]
    return ("\n".join([*lines, "</svg>"]) + "\n").encode()


def caption(heads: int, examples: int) -> str:
    """The meaning of a cell of the heat map; if cells are merged, the size of the blocks."""
    rows, columns = _block(heads, MOST_CELLS[0]), _block(examples, MOST_CELLS[1])
    if rows == columns == 1:
        return "each cell is one head and one example"
    return (
        f"each cell is the least saturated pair among {counted(rows, 'head')} "
        f"and {counted(columns, 'example')}"
    )


def _cells(bits: FloatArray) -> Iterator[str]:
    """A rectangle for each run of blocks of one colour (by the fewest bits; grey for NaN)."""
    H, T = bits.shape
    rows = np.arange(0, H, _block(H, MOST_CELLS[0]))
    columns = np.arange(0, T, _block(T, MOST_CELLS[1]))
    least = np.minimum.reduceat(np.minimum.reduceat(bits, rows, axis=0), columns, axis=1)
    shades = np.where(np.isnan(least), len(COLOURS), np.digitize(least, STARTS))
    for row, (top, bottom) in zip(shades, pairwise([*rows, H]), strict=True):
        starts = [0, *np.flatnonzero(np.diff(row)) + 1]
        for k, (first, after) in zip(starts, pairwise([*columns[starts], T]), strict=True):
            colour = (*COLOURS, GREY)[row[k]]
            yield _rect(first, top, after - first, bottom - top, f'fill="{colour}"')


def _outlines(heads: int, groups: Sequence[Group]) -> Iterator[str]:
    stroke = f'stroke="{_RED}" stroke-width="{2 if heads <= 40 else 1}"'
    for head, first, after in groups[:: _block(heads, MOST_MARKS)]:
        more = f'fill="none" {stroke} vector-effect="non-scaling-stroke"'
        yield _rect(first, head, after - first, 1, more)


def _axes(heads: int, columns: int, height: int, examples: str) -> Iterator[str]:
    """The names of the axes, with the first and the last number on each."""
    bottom, middle = _TOP + height, _TOP + height / 2
    yield _text(_LEFT + _WIDTH / 2, bottom + 17, examples)
    yield _text(14, middle, "head", more=f' transform="rotate(-90 14 {middle:g})"')
    for t in (0, columns):
        yield _text(_LEFT + t * _WIDTH / columns, bottom + 17, f"{t}")
    for h in {1, heads}:
        yield _text(_LEFT - 7, _TOP + (h - 0.5) * height / heads + 4, f"{h}", "end")


def _legend(y: int) -> Iterator[str]:
    """The colours, each with the largest 1 - p_max that it stands for."""
    width = _WIDTH / len(COLOURS)
    for k, (colour, bits) in enumerate(zip(COLOURS, (0, *STARTS), strict=True)):
        x = _LEFT + k * width
        yield _rect(x, y, width, 12, f'fill="{colour}"')
        yield _text(x, y + 28, plain(f"$2^{{-{bits:g}}}$") if bits else "1")


def _block(total: int, most: int) -> int:
    return -(-total // most)


def _rect(x: float, y: float, width: float, height: float, more: str) -> str:
    return f'<rect x="{x:.6g}" y="{y:.6g}" width="{width:.6g}" height="{height:.6g}" {more}/>'


def _text(x: float, y: float, text: str, anchor: str = "middle", more: str = "") -> str:
    return f'<text x="{x:.6g}" y="{y:.6g}" text-anchor="{anchor}"{more}>{escape(text)}</text>'
