"""Versions of installed packages. Each is read once: reading takes 1 ms, and a proof names nine."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache
from importlib import metadata


@cache
def version(package: str) -> str:
    """The version in its metadata. Raises importlib.metadata.PackageNotFoundError.

    >>> version("attncert") == metadata.version("attncert")
    True
    """
    return metadata.version(package)


def versions(device: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """Versions of Python and of the libraries used; for a device, those of its
    `Device.versions`."""
    packages = ("attncert", "python-flint", "sympy", "numpy", "scipy", "networkx")
    libraries = {"python": platform.python_version()} | {p: version(p) for p in packages}
    return libraries | dict(device or {})
