"""Functions of `reports` that records of `verify` call to display or write themselves.

`verify` does not import `reports`, so `attncert` registers these functions when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_DISPLAYS: dict[str, Callable[..., Any]] = {}


def register_display(name: str, make: Callable[..., Any]) -> None:
    """Register `make`, so that `displayed(name, record, ...)` returns `make(record, ...)`."""
    _DISPLAYS[name] = make


def displayed(name: str, record: Any, *rest: Any) -> Any:
    """The displayed form of the record; None, which notebooks skip, if no function is registered.

    >>> displayed("nothing of that name", 1) is None
    True
    """
    return _DISPLAYS[name](record, *rest) if name in _DISPLAYS else None
