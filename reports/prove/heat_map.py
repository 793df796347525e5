"""The heat map of saturation as SVG, heads × examples: an embedded PNG with a pixel for each cell.

Text stays text. Colours are those of Matplotlib's cividis, which can be told apart with any colour
vision.
"""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from attncert.constructions.arrays import FloatArray
from attncert.reports.words.drawing import Drawing
from attncert.reports.words.numbers import BEYOND
from attncert.reports.words.text import plain
from attncert.verify.claims.words import counted

MOST_CELLS = (240, 480)  # heads × examples that are drawn one by one
MOST_MARKS = 600  # heads that are outlined; more outlines would overlap
_COLOURS = (
    "#fee838", "#e9d34e", "#d1bf61", "#bbad6d", "#a59c74", "#918b78", "#7d7c78",
    "#6a6c71", "#575d6d", "#434e6c", "#2a3f6d", "#003170", "#00224e",
)  # fmt: skip
_GREY, _RED, _INK = "#bbbbbb", "#d55e00", "#333333"
_UNKNOWN = 255  # the place of grey in the palette
_LOGARITHMIC = 64.0  # above this many bits, colours follow their logarithm
_LEFT, _TOP, _WIDTH, _BELOW = 52, 34, 600, 44  # the map and what surrounds it, in pixels
_WHOLE = 760  # the width of the drawing

Group = tuple[int, int, int]  # a head; its first column and the one after its last


def heat_map(bits: FloatArray, examples: str, groups: Sequence[Group] = ()) -> Drawing:
    """bits: -log2(1 - p_max), heads × examples. examples: the label of the x axis. groups: cells
    that are outlined. Large maps show the least saturated pair of each block."""
    cells = _least(bits)
    known = cells[cells < BEYOND]
    scale = _Scale(known)
    height = round(90 * min(max(0.22 * len(bits), 0.5), 5.0))
    png = base64.b64encode(_png(scale.places(cells))).decode()
    whole = height + _TOP + _BELOW
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Saturation" '
        f'width="{_WHOLE}" height="{whole}" viewBox="0 0 {_WHOLE} {whole}" fill="{_INK}" '
        f'font-family="DejaVu Sans, Verdana, Arial, sans-serif" font-size="12">',
        f'<rect width="{_WHOLE}" height="{whole}" fill="#ffffff"/>',
        _text(_LEFT, 20, "Saturation: share of attention outside the largest weight", "start"),
        f'<image x="{_LEFT}" y="{_TOP}" width="{_WIDTH}" height="{height}" '
        f'preserveAspectRatio="none" style="image-rendering: pixelated" '
        f'href="data:image/png;base64,{png}"/>',
        *_outlines(bits.shape, height, groups),
        *_axes(bits.shape, height, examples),
    ]
    if known.size:
        lines += _bar(scale, height)
    else:
        lines.append(_text(_LEFT + _WIDTH / 2, _TOP + height / 2, "one row: every weight is 1"))
    return Drawing(("\n".join([*lines, "</svg>"]) + "\n").encode())


def caption(heads: int, examples: int) -> str:
    """The meaning of a cell of the heat map; if cells are merged, the size of the blocks."""
    rows, columns = _block(heads, MOST_CELLS[0]), _block(examples, MOST_CELLS[1])
    if rows == columns == 1:
        return "each cell is one head and one example"
    return (
        f"each cell is the least saturated pair among {counted(rows, 'head')} "
        f"and {counted(columns, 'example')}"
    )


@dataclass(frozen=True)
class _Scale:
    """Bits as places between 0, the brightest colour, and 1. known: those that are drawn."""

    known: FloatArray

    @property
    def ends(self) -> tuple[float, float]:
        """The bits of the two ends; the first is positive if the scale is logarithmic."""
        high = max(self.known, default=1.0)
        if high <= _LOGARITHMIC:
            return 0.0, max(high, 1.0)
        return max(min(self.known.min(), 1.0), 1e-3), high

    def places(self, bits: FloatArray) -> FloatArray:
        """Numbers beyond floats get the darkest colour."""
        low, high = self.ends
        within = np.clip(bits, low, high)
        if low:
            return np.log(within / low) / math.log(high / low)
        return within / high

    def ticks(self, most: int) -> list[float]:
        """Round numbers of bits, with at most this many steps between them."""
        low, high = self.ends
        if not low:
            return [float(k) for k in _ticks(int(high), most)]
        first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
        return [10.0**k for k in range(first, last + 1, _block(last - first, most) or 1)]


def _bar(scale: _Scale, height: int) -> list[str]:
    """The colours from top to bottom, and the 1 - p_max that they mean."""
    x, last = _LEFT + _WIDTH + 14, len(_COLOURS) - 1
    stops = [f'<stop offset="{k / last:.4g}" stop-color="{c}"/>' for k, c in enumerate(_COLOURS)]
    middle = _TOP + height / 2
    lines = [
        f'<linearGradient id="scale" x2="0" y2="1">{"".join(stops)}</linearGradient>',
        f'<rect x="{x}" y="{_TOP}" width="14" height="{height}" fill="url(#scale)"/>',
        _text(_WHOLE - 12, middle, "1 - pₘₐₓ", more=_turned(_WHOLE - 12, middle)),
    ]
    ticks = scale.ticks(max(1, min(5, height // 20)))
    for bits, place in zip(ticks, scale.places(np.array(ticks)), strict=True):
        y = _TOP + float(place) * height
        lines += [_line(x + 14, y, "h4"), _text(x + 21, y + 4, _power(bits), "start")]
    return lines


def _axes(shape: tuple[int, ...], height: int, examples: str) -> list[str]:
    heads, columns = shape
    bottom, middle = _TOP + height, _TOP + height / 2
    lines = [
        _text(_LEFT + _WIDTH / 2, bottom + 36, examples),
        _text(14, middle, "head", more=_turned(14, middle)),
    ]
    for t in _ticks(columns, 10):
        x = _LEFT + t * _WIDTH / columns
        lines += [_line(x, bottom, "v4"), _text(x, bottom + 17, f"{t}")]
    for h in _ticks(heads, 10)[1:]:
        y = _TOP + (h - 0.5) * height / heads
        lines += [_line(_LEFT, y, "h-4"), _text(_LEFT - 7, y + 4, f"{h}", "end")]
    return lines


def _outlines(shape: tuple[int, ...], height: int, groups: Sequence[Group]) -> list[str]:
    heads, columns = shape
    across, down = _WIDTH / columns, height / heads
    return [
        f'<rect x="{_LEFT + first * across:.6g}" y="{_TOP + head * down:.6g}" fill="none" '
        f'width="{(after - first) * across:.6g}" height="{down:.6g}" stroke="{_RED}" '
        f'stroke-width="{2 if heads <= 40 else 1}"/>'
        for head, first, after in groups[:: _block(heads, MOST_MARKS)]
    ]


def _ticks(last: int, most: int) -> list[int]:
    """Multiples of 1, 2 or 5 times a power of ten, from 0 to `last`: at most `most` steps."""
    steps = (lead * 10**k for k in range(len(str(last)) + 1) for lead in (1, 2, 5))
    return list(range(0, last + 1, next(step for step in steps if last <= most * step)))


def _power(bits: float) -> str:
    """2^-bits as text.

    >>> _power(0), _power(100.0), _power(1e5)
    ('1', '2⁻¹⁰⁰', '2^-10⁵')
    """
    exponent = f"{bits:g}" if bits < 10_000 else f"10^{{{round(math.log10(bits))}}}"
    return plain(f"$2^{{-{exponent}}}$") if bits else "1"


def _png(places: FloatArray) -> bytes:
    """An image with a palette of 255 colours, and grey for places that are not numbers.

    Source: W3C, PNG Specification, third edition, 2025: each line begins with its filter, 0.
    """
    anchors = np.array([list(bytes.fromhex(colour[1:])) for colour in (*_COLOURS, _GREY)])
    steps = np.linspace(0, len(_COLOURS) - 1, _UNKNOWN)
    channels = [np.interp(steps, range(len(_COLOURS)), c) for c in anchors[:-1].T]
    palette = np.vstack([np.rint(channels).T, anchors[-1]]).astype(np.uint8)
    shades = np.where(np.isnan(places), _UNKNOWN, np.rint(places * (_UNKNOWN - 1)))
    lines = np.insert(np.nan_to_num(shades).astype(np.uint8), 0, 0, axis=1)
    rows, columns = places.shape
    chunks = {
        b"IHDR": struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0),
        b"PLTE": palette.tobytes(),
        b"IDAT": zlib.compress(lines.tobytes(), 9),
        b"IEND": b"",
    }
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + part + struct.pack(">I", zlib.crc32(part))
        for part, content in ((name + inside, inside) for name, inside in chunks.items())
    )


def _least(bits: FloatArray) -> FloatArray:
    """The least value of each block, with the smallest blocks that the picture allows."""
    H, T = bits.shape
    rows = np.arange(0, H, _block(H, MOST_CELLS[0]))
    columns = np.arange(0, T, _block(T, MOST_CELLS[1]))
    return np.minimum.reduceat(np.minimum.reduceat(bits, rows, axis=0), columns, axis=1)


def _block(total: int, most: int) -> int:
    return -(-total // most)


def _line(x: float, y: float, path: str) -> str:
    return f'<path d="M{x:.6g},{y:.6g}{path}" stroke="{_INK}"/>'


def _turned(x: float, y: float) -> str:
    return f' transform="rotate(-90 {x:g} {y:g})"'


def _text(x: float, y: float, text: str, anchor: str = "middle", more: str = "") -> str:
    return f'<text x="{x:.6g}" y="{y:.6g}" text-anchor="{anchor}"{more}>{escape(text)}</text>'
