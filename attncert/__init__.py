"""Attention constructions, built exactly, confirmed step by step, written as reports.

The three storeys are `attncert.constructions` (what is built), `attncert.verify` (what is
confirmed) and `attncert.reports` (what is written); imports go one way.


>>> from attncert import Dataset, Settings, prove
>>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
>>> proof = prove(data, Settings(heads=2))
>>> proof.standing.value, proof.trace["memorization"].numbers["examples"]
('proved', 3)
"""

from __future__ import annotations

import importlib
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

# The storeys are links in a checkout. Where git writes no links, it writes small files instead.
if Path(__file__).with_name("verify").is_file():
    raise ImportError(
        "attncert: this checkout has files where symbolic links belong (attncert/verify); "
        "run `git config core.symlinks true` and `git checkout -- attncert`, or install a wheel"
    )

from attncert.constructions.errors import InputError
from attncert.verify.claims.faces import set_face

if TYPE_CHECKING:
    from attncert.cli import main
    from attncert.constructions.construction import Bound, Construction
    from attncert.constructions.data.dataset import Dataset
    from attncert.constructions.data.loading import load
    from attncert.constructions.errors import HypothesisFails
    from attncert.constructions.from_layer import from_layer
    from attncert.constructions.layer import Layer
    from attncert.constructions.weights.recording import record
    from attncert.constructions.weights.weights import Weights
    from attncert.reports import write_report
    from attncert.terminal.progress import Stages
    from attncert.verify.audit.attack.search import attack
    from attncert.verify.audit.layer.section import audit_weights
    from attncert.verify.checker import Verdict
    from attncert.verify.claims.evidence import Claim, Level
    from attncert.verify.claims.ids import ClaimId, Step
    from attncert.verify.claims.proof import Outline, Proof, Voice
    from attncert.verify.methods.method import Attack, Method, require
    from attncert.verify.methods.registry import register
    from attncert.verify.prove import prove, prove_layer
    from attncert.verify.settings import Settings
    from attncert.verify.steps.in_order import steps

__all__ = [
    "Attack",
    "Bound",
    "Claim",
    "ClaimId",
    "Construction",
    "Dataset",
    "HypothesisFails",
    "InputError",
    "Layer",
    "Level",
    "Method",
    "Outline",
    "Proof",
    "Settings",
    "Stages",
    "Step",
    "Voice",
    "Weights",
    "attack",
    "audit_weights",
    "check",
    "from_layer",
    "load",
    "main",
    "prove",
    "prove_layer",
    "record",
    "register",
    "require",
    "steps",
    "write_report",
]

# Loaded when first used: `attncert check` and `--help` need none of the heavy libraries, and a
# Ctrl-C while they load is an interrupt like any other.
_LAZY = {
    "Attack": "attncert.verify.methods.method",
    "Bound": "attncert.constructions.construction",
    "Claim": "attncert.verify.claims.evidence",
    "ClaimId": "attncert.verify.claims.ids",
    "Construction": "attncert.constructions.construction",
    "Dataset": "attncert.constructions.data.dataset",
    "HypothesisFails": "attncert.constructions.errors",
    "Layer": "attncert.constructions.layer",
    "Level": "attncert.verify.claims.evidence",
    "Method": "attncert.verify.methods.method",
    "Outline": "attncert.verify.claims.proof",
    "Proof": "attncert.verify.claims.proof",
    "Settings": "attncert.verify.settings",
    "Stages": "attncert.terminal.progress",
    "Step": "attncert.verify.claims.ids",
    "Voice": "attncert.verify.claims.proof",
    "Weights": "attncert.constructions.weights.weights",
    "attack": "attncert.verify.audit.attack.search",
    "audit_weights": "attncert.verify.audit.layer.section",
    "from_layer": "attncert.constructions.from_layer",
    "load": "attncert.constructions.data.loading",
    "main": "attncert.cli",
    "prove": "attncert.verify.prove",
    "prove_layer": "attncert.verify.prove",
    "record": "attncert.constructions.weights.recording",
    "register": "attncert.verify.methods.registry",
    "require": "attncert.verify.methods.method",
    "steps": "attncert.verify.steps.in_order",
    "write_report": "attncert.reports",
}
# How records of `verify` show themselves in a notebook is written in `reports`.
_FACES = {
    "plot": ("attncert.reports.proof.plots", "Plots"),
    "proof": ("attncert.reports.proof.page", "in_notebook"),
    "trace": ("attncert.reports.proof.plots", "drawn"),
}


def _shown(module: str, name: str, record: Any) -> Any:
    return getattr(importlib.import_module(module), name)(record)


for _name, _place in _FACES.items():
    set_face(_name, partial(_shown, *_place))

_STOREYS = ("constructions", "verify", "reports")


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    if name in _STOREYS:
        return importlib.import_module(f"attncert.{name}")
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("attncert")
    raise AttributeError(f"module 'attncert' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_STOREYS, "__version__"])


def check(path: str | os.PathLike[str]) -> Verdict:
    """Re-derive everything a certificate claims, from the file alone.

    The verdict's status is "holds", "wrong", "over limit" or "unusable"; its message says why.

    >>> check("no-such-certificate.json").status
    'unusable'
    """
    from attncert.verify.checker import check_file

    return check_file(str(path))
