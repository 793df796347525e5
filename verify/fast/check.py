"""attncert check --fast: what is too large for the standard library, by claim.

Reading and validating the file are those of verify/checker, by its table of claims; a claim's
arithmetic stands in a file of its own here. An auditor trusts more with it: NumPy and BLAS, for
nearby weights and networks FLINT. So every verdict begins with "fast check".
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from attncert.verify import checker
from attncert.verify.checker import CLAIMS, LIMIT_SECONDS, Limits, Verdict, need
from attncert.verify.fast.tables import tables

__all__ = ["LIMIT_MIB", "check_file"]

LIMIT_MIB = 8192.0
JUDGES = {
    "full-rank": "full_rank",
    "interpolation-near": "near",
    "every-labelling": "labelling",
    "network": "network",
    "outputs-within": "network",
}


def check_file(
    path: str, limit_seconds: float = LIMIT_SECONDS, limit_mib: float = LIMIT_MIB
) -> Verdict:
    """Check the certificate at `path`; whatever the file holds, a Verdict comes back."""
    verdict = checker.check_file(path, limit_seconds, limit_mib, by=judge, tables=tables)
    return verdict._replace(message=f"fast check: {verdict.message}")


def judge(cert: dict[str, Any], limits: Limits) -> str:
    """The claim in one line, or Rejected."""
    claim = cert["claim"]
    need(claim in JUDGES, f"only {', '.join(JUDGES)} can be checked this way: leave out --fast")
    module = importlib.import_module(f"attncert.verify.fast.{JUDGES[claim]}")
    parts = CLAIMS[claim].parts(cert, limits)
    with np.errstate(all="ignore"):  # what is not finite does not pass
        return str(module.judge(cert, parts, limits))
