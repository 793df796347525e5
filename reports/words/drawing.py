"""Figures as SVG with reproducible bytes: equal runs give equal files.

The style is Matplotlib's default, not the user's, with a fixed salt for ids, no date or version,
and text as paths from the bundled font.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib import figure
from matplotlib.backends.backend_svg import FigureCanvasSVG


class Figure(figure.Figure):
    """A Matplotlib figure that a notebook shows, as its SVG, whether or not pyplot was loaded."""

    def _repr_svg_(self) -> str:
        with style():
            return to_svg(self).decode()


@dataclass(frozen=True, repr=False)
class Drawing:
    """A picture that is made as SVG; a notebook shows it, as it shows a Figure."""

    svg: bytes

    def _repr_svg_(self) -> str:
        return self.svg.decode()


Picture = Figure | Drawing


def svgs(pictures: Mapping[str, Picture]) -> dict[str, bytes]:
    """Each figure as SVG, by the same name."""
    return {name: picture._repr_svg_().encode() for name, picture in pictures.items()}


@contextmanager
def style() -> Iterator[None]:
    """The settings of reports, for drawing and for saving."""
    ours = {
        "svg.hashsalt": "attncert", "svg.fonttype": "path", "font.size": 9.0,
        "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 10.0,
        "axes.titlelocation": "left", "figure.facecolor": "white", "savefig.facecolor": "white",
    }  # fmt: skip
    defaults = {k: v for k, v in mpl.rcParamsDefault.items() if not k.startswith("backend")}
    with mpl.rc_context(defaults | ours):
        yield


def to_svg(drawn: figure.Figure) -> bytes:
    out = io.BytesIO()
    nothing = {"Date": None, "Creator": None, "Format": None, "Type": None}
    FigureCanvasSVG(drawn).print_svg(out, metadata=nothing)
    return out.getvalue()
