"""Matplotlib's figures in tests: they are drawn if a test looks at them and are blank otherwise.

Laying out and drawing takes nine tenths of a small report.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import pytest
from matplotlib.figure import Figure

from attncert.reports.words import drawing

_DRAWS = drawing.FigureCanvasSVG
BLANK = b'<?xml version="1.0" encoding="utf-8"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>\n'


class _Blank:
    def __init__(self, figure: Figure) -> None:
        pass

    def print_svg(self, out: BinaryIO, **_: Any) -> None:
        out.write(BLANK)


@contextmanager
def _with(canvas: type) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "FigureCanvasSVG", canvas)
        yield


def blank() -> Any:
    return _with(_Blank)


def drawn() -> Any:
    return _with(_DRAWS)
