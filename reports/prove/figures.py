"""The figures of a proof: the graph of its claims, and the heat map of saturation.

The background is white, so that a figure reads the same on light and dark pages; colours
can be told apart with any colour vision (cividis; the Okabe-Ito palette).
"""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LogNorm, Normalize
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from attncert.constructions.arrays import FloatArray
from attncert.reports.prove.graph import graph
from attncert.reports.words.drawing import Drawing, Figure, Picture
from attncert.reports.words.numbers import BEYOND
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.proof import HeadSummary, Proof
from attncert.verify.claims.words import counted

BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
MOST_CELLS = (240, 480)  # heads × examples of the heat map that are drawn one by one
MOST_MARKS = 600  # heads that are outlined; more outlines would overlap
WIDTH = 8.0  # in inches


def graph_of(proof: Answer) -> dict[str, Picture]:
    """The graph of what each claim rests on, by its name among the figures."""
    return {"graph": Drawing(graph(proof.trace, proof.conclusion))}


def draw(proof: Proof) -> dict[str, Picture]:
    """Figures by name; the heat map only if heads were built."""
    drawn = graph_of(proof)
    return drawn | {"saturation": saturation(proof.heads)} if proof.heads else drawn


def saturation(heads: Sequence[HeadSummary]) -> Figure:
    """Heads × examples in the order of the groups: how far each head is from attending to one row.

    Colour: -log2(1 - p_max), that is 1 - p_max on a log scale. Left of each outlined group are the
    examples of earlier groups, which the construction saturates; right of it those of later groups,
    which do not constrain the head. Large maps show the least saturated pair of each block.
    """
    order = [t for head in heads for t in head.group]
    ends = np.cumsum([len(head.group) for head in heads])
    rest = sorted(set(range(len(heads[0].log2_off_peak))) - set(order))  # no group: at the end
    bits = -np.array([head.log2_off_peak for head in heads], dtype=float)[:, order + rest]
    figure = heat_map(bits, "examples, in the order of the groups")
    _outline_groups(figure.axes[0], heads, ends)
    return figure


def heat_map(bits: FloatArray, examples: str) -> Figure:
    """bits: -log2(1 - p_max), heads × examples. examples: the label of the x axis."""
    blocks = _least(bits)
    finite = blocks[blocks < BEYOND]
    H, T = bits.shape
    figure = Figure(figsize=(WIDTH, 1.5 + min(max(0.22 * H, 0.5), 5.0)), layout="constrained")
    axes = figure.add_subplot()
    cmap = mpl.colormaps["cividis_r"].with_extremes(bad="#bbbbbb")
    high = float(finite.max()) if finite.size else 1.0
    norm: Normalize = Normalize(0.0, max(1.0, high))
    if high > 64:
        norm = LogNorm(max(min(float(finite.min()), 1.0), 1e-3), high)
    if finite.size:
        blocks = np.minimum(blocks, high)  # numbers beyond floats get the darkest colour
    image = axes.imshow(
        blocks, cmap=cmap, norm=norm, aspect="auto", interpolation="nearest",
        extent=(0, T, H + 0.5, 0.5),
    )  # fmt: skip
    if not finite.size:
        axes.text(T / 2, (H + 1) / 2, "one row: every weight is 1", color="#111111", ha="center",
                  va="center")  # fmt: skip
    else:
        bar = figure.colorbar(image, ax=axes, pad=0.015, fraction=0.06)
        locator = LogLocator(numticks=6) if high > 64 else MaxNLocator(5, integer=True)
        bar.ax.yaxis.set_major_locator(locator)
        bar.ax.yaxis.set_minor_formatter(NullFormatter())
        bar.ax.minorticks_off()
        bar.ax.yaxis.set_major_formatter(FuncFormatter(_power))
        bar.set_label("$1 - p_{max}$")
        bar.ax.invert_yaxis()
    axes.set(xlabel=examples, ylabel="head")
    axes.set_title("Saturation: share of attention outside the largest weight")
    _whole_ticks(axes.xaxis)
    _whole_ticks(axes.yaxis)
    return figure


def caption_saturation(heads: Sequence[HeadSummary]) -> str:
    """The meaning of a cell of the heat map; if cells are merged, the size of the blocks."""
    H, T = len(heads), len(heads[0].log2_off_peak)
    rows, columns = _block(H, MOST_CELLS[0]), _block(T, MOST_CELLS[1])
    if rows == columns == 1:
        return "each cell is one head and one example"
    return (
        f"each cell is the least saturated pair among {counted(rows, 'head')} "
        f"and {counted(columns, 'example')}"
    )


def _block(total: int, most: int) -> int:
    return -(-total // most)


def _least(bits: FloatArray) -> FloatArray:
    """The least value of each block, with the smallest blocks that the picture allows."""
    H, T = bits.shape
    rows = np.arange(0, H, _block(H, MOST_CELLS[0]))
    columns = np.arange(0, T, _block(T, MOST_CELLS[1]))
    return np.minimum.reduceat(np.minimum.reduceat(bits, rows, axis=0), columns, axis=1)


def _outline_groups(axes: mpl.axes.Axes, heads: Sequence[HeadSummary], ends: FloatArray) -> None:
    width = 1.6 if len(heads) <= 40 else 0.8
    for k in range(1, len(heads) + 1, _block(len(heads), MOST_MARKS)):
        end, size = float(ends[k - 1]), len(heads[k - 1].group)
        axes.add_patch(
            Rectangle((end - size, k - 0.5), size, 1, fill=False, edgecolor=RED, linewidth=width)
        )


def _whole_ticks(axis: mpl.axis.Axis) -> None:
    axis.set_major_locator(MaxNLocator(10, integer=True))


def _power(bits: float, _position: int) -> str:
    if bits >= 10_000:
        exponent = int(np.floor(np.log10(bits)))
        lead = bits / 10**exponent
        tail = f"10^{{{exponent}}}" if lead == 1 else f"{lead:g}\\cdot 10^{{{exponent}}}"
        return f"$2^{{-{tail}}}$"
    return "1" if bits == 0 else f"$2^{{-{bits:g}}}$"
