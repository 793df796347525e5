"""The versions of installed packages. Each version is read once, since reading one takes 1 ms and a
proof lists nine."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache
from importlib import metadata


@cache
def version(package: str) -> str:
    """The version in the metadata of a package. Raises importlib.metadata.PackageNotFoundError.

    >>> version("attncert") == metadata.version("attncert")
    True
    """
    return metadata.version(package)


def versions(device: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """The versions of Python and the libraries used. device: a device's `versions`."""
    packages = ("attncert", "python-flint", "sympy", "mpmath", "numpy", "scipy", "networkx")
    libraries = {"python": platform.python_version()} | {p: version(p) for p in packages}
    return libraries | dict(device or {})
