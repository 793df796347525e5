"""The page on the paper's experiments, from the rows that benchmarks/experiments.py keeps.

Points are certificates; lines are formulas. What a reading of the paper is worth for these contexts
is computed from the points, and said with the numbers. No times of drawing: equal rows give equal
bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, median
from typing import Any

from matplotlib.figure import Figure

from attncert.reports.proof.figures import BLUE, GREEN, ORANGE, RED, WIDTH
from attncert.reports.report import figure_file
from attncert.reports.words.drawing import style, to_svg
from attncert.reports.words.templating import page

Row = Mapping[str, Any]
_AXES = {"heads": "heads", "context": "n", "head width": "head_width"}
_SYMBOLS = {"heads": "H", "n": "n", "head_width": "d_h"}
_TITLES = {"random": "own contexts", "fixed": "one shared context"}
_LINES = (
    ("N", "black", "-", "$N$: effective parameters"),
    ("every_labelling", ORANGE, "--", "every labelling, pairs"),
    ("universal_at_most", GREEN, ":", "universal, at most"),
    ("universal_promised", GREEN, "-", "universal, $H(n-1)+1$"),
    ("paper", RED, "-", r"the paper, $H(\min(n,d_h)-1)+1$"),
)
_MARKS = (("real", "o", BLUE), ("classes", "x", "#777777"))
_SAME = 1.1  # two numbers of examples within this factor count as equal


def render(result: Mapping[str, Any]) -> dict[str, bytes]:
    """File contents by name. result: what benchmarks/experiments.py wrote."""
    rows = result["rows"]
    names = list(dict.fromkeys(row["series"] for row in sorted(rows, key=_place)))
    series = [Series(name, [row for row in rows if row["series"] == name], rows) for name in names]
    context = {
        "series": series,
        "readings": readings(rows),
        "certified": [row for row in rows if row["outcome"] == "certified"],
        "missing": sum(row["outcome"] == "not found" for row in rows),
        "rows": rows,
        "saturation": saturation(rows, result.get("proofs", [])),
        "trained": result.get("trained", []),
        "machine": result["machine"],
        "note": result["note"],
    }
    with style():
        figures = {s.figure: to_svg(s.draw()) for s in series if s.figure}
    return {"report.md": page("experiments.md.j2", context), **figures}


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
    def figure(self) -> str:
        """Its file; '' where there is none."""
        words = "".join(c for c in self.name if c.isalpha() or c == " ").replace(" ", "-")
        return "" if self.one_hot else figure_file(f"experiments-{words}")

    def draw(self) -> Figure:
        """Own contexts left, the shared one right."""
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


def readings(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Each of the paper's readings, for each kind of contexts: numbers, and whether it holds."""
    found = []
    for contexts in _TITLES:
        for series in dict.fromkeys(row["series"] for row in sorted(rows, key=_place)):
            some = [
                row
                for row in rows
                if row["contexts"] == contexts and row["labels"] == "real" and row.get("T")
                and (row["series"] == series or row in _joining(series, rows))
            ]  # fmt: skip
            axis = _AXES.get(series.split(",")[0])
            some.sort(key=lambda row: row[axis or "heads"])
            values = [row[axis or "heads"] for row in some]
            if axis is None or len(set(values)) < 3:
                continue
            judged = {"heads": _linear, "n": _growing, "head_width": _up_to_n}[axis](some)
            where = f"{_SYMBOLS[axis]} from {values[0]} to {values[-1]}, d = {some[0]['d']}"
            found.append({"contexts": _TITLES[contexts], "where": where, **judged})
    return sorted(found, key=lambda reading: reading["reading"])


def _linear(rows: Sequence[Row]) -> dict[str, Any]:
    each = [row["T"] / row["heads"] for row in rows]
    numbers = f"T/H from {min(each):.1f} to {max(each):.1f}"
    return _reading("1. linear in H", max(each) <= _SAME**2 * min(each), numbers)


def _growing(rows: Sequence[Row]) -> dict[str, Any]:
    first, last = rows[0], rows[-1]
    numbers = ", ".join(f"{row['T']} at n = {row['n']}" for row in rows)
    numbers = f"T = {numbers} (N from {first['bounds']['N']} to {last['bounds']['N']})"
    found = [row["T"] for row in rows]
    grown, fallen = max(found) > _SAME * min(found), max(found) > _SAME * last["T"]
    room = last["bounds"]["N"] > _SAME * max(found)  # then a larger T was not found, no more
    said = None if (grown and fallen) or (room and not grown) else grown
    return _reading("2. grows with n", said, numbers)


def _up_to_n(rows: Sequence[Row]) -> dict[str, Any]:
    n = rows[0]["n"]
    before = max(row["T"] for row in rows if row["head_width"] <= n)
    after = max((row["T"] for row in rows if row["head_width"] > n), default=0)
    numbers = f"T up to {before} for d_h ≤ n = {n}"
    numbers += f", up to {after} beyond" if after else ", nothing certified beyond"
    holds = after <= _SAME * before if after else None
    return _reading("3. d_h helps only up to n", holds, numbers)


def _reading(name: str, holds: bool | None, numbers: str) -> dict[str, Any]:
    """holds: None where the points do not say."""
    verdict = {True: "holds", False: "**does not hold**", None: "open"}[holds]
    return {"reading": name, "verdict": verdict, "numbers": numbers}


def saturation(rows: Sequence[Row], proofs: Sequence[Row]) -> list[dict[str, Any]]:
    """For each kind of contexts: the mean over heads of the share of examples, found and proved."""
    found = []
    for contexts in _TITLES:
        own = [mean(row["saturated"]) for row in rows if row["contexts"] == contexts
               and row["outcome"] == "certified"]  # fmt: skip
        carrier = [row["share_of_the_carrier"] * row["heads"] for row in rows
                   if row["contexts"] == contexts and row["outcome"] == "certified"
                   and row["heads"] > 1]  # fmt: skip
        theirs = [mean(row["saturated"]) for row in proofs if row["contexts"] == contexts]
        if own and theirs:
            found.append(
                {
                    "contexts": _TITLES[contexts],
                    "found": (median(own), max(own)),
                    "carrier": median(carrier),
                    "proof": (min(theirs), max(theirs)),
                }
            )
    return found


def _joining(series: str, rows: Sequence[Row]) -> list[Row]:
    """The point of the series "heads" that belongs to "context", too."""
    return [row for row in rows if series == "context" and row["series"] == "heads"
            and row["heads"] == 10]  # fmt: skip


def _place(row: Row) -> tuple[int, str]:
    """Heads, then context, then head width, then the rest; small ones last."""
    names = list(_AXES)
    base = row["series"].split(",")[0]
    return (names.index(base) if base in names else len(names)), row["series"]
