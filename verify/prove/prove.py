"""`prove` in one file: data -> construction -> claims -> trace -> certificate.

A layer's values are computed by solving linear equations. Each stage (verify/prove/stages.py)
returns the claims that it can make, and the trace combines them. The outputs of a network are
judged in verify/prove/networks.py.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial

from threadpoolctl import threadpool_limits

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails, InputError
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.assumptions import hypotheses
from attncert.verify.checking.answers import answers
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import timed
from attncert.verify.claims.proof import Proof
from attncert.verify.prove import stages
from attncert.verify.prove.networks import concluded
from attncert.verify.prove.refusal import refused
from attncert.verify.prove.run import Run
from attncert.verify.provenance.after import behind
from attncert.verify.questions.prove import Prove
from attncert.verify.rank.engines.devices import choose_device
from attncert.verify.rank.whole_layer.layer import DEFAULT_MEMORY
from attncert.verify.rank.whole_layer.sizes import require_memory
from attncert.verify.rank.whole_layer.spread import rank_records
from attncert.verify.sharding.engine import dask as connected
from attncert.verify.statements import registry
from attncert.verify.statements.goals import Exact
from attncert.verify.statements.judged import Judged, judged
from attncert.verify.statements.steps import conclusions

LARGE = 2**29  # if T·n·d, the work of one head, is larger, several threads are faster


@answers(Prove, data=Dataset)
def prove(data: Dataset, question: Prove | None = None, progress: StageProgress = silent) -> Proof:
    """Build the weights of a construction, check every step of its proof, and return the result.

    A false hypothesis or claim raises no error: it is returned as a claim with its witness.
    progress: a callback progress(stage, done, of); `attncert.Stages` shows progress bars. Raises
    InputError for invalid arguments, and for data without labels unless the claim is full-rank.

    data: contexts (T, n, d), queries (T, d), labels (T, m). Arithmetic: exact over ℚ, or modulo a
    prime if that proves the same over ℚ; each claim names its arithmetic. Source: paper, Theorem 1,
    with its steps numbered as in docs/audit-of-theorem-1.md; other constructions name theirs.

    >>> from attncert import Dataset, Prove, prove
    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
    >>> proof = prove(data, Prove(heads=2))
    >>> proof.standing.value, len(proof.layer.heads)
    ('proved', 2)
    >>> prove(data, Prove(heads=1)).standing.value  # two features, three examples
    'refuted'
    """
    question = question or Prove()
    choose_device(question.device)  # raises InputError if there is no such device
    construction = registry.method(question.construction)
    run = Run.of(_subject(data, question), question, construction, progress)
    with connected(question.dask) as cluster:
        return proved(replace(run, cluster=cluster))


def proved(run: Run) -> Proof:
    """The proof of a run. Raises InputError for errors in third-party code, and if the rank check
    would not fit in memory."""
    with _threads(run):
        if run.data.T**2 >= conclusions.BLOCKS_FROM and run.cluster is None:
            require_memory(run.data.T, run.data.T, DEFAULT_MEMORY)
        statements = judged(run)
        if statements.layer is None and run.construction.layer is None:
            return concluded(run.question, run.construction, statements)
        return _of_layer(run, statements)


def _subject(data: Dataset, question: Prove) -> Dataset:
    """The data that the question is about, after a first block if the question names one."""
    chosen: Dataset = question.of(data)
    if question.round and chosen.origin.inputs is not None:
        must = "left out for token sequences (round the embedding instead)"
        raise InputError("round", must, question.round)
    return behind(chosen, question.before)


def _threads(run: Run) -> AbstractContextManager[object]:
    """One BLAS thread if products are small, since several threads would wait for each other."""
    data = run.data
    large = data.T * data.n * data.d >= LARGE
    return nullcontext() if large else threadpool_limits(1, "blas")


def _of_layer(run: Run, statements: Judged) -> Proof:
    """The proof for a layer: its statements, rank, saturation and outputs."""
    if tuple(run.construction.claims) != (Exact(),):
        must = "[Exact()] for a layer, whose values are solved for"
        raise InputError("construction: claims", must, run.construction.claims)
    wide = timed(partial(hypotheses.value_width, run.data, run.value_width))
    claims = [wide, *statements.claims]
    try:
        built = stages.require_values(run, statements)
    except HypothesisFails as failure:
        return refused(run, claims, failure)
    claims += stages.check_premises(run, built, claims)
    claims += stages.check_saturation(run, built)
    rank = stages.check_rank(run, built)
    claims += [*([rank_records()] if ids.RANK_RECORDS in rank[0].rests_on else []), *rank]
    claims += [*run.theorem.follows(run.data, built)]
    outcome = stages.outcome(run, built, rank[0].numbers["prime"])
    return stages.proof_of(run, built, outcome, [*claims, *outcome.claims])
