"""Errors in statements about a proof: claims, levels, edges, numbers and standings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from typing import Any
from unittest.mock import patch

from defect_matrix import Defect, Family, Fired
from support.built import paper, width_one
from support.planted import dependent_context, dependent_query
from support.trace_rules import broken

from attncert.constructions.data.dataset import Dataset
from attncert.verify.assumptions import hypotheses
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.ids import ClaimId, of_head
from attncert.verify.claims.proof import Proof
from attncert.verify.claims.trace import ProofTrace, TraceError
from attncert.verify.prove.prove import prove
from attncert.verify.questions.prove import Prove

_ERRORS = {"given twice": "once", "which is missing": "premises", "circular": "acyclic"}
FULL = "interpolation"


@dataclass(frozen=True)
class Account:
    """A proof and the claims of its trace."""

    proof: Proof
    claims: tuple[Claim, ...]


def fired(account: Account) -> Fired:
    """The reason why the claims form no trace, or the rules that the trace breaks."""
    try:
        trace = ProofTrace(account.claims)
    except TraceError as error:
        return frozenset(name for words, name in _ERRORS.items() if words in str(error))
    return frozenset(broken(replace(account.proof, trace=trace)))


def _few_sets(work: float = hypotheses.A1_WORK) -> Proof:
    """A proof that is allowed too little work to decide A1 by trying all sets."""
    with patch.multiple(hypotheses, _EXHAUSTIVE=10, A1_WORK=work):
        return prove(paper("interior").data)


def false_a1() -> Dataset:
    """Queries 0, 3 and 5 are dependent; no group needs them together."""
    return dependent_query(paper("interior").data, 5, {0: 1, 3: 1}).data


def false_a2() -> Dataset:
    return dependent_context(paper("interior").data, 4, 2, {0: 1, 1: -2}).data


PROOFS: dict[str, Callable[[], Proof]] = {
    FULL: lambda: prove(paper("interior").data),
    "rank alone": lambda: prove(paper("interior").data, Prove(claim="full-rank", head_width=2)),
    "sampled": partial(_few_sets, work=0),
    "decided": _few_sets,
    "width one": lambda: prove(width_one("shared").data, Prove(construction="width-one")),
    "saturated": lambda: prove(paper("shared").data, Prove(claim="full-rank", saturate=4)),
    "rounded": lambda: prove(paper("interior").data, Prove(round="1")),
    "A1 false": lambda: prove(false_a1()),
    "A2 false": lambda: prove(false_a2()),
    "too many examples": lambda: prove(paper("interior").data, Prove(heads=2)),
}


@cache
def account(name: str = FULL) -> Account:
    proof = PROOFS[name]()
    return Account(proof, tuple(proof.trace))


def edited(claim_id: ClaimId, change: Callable[[Claim], Claim | None], on: str = FULL) -> Account:
    """One claim changed, or left out."""
    run = account(on)
    claims = [change(claim) if claim.id == claim_id else claim for claim in run.claims]
    return replace(run, claims=tuple(claim for claim in claims if claim is not None))


def level(claim_id: ClaimId, to: Level, on: str = FULL, **more: Any) -> Account:
    return edited(claim_id, lambda claim: replace(claim, level=to, **more), on)


def without_edge(claim_id: ClaimId, premise: ClaimId, on: str = FULL) -> Account:
    def cut(claim: Claim) -> Claim:
        assert premise in claim.rests_on
        return replace(claim, rests_on=tuple(p for p in claim.rests_on if p != premise))

    return edited(claim_id, cut, on)


def with_edge(claim_id: ClaimId, premise: ClaimId) -> Account:
    return edited(claim_id, lambda claim: replace(claim, rests_on=(*claim.rests_on, premise)))


def left_out(claim_id: ClaimId, on: str = FULL) -> Account:
    """Remove a claim together with the edges to it, so that no premise is missing."""
    run = edited(claim_id, lambda claim: None, on)
    claims = (
        replace(claim, rests_on=tuple(p for p in claim.rests_on if p != claim_id))
        for claim in run.claims
    )
    return replace(run, claims=tuple(claims))


def twice(claim_id: ClaimId) -> Account:
    run = account()
    return replace(run, claims=(*run.claims, run.proof.trace[claim_id]))


def number(claim_id: ClaimId, key: str, to: Any, on: str = FULL) -> Account:
    def change(claim: Claim) -> Claim:
        assert key in claim.numbers
        return replace(claim, numbers=dict(claim.numbers) | {key: to})

    return edited(claim_id, change, on)


def witness(
    claim_id: ClaimId, on: str, change: Callable[[dict[str, Any]], dict[str, Any] | None]
) -> Account:
    def changed(claim: Claim) -> Claim:
        assert claim.level is Level.REFUTED and claim.witness is not None
        return replace(claim, witness=change(dict(claim.witness)))

    return edited(claim_id, changed, on)


def first_doubled(shown: dict[str, Any]) -> dict[str, Any]:
    """Double the first coefficient, so that the relation fails."""
    first, *rest = shown["coefficients"]
    return shown | {"coefficients": [str(2 * Fraction(first)), *rest]}


def all_zero(shown: dict[str, Any]) -> dict[str, Any]:
    return shown | {"coefficients": ["0"] * len(shown["coefficients"])}


def a1_at_n_minus_one() -> Account:
    """State A1 at n - 1, which would be true on data of Kruskal rank n - 1."""
    data = account().proof.data
    claim = hypotheses.kruskal_at_least(data, data.n - 1, ids.A1, 0)
    return edited(ids.A1, lambda _: claim)


def sampled_called_proved() -> Account:
    """Also remove the words "random subsets" from the claim."""
    assert account("sampled").proof.trace[ids.A1].level is Level.SAMPLED
    return level(ids.A1, Level.PROVED, "sampled", arithmetic="exact")


def another_data_set() -> Account:
    """The claims about seven examples, shown with the data of five of them."""
    run = account()
    return replace(run, proof=replace(run.proof, data=run.proof.data.take(5)))


SECOND = partial(of_head, 2)
EDGES: dict[str, tuple[ClaimId, ClaimId, str]] = {
    "selector no longer under saturation": (SECOND("saturation"), SECOND("selector"), FULL),
    "the theorem without A1": (ids.THEOREM, ids.A1, FULL),
    "universal without the reduction": (ids.UNIVERSAL, ids.REDUCTION, FULL),
    "the answer without its rank": (ids.MEMORIZATION, ids.RANK, "rank alone"),
    "weights of width one without coefficients": (
        of_head(1, "weights"), of_head(1, "coefficients"), "width one",
    ),
    "the least c without the formula of head 2": (
        ids.SATURATION_ASKED, SECOND("weights"), "saturated",
    ),
    "an answer on rounded data, without the rounding": (ids.MEMORIZATION, ids.ROUNDING, "rounded"),
}  # fmt: skip

TRACES = Family(
    checks=(
        "once", "premises", "acyclic", "edges",
        "complete", "levels", "numbers", "witnesses",
    ),
    fired=fired,
    correct={name: partial(account, name) for name in PROOFS},
    defects=(
        Defect("a claim given twice", "once", partial(twice, ids.RANK)),
        Defect("a premise that no claim states", "premises",
               partial(edited, ids.REDUCTION, lambda claim: None)),
        Defect("a cycle: the duals rest on the rank they lead to", "acyclic",
               partial(with_edge, ids.A2, SECOND("independence"))),
        *(Defect(f"edge removed: {name}", "edges", partial(without_edge, *places))
          for name, places in EDGES.items()),
        Defect("saturation asked for, and left out", "complete",
               partial(left_out, ids.SATURATION_ASKED, "saturated")),
        Defect("a step left out with its edges", "complete",
               partial(left_out, SECOND("separator"))),
        Defect("a hypothesis left out with its edges", "complete",
               partial(left_out, ids.A2)),
        Defect("sampled called proved", "levels", sampled_called_proved),
        Defect("A1 called proved after all sets of one query fewer", "levels",
               partial(number, ids.A1, "sets", 21, "decided")),
        Defect("A1 called proved because smaller sets are independent", "levels",
               partial(number, ids.A1, "every", 2, "decided")),
        Defect("A1 called proved by comparing pairs", "levels",
               partial(number, ids.A1, "method", "parallel", "decided")),
        Defect("balls called proved", "levels",
               partial(level, ids.MULTIPRECISION, Level.PROVED)),
        Defect("proved called a theorem of Coq", "levels",
               partial(level, ids.RANK, Level.KERNEL)),
        Defect("saturation of one pair too few", "numbers",
               partial(number, ids.SATURATION_ASKED, "pairs", 7, "saturated")),
        Defect("rank claimed one too high", "numbers",
               partial(number, ids.RANK, "rank", 8)),
        Defect("rank of one head claimed one too high", "numbers",
               partial(number, SECOND("rank"), "rank", 6)),
        Defect("capacity formula off by one: one head fewer would be enough", "numbers",
               partial(number, ids.CAPACITY, "asked", "T at most 8 (H = 3, r = 3)")),
        Defect("parameter count off by one head's output", "numbers",
               partial(number, ids.PARAMETERS, "parameters", 86)),
        Defect("A1 checked at n - 1", "numbers", a1_at_n_minus_one),
        Defect("the proof of another data set", "numbers", another_data_set),
        Defect("a refutation without a witness", "witnesses",
               partial(witness, ids.A1, "A1 false", lambda shown: None)),
        Defect("dependent queries: a false witness", "witnesses",
               partial(witness, ids.A1, "A1 false", first_doubled)),
        Defect("a dependent context: the zero relation as witness", "witnesses",
               partial(witness, ids.A2, "A2 false", all_zero)),
    ),
)  # fmt: skip
