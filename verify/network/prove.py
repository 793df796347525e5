"""`prove` for a construction of a network: data -> network -> claims -> trace -> certificate."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from flint import ctx

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails, InputError
from attncert.constructions.network.arithmetic import BALLS, Inexact
from attncert.constructions.network.states import States
from attncert.constructions.progress import StageProgress
from attncert.verify.certificate import produced_by
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.installed import versions
from attncert.verify.methods.registry import errors_of
from attncert.verify.network import claims, patterns
from attncert.verify.network.method import Built, Description, NetworkMethod, Rows
from attncert.verify.network.within import certified
from attncert.verify.origins.rounded import on_grid
from attncert.verify.questions.layer import LayerQuestion
from attncert.verify.questions.prove import Prove

# Options that speak of the heads of a layer, or of its rank.
_OF_LAYERS = ("heads", "head_width", "value_width", "vertices", "saturate", "data_file")


@dataclass(frozen=True, kw_only=True, repr=False)
class NetworkProof(Answer):
    """What is known of a network that should output the labels.

    method: the construction, or what is said of a network from a file. built: what the construction
    made, None where it refused.
    """

    report_folder: ClassVar[str] = "network"

    question: Prove | LayerQuestion
    data: Dataset
    method: Description
    built: Built | None = None


def prove_network(
    data: Dataset, question: Prove, method: NetworkMethod, progress: StageProgress
) -> NetworkProof:
    """Build the network, check every step on it, and compare its outputs with the labels.

    data: as the network sees them, behind what stands before it; where the method retrieves, their
    distinct queries are the patterns, and the outputs are enclosed. Raises InputError for options
    that say nothing of a network, and for data without labels.
    """
    _require_own_options(question, method)
    if ":" not in question.construction:
        question = replace(question, construction=method.name)
    if question.round:
        data, _ = on_grid(data, Fraction(question.round))
    if not method.retrieves:
        _ = data.labels  # raises InputError where there are none
    known: list[Claim] = data.origin.claims(data)
    progress("building", 0, 1)
    own = {"beta": Fraction(question.beta)} if question.beta else {}
    try:
        with errors_of(method, "build"):
            built: Any = method.build(data, question.seed, **own)
    except HypothesisFails as failure:
        refusal = claims.refusal(data, method.title, failure)
        return concluded(question, data, method, known + refusal)
    progress("steps", 0, 1)
    conclude = _near_patterns if method.retrieves else _equal_labels
    data = built.data if method.retrieves else data
    more, file = conclude(question, data, method, built)
    return concluded(question, data, method, known + more, built=built, **file)


def _equal_labels(
    question: Prove, data: Dataset, method: NetworkMethod, built: Any
) -> tuple[list[Claim], dict[str, Any]]:
    """Claims, the conclusion last, and the file."""
    start, states, steps = time.perf_counter(), list[States](), list[Claim]()
    file = dict[str, Any]()
    try:
        states += built.network.states(data)
    except Inexact as reason:
        checks = [claims.outputs(data, reason)]
    else:
        equal = claims.outputs(data, states[-1].queries)
        checks = [equal.timed(time.perf_counter() - start)]
        steps = _steps(data, method, built, [x.rows() for x in states])
    if checks[0].level.holds:
        confirmed, file = _certified(question, data, method, built, None)
        checks += confirmed
    rest = [claims.price(data, built.network), claims.memorizes(data, checks)]
    return [claims.distinct_inputs(data), *steps, *checks, *rest], file


def _near_patterns(
    question: Prove, data: Dataset, method: NetworkMethod, built: Any
) -> tuple[list[Claim], dict[str, Any]]:
    with ctx.workprec(patterns.BITS):
        rows = [states.rows() for states in built.network.states(data, BALLS)]
    steps = _steps(data, method, built, rows)
    conclusion = patterns.retrieved(built, rows)
    within = Fraction(conclusion.numbers["within"])
    confirmed, file = _certified(question, data, method, built, within)
    return [*steps, claims.price(data, built.network), *confirmed, conclusion], file


def _steps(data: Dataset, method: NetworkMethod, built: Any, rows: Sequence[Rows]) -> list[Claim]:
    with errors_of(method, "steps"):
        steps = [step(data, built, rows) for step in method.steps]
    return [claim for claim in steps if claim is not None]


def _certified(
    question: Prove, data: Dataset, method: NetworkMethod, built: Any, within: Fraction | None
) -> tuple[list[Claim], dict[str, Any]]:
    provenance = produced_by(question.line(), question.seed)
    return certified(data, built.network, within, construction=method.name, produced_by=provenance)


def concluded(
    question: Prove | LayerQuestion,
    data: Dataset,
    method: Description,
    known: list[Claim],
    **rest: Any,
) -> NetworkProof:
    """known: the conclusion stands last."""
    return NetworkProof(
        question=question,
        data=data,
        method=method,
        trace=ProofTrace(known),
        conclusion=known[-1].id,
        versions=versions(),
        **rest,
    )


def _require_own_options(question: Prove, method: NetworkMethod) -> None:
    """Raises InputError for options of layers; a retrieval takes the queries as they are."""
    name, more = method.name, ("round", "before") if method.retrieves else ()
    for option in (*_OF_LAYERS, *more):
        if setting := getattr(question, option):
            raise InputError(option, f"left out with construction {name}", setting)
    if question.claim == "full-rank":
        raise InputError("claim", f"interpolation with construction {name}", question.claim)
    if question.round == "auto":
        raise InputError("round", f"a step, such as 1/64, with construction {name}", "auto")
