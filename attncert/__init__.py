"""The command line: parses, calls constructions, verify and reports, and sets the exit status.

Exit status: 0 every claim asked for holds; 1 a claim is refuted, or a certificate is wrong;
2 unusable input or arguments (one line); 3 undecided, or the theorem does not apply;
70 a defect of attncert, which says nothing of the input (`attncert --debug` has the traceback);
130 interrupted; 141 nobody reads the output.

As a library, the same things in a few lines:

>>> from attncert import Dataset, Settings, prove
>>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
>>> proof = prove(data, Settings(heads=2))
>>> proof.standing.value, proof.trace["memorization"].numbers["examples"]
('proved', 3)
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from attncert.constructions.errors import InputError

if TYPE_CHECKING:
    from attncert.cli import main
    from attncert.constructions.data.dataset import Dataset
    from attncert.constructions.data.loading import load
    from attncert.verify.checker import Verdict
    from attncert.verify.claims.proof import Proof
    from attncert.verify.prove import prove
    from attncert.verify.settings import Settings

__all__ = ["Dataset", "InputError", "Proof", "Settings", "check", "load", "main", "prove"]

# Loaded when first used: `attncert check` and `--help` need none of the heavy libraries, and a
# Ctrl-C while they load is an interrupt like any other.
_LAZY = {
    "Dataset": "attncert.constructions.data.dataset",
    "Proof": "attncert.verify.claims.proof",
    "Settings": "attncert.verify.settings",
    "load": "attncert.constructions.data.loading",
    "main": "attncert.cli",
    "prove": "attncert.verify.prove",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'attncert' has no attribute {name!r}")


def check(path: str | os.PathLike[str]) -> Verdict:
    """Re-derive everything a certificate claims, from the file alone."""
    from attncert.verify.checker import check_file

    return check_file(str(path))
