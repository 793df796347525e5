"""Errors in what is said about a proof: claims, their levels, edges, numbers, and standings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from typing import Any
from unittest.mock import patch

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.paper import BOUND
from attncert.verify.audit.defects.defect import Defect, Family, Fired, failing
from attncert.verify.audit.defects.hypotheses import dependent_across_groups, dependent_context
from attncert.verify.audit.defects.runs import paper, width_one
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.ids import ClaimId, of_head
from attncert.verify.claims.proof import Proof
from attncert.verify.claims.rules import trace_claims
from attncert.verify.claims.trace import ProofTrace, TraceError
from attncert.verify.prove import Settings, prove
from attncert.verify.steps import hypotheses

_ERRORS = {"given twice": ids.TRACE_ONCE, "which is missing": ids.TRACE_PREMISES,
           "circular": ids.TRACE_ACYCLIC}  # fmt: skip


@dataclass(frozen=True)
class Told:
    """A proof and the claims that are to be its trace; `kind` derives their standings."""

    proof: Proof
    claims: tuple[Claim, ...]
    kind: type[ProofTrace] = ProofTrace


def fired(told: Told) -> Fired:
    """Why no trace is made of the claims; else the rules that the trace breaks."""
    try:
        trace = told.kind(told.claims)
    except TraceError as error:
        return frozenset(name for words, name in _ERRORS.items() if words in str(error))
    return failing(trace_claims(replace(told.proof, trace=trace)))


@cache
def told(name: str) -> Told:
    """A real proof: with a readout, by rank alone, with a sampled A1, with A1 or A2 refuted, ..."""
    data = paper("interior").data
    match name:
        case "rank alone":
            proof = prove(data, Settings(claim="full-rank", head_width=2))
        case "sampled":
            with patch.object(hypotheses, "_EXHAUSTIVE", 10):
                proof = prove(data, Settings(a1_work=0))
        case "decided":
            with patch.object(hypotheses, "_EXHAUSTIVE", 10):
                proof = prove(data)
        case "width one":
            proof = prove(width_one("shared").data, Settings(construction="width-one"))
        case "saturated":
            proof = prove(paper("shared").data, Settings(claim="full-rank", saturate=4))
        case "rounded":
            proof = prove(data, Settings(round_to="1"))
        case "A1 false":
            proof = prove(dependent_across_groups().data)
        case "A2 false":
            proof = prove(dependent_context().data)
        case "too many examples":
            proof = prove(data, Settings(heads=2))
        case _:
            proof = prove(data)
    return Told(proof, tuple(proof.trace))


RUNS = ("interpolation", "rank alone", "sampled", "decided", "width one", "saturated", "rounded",
        "A1 false", "A2 false", "too many examples")  # fmt: skip


def edited(
    claim_id: ClaimId, change: Callable[[Claim], Claim | None], on: str = "interpolation"
) -> Told:
    """One claim changed, or left out."""
    run = told(on)
    changed = [change(claim) if claim.id == claim_id else claim for claim in run.claims]
    return replace(run, claims=tuple(claim for claim in changed if claim is not None))


def level(claim_id: ClaimId, value: Level, on: str = "interpolation") -> Told:
    return edited(claim_id, lambda claim: replace(claim, level=value), on)


def without_edge(claim_id: ClaimId, premise: ClaimId, on: str = "interpolation") -> Told:
    def cut(claim: Claim) -> Claim:
        assert premise in claim.rests_on
        return replace(claim, rests_on=tuple(p for p in claim.rests_on if p != premise))

    return edited(claim_id, cut, on)


def with_edge(claim_id: ClaimId, premise: ClaimId) -> Told:
    return edited(claim_id, lambda claim: replace(claim, rests_on=(*claim.rests_on, premise)))


def left_out(claim_id: ClaimId, on: str = "interpolation") -> Told:
    """With the edges to it, so that no premise is missing."""
    run = edited(claim_id, lambda claim: None, on)
    claims = (
        replace(claim, rests_on=tuple(p for p in claim.rests_on if p != claim_id))
        for claim in run.claims
    )
    return replace(run, claims=tuple(claims))


def twice(claim_id: ClaimId) -> Told:
    run = told("interpolation")
    return replace(run, claims=(*run.claims, next(c for c in run.claims if c.id == claim_id)))


def number(claim_id: ClaimId, key: str, value: Any, on: str = "interpolation") -> Told:
    def change(claim: Claim) -> Claim:
        assert key in claim.numbers
        return replace(claim, numbers=dict(claim.numbers) | {key: value})

    return edited(claim_id, change, on)


def witness(
    claim_id: ClaimId, on: str, change: Callable[[dict[str, Any]], dict[str, Any] | None]
) -> Told:
    def changed(claim: Claim) -> Claim:
        assert claim.level is Level.REFUTED and claim.witness is not None
        return replace(claim, witness=change(dict(claim.witness)))

    return edited(claim_id, changed, on)


def first_doubled(found: dict[str, Any]) -> dict[str, Any]:
    """The first coefficient twice as large: no relation any more."""
    first, *rest = found["coefficients"]
    return found | {"coefficients": [str(2 * Fraction(first)), *rest]}


def all_zero(found: dict[str, Any]) -> dict[str, Any]:
    return found | {"coefficients": ["0"] * len(found["coefficients"])}


def made_again(claim: Claim) -> Told:
    """A check that was run with a wrong argument: its claim in place of the right one."""
    return edited(claim.id, lambda _: claim)


def a1_at_n_minus_one() -> Told:
    """On data of Kruskal rank n - 1 it would be found true."""
    data = told("interpolation").proof.data
    return made_again(hypotheses.kruskal_at_least(data, data.n - 1, ids.A1, 0))


def capacity_off_by_one() -> Told:
    """H(r - 1) + 2: one head fewer would be called enough."""
    data = told("interpolation").proof.data
    claim = hypotheses.capacity(data.T, 3, 3, BOUND)
    return made_again(replace(claim, numbers={"asked": "T at most 8 (H = 3, r = 3)",
                                              "found": claim.numbers["found"]}))  # fmt: skip


def sampled_called_proved() -> Told:
    """With the words "random subsets" taken out of the claim as well."""

    def raised(claim: Claim) -> Claim:
        return replace(claim, level=Level.PROVED, arithmetic="exact")

    assert told("sampled").proof.trace[ids.A1].level is Level.SAMPLED
    return edited(ids.A1, raised, "sampled")


def modulo(p: int) -> Told:
    """The rank taken modulo another number."""

    def change(claim: Claim) -> Claim:
        words = claim.arithmetic.replace("2147483579", str(p))
        return replace(claim, arithmetic=words, numbers=dict(claim.numbers) | {"prime": p})

    return edited(ids.RANK, change)


def failed_premise_ignored() -> Told:
    """A2 refuted, and what rests on it still called proved."""

    class Credulous(ProofTrace):
        def _derive(self, claim: Claim) -> Level:
            return claim.level

    return replace(level(ids.A2, Level.REFUTED), kind=Credulous)


def strongest_premise_taken() -> Told:
    class Optimistic(ProofTrace):
        def _derive(self, claim: Claim) -> Level:
            if not claim.level.holds:
                return claim.level
            return max([claim.level, *(self._standing[p] for p in claim.rests_on)])

    return replace(told("sampled"), kind=Optimistic)


def another_data_set() -> Told:
    """The proof of five examples, told of seven."""
    run = told("interpolation")
    data: Dataset = run.proof.data.take(5)
    return replace(run, proof=replace(run.proof, data=data))


DEFECTS = (
    Defect("a claim given twice", ids.TRACE_ONCE, partial(twice, ids.RANK)),
    Defect("a premise that no claim states", ids.TRACE_PREMISES,
           partial(edited, ids.REDUCTION, lambda claim: None)),
    Defect("a cycle: the duals rest on the rank they lead to", ids.TRACE_ACYCLIC,
           partial(with_edge, ids.A2, of_head(2, ids.INDEPENDENCE))),
    Defect("edge removed: selector no longer under saturation", ids.TRACE_EDGES,
           partial(without_edge, of_head(2, ids.SATURATION), of_head(2, ids.SELECTOR))),
    Defect("edge removed: the theorem without A1", ids.TRACE_EDGES,
           partial(without_edge, ids.THEOREM, ids.A1)),
    Defect("edge removed: universal without the reduction", ids.TRACE_EDGES,
           partial(without_edge, ids.UNIVERSAL, ids.REDUCTION)),
    Defect("edge removed: the answer without its rank", ids.TRACE_EDGES,
           partial(without_edge, ids.MEMORIZATION, ids.RANK, "rank alone")),
    Defect("edge removed: weights of width one without coefficients", ids.TRACE_EDGES,
           partial(without_edge, of_head(1, ids.WEIGHTS), of_head(1, ids.COEFFICIENTS),
                   "width one")),
    Defect("edge removed: saturation as asked, without its inequality", ids.TRACE_EDGES,
           partial(without_edge, ids.SATURATION_ASKED, ids.SATURATION_RATIONAL, "saturated")),
    Defect("edge removed: the least c without the formula of head 2", ids.TRACE_EDGES,
           partial(without_edge, ids.SATURATION_LEAST, of_head(2, ids.WEIGHTS), "saturated")),
    Defect("edge removed: an answer on rounded data, without the rounding", ids.TRACE_EDGES,
           partial(without_edge, ids.MEMORIZATION, ids.ROUNDING, "rounded")),
    Defect("saturation asked for, the limit left out", ids.TRACE_COMPLETE,
           partial(left_out, ids.SATURATION_SYMBOLIC, "saturated")),
    Defect("saturation by floats called proved", ids.TRACE_LEVELS,
           partial(level, ids.SATURATION_MULTIPRECISION, Level.PROVED, "saturated")),
    Defect("saturation of one pair too few", ids.TRACE_NUMBERS,
           partial(number, ids.SATURATION_RATIONAL, "pairs", 7, "saturated")),
    Defect("a step left out with its edges", ids.TRACE_COMPLETE,
           partial(left_out, of_head(2, ids.SEPARATOR))),
    Defect("a hypothesis left out with its edges", ids.TRACE_COMPLETE,
           partial(left_out, ids.A2)),
    Defect("sampled called proved", ids.TRACE_LEVELS, sampled_called_proved),
    Defect("A1 called proved after all sets of one query fewer", ids.TRACE_LEVELS,
           partial(number, ids.A1, "sets", 21, "decided")),
    Defect("A1 called proved because smaller sets are independent", ids.TRACE_LEVELS,
           partial(number, ids.A1, "every", 2, "decided")),
    Defect("A1 called proved by comparing pairs", ids.TRACE_LEVELS,
           partial(number, ids.A1, "method", "parallel", "decided")),
    Defect("numerical called proved", ids.TRACE_LEVELS,
           partial(level, ids.MULTIPRECISION, Level.PROVED)),
    Defect("proved called a theorem of Coq", ids.TRACE_LEVELS,
           partial(level, ids.RANK, Level.KERNEL)),
    Defect("enclosed called proved", ids.TRACE_LEVELS,
           partial(level, ids.ENCLOSURE_ERROR, Level.PROVED, "rank alone")),
    Defect("a refuted premise ignored", ids.TRACE_STANDING, failed_premise_ignored),
    Defect("the strongest premise taken for the weakest", ids.TRACE_STANDING,
           strongest_premise_taken),
    Defect("rank claimed one too high", ids.TRACE_NUMBERS, partial(number, ids.RANK, "rank", 8)),
    Defect("rank of one head claimed one too high", ids.TRACE_NUMBERS,
           partial(number, of_head(2, ids.RANK_SO_FAR), "rank", 6)),
    Defect("capacity formula off by one", ids.TRACE_NUMBERS, capacity_off_by_one),
    Defect("parameter count off by one head's output", ids.TRACE_NUMBERS,
           partial(number, ids.PARAMETERS, "parameters", 86)),
    Defect("A1 checked at n - 1", ids.TRACE_NUMBERS, a1_at_n_minus_one),
    Defect("the proof of another data set", ids.TRACE_NUMBERS, another_data_set),
    Defect("rank modulo a composite number", ids.TRACE_PRIMES, partial(modulo, 2147483577)),
    Defect("rank modulo 2^61 - 1, where 2 has order 61", ids.TRACE_PRIMES,
           partial(modulo, 2**61 - 1)),
    Defect("a refutation without a witness", ids.TRACE_WITNESSES,
           partial(witness, ids.A1, "A1 false", lambda found: None)),
    Defect("dependent queries: a false witness", ids.TRACE_WITNESSES,
           partial(witness, ids.A1, "A1 false", first_doubled)),
    Defect("a dependent context: the zero relation as witness", ids.TRACE_WITNESSES,
           partial(witness, ids.A2, "A2 false", all_zero)),
)  # fmt: skip

TRACES = Family(
    name="trace",
    title="What a proof says of itself",
    checks=(
        ids.TRACE_ONCE, ids.TRACE_PREMISES, ids.TRACE_ACYCLIC, ids.TRACE_EDGES,
        ids.TRACE_COMPLETE, ids.TRACE_LEVELS, ids.TRACE_STANDING, ids.TRACE_NUMBERS,
        ids.TRACE_PRIMES, ids.TRACE_WITNESSES,
    ),
    fired=fired,
    correct={name: partial(told, name) for name in RUNS},
    defects=DEFECTS,
)  # fmt: skip
