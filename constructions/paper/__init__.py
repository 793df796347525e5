"""The paper's construction (Mahdavi, Liao, Thrampoulidis 2024, Theorem 1), exact."""

from attncert.constructions.paper.theorem import PaperHead, build

__all__ = ["PaperHead", "build"]
