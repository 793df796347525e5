"""Pictures as SVG with reproducible bytes: equal runs give equal files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


class Picture(Protocol):
    """A picture that a notebook shows: a Drawing, or a Figure of Matplotlib."""

    def _repr_svg_(self) -> str: ...


@dataclass(frozen=True, repr=False)
class Drawing:
    """A picture that is made as SVG."""

    svg: bytes

    def _repr_svg_(self) -> str:
        return self.svg.decode()


def svgs(pictures: Mapping[str, Picture]) -> dict[str, bytes]:
    return {name: picture._repr_svg_().encode() for name, picture in pictures.items()}
