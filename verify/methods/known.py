"""The hypotheses of the paper's theorem and of ours, as a construction's record lists them.

How each is decided stands in verify/steps/hypotheses.py. Some are about the data alone, others
about the groups into which the builder divided them; these are decided when it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, timed
from attncert.verify.methods.layer_theorem import LayerTheorem
from attncert.verify.methods.request import Request
from attncert.verify.methods.statements import Hypothesis
from attncert.verify.steps import hypotheses


@dataclass(frozen=True)
class Asked:
    """What a hypothesis may look at beside the data. built: None before the weights are."""

    data: Dataset
    request: Request
    theorem: LayerTheorem
    source: str
    progress: StageProgress = silent
    built: BuiltLayer | None = None

    @property
    def r(self) -> int:
        return self.theorem.r(self.data, self.request.head_width)


@dataclass(frozen=True, kw_only=True)
class Known(Hypothesis):
    """A hypothesis that a function of the toolkit decides. of_groups: about what was built."""

    claims: Callable[[Asked], Iterable[Claim]]
    of_groups: bool = False
    sentence: str = ""
    relations: Callable[[Dataset], Iterable[object]] = field(default=lambda data: ())


def _a1(asked: Asked) -> Iterator[Claim]:
    """The theorem asks for A1 of n queries; r of them are enough if r is smaller."""
    every = partial(
        hypotheses.kruskal_at_least,
        asked.data,
        seed=asked.request.seed,
        progress=asked.progress,
    )
    yield timed(partial(every, asked.data.n, ids.A1))
    if asked.r < asked.data.n:
        yield timed(partial(every, asked.r, ids.A1_AT_R))


def _a2(asked: Asked) -> Iterator[Claim]:
    if asked.data.ragged:
        yield timed(partial(hypotheses.token_counts, asked.data))
    yield timed(partial(hypotheses.independent_contexts, asked.data))


def _size(asked: Asked) -> Iterator[Claim]:
    yield timed(partial(hypotheses.sizes, asked.data))


def _partition(asked: Asked) -> Iterator[Claim]:
    assert asked.built is not None
    groups = asked.built.partition or asked.built.groups
    yield timed(partial(hypotheses.partition, asked.data, groups))


def _capacity(asked: Asked) -> Iterator[Claim]:
    assert asked.built is not None
    yield from capacity(asked, len(asked.built.layer.heads))


def capacity(asked: Asked, heads: int) -> list[Claim]:
    """T is at most what the theorem places, if it says how many."""
    bound = asked.theorem.bound
    if bound is None:
        return []
    check = partial(hypotheses.capacity, asked.data.T, heads, asked.r, bound, asked.source)
    return [timed(check)]


PARTITION = Known(claims=_partition, of_groups=True)
CAPACITY = Known(claims=_capacity, of_groups=True)
OF_THEOREM_1 = {
    "context-size": Known(claims=_size),
    "A2": Known(claims=_a2),
    "A1": Known(claims=_a1),
    "capacity": CAPACITY,
}
