"""What records of `verify` borrow from `reports`: how they look in a notebook, and `Answer.write`.

Imports go one way, so `attncert` registers these functions when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_FACES: dict[str, Callable[..., Any]] = {}


def set_face(name: str, make: Callable[..., Any]) -> None:
    """What `face(name, record, ...)` returns from now on: `make(record, ...)`."""
    _FACES[name] = make


def face(name: str, record: Any, *rest: Any) -> Any:
    """The record's face; None, which notebooks skip, where none is registered.

    >>> face("nothing of that name", 1) is None
    True
    """
    return _FACES[name](record, *rest) if name in _FACES else None
