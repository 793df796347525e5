"""The page on the paper's experiments, from the rows that experiments.py keeps.

In the figures, points are certificates and lines are formulas. Figures have no dates, so the same
rows give the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

from experiments_points import key
from figures import BLUE, GREEN, ORANGE, RED, WIDTH, style, to_svg
from matplotlib.figure import Figure

from attncert.reports.report import figure_file
from attncert.reports.words.templating import page

Row = Mapping[str, Any]
TEMPLATES = Path(__file__).parent / "templates"
_AXES = {"heads": "heads", "context": "n", "head width": "head_width"}
_SYMBOLS = {"heads": "H", "n": "n", "head_width": "d_h"}
_TITLES = {"random": "distinct contexts", "fixed": "one shared context"}
_LINES = (
    ("N", "black", "-", "$N$: effective parameters"),
    ("every_labelling", ORANGE, "--", "every labelling, pairs"),
    ("universal", GREEN, "-", "universal"),
    ("paper", RED, "-", r"the paper, $H(\min(n,d_h)-1)+1$"),
)
_MARKS = (("real", "o", BLUE), ("classes", "x", "#777777"))


def render(result: Mapping[str, Any]) -> dict[str, bytes]:
    """File contents by name. result: what benchmarks/experiments.py wrote."""
    rows = result["rows"]
    names = list(dict.fromkeys(row["series"] for row in sorted(rows, key=_place)))
    series = [Series(name, [row for row in rows if row["series"] == name], rows) for name in names]
    context = {
        "series": series,
        "certified": [row for row in rows if row["outcome"] == "certified"],
        "missing": sum(row["outcome"] == "not found" for row in rows),
        "rows": rows,
        "below": sum(below_what_is_proved(row) for row in rows),
        "equal": equal(result["equal"]),
        "machine": result["machine"],
        "note": result["note"],
    }
    with style():
        figures = {s.figure: to_svg(s.draw()) for s in series if s.figure}
    filters = {"examples": examples, "notes": notes, "seconds": seconds}
    return {"report.md": page("experiments.md.j2", context, TEMPLATES, **filters), **figures}


def examples(row: Row) -> int:
    """The most examples that N allows."""
    return int(row["bounds"]["N"] // row["m"])


def below_what_is_proved(row: Row) -> bool:
    """Whether fewer examples were certified than are proved to be memorized for all labels."""
    proved = max(row["bounds"]["universal"], row["bounds"]["every_labelling"] or 0)
    return row["outcome"] == "certified" and row["T"] < proved


def at_the_end(row: Row) -> bool:
    """Whether T is the last value tried although N is larger."""
    return row.get("T") == key(row).candidates()[-1] < examples(row)


def notes(row: Row) -> str:
    """Marks on a certified T: not checked from a file, end of the grid, less than is proved."""
    marks = "\\*" if row["certificates"][-1]["checked"] != "file" else ""
    marks += "‡" if at_the_end(row) else ""
    marks += "†" if below_what_is_proved(row) else ""
    most = max(one["T"] for one in row["tried"] if one["found"])
    return marks + (f" ({most} found)" if most > row["T"] else "")


def seconds(row: Row) -> float:
    """The time of all searches and certificates for the point."""
    return float(sum(one["processor_seconds"] for one in [*row["tried"], *row["certificates"]]))


class Series:
    """One series of points: its rows along its axis, its table and its figure."""

    def __init__(self, name: str, rows: Sequence[Row], every: Sequence[Row]) -> None:
        self.name, self.axis = name, _AXES.get(name.split(",")[0], "heads")
        self.rows = sorted([*rows, *_joining(name, every)], key=self._order)
        self.one_hot = name == "one-hot"

    def _order(self, row: Row) -> tuple[Any, ...]:
        return row["contexts"] != "random", row["labels"] != "real", row["m"], row[self.axis]

    @property
    def title(self) -> str:
        fixed = {
            f"{symbol} = {values.pop()}"
            for name, symbol in (("n", "n"), ("d", "d"), ("heads", "H"), ("head_width", "d_h"))
            if len(values := {row[name] for row in self.rows}) == 1
        }
        return f"T against {_SYMBOLS[self.axis]} ({', '.join(sorted(fixed))})"

    @property
    def symbol(self) -> str:
        return _SYMBOLS[self.axis]

    @property
    def ranges(self) -> list[dict[str, Any]]:
        """T and N along the axis for each kind of context, with real labels."""
        return [
            {
                "contexts": title,
                "points": [(row[self.axis], f"{row['T']}{'‡' if at_the_end(row) else ''}")
                           for row in some],
                "N": sorted({row["bounds"]["N"] for row in some}),
            }
            for contexts, title in _TITLES.items()
            if (some := [row for row in self.rows if row["contexts"] == contexts
                         and row["labels"] == "real" and row["outcome"] == "certified"])
        ]  # fmt: skip

    @property
    def figure(self) -> str:
        """The file name of the figure; '' if there is none."""
        words = "".join(c for c in self.name if c.isalpha() or c == " ").replace(" ", "-")
        return "" if self.one_hot else figure_file(f"experiments-{words}")

    def draw(self) -> Figure:
        """Draw distinct contexts on the left, the shared one on the right."""
        figure = Figure(figsize=(WIDTH, 3.8), layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        for panel, contexts in zip(panels, _TITLES, strict=True):
            rows = [row for row in self.rows if row["contexts"] == contexts]
            real = [row for row in rows if row["labels"] == "real"]
            x = [row[self.axis] for row in real]
            for bound, color, line, label in _LINES:
                values = [row["bounds"][bound] for row in real]
                panel.plot(x, values, line, color=color, linewidth=1.2, label=label)
            for labels, mark, color in _MARKS:
                some = [row for row in rows if row["labels"] == labels and row.get("T")]
                panel.plot([row[self.axis] for row in some], [row["T"] for row in some], mark,
                           color=color, markersize=6, fillstyle="none",
                           label=f"certified, {labels}")  # fmt: skip
            panel.set_title(_TITLES[contexts])
            panel.set_xlabel(f"${self.symbol}$")
            panel.set_xticks(x)
            panel.set_yscale("log")
            panel.grid(axis="y", color="#dddddd", linewidth=0.6)
            panel.set_axisbelow(True)
        panels[0].set_ylabel("examples $T$")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3,
                      frameon=False, fontsize=8)  # fmt: skip
        return figure


def equal(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """A line for each data set with the share of examples on which a head is saturated, averaged
    over the heads of each construction and each fit."""
    names = "contexts", "n", "d", "heads", "T"
    lines: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        line = lines.setdefault(tuple(row[name] for name in names), {n: row[n] for n in names})
        line[row["weights"]] = [mean(heads) for heads in row["saturated"]]
    return [
        line | {"title": _TITLES[line["contexts"]], "median": median(line["fitted"])}
        for line in lines.values()
    ]


def _joining(series: str, rows: Sequence[Row]) -> list[Row]:
    """The point in the series "heads" that also belongs to "context"."""
    return [row for row in rows if series == "context" and row["series"] == "heads"
            and row["heads"] == 10]  # fmt: skip


def _place(row: Row) -> tuple[int, str]:
    """Sort key of a row: the series "heads", "context" and "head width" come first, in this order;
    small series come after the large ones of the same name."""
    names = list(_AXES)
    base = row["series"].split(",")[0]
    return (names.index(base) if base in names else len(names)), row["series"]
