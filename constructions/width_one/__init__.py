"""Heads of width one (ours; docs/width-one.md), exact."""

from attncert.constructions.width_one.theorem import RankOneHead, build

__all__ = ["RankOneHead", "build"]
