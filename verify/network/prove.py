"""`prove` for a construction of a network: data -> network -> claims -> trace -> certificate."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails, InputError
from attncert.constructions.network.arithmetic import Inexact
from attncert.constructions.network.network import Network
from attncert.constructions.progress import StageProgress
from attncert.verify.certificate import produced_by
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.installed import versions
from attncert.verify.layer.error import (
    at_most,
    default_limit,
    judged_errors,
    measured,
    spread,
)
from attncert.verify.methods.registry import errors_of
from attncert.verify.network import claims, patterns
from attncert.verify.network.method import Built, NetworkMethod, Part
from attncert.verify.network.within import certified, rounded_up
from attncert.verify.origins.conclusion import in_words_of
from attncert.verify.origins.rounded import on_grid
from attncert.verify.questions.layer import LayerQuestion
from attncert.verify.questions.prove import Prove

# Options that speak of the heads of a layer, or of its rank; and of one layer from a file.
_OF_LAYERS = ("heads", "head_width", "value_width", "vertices", "saturate", "data_file")
_OF_ONE_LAYER = ("prefix", "heads", "scale", "logit_unit", "property")
_CHANGES = {
    "query": "It changes the query.",
    "all": "It changes every token and the query.",
    "row": "It reads query and tokens in one row, and changes the query.",
}


@dataclass(frozen=True, kw_only=True, repr=False)
class NetworkProof(Answer):
    """What is known of a network that should output the labels.

    method: the construction; for a network from a file that it was read. built: what the
    construction made, None where it refused.
    """

    report_folder: ClassVar[str] = "network"

    question: Prove | LayerQuestion
    data: Dataset
    method: NetworkMethod
    built: Built | None = None


def prove_network(
    data: Dataset, question: Prove, method: NetworkMethod, progress: StageProgress
) -> NetworkProof:
    """Build the network, check every step on it, and compare its outputs with the labels.

    data: as the network sees them, after what stands before it; where the method retrieves, their
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
    progress("building", 0, 1)
    own = {"beta": Fraction(question.beta)} if question.beta else {}
    try:
        with errors_of(method, "build", data):
            built: Any = method.build(data, question.seed, **own)
    except HypothesisFails as failure:
        return _concluded(question, data, method, claims.refusal(data, method.title, failure))
    progress("steps", 0, 1)
    if method.retrieves:
        known = patterns.claims(built)
        within = Fraction(known[-1].numbers["within"])
        return _concluded(question, built.data, method, known, built, within)
    known = [claims.distinct_inputs(data), *_checked(data, method, built)]
    return _concluded(question, data, method, known, built)


def _checked(data: Dataset, method: NetworkMethod, built: Any) -> list[Claim]:
    """The steps of the proof, and whether the outputs are the labels."""
    start = time.perf_counter()
    try:
        states = list(built.network.states(data))
    except Inexact as reason:
        return [claims.memorizes(data, reason)]
    conclusion = claims.memorizes(data, states[-1].queries).timed(time.perf_counter() - start)
    rows = [x.queries.tolist() for x in states]
    with errors_of(method, "steps", data):
        steps = [step(data, built, rows) for step in method.steps]
    return [*filter(None, steps), conclusion]


def given_network(network: Network, data: Dataset, question: LayerQuestion) -> NetworkProof:
    """A network from a file, on data: `attncert layer` for what is not one layer of attention.

    The errors on the data, exactly where the outputs are rational, else in balls. The certificate
    is of equality, or of the largest error, rounded up. Raises InputError for options that speak of
    one layer, and where shapes do not fit.
    """
    _require_network_options(question)
    bound = question.tolerance
    limit = default_limit(data) if bound is None else at_most(Fraction(bound))
    error, memorizes = judged_errors(network, data, limit)
    method = NetworkMethod(
        name="given-network",
        title="blocks from a file",
        theorem="",
        source="docs/networks.md",
        parts=[Part(1, _CHANGES[block.of]) for block in network.blocks],
        build=lambda data, seed: network,
    )
    high = error.numbers["error"][1]
    near = memorizes.level.holds and high != "0"
    within = min(Fraction(rounded_up(high)), limit.bound) if near else None
    known = [error, measured(error, memorizes, spread(data))]
    return _concluded(question, data, method, known, network, within)


def _concluded(
    question: Prove | LayerQuestion,
    data: Dataset,
    method: NetworkMethod,
    known: list[Claim],
    built: Built | None = None,
    within: Fraction | None = None,
) -> NetworkProof:
    """known: the conclusion stands last. If it holds it is certified, exactly or within so much,
    and rests on what the checker says of that."""
    *known, conclusion = known
    file = dict[str, Any]()
    if built is not None:
        known.append(claims.price(data, built.network))
    if built is not None and conclusion.level.holds:
        provenance = produced_by(question.line(), getattr(question, "seed", 0))
        confirmed, file = certified(
            data, built.network, within, construction=method.name, produced_by=provenance
        )
        known += confirmed
        on = (*conclusion.rests_on, *(claim.id for claim in confirmed))
        conclusion = replace(conclusion, rests_on=on)
    return NetworkProof(
        question=question,
        data=data,
        method=method,
        built=built,
        trace=ProofTrace(in_words_of(data, [*known, conclusion])),
        conclusion=conclusion.id,
        versions=versions(),
        **file,
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


def _require_network_options(question: LayerQuestion) -> None:
    for option in _OF_ONE_LAYER:
        if (setting := getattr(question, option)) is not None:
            raise InputError(option, "left out for a network", setting)
    if question.mask != "none":
        raise InputError("mask", "left out for a network, whose blocks have their own", "given")
