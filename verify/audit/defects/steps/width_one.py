"""Errors in the steps that only heads of width one have, and in how their ranks come about."""

from __future__ import annotations

from flint import fmpq_mat

from attncert.verify.audit.defects import spoil
from attncert.verify.audit.defects.defect import Defect
from attncert.verify.audit.defects.runs import Built, runs, width_one
from attncert.verify.audit.defects.steps.shared import family
from attncert.verify.claims import ids
from attncert.verify.claims.ids import of_head
from attncert.verify.methods.width_one import METHOD


def v1_off(run: Built) -> dict[str, fmpq_mat]:
    return {"v1": spoil.bumped(spoil.head(run).v1)}


def alphas_exchanged(run: Built) -> Built:
    assert len(set(spoil.head(run, 0).alphas)) > 1
    return spoil.record(run, 0, alphas=spoil.head(run, 0).alphas[::-1])


def tie_in_the_group(run: Built) -> Built:
    """Only the curve lemma asks for distinct entries of the group; its logits are made from u."""
    found = spoil.head(run)
    return next(
        spoilt
        for spoilt in spoil.tied_consistently(run, found.group)
        if not spoil.one_end_tied(run, spoil.head(spoilt).separator, found.earlier)
    )


def second_column() -> Built:
    """M of rank 2, from key and query of width 2."""
    run = width_one("distinct")
    old = run.construction.layer.heads[spoil.HEAD]
    parts = {}
    for name, matrix in (("key", old.key), ("query", old.query)):
        rows = [[row[0], i + (name == "key")] for i, row in enumerate(matrix.tolist())]
        parts[name] = fmpq_mat(rows)
    return spoil.weights(run, **parts)


def one_alpha(run: Built, h: int) -> Built:
    """All of a group at one point of the curve of a shared context: one direction for all."""
    found, data = spoil.head(run, h), run.data
    rows = data.queries[list(found.group)].matrix()
    gram = (rows * rows.transpose()).inv()
    ones = fmpq_mat(len(found.group), 1, [1] * len(found.group))
    v1 = rows.transpose() * gram * ones
    u = found.separator * v1.numer_denom()[1]  # whole logits for all examples
    logits = [tuple(int(x) for x in (data.context(t) * u).entries()) for t in found.group]
    parts = {"separator": u, "v1": v1, "alphas": (1,) * len(found.group), "logits": tuple(logits)}
    return spoil.rebuilt(run, h, **parts) if h == 0 else spoil.consistent(run, h, **parts)


WIDTH_ONE_STEPS = family(METHOD, runs("width-one"), "distinct", (
    Defect("v1 off by one in the record", of_head(2, ids.COEFFICIENTS),
           lambda: spoil.record(width_one("distinct"), **v1_off(width_one("distinct")))),
    Defect("v1 off by one, and used", of_head(2, ids.COEFFICIENTS),
           lambda: spoil.consistent(width_one("distinct"), **v1_off(width_one("distinct")))),
    Defect("two of the α exchanged", of_head(1, ids.COEFFICIENTS),
           lambda: alphas_exchanged(width_one("shared"))),
    Defect("other logits on record", of_head(2, ids.COEFFICIENTS),
           lambda: spoil.other_logits(width_one("distinct"))),
    Defect("queries of two groups exchanged in the data", of_head(2, ids.COEFFICIENTS),
           lambda: spoil.exchanged(width_one("several alphas"), "queries")),
    Defect("contexts of two groups exchanged in the data", of_head(2, ids.COEFFICIENTS),
           lambda: spoil.exchanged(width_one("several alphas"), "contexts")),
    Defect("tie of Eu within the group", of_head(2, ids.CURVE),
           lambda: tie_in_the_group(width_one("distinct"))),
    Defect("M of rank two", of_head(2, ids.WEIGHTS), second_column),
    Defect("one α for a whole group", of_head(2, ids.INDEPENDENCE),
           lambda: one_alpha(width_one("shared"), 1)),
    Defect("one α for the only group", of_head(1, ids.RANK_SO_FAR),
           lambda: one_alpha(width_one("one head"), 0)),
))  # fmt: skip
