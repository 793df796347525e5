"""Matplotlib figures as SVG files with reproducible bytes.

The style is Matplotlib's default, not the user's, with a fixed salt for ids, no date or version,
and text as paths from the bundled font.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib as mpl
from matplotlib import figure
from matplotlib.backends.backend_svg import FigureCanvasSVG

BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"  # the Okabe-Ito palette
WIDTH = 8.0  # inches


@contextmanager
def style() -> Iterator[None]:
    """The settings of all figures, for drawing and for saving."""
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
