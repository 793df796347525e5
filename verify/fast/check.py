"""attncert check --fast: certificates that are too large for the standard library, by claim.

The file is read and validated by verify/checker, by its table of claims; the arithmetic of a claim
is in the file named like the checker's. An auditor then also trusts NumPy and BLAS, FLINT for
nearby weights, and for every labelling `verify/rank`, which also serves the writer of such files.
So every verdict begins with "fast check".
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any

import numpy as np

from attncert.verify import checker
from attncert.verify.checker import CLAIMS, LIMIT_SECONDS, Limits, Verdict, need
from attncert.verify.fast.tables import tables

LIMIT_MIB = 8192.0


def _file(claim: str) -> str:
    *_, name = CLAIMS[claim].judge.__module__.split(".")
    return f"attncert.verify.fast.{name}"


FAST_CLAIMS = tuple(claim for claim in CLAIMS if find_spec(_file(claim)))


def check_file(
    path: str, limit_seconds: float = LIMIT_SECONDS, limit_mib: float = LIMIT_MIB
) -> Verdict:
    """Check the certificate at `path`; whatever the file holds, a Verdict comes back."""
    verdict = checker.check_file(path, limit_seconds, limit_mib, by=judge, tables=tables)
    return verdict._replace(message=f"fast check: {verdict.message}")


def judge(cert: dict[str, Any], limits: Limits) -> str:
    """The claim in one line, or Rejected."""
    claim = cert["claim"]
    known = ", ".join(FAST_CLAIMS)
    need(
        claim in FAST_CLAIMS,
        f"only {known} can be checked this way: leave out --fast",
        "over limit",
    )
    module = importlib.import_module(_file(claim))
    parts = CLAIMS[claim].parts(cert, limits)
    with np.errstate(all="ignore"):  # what is not finite does not pass
        return str(module.judge(cert, parts, limits))
