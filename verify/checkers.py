"""Which checker reads a certificate: chosen by its claim, which the checker judges again itself."""

from __future__ import annotations

import importlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from attncert.verify import checker
from attncert.verify.checker import MAX_FILE_BYTES, MAX_ITEMS, Verdict

__all__ = ["checker_of", "claim_of", "reader_of"]

# Of a claim: the checker that needs the standard library alone, and the fast one.
_OTHERS = {
    "interpolation-near": ("checker_near", "near.fast"),
    "every-labelling": ("checker_labelling", "labelling.fast"),
}
_USUAL = ("checker", "fast_check")
# A string, to its end or to that of the file (never scanned twice), or a bracket.
_STRING = rb'"[^"\\]*+(?:\\(?:.|\Z)[^"\\]*+)*+(?:"|\Z)'
_TOKEN = re.compile(_STRING + rb"|[\[\]{}]", re.DOTALL)
_VALUE = re.compile(rb"\s*:\s*(" + _STRING + rb")", re.DOTALL)


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
    """The claim that a file makes; None where it makes none, and for what cannot be read.

    The first string "claim" outside inner brackets, before a colon: the file is looked through,
    not parsed, since nothing is known yet of what that would take.
    """
    depth = 0
    try:
        with Path(path).open("rb") as file:
            raw = file.read(min(os.fstat(file.fileno()).st_size, MAX_FILE_BYTES))
        if sum(map(raw.count, b",[{")) > MAX_ITEMS:  # no checker reads it
            return None
        for token in _TOKEN.finditer(raw):
            if token[0] in (b"{", b"["):
                depth += 1
            elif token[0] in (b"}", b"]"):
                depth -= 1
            elif depth == 1 and json.loads(token[0]) == "claim":
                value = _VALUE.match(raw, token.end())
                if value is not None:
                    return str(json.loads(value[1]))
    except (OSError, ValueError, MemoryError):
        pass
    return None
