"""The proof graph as SVG: boxes by standing, edges from premise to conclusion, links to the steps.

Text stays text, every box is a link with a name for screen readers, and there is no style sheet:
what is written as an attribute here, the page that the drawing is put into may override. Widths
are counted in letters, so that nothing depends on a font.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from html import escape

from attncert.constructions.foreign import printable
from attncert.reports.prove.head_steps import anchors
from attncert.reports.prove.layout import layered
from attncert.reports.prove.view import Box, box_anchor, diagram
from attncert.reports.report import HTML_PAGE
from attncert.reports.words.levels import WORDING
from attncert.reports.words.numbers import indices
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.ids import ClaimId
from attncert.verify.claims.trace import ProofTrace

PAGE = f"../{HTML_PAGE}"  # beside the folder of figures
RESTS, ARGUED = "the certificate rests on", "the written proof argues, or a cross-check"
_BOX = (138, 50)  # pixels
_PITCH = (152, 92)  # between centres: columns, layers
_MARGIN = 10
_LETTERS = 18  # in a line of a box
_KEY = 26  # height of a line of the legend

Point = tuple[float, float]
_Key = Callable[[float, float], list[str]]


def graph(trace: ProofTrace, conclusion: ClaimId | None = None, page: str | None = PAGE) -> bytes:
    """The drawing of the whole trace; the box of `conclusion` has a thick edge. page: where the
    boxes lead; None for no links."""
    view, place = diagram(trace), anchors(trace)
    number = {claim_id: k for k, claim_id in enumerate(trace.order, start=1)}
    edges = (*view.rests, *view.argued)
    layout = layered(len(view.boxes), edges)
    present = [level for level in Level if any(b.standing is level for b in view.boxes)]
    xs = [x * _PITCH[0] for route in layout.routes for x, _ in route]
    xs += [x * _PITCH[0] for x, _ in layout.place.values()]
    leftmost = min(xs) - _BOX[0] / 2 - _MARGIN
    width = max(max(xs) + _BOX[0] / 2 + _MARGIN - leftmost, 560.0)
    keys, top = _legend(present, width)
    top += _BOX[1] / 2 + _MARGIN
    height = top + (len(layout.rows) - 1) * _PITCH[1] + _BOX[1] / 2 + _MARGIN

    def at(point: Point) -> Point:
        return point[0] * _PITCH[0] - leftmost, point[1] * _PITCH[1] + top

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="proof-graph" role="group" '
        f'aria-label="Graph of the proof" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" '
        f'font-family="DejaVu Sans, Verdana, Arial, sans-serif" font-size="12">',
        f'<rect class="paper" width="{width:g}" height="{height:g}" fill="#ffffff"/>',
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path class="tip" d="M0,0L8,4L0,8z" fill="#666666"/>'
        "</marker></defs>",
        *keys,
    ]
    for k, ((a, b), route) in enumerate(zip(edges, layout.routes, strict=True)):
        lines.append(_edge(list(map(at, route)), a, b, dashed=k >= len(view.rests)))
    for k, box in enumerate(view.boxes):
        steps = indices(sorted(number[i] for i in box.claims), 2)
        drawn = _box(box, at(layout.place[k]), steps, conclusion in box.claims)
        link = "" if page is None else f' href="{page}#{box_anchor(box, place)}"'
        lines.append(f'<{"a" if link else "g"}{link} class="box" data-box="{k}" {drawn}')
        lines.append("</a>" if link else "</g>")
    return ("\n".join([*lines, "</svg>"]) + "\n").encode()


def _box(box: Box, centre: Point, steps: str, answer: bool) -> str:
    """Its name, as the attribute that ends the opening tag, and what is drawn."""
    (x, y), (w, h), look = centre, _BOX, WORDING[box.standing]
    label = printable(box.label)
    lines = _wrapped(label)
    noun = "step" if len(box.claims) == 1 else "steps"
    small = f"{box.standing.value} · {noun} {steps}"
    dash = "" if box.standing.holds else ' stroke-dasharray="5 3"'
    name = f"{label}: {box.standing.value}, {noun} {steps}{', the answer' if answer else ''}"
    rows = [y - 3] if len(lines) == 1 else [y - 10, y + 3]
    weight = ' font-weight="bold"' if answer else ""
    return "".join([
        f'aria-label="{escape(name)}">',
        f'<rect x="{x - w / 2:g}" y="{y - h / 2:g}" width="{w}" height="{h}" rx="6" '
        f'fill="{look.fill}" stroke="{look.edge}" stroke-width="{3 if answer else 1.3}"{dash}/>',
        *(_text(x, row, line, "#111111", f'text-anchor="middle"{weight}')
          for row, line in zip(rows, lines, strict=True)),
        _text(x, y + (15 if len(lines) == 1 else 18), small, "#333333",
              f'text-anchor="middle" font-size="{10 if len(small) < 25 else 8.5}"'),
    ])  # fmt: skip


def _wrapped(label: str) -> list[str]:
    lines = textwrap.wrap(
        label, _LETTERS, max_lines=2, placeholder="…", break_on_hyphens=False
    )  # fmt: skip
    return lines or [""]


def _edge(points: Sequence[Point], a: int, b: int, dashed: bool) -> str:
    """Down from box to box, straight through the rows that it passes, bent only between rows."""
    half = _BOX[1] / 2
    x0, y0 = points[0][0], points[0][1] + half
    path = [f"M{x0:g},{y0:g}"]
    for k, (x, y) in enumerate(points[1:], start=2):
        y1 = y - half
        middle = (y0 + y1) / 2
        path.append(f"C{x0:g},{middle:g} {x:g},{middle:g} {x:g},{y1:g}")
        if k < len(points):
            path.append(f"V{y + half:g}")
        x0, y0 = x, y + half
    return (
        f'<path class="edge" data-from="{a}" data-to="{b}" d="{"".join(path)}" fill="none" '
        f'stroke="#666666" stroke-width="1.3" marker-end="url(#arrow)"{_dashes(dashed)}/>'
    )


def _dashes(dashed: bool) -> str:
    return ' stroke-dasharray="2 4"' if dashed else ""


def _legend(present: Sequence[Level], width: float) -> tuple[list[str], float]:
    """Lines of SVG, and the height that they take."""
    out: list[str] = []
    x, y = float(_MARGIN), _MARGIN + 9.0
    for wide, draw in (*_edge_keys(), *map(_level_key, present)):
        if x + wide > width and x > _MARGIN:
            x, y = float(_MARGIN), y + _KEY - 6
        out += draw(x, y)
        x += wide
    return out, y + _KEY


def _edge_keys() -> Iterator[tuple[float, _Key]]:
    for text, dashed in ((RESTS, False), (ARGUED, True)):

        def draw(x: float, y: float, text: str = text, dashed: bool = dashed) -> list[str]:
            line = (
                f'<path class="edge" d="M{x:g},{y:g}h30" stroke="#666666" stroke-width="1.3" '
                f'fill="none" marker-end="url(#arrow)"{_dashes(dashed)}/>'
            )
            return [line, _text(x + 37, y + 4, text, "#333333", 'class="key" font-size="11"')]

        yield 54 + 6.4 * len(text), draw


def _level_key(level: Level) -> tuple[float, _Key]:
    look = WORDING[level]

    def draw(x: float, y: float) -> list[str]:
        dash = "" if level.holds else ' stroke-dasharray="4 2"'
        box = (
            f'<rect x="{x:g}" y="{y - 7:g}" width="22" height="14" rx="4" fill="{look.fill}" '
            f'stroke="{look.edge}"{dash}/>'
        )
        return [box, _text(x + 28, y + 4, level.value, "#333333", 'class="key" font-size="11"')]

    return 42 + 6.6 * len(level.value), draw


def _text(x: float, y: float, text: str, colour: str, more: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{colour}" {more}>{escape(text)}</text>'
