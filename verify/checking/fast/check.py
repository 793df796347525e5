"""`attncert check --fast`, for certificates that are too large for a checker in pure Python.

verify/checker reads and validates the file with its table of claims. The arithmetic for a claim is
in the file that has the same name as the checker's. An auditor must also trust NumPy and BLAS,
FLINT (for nearby weights), and `verify/rank` (for every labelling), which the writer of such files
also uses. So every verdict begins with "fast check".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from attncert.verify import checker
from attncert.verify.checker import CLAIMS, LIMIT_SECONDS, Limits, Verdict, need
from attncert.verify.checking.fast import (
    every_labelling,
    full_rank,
    generates,
    near,
    network_rank,
)
from attncert.verify.checking.fast.tables import tables

LIMIT_MIB = 8192.0
FAST_CLAIMS: dict[str, Callable[[dict[str, Any], Any, Limits], str]] = {
    "full-rank": full_rank.judge,
    "interpolation-near": near.judge,
    "every-labelling": every_labelling.judge,
    "network-rank": network_rank.judge,
    "network-near": near.judge,
    "generates": generates.judge,
}


def check_file(
    path: str, limit_seconds: float = LIMIT_SECONDS, limit_mib: float = LIMIT_MIB
) -> Verdict:
    """Check the certificate at `path`. The result is a Verdict, whatever the file contains."""
    verdict = checker.check_file(path, limit_seconds, limit_mib, by=judge, tables=tables)
    return verdict._replace(message=f"fast check: {verdict.message}")


def judge(cert: dict[str, Any], limits: Limits) -> str:
    """The claim in one line. Raises Rejected."""
    claim, known = cert["claim"], ", ".join(FAST_CLAIMS)
    can = claim in FAST_CLAIMS
    need(can, f"only {known} can be checked this way: leave out --fast", "over limit")
    parts = CLAIMS[claim].parts(cert, limits)
    with np.errstate(all="ignore"):  # numbers that are not finite are rejected
        return FAST_CLAIMS[claim](cert, parts, limits)
