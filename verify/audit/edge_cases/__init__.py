"""The catalogue of edge cases: one table, used by the tests, the command and the documentation.

| file | one idea |
| --- | --- |
| `records.py` | what a case is |
| `sizes.py`, `queries.py`, `contexts.py`, `labels.py`, `numbers.py`, `files.py` | the cases |
| `check.py` | running a case for real and comparing |
| `section.py` | the catalogue as a section of the audit |
"""

from attncert.verify.audit.edge_cases import contexts, files, labels, numbers, queries, sizes
from attncert.verify.audit.edge_cases.records import EdgeCase, FileCase

__all__ = ["CASES", "EdgeCase", "FileCase"]

CASES: tuple[EdgeCase | FileCase, ...] = (
    *sizes.CASES,
    *queries.CASES,
    *contexts.CASES,
    *labels.CASES,
    *numbers.CASES,
    *files.CASES,
)
