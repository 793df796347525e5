"""The version that is installed, read when it is asked for."""

from importlib import metadata

__version__ = metadata.version("attncert")
