"""Errors in the steps that only the paper's construction has, and in how its ranks come about."""

from __future__ import annotations

from typing import Any

from flint import fmpq_mat

from attncert.verify.audit.defects import spoil
from attncert.verify.audit.defects.defect import Defect
from attncert.verify.audit.defects.runs import Built, paper, runs
from attncert.verify.audit.defects.steps.shared import family
from attncert.verify.claims import ids
from attncert.verify.claims.ids import of_head
from attncert.verify.methods.paper import METHOD


def first_off(part: str, by: int = 1, on: str = "vertices") -> dict[str, Any]:
    """The first dual or steering vector of the head, one entry changed."""
    vectors = getattr(spoil.head(paper(on)), part)
    return {part: spoil.with_first(vectors, spoil.bumped(vectors[0], by))}


def dual_of_an_unsteered_example() -> Built:
    """Its steering vector is 0, so that the weights do not show the error."""
    run = paper("interior")
    assert not any(spoil.head(run).steering[0].entries())
    return spoil.rebuilt(run, **first_off("duals", on="interior"))


def extra_column() -> Built:
    """A fourth independent key column in a layer of d_h = 5: M of rank 4 > r = 3."""
    run = paper("wide")
    found = run.construction.layer.heads[spoil.HEAD]
    key, query = fmpq_mat(found.key), fmpq_mat(found.query)
    for i in range(run.data.d):
        key[i, 3], query[i, 3] = i * i + 1, i + 2
    return spoil.weights(run, key=key, query=query)


def c_too_small() -> Built:
    """c - 1 everywhere, the least gap measured again: only what c is for can notice."""
    run = paper("vertices")
    assert spoil.head(run).c > 1
    return spoil.measured(spoil.rebuilt(run, c=spoil.head(run).c - 1))


# Step 7.


def greedy_choice_skipped() -> Built:
    """Each vertex alone leaves the span of the earlier rows, both together do not."""
    run = paper("trap")
    w, to_e4 = fmpq_mat([[0], [0], [0], [60], [0]]), (0, 60, 0)
    return spoil.rebuilt(run, steering=(w, w), logits=(to_e4, to_e4))


def _vertices(run: Built, h: int, rows: tuple[int, ...]) -> Built:
    """The group's examples sent to these rows by steering vectors, whatever that does: one shared
    context, and two of them sent to one row; finite c may hide that only the limit is deficient."""
    data = run.data
    steering, logits = [], []
    for t, row in zip(spoil.head(run, h).group, rows, strict=True):
        context = data.context(t)
        gram = (context * context.transpose()).inv()
        size = int(gram.numer_denom()[1])
        wanted = tuple(size * (i == row) for i in range(data.n))
        steering.append(context.transpose() * gram * fmpq_mat(data.n, 1, list(wanted)))
        logits.append(wanted)
    parts = {"steering": tuple(steering), "logits": tuple(logits)}
    return spoil.rebuilt(run, h, **parts) if h == 0 else spoil.consistent(run, h, **parts)


PAPER_STEPS = family(METHOD, runs("paper"), "interior", (
    Defect("a dual vector off by one, in the record", of_head(2, ids.DUALS),
           lambda: spoil.record(paper("vertices"), **first_off("duals"))),
    Defect("a dual vector off by one, and used", of_head(2, ids.DUALS),
           lambda: spoil.rebuilt(paper("vertices"), **first_off("duals", 6))),
    Defect("the dual of an example without steering", of_head(2, ids.DUALS),
           dual_of_an_unsteered_example),
    Defect("two duals exchanged", of_head(2, ids.DUALS),
           lambda: spoil.record(run := paper("vertices"), duals=spoil.head(run).duals[::-1])),
    Defect("queries of two groups exchanged in the data", of_head(2, ids.DUALS),
           lambda: spoil.exchanged(paper("vertices"), "queries")),
    Defect("a steering vector off by one, in the record", of_head(2, ids.STEERING),
           lambda: spoil.record(paper("vertices"), **first_off("steering"))),
    Defect("a steering vector off by one, and used", of_head(2, ids.STEERING),
           lambda: spoil.consistent(paper("vertices"), **first_off("steering"))),
    Defect("other logits on record", of_head(2, ids.STEERING),
           lambda: spoil.other_logits(paper("interior"))),
    Defect("contexts of two groups exchanged in the data", of_head(2, ids.STEERING),
           lambda: spoil.exchanged(paper("vertices"), "contexts")),
    Defect("rank of M above r", of_head(2, ids.WEIGHTS), extra_column),
    Defect("c one too small everywhere", of_head(2, ids.SATURATION), c_too_small),
    Defect("greedy choice of step 7 skipped", of_head(2, ids.INDEPENDENCE), greedy_choice_skipped),
    Defect("the same where finite c hides it", of_head(2, ids.INDEPENDENCE),
           lambda: _vertices(paper("shared"), spoil.HEAD, (0, 0))),
    Defect("two examples of the only group sent to one row", of_head(1, ids.RANK_SO_FAR),
           lambda: _vertices(paper("one head"), 0, (0, 0, 1))),
    Defect("groups larger than r allows", ids.GROUPS, lambda: spoil.said(paper("interior"), r=2)),
))  # fmt: skip
