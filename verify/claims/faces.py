"""How records show themselves in a notebook: said from above, for imports go one way.

`attncert` fills this in when it is imported. Without it a record has no face but its repr.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_FACES: dict[str, Callable[..., Any]] = {}


def set_face(name: str, make: Callable[..., Any]) -> None:
    """What `face(name, record, ...)` returns from now on: `make(record, ...)`."""
    _FACES[name] = make


def face(name: str, record: Any, *rest: Any) -> Any:
    """The record as somebody sees it; None, which notebooks skip, where nothing was said.

    >>> face("nothing of that name", 1) is None
    True
    """
    return _FACES[name](record, *rest) if name in _FACES else None
