"""Attention constructions, built exactly, verified step by step and written as reports.

`attncert.constructions` builds, `attncert.verify` checks, `attncert.reports` writes; each imports
only those before it.

>>> from attncert import Dataset, Prove, prove
>>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
>>> proof = prove(data, Prove(heads=2))
>>> proof.standing.value, proof.trace["memorization"].numbers["examples"]
('proved', 3)
"""

from __future__ import annotations

import importlib
from functools import partial
from pathlib import Path
from typing import Any

import lazy_loader

# In a checkout the three packages are symbolic links, which git may write as small files.
if Path(__file__).with_name("verify").is_file():
    raise ImportError(
        "attncert: this checkout has files where symbolic links belong (attncert/verify); "
        "run `git config core.symlinks true` and `git checkout -- attncert`, or install a wheel"
    )

from attncert.verify.claims.faces import register_display

# Names are loaded when first used (`__init__.pyi` lists them): `attncert check` and `--help` need
# none of the heavy libraries, and Ctrl-C works while they load.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

# `reports` has the functions that display records of `verify` in a notebook.
_DISPLAYS = {
    "answer": ("attncert.reports.answers", "in_notebook"),
    "sentences": ("attncert.reports.answers", "sentences_of"),
    "report": ("attncert.reports.answers", "write_report"),
    "trace": ("attncert.reports.prove.graph", "drawn"),
}


def _shown(module: str, name: str, record: Any, *rest: Any) -> Any:
    return getattr(importlib.import_module(module), name)(record, *rest)


for _name, _place in _DISPLAYS.items():
    register_display(_name, partial(_shown, *_place))
