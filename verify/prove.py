"""The pipeline of a layer on one page: data -> construction -> claims -> trace -> certificate.

Every stage (verify/pipeline/stages.py) looks at the run and returns the claims that it can make.
None changes what another one said; the trace joins them at the end, and must obey the rules of
verify/claims/rules.py before it is returned. A network has a page of its own,
verify/network/prove.py: no theorem promises it steps, so no rule asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from threadpoolctl import threadpool_limits

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails, InputError
from attncert.constructions.layer import Layer
from attncert.constructions.network.file import loaded
from attncert.constructions.network.mixing import mean
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.proof import Proof
from attncert.verify.claims.rules import require_rules
from attncert.verify.methods import registry
from attncert.verify.methods.construction import Construction
from attncert.verify.methods.given_layer import method_of, of_construction
from attncert.verify.methods.goals import Exact
from attncert.verify.methods.judged import judged
from attncert.verify.methods.request import Request
from attncert.verify.network.prove import NetworkProof, concluded
from attncert.verify.origins.after import after
from attncert.verify.origins.rounded import on_grid
from attncert.verify.origins.sequences import by_class
from attncert.verify.pipeline import stages
from attncert.verify.pipeline.grids import rounded
from attncert.verify.pipeline.refusal import refused
from attncert.verify.pipeline.run import Run
from attncert.verify.pipeline.time_limit import limited
from attncert.verify.questions.prove import Prove
from attncert.verify.questions.question import answers
from attncert.verify.rank.engines.devices import choose_device

LARGE = 2**29  # T·n·d, the work of one head, from which its products are worth more than one thread


@answers(Prove, data=Dataset)
def prove(data: Dataset, question: Prove | None = None, progress: StageProgress = silent) -> Any:
    """Build the weights, check every step, and say what is known.

    Never raises for a false hypothesis or a false claim: those come back as claims with their
    witnesses. progress: called as progress(stage, done, of); `attncert.Stages` shows bars. Raises
    InputError for arguments that make no sense, and where the data have no labels unless the claim
    is full-rank; OutOfTime after question.time_limit.

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
    method = registry.method(question.construction)
    with limited(question.time_limit):
        data = _subject(data, question)
        if isinstance(method, Construction):
            return prove_construction(data.expanded(), question, method, progress)
        return _proved(rounded(Run.of(_of_layer(data, question), question, method, progress)))


def prove_construction(
    data: Dataset, question: Prove, construction: Construction, progress: StageProgress
) -> Proof | NetworkProof:
    """By a construction that is a record of statements: a network, or a layer.

    data: as the construction sees them, after what stands before it. Raises InputError for options
    that the construction does not take, and for errors of a third party's code.
    """
    _require_own_options(question, construction)
    if ":" not in question.construction:
        question = replace(question, construction=construction.name)
    if question.round:
        data, _ = on_grid(data, Fraction(question.round))
    request = Request(
        heads=question.heads,
        head_width=question.head_width or 1,
        value_width=question.value_width or data.m,
        beta=Fraction(question.beta) if question.beta else None,
        seed=question.seed,
        progress=partial(progress, "building"),
    )
    known = judged(construction, data, request, progress)
    if known.layer is None:
        return concluded(question, construction, known)
    if tuple(construction.claims) != (Exact(),):
        must = "[Exact()] for a layer, whose values are solved for"
        raise InputError("construction: claims", must, construction.claims)
    method = of_construction(construction, known)
    return _proved(Run.of(known.data, question, method, progress), known.claims)


def _require_own_options(question: Prove, construction: Construction) -> None:
    """Raises InputError for options that the construction does not take."""
    for option in ("heads", "head_width", "vertices", "saturate", "beta", "round", "before"):
        setting = getattr(question, option)
        if setting and option not in construction.options:
            raise InputError(option, f"left out with construction {construction.name}", setting)
    if question.round == "auto":
        must = f"a step, such as 1/64, with construction {construction.name}"
        raise InputError("round", must, "auto")


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


def _of_layer(data: Dataset, question: Prove) -> Dataset:
    """One example of each class. Generic weights alone are drawn for contexts with repeats."""
    counted = question.construction == "generic"
    return by_class(data if counted else data.expanded())


@answers(Prove, data=Dataset, layer=Layer)
def prove_layer(
    data: Dataset,
    layer: Layer,
    question: Prove | None = None,
    progress: StageProgress = silent,
) -> Proof:
    """What the keys and queries of `layer` memorize: rank, readout, certificate, as for any other.

    layer: keys and queries (d×d_h) over ℚ in units of ln 2, so that all logits are integers;
    values and output are solved for. question: value width, kind of claim, device, memory; the rest
    is read off the layer. A layer whose features have a smaller rank than T, or whose logits are
    not whole, comes back undecided. Raises InputError where its shape does not fit the data.
    Arithmetic: exact. Source: docs/constructions.md.

    >>> from attncert import Dataset, Layer, prove_layer
    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 0], [0, 1]], [3, 4])
    >>> prove_layer(data, Layer.of_weights([([[1], [0]], [[1], [2]])])).standing.value
    'proved'
    """
    question = question or Prove()
    choose_device(question.device)
    for name in ("round", "before"):
        if option := getattr(question, name):
            raise InputError(name, "left out: the layer is for these data", option)
    method, call = method_of(layer, data), "attncert.prove_layer(DATA, LAYER)"
    own = replace(
        question,
        construction=method.name,
        heads=len(layer.heads),
        head_width=layer.head_width,
    )
    with limited(question.time_limit):
        subject = by_class(_subject(data, own).expanded())
        return _proved(Run.of(subject, own, method, progress, call))


def _proved(run: Run, known: Sequence[Claim] = ()) -> Proof:
    """known: claims about the construction's statements, if it is a record of them."""
    with _threads(run):
        return _prove(run, known)


def _threads(run: Run) -> AbstractContextManager[object]:
    """For matrix products: where they are small, threads wait for each other at every one."""
    data = run.data
    large = data.T * data.n * data.d >= LARGE
    return nullcontext() if large else threadpool_limits(1, "blas")


def _prove(run: Run, known: Sequence[Claim]) -> Proof:
    stages.afford(run)
    claims = run.data.origin.claims(run.data) + stages.check_hypotheses(run) + [*known]
    try:
        built = stages.build(run)
    except HypothesisFails as failure:
        proof = refused(run, claims, failure)
    else:
        plan = stages.plan(run, built)
        claims += stages.check_premises(run, built, claims)
        claims += stages.check_steps(run, built)
        claims += stages.check_saturation(run, built)
        rank, prime = stages.check_rank(run, built)
        claims += rank
        claims += stages.check_consequences(run, built)
        outcome = stages.outcome(run, built, plan, prime)
        claims += outcome.claims
        claims += [] if known else stages.check_proof(claims)
        proof = stages.proof_of(run, built, outcome, claims)
    require_rules(proof)
    return proof
