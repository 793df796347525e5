"""The constructions that `prove` can run, and the theorem that each belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from attncert.constructions import generic, paper, width_one
from attncert.constructions.construction import Construction
from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims.evidence import Claim, counted
from attncert.verify.partition.certificate import memorizes
from attncert.verify.settings import Settings
from attncert.verify.steps import generic as generic_steps
from attncert.verify.steps import paper as paper_steps
from attncert.verify.steps import width_one as rank_one_steps
from attncert.verify.tightness.flat import flat_of


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
    partition: whether the proof is about groups that meet the partition condition.
    follows: what the finished weights show beside the answer; may rest on any claim before it.
    remarks: what a reader should know about the weights that were found, by name.
    """

    theorem: str
    bound: str
    source: str
    r: Callable[[Dataset, Settings], int]
    build: Build
    head_claims: HeadClaims
    partition: bool
    follows: Callable[[Dataset, Construction], list[Claim]]
    remarks: Callable[[Dataset, Construction], dict[str, str]]


def method(settings: Settings) -> Method:
    """The method that these settings ask for."""
    return _METHODS[settings.construction]


def _build_paper(
    data: Dataset, settings: Settings, progress: Callable[[int, int], None]
) -> Construction:
    return paper.build(
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
    return width_one.build(data, heads=settings.heads, seed=settings.seed, progress=progress)


def _build_generic(
    data: Dataset, settings: Settings, progress: Callable[[int, int], None]
) -> Construction:
    return generic.build(
        data,
        heads=settings.heads,
        head_width=settings.width(data),
        seed=settings.seed,
        progress=progress,
    )


def _certified_partition(data: Dataset, built: Construction) -> list[Claim]:
    groups = built.partition or built.groups
    return [memorizes(groups, built.r, of=data.T, width_one=built.r == data.n)]


def _paper_remarks(data: Dataset, built: Construction) -> dict[str, str]:
    """How much of the paper's head was needed: targets at the barycentre use no steering."""
    uniform = sum(len(set(g)) == 1 for head in built.heads for g in head.logits)
    every = sum(len(head.group) for head in built.heads)
    plain = sum(all(len(set(g)) == 1 for g in head.logits) for head in built.heads)
    return {
        "own-group targets": f"{uniform} of {every} at the barycentre (uniform attention, steering "
        f"vector 0), {every - uniform} elsewhere",
        "heads without steering": f"{plain} of {len(built.heads)} are c·uvᵀ alone, of rank one; "
        "--vertices steers every example, with far longer numbers",
    }


def _rank_one_remarks(data: Dataset, built: Construction) -> dict[str, str]:
    short = sum(head.short for head in built.heads)
    return {
        "short heads": f"{short} of {len(built.heads)}: shortest vectors, certified by rank alone; "
        "no step of the width-one proof is claimed for them"
    }


def _generic_remarks(data: Dataset, built: Construction) -> dict[str, str]:
    heads = len(built.layer.heads)
    bound = min(heads * data.d, flat_of(data).bound(heads))
    return {
        "largest entry drawn": f"{max(head.bound for head in built.heads):,}, in draw "
        f"{max(head.draws for head in built.heads):,} at the latest",
        "no weights of these heads serve more than": f"{counted(bound, 'example')} of such "
        "contexts (docs/tightness.md, section 2)",
    }


_METHODS = {
    "paper": Method(
        theorem="Theorem 1",
        bound="\\min(n,d_h)",
        source="paper, Theorem 1",
        r=lambda data, settings: min(data.n, settings.width(data)),
        build=_build_paper,
        head_claims=paper_steps.head_claims,
        partition=True,
        follows=_certified_partition,
        remarks=_paper_remarks,
    ),
    "rank-one": Method(
        theorem="the theorem on width one",
        bound="n",
        source="ours, docs/width-one.md",
        r=lambda data, settings: data.n,
        build=_build_rank_one,
        head_claims=rank_one_steps.head_claims,
        partition=True,
        follows=_certified_partition,
        remarks=_rank_one_remarks,
    ),
    "generic": Method(
        theorem="corollary 2 (almost all weights)",
        bound="n",
        source="ours, docs/width-one.md, corollaries 1 and 2",
        r=lambda data, settings: data.n,
        build=_build_generic,
        head_claims=generic_steps.head_claims,
        partition=False,
        follows=generic_steps.almost_all,
        remarks=_generic_remarks,
    ),
}
