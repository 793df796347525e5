"""The catalogue of edge cases: one table, used by the tests, the command and the documentation."""

from attncert.verify.audit.edge_cases import contexts, files, labels, numbers, queries, sizes
from attncert.verify.audit.edge_cases.records import EdgeCase, FileCase

__all__ = ["CASES", "EdgeCase", "FileCase"]

CASES: tuple[EdgeCase | FileCase, ...] = (
    *sizes.CASES, *queries.CASES, *contexts.CASES, *labels.CASES, *numbers.CASES, *files.CASES,
)  # fmt: skip
