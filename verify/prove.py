"""The pipeline of a layer on one page: data -> construction -> claims -> trace -> certificate.

Every stage (verify/pipeline/stages.py) looks at the run and returns the claims that it can make.
None changes what another one said; the trace joins them at the end, and must obey the rules of
verify/claims/rules.py before it is returned. The outputs of a network are judged in
verify/network/prove.py: its values are not solved for.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from threadpoolctl import threadpool_limits

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails, InputError
from attncert.constructions.network.file import loaded
from attncert.constructions.network.mixing import mean
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.answers import answers
from attncert.verify.claims.proof import Proof
from attncert.verify.claims.rules import require_rules
from attncert.verify.methods import registry
from attncert.verify.methods.goals import Exact
from attncert.verify.methods.judged import Judged, judged
from attncert.verify.network.prove import concluded
from attncert.verify.origins.after import after
from attncert.verify.pipeline import stages
from attncert.verify.pipeline.refusal import refused
from attncert.verify.pipeline.run import Run
from attncert.verify.questions.prove import Prove
from attncert.verify.rank.engines.devices import choose_device

LARGE = 2**29  # T·n·d, the work of one head, from which its products are worth more than one thread


@answers(Prove, data=Dataset)
def prove(data: Dataset, question: Prove | None = None, progress: StageProgress = silent) -> Proof:
    """Build the weights, check every step, and say what is known.

    Never raises for a false hypothesis or a false claim: those come back as claims with their
    witnesses. progress: called as progress(stage, done, of); `attncert.Stages` shows bars. Raises
    InputError for arguments that make no sense, and where the data have no labels unless the claim
    is full-rank.

    data: contexts (T, n, d), queries (T, d), labels (T, m). Arithmetic: exact over ℚ, or modulo a
    prime that lifts; each claim names its own. Source: paper, Theorem 1, its steps numbered as in
    docs/audit-of-theorem-1.md; other constructions name theirs.

    >>> from attncert import Dataset, Prove, prove
    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
    >>> proof = prove(data, Prove(heads=2))
    >>> proof.standing.value, len(proof.layer.heads)
    ('proved', 2)
    >>> prove(data, Prove(heads=1)).standing.value  # two features, three examples
    'refuted'
    """
    question = question or Prove()
    choose_device(question.device)  # raises InputError where it is not there
    construction = registry.method(question.construction)
    return proved(Run.of(_subject(data, question), question, construction, progress))


def proved(run: Run) -> Proof:
    """By a construction that is a record of statements: a network, or a layer. Raises InputError
    for errors of a third party's code."""
    with _threads(run):
        stages.afford(run)
        known = judged(run)
        if known.layer is None and run.construction.layer is None:
            return concluded(run.question, run.construction, known)
        return _of_layer(run, known)


def _subject(data: Dataset, question: Prove) -> Dataset:
    """The data that the question is about, as what is built sees them."""
    chosen: Dataset = question.of(data)
    if question.round and chosen.origin.inputs is not None:
        must = "left out for token sequences, whose embedding can be rounded"
        raise InputError("round", must, question.round)
    if not question.before:
        return chosen
    front = mean(data.d) if question.before == "mean" else loaded(question.before)
    return after(chosen.expanded(), front)


def _threads(run: Run) -> AbstractContextManager[object]:
    """For matrix products: where they are small, threads wait for each other at every one."""
    data = run.data
    large = data.T * data.n * data.d >= LARGE
    return nullcontext() if large else threadpool_limits(1, "blas")


def _of_layer(run: Run, known: Judged) -> Proof:
    """What is known of the statements, and of rank, saturation and outputs."""
    if tuple(run.construction.claims) != (Exact(),):
        must = "[Exact()] for a layer, whose values are solved for"
        raise InputError("construction: claims", must, run.construction.claims)
    origin = run.data.origin.claims(run.data)
    claims = [*origin, *stages.check_value_width(run), *known.claims]
    try:
        built = stages.require_values(run, known)
    except HypothesisFails as failure:
        proof = refused(run, claims, failure)
    else:
        plan = stages.plan(run, built)
        claims += stages.check_premises(run, built, claims)
        claims += stages.check_saturation(run, built)
        rank, prime = stages.check_rank(run, built)
        claims += rank
        claims += stages.check_consequences(run, built)
        outcome = stages.outcome(run, built, plan, prime)
        claims += outcome.claims
        proof = stages.proof_of(run, built, outcome, claims)
    require_rules(proof)
    return proof
