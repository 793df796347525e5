"""Write the golden report again: `python tests/reports/make_golden_report.py`, then read the diff.

The golden is the text of one small hand-made proof and one refusal, kept so that a change of the
templates shows in review as what a reader will see.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

GOLDEN = HERE / "golden"
FILES = {
    "small": ("report.md", "tables.tex", "answer.json"),
    "refused-context": ("report.md",),
}


def golden_files() -> dict[Path, bytes]:
    """Path and content of every golden file, as the reports are written now."""
    from support.proof_fixtures import KINDS

    from attncert.reports.answers import report

    return {
        GOLDEN / kind / name: content
        for kind, names in FILES.items()
        for name, content in report(KINDS[kind]()).files.items()
        if name in names
    }


if __name__ == "__main__":
    for path, content in golden_files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        print(path.relative_to(HERE.parent))
