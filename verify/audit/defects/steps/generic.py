"""Errors in what only generic weights have: they are drawn, not derived step by step."""

from __future__ import annotations

from attncert.verify.audit.defects import spoil
from attncert.verify.audit.defects.defect import Defect
from attncert.verify.audit.defects.runs import Built, generic, runs
from attncert.verify.audit.defects.steps.shared import family
from attncert.verify.claims import ids
from attncert.verify.claims.ids import of_head
from attncert.verify.methods.generic import METHOD


def bound_understated() -> Built:
    run = generic("wide")
    return spoil.record(run, bound=spoil.head(run).bound - 1)


def entry_not_drawn() -> Built:
    """In the weights, and in the logits on record that they give."""
    run = generic("distinct")
    key = spoil.changed(run.construction.layer.heads[spoil.HEAD].key, 0, 0, 1)
    return spoil.measured_logits(spoil.weights(run, key=key))


def tie_in_the_shared_context() -> Built:
    """In a head that has one example only: the ranks do not suffer."""
    run, last = generic("spare"), 3
    key = next(spoil.with_ties(run.data, (0,)))
    bound = max(abs(int(x)) for x in key.entries())
    spoilt = spoil.weights(spoil.record(run, last, key=key, bound=bound), last, key=key)
    return spoil.measured_logits(spoilt, last)


def head_twice() -> Built:
    """The weights of the first head again, and the record says so: nothing new is added."""
    run = generic("distinct")
    first = spoil.head(run, 0)
    spoilt = spoil.record(run, key=first.key, query=first.query, bound=first.bound)
    return spoil.measured_logits(spoil.weights(spoilt, key=first.key, query=first.query))


GENERIC_STEPS = family(METHOD, runs("generic"), "distinct", (
    Defect("bound understated in the record", of_head(2, ids.SMALL), bound_understated),
    Defect("a key entry that was not drawn", of_head(2, ids.SMALL), entry_not_drawn),
    Defect("tie of Eu in a shared context", of_head(4, ids.DISTINCT), tie_in_the_shared_context),
    Defect("a head twice", of_head(2, ids.RANK_SO_FAR), head_twice),
), {
    "integral": "Small implies it: integers times the denominators give whole logits. Without it "
    "the logits could not be read.",
})  # fmt: skip
