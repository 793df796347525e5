"""Functions of `reports` that records of `verify` call: to be shown in a notebook or written.

`verify` does not import `reports`, so `attncert` registers these functions when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_FACES: dict[str, Callable[..., Any]] = {}


def set_face(name: str, make: Callable[..., Any]) -> None:
    """Register `make`: `face(name, record, ...)` returns `make(record, ...)` from now on."""
    _FACES[name] = make


def face(name: str, record: Any, *rest: Any) -> Any:
    """The record as shown; None, which notebooks skip, if no function is registered.

    >>> face("nothing of that name", 1) is None
    True
    """
    return _FACES[name](record, *rest) if name in _FACES else None
