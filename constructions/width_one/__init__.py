"""Heads of width one (ours; docs/width-one.md), exact."""

from attncert.constructions.width_one.theorem import WidthOneHead, build

__all__ = ["WidthOneHead", "build"]
