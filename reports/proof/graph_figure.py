"""The proof graph as a figure: boxes by standing, edges from premise to conclusion."""

from __future__ import annotations

import textwrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path

from attncert.constructions.foreign import printable
from attncert.reports.proof.layout import layered
from attncert.reports.proof.view import Box, Diagram
from attncert.reports.words.levels import WORDING
from attncert.verify.claims.evidence import Level

BOX = (1.62, 0.5)  # inches
PITCH = (1.8, 0.86)  # inches between centres: columns, layers


def graph(view: Diagram) -> Figure:
    layout = layered(len(view.boxes), view.edges)
    at = {k: (x * PITCH[0], -y * PITCH[1]) for k, (x, y) in layout.place.items()}
    wide = [x * PITCH[0] for route in layout.routes for x, _ in route]
    xs = wide + [x for x, _ in at.values()]
    left, right = min(xs) - BOX[0] / 2 - 0.1, max(xs) + BOX[0] / 2 + 0.1
    present = [level for level in Level if any(b.standing is level for b in view.boxes)]
    right = max(right, left + 1.35 * len(present) + 0.9)
    bottom = -(len(layout.rows) - 1) * PITCH[1] - BOX[1] / 2 - 0.1
    top = BOX[1] / 2 + 0.55
    figure = Figure(figsize=(right - left, top - bottom))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(left, right), ylim=(bottom, top))
    axes.axis("off")
    for route in layout.routes:
        _edge(axes, [(x * PITCH[0], -y * PITCH[1]) for x, y in route])
    for k, box in enumerate(view.boxes):
        _box(axes, box, at[k])
    _legend(axes, present, left + 0.12, top - 0.22)
    return figure


def _box(axes: Axes, box: Box, centre: tuple[float, float]) -> None:
    (x, y), (w, h), look = centre, BOX, WORDING[box.standing]
    axes.add_patch(
        FancyBboxPatch(
            (x - w / 2, y - h / 2), w, h, boxstyle="round,pad=0,rounding_size=0.07",
            facecolor=look.fill, edgecolor=look.edge, linewidth=1.2, zorder=3,
            linestyle="-" if box.standing.holds else "--",
        )
    )  # fmt: skip
    label = printable(box.label).replace("$", r"\$")
    lines = textwrap.wrap(label, 26)[:2] or [""]
    size = 7.5 if len(lines) == 1 else 6.8
    axes.text(x, y + 0.075, "\n".join(lines), ha="center", va="center", fontsize=size, zorder=4,
              color="#111111", linespacing=0.95)  # fmt: skip
    axes.text(x, y - 0.165, box.standing.value, ha="center", va="center", fontsize=6.2, zorder=4,
              color=look.edge)  # fmt: skip


def _edge(axes: Axes, points: list[tuple[float, float]]) -> None:
    """Down from box to box, straight through the rows that it passes, bent only between rows."""
    half = BOX[1] / 2
    vertices, codes = [(points[0][0], points[0][1] - half)], [Path.MOVETO]
    for x, y in points[1:]:
        (x0, y0), (x1, y1) = vertices[-1], (x, y + half)
        middle = (y0 + y1) / 2
        vertices += [(x0, middle), (x1, middle), (x1, y1)]
        codes += [Path.CURVE4] * 3
        if (x, y) != points[-1]:
            vertices.append((x, y - half))
            codes.append(Path.LINETO)
    axes.add_patch(
        FancyArrowPatch(
            path=Path(vertices, codes), arrowstyle="-|>", mutation_scale=8, color="#777777",
            linewidth=0.9, zorder=2, shrinkA=0, shrinkB=0,
        )
    )  # fmt: skip


def _legend(axes: Axes, present: list[Level], x: float, y: float) -> None:
    axes.text(x, y, "standing", fontsize=7.5, va="center", color="#444444")
    x += 0.72
    for level in present:
        look = WORDING[level]
        axes.add_patch(
            FancyBboxPatch((x, y - 0.08), 0.22, 0.16, boxstyle="round,pad=0,rounding_size=0.04",
                           facecolor=look.fill, edgecolor=look.edge, linewidth=1.0,
                           linestyle="-" if level.holds else "--")
        )  # fmt: skip
        axes.text(x + 0.29, y, level.value, fontsize=7.5, va="center", color="#111111")
        x += 0.55 + 0.075 * len(level.value)
