"""The answer if no weights were built. The claims answer three questions:

- How many of the examples can the construction place? This is the size of the largest subset that
  meets A2 and the partition condition.
- Can any weights do more? Relations between the columns or the rows of Z that hold for *every*
  choice of weights (limits/tightness) may exclude universal memorization, that is, a
  single choice of keys and queries for all labels. If they do not exclude it, random weights may
  show that it is possible.
- Can any weights output the *given* labels? Weights that depend on the labels can do more: only
  relations between rows, or labels whose rank is too large, exclude them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from attncert.constructions.construction import heads_to_place
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.search.grouping import consecutive
from attncert.verify.assumptions import hypotheses
from attncert.verify.certificates.certificate import produced_by
from attncert.verify.certificates.installed import versions
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import About, Claim, Level, timed
from attncert.verify.claims.ids import ClaimId
from attncert.verify.claims.proof import Proof
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.limits.partition.claims import best_partition
from attncert.verify.limits.tightness.certificate import tied_certificate
from attncert.verify.limits.tightness.limits import impossible, limits
from attncert.verify.prove.run import Run
from attncert.verify.provenance.conclusion import in_words_of
from attncert.verify.statements.known import capacity
from attncert.verify.statements.steps import conclusions

MOST_PLACED = 2000  # the largest part is computed for at most this many examples


def refused(run: Run, earlier: list[Claim], failure: HypothesisFails) -> Proof:
    """The answer if nothing could be built. The hypothesis that fails gets a new witness."""
    data, r = run.data, run.r
    fewest = heads_to_place(data.T, r) if run.theorem.r else None
    heads = run.question.heads or fewest or 1
    counted = any(claim.id == ids.CAPACITY for claim in earlier)
    claims = [*earlier, *(() if counted else capacity(run, heads))]
    if failure.hypothesis == "some-partition":
        groups = consecutive(range(data.T), r, max(r - 1, 1))
        claims.append(timed(partial(hypotheses.partition, data, groups)))
        claims.append(conclusions.no_grouping(failure))
    named = ids.hypothesis(failure.hypothesis)  # there is no such claim if the builder gave up
    failing = [claim.id for claim in claims if claim.id == named]
    if "partition" in run.construction.hypotheses:
        run.progress("what can be placed", 0, 1)
        claims += _placed(run)
    run.progress("limits for all weights", 0, 1)
    all_limits = limits(data, run.question.heads, run.value_width)
    claims += [*all_limits, *conclusion(run, failure, failing, all_limits)]
    tied = any(c.id == ids.ROWS_LABELS and c.level is Level.REFUTED for c in all_limits)
    made_by = produced_by(run.question.line(), run.question.seed)
    return Proof(
        question=run.question,
        data=data,
        construction=run.construction,
        setup=run.setup(),
        trace=ProofTrace(in_words_of(data, claims)),
        conclusion=ids.MEMORIZATION,
        certificate=tied_certificate(data, made_by) if tied else None,
        versions=versions(),
    )


def _placed(run: Run) -> list[Claim]:
    """Claims about the largest subset of the examples that fits into groups of r, r - 1, r - 1, ...

    Their ids begin with "placed.". There are no such claims if there are too many examples, if
    contexts differ in length, or if n > d.
    """
    data, r, question = run.data, run.r, run.question
    if data.T > MOST_PLACED or data.ragged or data.n > data.d:
        return []
    heads = question.heads or data.T
    best = best_partition(data, r, r - 1, heads, question.seed, run.value_width)
    if not best.groups:
        return []
    return [
        replace(claim, id=ids.placed(claim.id), rests_on=tuple(map(ids.placed, claim.rests_on)))
        for claim in best.claims
    ]


def conclusion(
    run: Run, failure: HypothesisFails, failing: Sequence[ClaimId], all_limits: Sequence[Claim]
) -> list[Claim]:
    """A claim about the given labels, if some weights are excluded, and the conclusion.

    failing: hypotheses that do not hold. all_limits: the claims about all weights. With --claim
    interpolation, only limits for the given labels refute the conclusion.
    """
    data, question = run.data, run.question
    universal = [claim for claim in all_limits if claim.excludes(About.UNIVERSAL)]
    labels = [claim for claim in all_limits if claim.excludes(About.THESE_LABELS)]
    claims = [_given_labels(labels)] if universal or labels else []
    if labels or (universal and question.claim != "interpolation"):
        return [*claims, impossible(universal, labels, question.heads, run.value_width, data)]
    possible = any(claim.id == ids.UNIVERSAL_ENOUGH for claim in all_limits)
    return [*claims, _left_open(data, failure, failing, possible, bool(universal))]


def _given_labels(labels: Sequence[Claim]) -> Claim:
    return Claim(
        ids.GIVEN_LABELS,
        "Some weights, which may depend on the given labels, output exactly these labels.",
        Level.REFUTED if labels else Level.UNDECIDED,
        witness={"shown by": [claim.id for claim in labels]} if labels else None,
        rests_on=tuple(dict.fromkeys(i for claim in labels for i in claim.rests_on)),
        source="ours; docs/tightness.md, sections 3 and 5",
        about=About.THESE_LABELS,
    )


def _left_open(
    data: Dataset,
    failure: HypothesisFails,
    failing: Sequence[ClaimId],
    possible: bool,
    excluded: bool,
) -> Claim:
    if possible:
        rest = (
            "Other weights serve every labelling of these examples (universal.enough): "
            "--construction generic searches for some."
        )
    elif excluded:
        rest = (
            "No single choice of keys and queries serves every labelling (universal memorization "
            "is impossible); whether weights that depend on these labels output them is left open."
        )
    else:
        rest = (
            "Whether some other weights memorize the data is not decided by this "
            "(--construction generic searches for some)."
        )
    what = "The construction does not apply" if failure.decided else "No layer was completed"
    return Claim(
        ids.MEMORIZATION,
        f"{what}: {failure.reason}. {rest}",
        Level.NOT_APPLICABLE if failure.decided else Level.UNDECIDED,
        witness=failure.witness or None,
        rests_on=tuple(failing),
        source="the hypotheses of the construction",
    )
