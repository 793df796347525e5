"""`attncert every-labelling` as a function: one certificate for all labels of some examples.

First what excludes it: more labels than the dimension count N (Sard), a relation between rows of Z
that holds for all weights, values that are too narrow. Then sets of heads with random weights
(`zeros.py`), as few heads as Theorem 14 counts and then more; then the pairs of Theorem 4.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from attncert.constructions.arrays import IntArray
from attncert.constructions.brief import in_brief
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import (
    HypothesisFails,
    InputError,
    require_seed,
    require_sizes,
)
from attncert.constructions.given import pairs
from attncert.constructions.given.law import Spans, spans
from attncert.constructions.given.zeros import BOUNDS, Zero, best_sizes, draw_groups, most_examples
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import About, Claim, Level, counted, sized
from attncert.verify.labelling.steps import claims_of
from attncert.verify.rank.whole_layer.jacobian_rows import (
    JacobianRank,
    jacobian_rank,
    require_small,
)
from attncert.verify.tightness.relations.rows import few_tied, row_relations, shortest

Way = Literal["auto", "groups", "pairs"]
_SOURCE = "ours; docs/given-labels.md"


@dataclass(frozen=True)
class LabellingSettings:
    """heads: None for as few as are found. value_width: None for the labels' width.

    construction: "groups" (random sets of heads), "pairs" (Theorem 4; scalar labels, width one), or
    "auto": first the one, then the other.
    """

    heads: int | None = None
    head_width: int = 1
    value_width: int | None = None
    construction: Way = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        require_sizes(self)
        ways = get_args(Way)
        if self.construction not in ways:
            raise InputError("--construction", f"one of {', '.join(ways)}", self.construction)
        require_seed(self.seed)


@dataclass(frozen=True)
class Tried:
    """One choice of weights: heads, how they were chosen, and the rank of the Jacobian there."""

    construction: str
    heads: int
    how: str
    rank: int
    prime: int


@dataclass(frozen=True)
class Labelled:
    """claims: the steps of what was shown, or the one that excludes it. zero: None without. why:
    half a sentence where nothing was shown."""

    data: Dataset
    settings: LabellingSettings
    spans: Spans
    claims: tuple[Claim, ...] = ()
    zero: Zero | None = None
    rank: JacobianRank | None = None
    construction: str = ""
    tried: tuple[Tried, ...] = ()
    why: str = ""
    seconds: dict[str, float] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        told = {"examples": self.data.T, "construction": self.construction or None}
        return in_brief(self, self.level, data=self.data.name, **told, why=self.why or None)

    @property
    def level(self) -> Level:
        """Of the verdict on every labelling."""
        if self.zero is not None and all(claim.level.holds for claim in self.claims):
            return Level.PROVED
        refuted = any(claim.excludes(About.EVERY_LABELLING) for claim in self.claims)
        return Level.REFUTED if refuted else Level.UNDECIDED

    @property
    def exit_status(self) -> int:
        return {Level.PROVED: 0, Level.REFUTED: 1}.get(self.level, 3)


def label_all(
    data: Dataset,
    settings: LabellingSettings | None = None,
    progress: StageProgress = silent,
) -> Labelled:
    """Weights that prove every labelling of these examples, or why there are none, or neither.

    The labels of `data` count by their width alone. Exact: ranks modulo primes, all else over ℚ.
    """
    settings = settings or LabellingSettings()
    start = time.perf_counter()
    found = spans(data)
    excluded = _excluded(data, settings, found)
    took = {"law": time.perf_counter() - start}
    if excluded is not None:
        return Labelled(data, settings, found, (excluded,), seconds=took)
    tried, whys = list[Tried](), list[str]()
    start = time.perf_counter()
    zero, rank, name = None, None, ""
    if settings.construction != "pairs":
        name = "groups"
        zero, rank = _groups(data, settings, found, tried, progress)
    if zero is None and settings.construction != "groups":
        name = "pairs"
        try:
            zero, rank = _pairs(data, settings, tried, progress)
        except HypothesisFails as reason:
            whys.append(f"pairs: {reason.reason}")
    took["search"] = time.perf_counter() - start
    if zero is None or rank is None:
        best = max(tried, key=lambda x: x.rank, default=None)
        if best is not None:
            reached = f"rank {best.rank} of {data.T * data.m} at {counted(best.heads, 'head')}"
            whys.insert(0, f"no zero with an onto Jacobian found, {reached}")
        return Labelled(
            data, settings, found, tried=tuple(tried), why="; ".join(whys), seconds=took
        )
    start = time.perf_counter()
    claims = claims_of(data, zero, rank)
    took["steps"] = time.perf_counter() - start
    return Labelled(data, settings, found, claims, zero, rank, name, tuple(tried), seconds=took)


def _excluded(data: Dataset, settings: LabellingSettings, found: Spans) -> Claim | None:
    """A reason why no weights serve every labelling, as a refuted verdict."""
    T, m, width = data.T, data.m, settings.value_width or data.m
    reason, numbers, witness = "", dict[str, Any](), dict[str, Any]()
    most = settings.heads
    if most is None:
        fewest = found.fewest_heads(T, settings.head_width, width)
        most = m if fewest is None else None  # keys have no effect: more heads than m add nothing
        beyond = fewest is None
    else:
        beyond = found.bound(most, settings.head_width, width) < T * m
    if beyond:
        N = found.bound(most or 1, settings.head_width, width)
        who = sized(settings.heads, settings.head_width, width)
        reason = (
            f"the outputs of {who} lie in the image of a manifold of dimension {N}, below the "
            f"{T * m} labels: almost all labellings are out of reach"
        )
        numbers, witness = {"N": N, "Tm": T * m}, {"N": N, "Tm": T * m}
    elif settings.heads is not None and settings.heads * width < min(T, m):
        reason = "the labels of some labelling have a rank above the number of heads times $d_v$"
        numbers = {"H d_v": settings.heads * width, "rank": min(T, m)}
        witness = dict(numbers)
    elif few_tied(data):
        relations = row_relations(data)
        if relations:
            reason = "a relation between examples holds for all weights of any number of heads"
            witness = {"relation": shortest(relations)[0].as_dict()}
    if not reason:
        return None
    return Claim(
        ids.EVERY_LABELLING,
        f"Every labelling of {counted(T, 'example', 'the')} is memorized: no, {reason}.",
        Level.REFUTED,
        numbers=numbers,
        witness=witness,
        source=_SOURCE,
        about=About.EVERY_LABELLING,
    )


def _groups(
    data: Dataset,
    settings: LabellingSettings,
    found: Spans,
    tried: list[Tried],
    progress: StageProgress,
) -> tuple[Zero | None, JacobianRank | None]:
    for heads in _head_counts(data, settings, found):
        sizes = _sizes(data.m, heads, settings.head_width, found)
        for bound in BOUNDS:
            zero = draw_groups(
                data,
                sizes,
                head_width=settings.head_width,
                value_width=settings.value_width,
                bound=bound,
                seed=settings.seed,
            )
            how = f"sets of {_listed(sizes)}, integers up to {bound}"
            rank = _rank(data, zero, "groups", how, tried, progress)
            if rank.full:
                return zero, rank
    return None, None


def _pairs(
    data: Dataset, settings: LabellingSettings, tried: list[Tried], progress: StageProgress
) -> tuple[Zero, JacobianRank]:
    if data.m > 1 or settings.head_width > 1 or (settings.value_width or 1) > 1:
        raise HypothesisFails("widths", "they are of width one, for scalar labels", {})
    ranks: list[JacobianRank] = []

    def enough(zero: pairs.Pairs) -> bool:
        how = f"{counted(len(zero.groups), 'block')}, scale {zero.scale}"
        ranks.append(_rank(data, zero, "pairs", how, tried, progress))
        return ranks[-1].full

    return pairs.build(data, enough, heads=settings.heads, seed=settings.seed), ranks[-1]


def _rank(
    data: Dataset, zero: Zero, name: str, how: str, tried: list[Tried], progress: StageProgress
) -> JacobianRank:
    stage = f"Jacobian, {counted(zero.heads, 'head')}"
    columns = useful_columns(data, zero)
    require_small(data.T * data.m, len(columns))
    rank = jacobian_rank(
        data,
        zero.layer,
        columns=columns,
        progress=partial(progress, stage),
    )
    tried.append(Tried(name, zero.heads, how, rank.rank, rank.prime))
    return rank


def useful_columns(data: Dataset, zero: Zero) -> IntArray:
    """Columns of the Jacobian without some that depend on the others.

    In a set with one M and one output matrix O, the columns of the values are the same for all its
    heads, and those of keys and queries add up to 0, because the values do: the first head's values
    are kept, and all but the last one's keys and queries. With d_v ≥ m and O = [I; 0] the columns
    of O are combinations of the values'.
    """
    layer, d, m = zero.layer, data.d, data.m
    assert layer.value_width is not None and layer.output is not None
    both, d_v = 2 * d * layer.head_width, layer.value_width
    each, kept = both + d * d_v, list[IntArray]()
    for members in zero.sets:
        kept += [h * each + np.arange(both) for h in members[:-1]]
        kept.append(members[0] * each + both + np.arange(d * d_v))
    if d_v < m:
        kept.append(zero.heads * each + np.arange(zero.heads * d_v * m))
    return np.concatenate(kept)


def _head_counts(data: Dataset, settings: LabellingSettings, found: Spans) -> Iterator[int]:
    """Those asked for; else from the fewest that may suffice to half as many more."""
    if settings.heads is not None:
        yield settings.heads
        return
    wanted, least = data.T * data.m, 1
    if data.m > 1:  # pairs of heads whose Jacobian is onto (Theorem 13)
        width = settings.value_width or data.m
        fewest = found.fewest_heads(data.T, settings.head_width, width)
        least = 2 * (fewest or 1)
    else:
        low = 0
        while _most(least, settings.head_width, found) < wanted:
            low, least = least, 2 * least
        while least - low > 1:
            middle = (low + least) // 2
            reached = _most(middle, settings.head_width, found) >= wanted
            low, least = (low, middle) if reached else (middle, least)
    step = max(1, math.ceil(least / 10))
    yield from range(least, least + 5 * step + 1, step)


def _most(heads: int, head_width: int, found: Spans) -> int:
    return most_examples(best_sizes(heads, head_width, found), head_width, found)


def _sizes(m: int, heads: int, head_width: int, found: Spans) -> tuple[int, ...]:
    if m == 1:
        return best_sizes(heads, head_width, found)
    return (2,) * (heads // 2) + (1,) * (heads % 2)


def _listed(sizes: tuple[int, ...]) -> str:
    """
    >>> _listed((3, 3, 2))
    '3, 3, 2'
    """
    return ", ".join(map(str, sizes))


def labelled_dict(labelled: Labelled) -> dict[str, Any]:
    """JSON-able, without times."""
    data = labelled.data
    return {
        "level": labelled.level.value,
        "why": labelled.why,
        "data": {"sha256": data.sha256, "examples": data.T, "labels": data.m},
        "settings": vars(labelled.settings),
        "construction": labelled.construction if labelled.zero is not None else None,
        "heads": None if labelled.zero is None else labelled.zero.heads,
        "tried": [vars(tried) for tried in labelled.tried],
        "claims": [claim.as_dict() for claim in labelled.claims],
    }
