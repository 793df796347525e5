"""The constructions that `prove` can run, and the theorem that each belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from constructions import mahdavi2024, rank_one
from constructions.construction import Construction
from constructions.dataset import Dataset
from verify import paper_steps, rank_one_steps
from verify.evidence import Claim
from verify.settings import Settings


class HeadClaims(Protocol):
    def __call__(
        self, data: Dataset, construction: Construction, *, with_ranks: bool
    ) -> Iterator[Claim]: ...


Build = Callable[[Dataset, Settings, Callable[[int, int], None]], Construction]


@dataclass(frozen=True)
class Method:
    """One construction.

    theorem: what it is the proof of. bound: r in its capacity H(r-1)+1, in LaTeX.
    r: that number for a data set and settings. build, head_claims: weights and their steps.
    """

    theorem: str
    bound: str
    source: str
    r: Callable[[Dataset, Settings], int]
    build: Build
    head_claims: HeadClaims


def method(settings: Settings) -> Method:
    """The method that these settings ask for."""
    return _METHODS[settings.construction]


def _build_paper(
    data: Dataset, settings: Settings, progress: Callable[[int, int], None]
) -> Construction:
    return mahdavi2024.build(
        data,
        head_width=settings.width(data),
        heads=settings.heads,
        interior=settings.interior,
        seed=settings.seed,
        progress=progress,
    )


def _build_rank_one(
    data: Dataset, settings: Settings, progress: Callable[[int, int], None]
) -> Construction:
    return rank_one.build(data, heads=settings.heads, seed=settings.seed, progress=progress)


_METHODS = {
    "paper": Method(
        theorem="Theorem 1",
        bound="\\min(n,d_h)",
        source="paper, Theorem 1",
        r=lambda data, settings: min(data.n, settings.width(data)),
        build=_build_paper,
        head_claims=paper_steps.head_claims,
    ),
    "rank-one": Method(
        theorem="the width-one theorem",
        bound="n",
        source="ours, docs/width-one.md",
        r=lambda data, settings: data.n,
        build=_build_rank_one,
        head_claims=rank_one_steps.head_claims,
    ),
}
