"""The figures, as SVG with reproducible bytes.

Matplotlib's own defaults (not the user's style), a fixed salt for ids, no date, no version, text as
paths from the bundled font: equal runs give equal files. White paper behind everything, so that a
figure reads the same on GitHub's light and dark pages; colours are told apart with any colour
vision (cividis; the Okabe-Ito palette).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LogNorm, Normalize
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from attncert.constructions.arrays import FloatArray, IntArray
from attncert.reports.prove.graph import graph
from attncert.reports.prove.saturation import figure as against_c
from attncert.reports.words.drawing import Drawing, Figure, Picture
from attncert.reports.words.numbers import BEYOND
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.proof import HeadSummary, Proof
from attncert.verify.claims.words import counted

BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
OWN, LARGEST = "own-weights", "largest-weights"
MOST_ROWS = 36  # rows of the picture of attention weights
MOST_CELLS = (240, 480)  # heads × examples of the heat map that are drawn one by one
MOST_MARKS = 600  # heads with marks of their own: those of more lie on one another
WIDTH = 8.0  # inches


def graph_of(proof: Answer) -> dict[str, Picture]:
    """What each claim rests on, by its name among the figures."""
    return {"graph": Drawing(graph(proof.trace, proof.conclusion))}


def draw(proof: Proof) -> dict[str, Picture]:
    """Figures by name; those of the heads only where heads were built."""
    drawn = graph_of(proof)
    if not proof.heads:
        return drawn
    own = own_figure(proof.heads)
    drawn |= {
        "saturation": saturation(proof.heads),
        own: {OWN: own_weights, LARGEST: largest_weights}[own](proof.heads),
        "heads": bits_and_condition(proof.heads),
    }
    against = against_c(proof.heads)
    return drawn if against is None else drawn | {"saturation-c": against}


def saturation(heads: Sequence[HeadSummary]) -> Figure:
    """Heads × examples in the order of the groups: how far each head is from attending to one row.

    Colour: -log2(1 - p_max), that is 1 - p_max on a log scale. Left of the outlined steps are the
    examples of earlier groups, which the construction saturates; right of them the later ones,
    which a head may treat as it likes. Large maps show the least saturated pair of each block.
    """
    order = [t for head in heads for t in head.group]
    ends = np.cumsum([len(head.group) for head in heads])
    rest = sorted(set(range(len(heads[0].log2_off_peak))) - set(order))  # in no group: at the end
    bits = -np.array([head.log2_off_peak for head in heads], dtype=float)[:, order + rest]
    figure = heat_map(bits, "examples, in the order of the groups")
    _outline_groups(figure.axes[0], heads, ends)
    return figure


def heat_map(bits: FloatArray, examples: str) -> Figure:
    """bits: -log2(1 - p_max), heads × examples; `examples` is what stands below them."""
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
        blocks = np.minimum(blocks, high)  # beyond floats: as dark as it gets
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


def own_figure(heads: Sequence[HeadSummary]) -> str:
    """Which figure tells more of the heads on their own groups: every weight, unless most examples
    attend to all tokens alike, as at the barycentre."""
    rows = [row for head in heads for row in head.own_weights]
    uniform = sum(max(row) - min(row) < 0.05 for row in rows)
    return OWN if 2 * uniform <= len(rows) else LARGEST


def largest_weights(heads: Sequence[HeadSummary]) -> Figure:
    """The largest attention weight of each head on the examples of earlier heads, on its own and on
    those of later ones: the range over the examples, and the median."""
    largest = 1 - np.exp2([head.log2_off_peak for head in heads])
    figure = Figure(figsize=(WIDTH, 3.0), layout="constrained")
    axes = figure.add_subplot()
    place = {t: k for k, head in enumerate(heads) for t in head.group}
    order = np.array([place.get(t, len(heads)) for t in range(largest.shape[1])])
    H, small = len(heads), len(heads) <= 40
    kinds = (
        ("examples of earlier heads", BLUE, "s", -0.22, np.less),
        ("its own examples", RED, "o", 0.0, np.equal),
        ("examples of later heads", "#777777", "^", 0.22, np.greater),
    )
    for label, colour, marker, shift, which in kinds:
        drawn = [(k, largest[k][which(order, k)]) for k in range(0, H, _block(H, MOST_MARKS))]
        drawn = [(k, values) for k, values in drawn if values.size]
        x = [k + 1 + shift for k, _ in drawn]
        axes.vlines(x, [v.min() for _, v in drawn], [v.max() for _, v in drawn], color=colour,
                    linewidth=2.0 if small else 0.6, alpha=0.55)  # fmt: skip
        axes.plot(x, [float(np.median(v)) for _, v in drawn], color=colour, linestyle="",
                  marker=marker, markersize=4.5 if small else 1.5, label=label)  # fmt: skip
    for tokens in sorted({len(row) for head in heads for row in head.own_weights} or {1}):
        axes.axhline(1 / tokens, color="#444444", linewidth=0.8, linestyle=":")
    axes.set(ylim=(0, 1.03), xlim=(0.5, H + 0.5), xlabel="head", ylabel="largest weight")
    _whole_ticks(axes.xaxis)
    axes.set_title("Largest attention weight: range over the examples, and median")
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def own_weights(heads: Sequence[HeadSummary]) -> Figure:
    """Attention weights of each head on the examples of its own group (rows) over the n tokens."""
    busy = [head for head in heads if head.own_weights]  # idle heads come last
    some = busy[:1]
    for head in busy[1:]:
        if sum(len(h.own_weights) for h in some) + len(head.own_weights) > MOST_ROWS:
            break
        some.append(head)
    drawn = [row for head in some for row in head.own_weights]
    rows, n = len(drawn), max(map(len, drawn))
    weights = np.array([[*row, *[np.nan] * (n - len(row))] for row in drawn])  # nan: not drawn
    height = 1.3 + min(max(0.2 * rows, 0.4), 9.6)
    figure = Figure(figsize=(min(WIDTH, 3.4 + 0.45 * n), height), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(
        weights, cmap="cividis", norm=Normalize(0, 1), aspect="auto", interpolation="nearest",
        extent=(-0.5, n - 0.5, rows - 0.5, -0.5),
    )  # fmt: skip
    if rows * n <= 200 and n <= 12:
        for i, row in enumerate(drawn):
            for j, w in enumerate(row):
                axes.text(j, i, _weight(w), ha="center", va="center", fontsize=7,
                          color="black" if w > 0.55 else "white")  # fmt: skip
    ends = np.cumsum([len(h.own_weights) for h in some])
    for end in ends[:-1]:
        axes.axhline(end - 0.5, color="white", linewidth=2.5)
    starts = ends - [len(h.own_weights) for h in some]
    axes.set_yticks((starts + ends - 1) / 2, [f"head {k}" for k in range(1, len(some) + 1)])
    axes.tick_params(axis="y", length=0)
    _whole_ticks(axes.xaxis)
    figure.colorbar(image, ax=axes, pad=0.02, fraction=0.05).set_label("weight")
    axes.set_xlabel("token of the context (row of $E$)")
    first = "head 1" if len(some) == 1 else f"heads 1 to {len(some)}"
    part = "" if len(some) == len(busy) else f" ({first} of {len(heads)})"
    axes.set_title(f"Attention on the head's own group{part}")
    return figure


def bits_and_condition(heads: Sequence[HeadSummary]) -> Figure:
    """Two panels over the heads: bits (of Z, and B), condition number of Z."""
    figure = Figure(figsize=(WIDTH, 4.2), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    x = np.arange(1, len(heads) + 1)
    _series(above, x, [h.z_bits for h in heads], BLUE, "o", "largest logit range of this head")
    _series(above, x, [h.bits for h in heads], RED, "s", "B, the smallest gap that was certified")
    _series(below, x, [h.condition for h in heads], GREEN, "o", "")
    above.set(ylabel="bits")
    above.set_title("Size of the numbers")
    below.set(ylabel="condition number", xlabel="head")
    below.set_title("Condition number of $Z$ up to this head (float64)")
    for axes in (above, below):
        _scale(axes)
        axes.grid(axis="y", color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.set_xlim(0.5, len(heads) + 0.5)
        _whole_ticks(axes.xaxis)
    if above.get_legend_handles_labels()[0]:
        above.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def caption_saturation(heads: Sequence[HeadSummary]) -> str:
    """What the heat map shows, in one sentence; names the blocks where cells are merged."""
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
    """Least value of each block, blocks as small as the picture allows."""
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


def _weight(w: float) -> str:
    return f"{w:.2f}" if w >= 0.01 or w == 0 else "<.01"


def _power(bits: float, _position: int) -> str:
    if bits >= 10_000:
        exponent = int(np.floor(np.log10(bits)))
        lead = bits / 10**exponent
        tail = f"10^{{{exponent}}}" if lead == 1 else f"{lead:g}\\cdot 10^{{{exponent}}}"
        return f"$2^{{-{tail}}}$"
    return "1" if bits == 0 else f"$2^{{-{bits:g}}}$"


def _series(
    axes: mpl.axes.Axes,
    x: IntArray,
    ys: Sequence[float | None],
    colour: str,
    marker: str,
    label: str,
) -> None:
    known = [(a, y) for a, y in zip(x.tolist(), ys, strict=True) if y is not None]
    finite = [(a, float(y)) for a, y in known if abs(y) < BEYOND]
    if not finite:
        return
    a, y = zip(*finite, strict=True)
    small = len(x) <= 40
    axes.plot(a, y, color=colour, marker=marker if small else "", markersize=4.5, linewidth=1.1,
              label=label or "_")  # fmt: skip


def _floats(values: Any) -> list[float]:
    return [float(y) for y in np.asarray(values).tolist()]


def _scale(axes: mpl.axes.Axes) -> None:
    values = [y for line in axes.get_lines() for y in _floats(line.get_ydata())]
    if not values:
        axes.text(
            0.5, 0.5, "nothing to show", transform=axes.transAxes, ha="center", color="#666666"
        )
        axes.set_yticks([])
    elif min(values) > 0 and max(values) > 50 * min(values):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
