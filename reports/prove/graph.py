"""The proof graph as SVG: boxes by standing, edges from premise to conclusion, links to the steps.

Text remains text, and every box is a link with a name for screen readers. There is no style sheet:
a page that includes the drawing may override its attributes. Text is wrapped by counting
characters, so that nothing depends on a font.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape

from attncert.constructions.foreign import printable
from attncert.reports.prove.head_steps import anchors
from attncert.reports.prove.layout import Point, layered
from attncert.reports.prove.view import Box, box_anchor, diagram
from attncert.reports.report import HTML_PAGE
from attncert.reports.words.levels import WORDING
from attncert.reports.words.numbers import indices
from attncert.verify.claims.ids import ClaimId
from attncert.verify.claims.trace import ProofTrace

PAGE = f"../{HTML_PAGE}"  # the page is beside the folder of figures
RESTS, ARGUED = "the certificate rests on", "further arguments and cross-checks"
_BOX = (138, 50)  # width and height in pixels
_PITCH = (152, 92)  # between centres: columns, layers
_MARGIN = 10
_LETTERS = 18  # the longest line in a box
_KEY = 40  # the height of the legend


def graph(trace: ProofTrace, conclusion: ClaimId | None = None, page: str | None = PAGE) -> bytes:
    """The drawing of the whole trace; the box of `conclusion` has a thick edge. page: the target of
    the links; None for no links."""
    view, place = diagram(trace), anchors(trace)
    number = {claim_id: k for k, claim_id in enumerate(trace.order, start=1)}
    edges = (*view.rests, *view.argued)
    places, routes = layered(len(view.boxes), edges)
    points = [point for route in (places, *routes) for point in route]
    half = max(abs(x) for x, _ in points) * _PITCH[0] + _BOX[0] / 2 + _MARGIN
    middle, top = max(half, 260.0), _KEY + _BOX[1] / 2
    width = 2 * middle
    height = top + max(y for _, y in points) * _PITCH[1] + _BOX[1] / 2 + _MARGIN

    def at(point: Point) -> Point:
        return middle + point[0] * _PITCH[0], top + point[1] * _PITCH[1]

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="proof-graph" role="group" '
        f'aria-label="Graph of the proof" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" '
        f'font-family="DejaVu Sans, Verdana, Arial, sans-serif" font-size="12">',
        f'<rect class="paper" width="{width:g}" height="{height:g}" fill="#ffffff"/>',
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path class="tip" d="M0,0L8,4L0,8z" fill="#666666"/>'
        "</marker></defs>",
        *_key(RESTS, _MARGIN, dashed=False),
        *_key(ARGUED, 220, dashed=True),
    ]
    for k, ((a, b), route) in enumerate(zip(edges, routes, strict=True)):
        line = _line(_path(list(map(at, route))), dashed=k >= len(view.rests))
        lines.append(f'<path class="edge" data-from="{a}" data-to="{b}" {line}')
    for k, box in enumerate(view.boxes):
        steps = indices(sorted(number[i] for i in box.claims), 2)
        drawn = _box(box, at(places[k]), steps, conclusion in box.claims)
        link = "" if page is None else f' href="{page}#{box_anchor(box, place)}"'
        lines.append(f'<{"a" if link else "g"}{link} class="box" data-box="{k}" {drawn}')
        lines.append("</a>" if link else "</g>")
    return ("\n".join([*lines, "</svg>"]) + "\n").encode()


def drawn(trace: ProofTrace) -> str:
    """The graph of any trace as SVG, as in the report of a proof, without its links."""
    return graph(trace, page=None).decode()


def _box(box: Box, centre: Point, steps: str, answer: bool) -> str:
    """The box's name, as the last attribute of the opening tag, and its drawing."""
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
    lines = textwrap.wrap(label, _LETTERS, max_lines=2, placeholder="…", break_on_hyphens=False)
    return lines or [""]


def _path(points: Sequence[Point]) -> str:
    """A line that runs down from box to box, and bends only between rows."""
    half = _BOX[1] / 2
    x0, y0 = points[0][0], points[0][1] + half
    path = f"M{x0:g},{y0:g}"
    for x, y in points[1:]:
        middle = (y0 + y - half) / 2
        path += f"C{x0:g},{middle:g} {x:g},{middle:g} {x:g},{y - half:g}"
        path += f"V{y + half:g}" if (x, y) != points[-1] else ""
        x0, y0 = x, y + half
    return path


def _line(path: str, dashed: bool) -> str:
    dashes = ' stroke-dasharray="2 4"' if dashed else ""
    return (
        f'd="{path}" fill="none" stroke="#666666" stroke-width="1.3" '
        f'marker-end="url(#arrow)"{dashes}/>'
    )


def _key(text: str, x: float, dashed: bool) -> list[str]:
    line = f'<path class="edge" {_line(f"M{x:g},14h30", dashed)}'
    return [line, _text(x + 37, 18, text, "#333333", 'class="key" font-size="11"')]


def _text(x: float, y: float, text: str, colour: str, more: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{colour}" {more}>{escape(text)}</text>'
