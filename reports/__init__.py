"""What is WRITTEN: from a finished `Proof` to a folder that a reviewer can read.

| file | what it is |
| --- | --- |
| `report.md` | verdict, hypotheses, construction, proof step by step, what was not proved |
| `certificate.json` | what `attncert check` and `verify/checker.py` re-derive |
| `trace.json` | the report as data |
| `timings.json` | times and versions, the only place for them |
| `tables.tex`, `references.bib` | for a paper |
| `figures/*.svg` | the proof graph, saturation, attention weights, bits and condition |

Nothing is computed here that the `Proof` does not hold, and nothing is worded above its level.
"""

from attncert.reports.folder import check_folder, write_folder
from attncert.reports.proof.folder import render, write_report
from attncert.reports.proof.records import one_line_verdict, summary_dict

__all__ = [
    "check_folder",
    "one_line_verdict",
    "render",
    "summary_dict",
    "write_folder",
    "write_report",
]
