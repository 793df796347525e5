"""The version of an installed package, read once: that takes a millisecond; a proof names nine."""

from __future__ import annotations

from functools import cache
from importlib import metadata

__all__ = ["version"]


@cache
def version(package: str) -> str:
    """As its metadata say. Raises importlib.metadata.PackageNotFoundError.

    >>> version("attncert") == metadata.version("attncert")
    True
    """
    return metadata.version(package)
