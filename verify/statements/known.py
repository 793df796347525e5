"""The hypotheses of the paper's theorem and of our theorems, for the records of constructions.

The package `verify/assumptions` decides them. Some are about the data alone. Others are
about the groups into which the builder divided the examples, and are decided after that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.verify.assumptions import hypotheses
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, timed
from attncert.verify.statements.construction import Task
from attncert.verify.statements.statements import Hypothesis


@dataclass(frozen=True, kw_only=True)
class Known(Hypothesis):
    """A hypothesis that the toolkit decides, from the data alone or from the groups of a layer."""

    claims: Callable[[Task], Iterable[Claim]] = lambda task: ()
    of_groups: Callable[[Task, BuiltLayer], Iterable[Claim]] = lambda task, built: ()
    sentence: str = ""
    relations: Callable[[Dataset], Iterable[object]] = field(default=lambda data: ())


def _a1(task: Task) -> Iterator[Claim]:
    """A1 for any n queries, as in the theorem, and, if r < n, for any r queries, which suffices."""
    data, seed = task.data, task.request.seed
    every = partial(hypotheses.kruskal_at_least, data, seed=seed, progress=task.progress)
    yield timed(partial(every, data.n, ids.A1))
    if task.r < data.n:
        yield timed(partial(every, task.r, ids.A1_AT_R))


def _a2(task: Task) -> Iterator[Claim]:
    if task.data.ragged:
        yield timed(partial(hypotheses.token_counts, task.data))
    yield timed(partial(hypotheses.independent_contexts, task.data))


def _partition(task: Task, built: BuiltLayer) -> Iterator[Claim]:
    yield timed(partial(hypotheses.partition, task.data, built.partition or built.groups))


def capacity(task: Task, heads: int) -> Iterator[Claim]:
    """The claim that T is at most the number of examples that the theorem places, if known."""
    if task.theorem.r is not None:
        about = task.theorem.capacity, task.construction.source
        yield hypotheses.capacity(task.data.T, heads, task.r, *about)


PARTITION = Known(of_groups=_partition)
CAPACITY = Known(of_groups=lambda task, built: capacity(task, len(built.layer.heads)))
OF_THEOREM_1 = {
    "context-size": Known(claims=lambda task: [hypotheses.sizes(task.data)]),
    "A2": Known(claims=_a2),
    "A1": Known(claims=_a1),
    "capacity": CAPACITY,
}
