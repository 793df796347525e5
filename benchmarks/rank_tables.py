"""The tables of ranks, from the committed results of rank.py.

python benchmarks/rank_tables.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cases import show, table

OUT = Path(__file__).parent / "results" / "rank.json"


def main() -> None:
    show("rank_tables.py", markdown(json.loads(OUT.read_text())))


def markdown(report: dict[str, Any]) -> str:
    return "\n\n".join((_subsets(report), _layers(report), _detection(report)))


def _subsets(report: dict[str, Any]) -> str:
    headings = ["spectrum", "k", "reference", "ours", "ratio", "certified", "reference says"]
    rows = []
    for row in report["subsets"]["rows"]:
        rate, ratio = row["per_second"], row["ratio"]
        best = max(x for name, x in rate.items() if name.startswith("reference"))
        rows.append([
            row["spectrum"], row["k"], f"{best:,.0f}/s", f"{rate['ours']:,.0f}/s", ratio,
            row["certified_independent"], row["reference_says_independent"],
        ])  # fmt: skip
    return table(headings, rows)


def _layers(report: dict[str, Any]) -> str:
    headings = ["contexts", "n", "d", "H", "T", "row blocks, CPU", "FLINT", "ratio"]
    rows = []
    for row in report["layers"]["rows"]:
        if cpu := row.get("cpu"):
            rows.append([
                "shared" if row["shared"] else "distinct", row["n"], row["d"], row["heads"],
                f"{row['T']:,}", f"{cpu['seconds']:.2f} s",
                f"{row['flint_seconds']:.1f} s" if "flint_seconds" in row else "-",
                row.get("ratio_to_flint", "-"),
            ])  # fmt: skip
    return table(headings, rows)


def _detection(report: dict[str, Any]) -> str:
    """A table with a row for every second size."""
    headings = ["size", "5,000 random subsets", "one basis", "found", "slowest", "ratio"]
    rows = []
    for row in report["detection"]["rows"][::2]:
        found = row["circuits"]
        rows.append([
            row["size"], f"{row['5,000 subsets meet it']:.2g}", f"{row['one basis meets it']:.2f}",
            f"{found['found']} of {found['planted']}", f"{found['slowest']:.2f} s",
            f"{row['ratio']:.2g}",
        ])  # fmt: skip
    return table(headings, rows)


if __name__ == "__main__":
    main()
