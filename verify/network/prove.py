"""`prove` for a construction of a network: data -> network -> claims -> trace -> certificate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails, InputError
from attncert.constructions.progress import StageProgress
from attncert.verify.certificate import produced_by
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.evidence import Claim, timed
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.installed import versions
from attncert.verify.methods.registry import errors_of
from attncert.verify.network import claims
from attncert.verify.network.method import Built, Description, NetworkMethod
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

    data: as the network sees them, behind what stands before it. Raises InputError for options that
    say nothing of a network, and for data without labels.
    """
    require_own_options(question, method.name)
    if ":" not in question.construction:
        question = replace(question, construction=method.name)
    if question.round:
        data, _ = on_grid(data, Fraction(question.round))
    _ = data.labels  # raises InputError where there are none
    known: list[Claim] = data.origin.claims(data)
    progress("building", 0, 1)
    try:
        with errors_of(method, "build"):
            built = method.build(data, question.seed)
    except HypothesisFails as failure:
        return concluded(
            question, data, method, known + claims.refusal(data, method.title, failure)
        )
    known.append(claims.distinct_inputs(data))
    progress("steps", 0, 1)
    with errors_of(method, "steps"):
        known += method.steps(data, built)
    progress("outputs", 0, 1)
    checks, file = [timed(partial(claims.outputs, data, built.network))], dict[str, Any]()
    if checks[0].level.holds:
        confirmed, file = certified(
            data,
            built.network,
            None,
            construction=method.name,
            produced_by=produced_by(question.line(), question.seed),
        )
        checks += confirmed
    known += [*checks, claims.price(data, built.network), claims.memorizes(data, checks)]
    return concluded(question, data, method, known, built=built, **file)


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


def require_own_options(question: Prove, name: str, more: tuple[str, ...] = ()) -> None:
    """Raises InputError for options of layers, and for those named in `more`."""
    for option in (*_OF_LAYERS, *more):
        if setting := getattr(question, option):
            raise InputError(option, f"left out with construction {name}", setting)
    if question.claim == "full-rank":
        raise InputError("claim", f"interpolation with construction {name}", question.claim)
    if question.round == "auto":
        raise InputError("round", f"a step, such as 1/64, with construction {name}", "auto")
