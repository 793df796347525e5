"""What a construction is asked to build."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from attncert.constructions.progress import Progress, silent


@dataclass(frozen=True)
class Request:
    """What a construction is asked to build: all that it may read beside the data.

    heads: H, None for the construction's default. head_width: d_h. value_width: d_v. saturation:
    bits to which every head is to saturate, only if the construction takes the option. beta: of a
    retrieval. seed: of its random searches. progress: to be called as progress(done, of). Source:
    docs/constructions.md.

    >>> from attncert import Request
    >>> Request(heads=3).head_width
    1
    """

    heads: int | None = None
    head_width: int = 1
    value_width: int = 1
    saturation: int | None = None
    beta: Fraction | None = None
    seed: int = 0
    progress: Progress = field(default=silent, compare=False)
