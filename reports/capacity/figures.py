"""Figures of the capacity report: measured points beside the curves, constants as they grow.

Points are certified ranks; lines are formulas. In the style of `reports.proof.figures`, so that
equal runs give equal bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from attncert.reports.proof.figures import BLUE, GREEN, ORANGE, RED, WIDTH
from attncert.reports.words.drawing import style, to_svg
from attncert.verify.capacity.constants import CONSTRUCTIONS, Constants, Growth
from attncert.verify.capacity.published_bounds import BOUNDS
from attncert.verify.capacity.sweeps import Capacity, Point

SYMBOLS = {"heads": "H", "context": "n", "head_width": "d_h"}
GREY = "#777777"
_LINES = {"paper": (RED, "-"), "width-one": (GREEN, "-"), "columns": (GREY, "--"),
          "dana2025": (ORANGE, ":")}  # fmt: skip
_MARKS = dict(zip(CONSTRUCTIONS, ((RED, "o"), (GREEN, "s"), (BLUE, "^"), (GREY, "x")), strict=True))


def capacity_figures(found: Capacity) -> dict[str, bytes]:
    """capacity-heads, capacity-context, capacity-head-width, capacity-parameters."""
    with style():
        figures = {
            f"capacity-{axis.replace('_', '-')}": against(found, axis) for axis in SYMBOLS
        } | {"capacity-parameters": parameters(found)}
        return {name: to_svg(figure) for name, figure in figures.items()}


def constants_figures(found: Growth) -> dict[str, bytes]:
    """constants-bits, constants-condition, constants-saturation."""
    with style():
        figures = {
            "constants-bits": growing(found, "bits of an exact readout", lambda c: max(c.bits, 1)),
            "constants-condition": growing(found, "condition of $Z$", lambda c: c.condition),
            "constants-saturation": saturation(found),
        }
        return {name: to_svg(figure) for name, figure in figures.items()}


def against(found: Capacity, axis: str) -> Figure:
    """Examples against H, n or d_h; shared contexts left, distinct ones right."""
    figure = Figure(figsize=(WIDTH, 3.7), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for panel, shared in zip(panels, (True, False), strict=True):
        points = found.along(axis, shared)
        x = [getattr(p.setting, axis) for p in points]
        for bound in BOUNDS:
            values = [bound.in_setting(p.setting) for p in points]
            if bound.key in _LINES and None not in values:
                color, line = _LINES[bound.key]
                other = "" if bound.same_setting else ", another setting"
                label = f"${bound.formula}$ ({bound.name.split(',')[0]}{other})"
                panel.plot(x, values, line, color=color, linewidth=1.2, label=label)
        _built(panel, x, points)
        panel.plot(x, [p.certified for p in points], "o", color=BLUE, markersize=6,
                   fillstyle="none", label="certified: full rank, exact")  # fmt: skip
        panel.plot(x, [p.upper for p in points], "_", color="black", markersize=11,
                   label="no weights exceed this")  # fmt: skip
        panel.set_title("one shared context" if shared else "distinct contexts")
        panel.set_xlabel(f"${SYMBOLS[axis]}$")
        panel.set_xticks(x)
        _grid(panel)
    panels[0].set_ylabel("examples $T$")
    _legend(figure, panels[0])
    return figure


def parameters(found: Capacity) -> Figure:
    """Parameters against the examples that were certified, as H grows; distinct contexts."""
    figure = Figure(figsize=(WIDTH, 3.4), layout="constrained")
    axes = figure.add_subplot()
    points = found.along("heads", False)
    series: dict[str, list[tuple[int, int]]] = {}
    for point in points:
        for b in point.built:
            name = "the paper's construction" if b.construction == "paper" else "width one"
            series.setdefault(name, []).append((b.rank, b.parameters))
    series[f"generic weights, $d_h={points[0].setting.head_width}$"] = [
        (p.certified, p.parameters) for p in points
    ]
    for (name, pairs), (color, mark) in zip(series.items(), _MARKS.values(), strict=False):
        axes.plot(*zip(*pairs, strict=True), f"-{mark}", color=color, markersize=4, linewidth=1,
                  label=name)  # fmt: skip
    axes.set(xlabel="examples $T$ with certified full rank", ylabel="parameters")
    axes.set_title("Parameters, $d_v=m=1$, as $H$ grows (distinct contexts)")
    _grid(axes)
    axes.legend(frameon=False, fontsize=8)
    return figure


def growing(found: Growth, label: str, number: Callable[[Constants], float]) -> Figure:
    """One number against H and against n, for every construction."""
    figure = Figure(figsize=(WIDTH, 3.3), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for panel, axis in zip(panels, ("heads", "context"), strict=True):
        for name, (color, mark) in _MARKS.items():
            some = found.along(axis, name)
            panel.plot([getattr(c, axis) for c in some], [number(c) for c in some], f"-{mark}",
                       color=color, markersize=4.5, linewidth=1, label=name)  # fmt: skip
        panel.set_yscale("log")
        _along(panel, found, axis)
    panels[0].set_ylabel(label)
    _legend(figure, panels[0])
    return figure


def saturation(found: Growth) -> Figure:
    """c and B: what the certificate needs, what was built, and what Weyl's bound asks for."""
    figure = Figure(figsize=(WIDTH, 5.6), layout="constrained")
    rows = figure.subplots(2, 2, sharex="col", sharey="row")
    shown = (
        (("c", "-", "certified"), ("built_c", "--", "built"), ("apriori_c", ":", "a priori")),
        (("bits", "-", "certified"), ("apriori_bits", ":", "a priori")),
    )
    for row, kinds in enumerate(shown):
        for column, axis in enumerate(("heads", "context")):
            panel = rows[row, column]
            for name in CONSTRUCTIONS[:2]:
                color, mark = _MARKS[name]
                some = found.along(axis, name)
                for field, line, words in kinds:
                    pairs = [(getattr(c, axis), c.worst(field)) for c in some]
                    known = [pair for pair in pairs if pair[1] is not None]
                    if known:
                        panel.plot(*zip(*known, strict=True), line + mark, color=color,
                                   markersize=4, linewidth=1, label=f"{name}: {words}")  # fmt: skip
            panel.set_yscale("symlog", linthresh=1)
            panel.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))
            _along(panel, found, axis, label=row == 1)
    rows[0, 0].set_ylabel("largest $c$ of a head")
    rows[1, 0].set_ylabel("largest $B$ of a head, bits")
    _legend(figure, rows[0, 0])
    return figure


def _built(panel: Axes, x: Sequence[int], points: Sequence[Point]) -> None:
    """Ranks of the constructions, as filled marks on their curves."""
    for kind, color, label in (
        ("paper", RED, "the paper's construction, certified"),
        ("width-one", GREEN, "width-one construction, certified"),
    ):
        pairs = [
            (i, b.rank)
            for i, p in zip(x, points, strict=True)
            for b in p.built
            if b.construction == kind
        ]
        if pairs:
            panel.plot(*zip(*pairs, strict=True), ".", color=color, markersize=6, label=label)


def _along(panel: Axes, found: Growth, axis: str, label: bool = True) -> None:
    settings = found.settings
    fixed = f"n={settings.context}" if axis == "heads" else f"H={settings.fixed_heads}"
    if label:
        panel.set_xlabel(f"${SYMBOLS[axis]}$  (${fixed}$, $d={settings.width}$)")
    panel.set_xticks([H if axis == "heads" else n for H, n in settings.sizes[axis]])
    _grid(panel)


def _grid(panel: Axes) -> None:
    panel.grid(axis="y", color="#dddddd", linewidth=0.6)
    panel.set_axisbelow(True)


def _legend(figure: Figure, panel: Axes) -> None:
    arguments: dict[str, Any] = {"loc": "outside lower center", "ncols": 2, "frameon": False}
    figure.legend(*panel.get_legend_handles_labels(), fontsize=8, **arguments)
