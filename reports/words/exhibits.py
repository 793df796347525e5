"""What a report shows besides sentences: tables, and what is drawn and tabulated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["HeatMap", "Matrix", "Table"]

Row = tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """Rows of cells, each a sentence in the form of `reports/words/text.py`. note: what stands
    below.
    """

    title: str
    columns: Row
    rows: tuple[Row, ...]
    note: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(
                    f"{self.title}: {len(row)} cells under {len(self.columns)} columns"
                )


@dataclass(frozen=True)
class Matrix:
    """Rows against columns, one mark in each cell ("" for nothing); drawn and tabulated.

    name: of its figure (`reports/report.py` lists them). meanings: of every mark that occurs; the
    marks in `bad` are drawn as such.
    """

    name: str
    title: str
    corner: str
    columns: Row
    rows: tuple[tuple[str, Row], ...]
    meanings: Mapping[str, str]
    bad: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for label, cells in self.rows:
            if len(cells) != len(self.columns):
                raise ValueError(f"{self.name}: {label} has not one cell for each column")
            for mark in cells:
                if mark and mark not in self.meanings:
                    raise ValueError(f"{self.name}: nothing says what {mark!r} means")


@dataclass(frozen=True)
class HeatMap:
    """Saturation of a layer: bits[h][t] is -log2 of the softmax weight of head h on example t
    outside the largest; infinite where there is none. name: of its figure."""

    name: str
    title: str
    bits: tuple[tuple[float, ...], ...]
    note: str = ""
