"""What is WRITTEN: from an answer to a folder that a reviewer can read.

| file | what it is |
| --- | --- |
| `report.md` | verdict, hypotheses, construction, proof step by step, what was not proved |
| `report.html` | the same page for a browser, made from it: one file, nothing to load |
| `certificate.json` | what `attncert check` and the checker re-derive |
| `first-layer.json` | where the certificate is about a second layer: the data before the first |
| `checker/` | a copy of `verify/checker`, so that the folder stands alone |
| `answer.json` | the report as data |
| `timings.json` | times and versions, the only place for them |
| `tables.tex`, `references.bib` | for a paper |
| `figures/*.svg` | the proof graph, saturation, attention weights, bits and condition |

The other commands' reports are of the same form (`report.py`): the `page` of each room makes one
from a finished record, and `write` puts it in place. Nothing is computed here that the record does
not hold, and nothing is worded above its level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attncert.reports.folder import check_folder, write
from attncert.reports.report import Report

if TYPE_CHECKING:
    from attncert.reports.answers import report, write_report

__all__ = ["Report", "check_folder", "report", "write", "write_report"]


def __getattr__(name: str) -> Any:  # these draw figures: loaded when first used
    if name in ("report", "write_report"):
        from attncert.reports import answers

        return getattr(answers, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
