"""The installed version, read when this module is first imported."""

from importlib import metadata

__version__ = metadata.version("attncert")
