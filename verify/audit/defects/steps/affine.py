"""Errors in the steps of heads for contexts of any rank: dimensions, repeated rows, their leads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from attncert.constructions.data.dataset import Dataset
from attncert.verify.audit.defects import spoil
from attncert.verify.audit.defects.defect import Defect
from attncert.verify.audit.defects.runs import Built, run, runs
from attncert.verify.audit.defects.steps.shared import family
from attncert.verify.audit.defects.steps.width_one import (
    alphas_exchanged,
    one_alpha,
    tie_in_the_group,
)
from attncert.verify.claims import ids
from attncert.verify.claims.ids import of_head
from attncert.verify.methods.affine import METHOD

Rows = list[list[object]]


def other_context(place: int, spoilt: Callable[[Rows], Rows]) -> Built:
    """The context of one member of the head's group, changed after the build."""
    right = run("affine", "distinct")
    contexts = right.data.contexts.fractions()
    t = spoil.head(right).group[place]
    contexts[t] = spoilt(contexts[t])
    return replace(right, data=Dataset.of(contexts, right.data.queries, right.data.labels))


def turned_order() -> Built:
    """The members with their α and logits, the one of least dimension last."""
    right = run("affine", "ragged")
    found = spoil.head(right, 0)
    turned = {x: getattr(found, x)[::-1] for x in ("group", "alphas", "logits")}
    spoilt = spoil.record(right, 0, **turned)
    groups = (turned["group"], *right.construction.groups[1:])
    return spoil.said(spoilt, groups=groups)


def repeated_as_another() -> Built:
    """Targets have equal rows beside them: a gap as if these were others."""
    right = run("affine", "ragged")
    numbers = range(len(right.construction.heads))
    h = next(h for h in numbers if spoil.head(right, h).gap_bits not in (None, 0))
    return spoil.record(right, h, gap_bits=0)


AFFINE_STEPS = family(METHOD, runs("affine"), "distinct", (
    Defect("a context of affine dimension 1 in the second place", of_head(2, ids.DIMENSIONS),
           lambda: other_context(1, lambda rows: [rows[0], rows[1], rows[0]])),
    Defect("a context of equal rows in a later group", of_head(2, ids.DIMENSIONS),
           lambda: other_context(0, lambda rows: [rows[0]] * 3)),
    Defect("the example of least dimension last in its group", of_head(1, ids.DIMENSIONS),
           turned_order),
    Defect("two of the α exchanged", of_head(1, ids.COEFFICIENTS),
           lambda: alphas_exchanged(run("affine", "shared"))),
    Defect("tie of Eu within the group", of_head(2, ids.CURVE),
           lambda: tie_in_the_group(run("affine", "distinct"))),
    Defect("lead over an equal row as the gap", of_head(2, ids.SATURATION), repeated_as_another),
    Defect("one α for a whole group", of_head(2, ids.INDEPENDENCE),
           lambda: one_alpha(run("affine", "shared"), 1)),
    Defect("one α for the only group", of_head(1, ids.RANK_SO_FAR),
           lambda: one_alpha(run("affine", "one head"), 0)),
))  # fmt: skip
