"""Which checker reads a certificate: chosen by its claim, which the checker judges again itself."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from attncert.verify import checker
from attncert.verify.checker import Verdict

__all__ = ["checker_of", "claim_of", "reader_of"]

# Of a claim: the checker that needs the standard library alone, and the fast one.
_OTHERS = {
    "interpolation-near": ("checker_near", "near.fast"),
    "every-labelling": ("checker_labelling", "labelling.fast"),
}
_USUAL = ("checker", "fast_check")
_MAX_BYTES = 2**28  # of a file that any of them reads
_CANONICAL = re.compile(rb'\{"claim":"([a-z-]{1,40})"')  # keys are sorted, and this is the first


def checker_of(path: str, fast: bool = False) -> Callable[..., Verdict]:
    """The function `check_file(path, limit_seconds, limit_mib)` for this file."""
    slow, quick = _OTHERS.get(claim_of(path) or "", _USUAL)
    module = importlib.import_module(f"attncert.verify.{quick if fast else slow}")
    check: Callable[..., Verdict] = module.check_file
    return check


def reader_of(path: str) -> ModuleType:
    """What parses this file: checker.py, which knows the claim of a file beside it once that is
    imported; checker_near.py stands alone."""
    module = importlib.import_module(checker_of(path).__module__)
    return module if hasattr(module, "parse") else checker


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
