"""Write docs/edge-cases.md again from the catalogue: `python docs/make_edge_cases.py`."""

from __future__ import annotations

from pathlib import Path

from attncert.reports.words.text import markdown
from attncert.verify.audit.edge_cases import CASES, FileCase

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "edge-cases.md"
_INTRODUCTION = """# Edge cases

Made from `verify/audit/edge_cases/` by `python docs/make_edge_cases.py`; do not edit.

What must happen on data that are as small, as degenerate or as badly written as data can be. The
test suite and `attncert audit` run every case and compare the standing of each conclusion, the
exact set of hypotheses that fail and their witnesses; the data stand in the file that is named.

*Proved*: weights are built and every step is proved, exactly. *Not applicable*: a hypothesis of the
theorem is false, with a witness; whether other weights serve is another question, answered beside
it: *some weights serve* (a full rank was certified), or *impossible for all weights* (with the
relation or the bound that holds for all weights).
"""


def page() -> str:
    """The whole page."""
    lines = [_INTRODUCTION]
    for group in dict.fromkeys(case.group for case in CASES):
        cases = [case for case in CASES if case.group == group]
        lines += [f"## {group.capitalize()}", ""]
        lines += [f"{len(cases)} cases, in `verify/audit/edge_cases/{group}.py`.", ""]
        lines += ["| case | data | must happen | why | by |", "| --- | --- | --- | --- | --- |"]
        for case in cases:
            if isinstance(case, FileCase):
                about = case.file.rpartition(".")[2]
                must = case.must if case.line is None else f"{case.must}: {case.line} …"
            else:
                data = case.data()
                about = f"T={data.T}, n={data.n}, d={data.d}, m={data.m}"
                about += ", shared" if data.shared and data.T > 1 else ""
                must = case.must
            cells = (case.name, about, must, case.why, case.source)
            lines.append("| " + " | ".join(map(markdown, cells)) + " |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page())
