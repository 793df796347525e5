"""A table as every report holds it, before it is written."""

from __future__ import annotations

from dataclasses import dataclass

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
