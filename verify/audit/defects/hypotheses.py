"""Data for which one hypothesis of the theorem is false: the check of that one must say so."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from attncert.constructions.data import generators
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.paper import BOUND
from attncert.constructions.search.grouping import consecutive
from attncert.verify.audit.defects.defect import Defect, Family, Fired, failing
from attncert.verify.audit.defects.runs import paper
from attncert.verify.claims import ids
from attncert.verify.steps import hypotheses

Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Asked:
    """Data, how they are grouped, and the sizes of the layer that is asked for."""

    data: Dataset
    groups: Groups
    heads: int
    head_width: int
    value_width: int


def fired(asked: Asked) -> Fired:
    """Hypotheses that do not hold, as `prove --a1-work 0` asks for them."""
    data, r = asked.data, min(asked.data.n, asked.head_width)
    claims = [
        hypotheses.sizes(data),
        hypotheses.value_width(data, asked.value_width),
        hypotheses.independent_contexts(data),
        hypotheses.kruskal_at_least(data, data.n, ids.A1, 0, work=0.0),
        hypotheses.capacity(data.T, asked.heads, r, BOUND),
        hypotheses.partition(data, asked.groups),
    ]
    if r < data.n:
        claims.append(hypotheses.kruskal_at_least(data, r, ids.A1_AT_R, 0, work=0.0))
    return failing(claims)


def asked(data: Dataset | None = None, head_width: int = 3) -> Asked:
    """As much as the heads hold, in the order given."""
    data = paper("interior").data if data is None else data
    r = min(data.n, head_width)
    groups = tuple(consecutive(range(data.T), r, r - 1))
    return Asked(data, groups, len(groups), head_width, data.m)


def more_rows_than_columns() -> Asked:
    """n = 4 rows of width d = 3."""
    data = paper("rational").data
    contexts = [[*rows, rows[0]] for rows in data.contexts.fractions()]
    return asked(Dataset.of(contexts, data.queries, data.labels))


def dependent_context() -> Asked:
    data = paper("interior").data
    return asked(generators.dependent_context(data, 4, 2, {0: 1, 1: -2}).data)


def with_query(data: Dataset, t: int, terms: dict[int, int], head_width: int = 3) -> Asked:
    """Query t made the combination of these."""
    return asked(generators.dependent_query(data, t, terms).data, head_width)


def dependent_across_groups() -> Asked:
    """Queries 0, 3 and 5 are dependent; no group needs them together."""
    return with_query(paper("interior").data, 5, {0: 1, 3: 1})


def parallel_queries() -> Asked:
    """Heads of width 2 compare only two queries at once; these two are parallel."""
    return with_query(paper("interior").data, 6, {1: -2}, head_width=2)


def dependent_set_that_samples_miss() -> Asked:
    """One dependent set of 4 among 487,635; the first group is that set."""
    data = generators.family(60, 4, 5, queries="moment-curve", bound=30, seed=1)
    return with_query(data, 3, {0: 1, 1: 1, 2: 1}, head_width=4)


_CHECKS = (ids.CONTEXT_SIZE, ids.VALUE_WIDTH, ids.A2, ids.A1, ids.A1_AT_R, ids.CAPACITY,
           ids.PARTITION)  # fmt: skip

HYPOTHESES = Family(
    name="hypotheses",
    title="Hypotheses of the theorem",
    checks=_CHECKS,
    fired=fired,
    correct={"as asked": asked, "width 2": partial(asked, head_width=2)},
    defects=(
        Defect("more context rows than columns", ids.CONTEXT_SIZE, more_rows_than_columns),
        Defect("values narrower than labels", ids.VALUE_WIDTH,
               lambda: replace(
                   asked(generators.family(7, 3, 4, queries="moment-curve", m=2, seed=1)),
                   value_width=1)),
        Defect("a context with a dependent row", ids.A2, dependent_context),
        Defect("one example more than the heads hold", ids.CAPACITY,
               lambda: replace(asked(), heads=2)),
        Defect("dependent queries, in three groups", ids.A1, dependent_across_groups),
        Defect("dependent queries, in one group", ids.PARTITION,
               lambda: with_query(paper("interior").data, 2, {0: 1, 1: 1})),
        Defect("parallel queries, heads of width 2", ids.A1_AT_R, parallel_queries),
        Defect("a query that is zero", ids.PARTITION,
               lambda: with_query(paper("interior").data, 4, {})),
        Defect("a dependent group that random subsets miss", ids.PARTITION,
               dependent_set_that_samples_miss),
    ),
    implied={
        ids.CONTEXT_SIZE: "A2 implies it: more than d rows are dependent. It is a "
        "hypothesis of its own in the paper, and says why A2 cannot hold.",
        ids.A1_AT_R: "A1 implies it. It is what the proof uses of A1, and can hold where "
        "A1 does not.",
    },
)  # fmt: skip
