"""Which checker reads a certificate: chosen by its claim, which the checker judges again itself."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attncert.verify.checker import Verdict

__all__ = ["checker_of", "claim_of", "module_of"]

# Of a claim: the checker that needs the standard library alone, and the fast one.
_OTHERS = {"interpolation-near": ("checker_near", "near.fast")}
_USUAL = ("checker", "fast_check")
_MAX_BYTES = 2**28  # of a file that any of them reads
_CANONICAL = re.compile(rb'\{"claim":"([a-z-]{1,40})"')  # keys are sorted, and this is the first


def checker_of(path: str, fast: bool = False) -> Callable[..., Verdict]:
    """The function `check_file(path, limit_seconds, limit_mib)` for this file."""
    check: Callable[..., Verdict] = module_of(path, fast).check_file
    return check


def module_of(path: str, fast: bool = False) -> Any:
    """The module with that function; the one that is not fast also reads files (`parse`)."""
    slow, quick = _OTHERS.get(claim_of(path) or "", _USUAL)
    return importlib.import_module(f"attncert.verify.{quick if fast else slow}")


def claim_of(path: str) -> str | None:
    """The claim that a file makes; None where it makes none, and for what cannot be read."""
    try:
        with Path(path).open("rb") as file:
            raw = file.read(64)
            start = _CANONICAL.match(raw)
            if start is not None:
                return start[1].decode()
            raw += file.read(_MAX_BYTES)
        content = json.loads(raw)
    except (OSError, ValueError, RecursionError, MemoryError):
        return None
    claim = content.get("claim") if isinstance(content, dict) else None
    return claim if isinstance(claim, str) else None
