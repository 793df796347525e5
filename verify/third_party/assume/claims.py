"""The claims of `attncert assume`: A1, A2, general position, and what follows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from attncert.verify.claims import ids, words
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.kruskal.bounds import Interval
from attncert.verify.kruskal.claims import members
from attncert.verify.kruskal.shards.sampled import Samples
from attncert.verify.limits.partition.claims import memorizes
from attncert.verify.rank.rational import Relation
from attncert.verify.third_party.assume.groups import Placed
from attncert.verify.third_party.assume.inputs import LayerInputs
from attncert.verify.third_party.assume.spectra import Spectrum

_MODULO = "exact modulo primes, or over ℚ"


def claims(
    inputs: LayerInputs,
    interval: Interval,
    samples: Sequence[Samples],
    contexts: Sequence[Spectrum],
    placed: Sequence[Placed],
) -> tuple[Claim, ...]:
    """The claims, with the conclusion last. interval, samples: of the distinct queries."""
    n, N = inputs.tokens, inputs.distinct.N
    repeated = bool(inputs.repeats) and n > 1
    about = N, "distinct query" if repeated else "query"
    every = partial(_every, d=inputs.d, about=about, interval=interval)
    first = every(ids.A1_DISTINCT if repeated else ids.A1, min(n, N), "Assumption 1")
    trace = [_repeated(inputs) if repeated else first, _contexts(inputs, contexts)]
    conclusion = _both(inputs, *trace)
    trace += [first] if repeated else []
    trace += [every(ids.GENERAL_POSITION, min(N, inputs.d), "general position")]
    trace += [sample.claim() for sample in samples]
    best = max(placed, key=lambda each: each.memorized, default=None)
    if best is not None and best.memorized:
        trace += _follows(inputs, best)
    return (*trace, conclusion)


def _both(inputs: LayerInputs, first: Claim, second: Claim) -> Claim:
    """The conclusion: A1 for all queries and A2 for the given contexts."""
    failing = [claim for claim in (first, second) if not claim.level.holds]
    refuted = [claim for claim in failing if claim.level is Level.REFUTED]
    reasons = [str((claim.witness or {})["reason"]) for claim in refuted or failing]
    level = Level.UNDECIDED if failing else Level.PROVED
    return Claim(
        ids.ASSUMPTIONS,
        f"Assumption 1 holds for {counted(inputs.N, 'query', 'the')}, and Assumption 2 for "
        f"{counted(len(inputs.with_context), 'context', 'the')} given.",
        Level.REFUTED if refuted else level,
        numbers={
            "queries": inputs.N,
            "contexts": len(inputs.with_context),
            "tokens": inputs.lengths,
        },
        witness={"reason": "; ".join(reasons)} if failing else None,
        arithmetic="none",
        rests_on=(ids.A1, ids.CONTEXTS),
        source="paper, Assumptions 1 and 2",
    )


def equal_pair(inputs: LayerInputs) -> Relation:
    """The relation between the queries of the first two inputs with equal queries."""
    pair = inputs.queries.relation(inputs.repeats[0][:2])
    assert pair is not None, "equal queries are dependent"
    return pair


def _repeated(inputs: LayerInputs) -> Claim:
    """The claim A1, refuted by two equal queries."""
    k = min(inputs.tokens, inputs.N)
    return Claim(
        ids.A1,
        f"{words.every(k, inputs.N, 'query')} (Assumption 1).",
        Level.REFUTED,
        numbers={"queries": inputs.N, "distinct": inputs.distinct.N, "asked": k},
        witness={"reason": "some queries are equal", "equal queries": list(inputs.repeats[0])}
        | equal_pair(inputs).as_dict(),
        arithmetic="exact comparison of queries",
        source="docs/models-and-layers.md",
    )


def _every(
    claim_id: ids.ClaimId, k: int, name: str, *, d: int, about: tuple[int, str], interval: Interval
) -> Claim:
    low, high = interval.lower, interval.upper
    level = Level.UNDECIDED
    witness: dict[str, Any] | None = None
    if k > d:
        reason = f"{k} vectors of width {d} are dependent"
        level, witness = Level.REFUTED, {"reason": reason, "k": k, "d": d}
    elif (answer := interval.answers(k)) is not None:
        level = low.level if answer else Level.REFUTED
        if not answer:
            witness = {"reason": members(high), **high.as_dict()}
    elif not low.level.holds:
        raise ArithmeticError("a bound that is not proved")
    if level is Level.UNDECIDED:
        between = f"the Kruskal rank is from {low.value} to {high.value}"
        witness = {"reason": between, "search": interval.stopped}
    return Claim(
        claim_id,
        f"{words.every(k, *about)} ({name}).",
        level,
        numbers={"Kruskal rank at least": low.value, "at most": high.value, "asked": k},
        witness=witness,
        arithmetic=_MODULO,
        source="docs/commands.md",
    )


def _contexts(inputs: LayerInputs, contexts: Sequence[Spectrum]) -> Claim:
    bad = next((spectrum for spectrum in contexts if spectrum.rank < spectrum.size), None)
    good = [spectrum for spectrum in contexts if spectrum.rank == spectrum.size]
    full = len(good)  # a shared context counts for every input
    level = Level.PROVED
    witness: dict[str, Any] | None = None
    if not contexts:
        level, witness = Level.UNDECIDED, {"reason": "no context is given"}
    elif bad is not None:
        relation = None if bad.relation is None else bad.relation.as_dict()
        level = Level.REFUTED
        reason = f"context {bad.number} has rank {bad.rank} and {counted(bad.size, 'token')}"
        witness = {"reason": reason, "context": bad.number, "rank": bad.rank, "relation": relation}
    return Claim(
        ids.CONTEXTS,
        f"Every given context has {_rows(inputs)}.",
        level,
        numbers={
            "given": len(inputs.with_context),
            "of": inputs.N,
            f"of rank {inputs.lengths}": full * (len(inputs.with_context) if inputs.shared else 1),
        },
        witness=witness,
        arithmetic=_MODULO,
        source="paper, Assumption 2",
    )


def _rows(inputs: LayerInputs) -> str:
    if inputs.shortest is None:
        return f"{counted(inputs.tokens, 'independent row')} (Assumption 2)"
    return f"independent rows, {inputs.lengths} of them (Assumption 2 requires equally many)"


def _follows(inputs: LayerInputs, best: Placed) -> list[Claim]:
    """The claims about A2, the partition condition and memorization for these groups."""
    examples = sorted(t for group in best.certified for t in group)
    many = counted(len(examples), "example", "these")
    sizes = [len(group) for group in best.certified]
    independent = Claim(
        ids.A2,
        f"The contexts of {many} have rank $n = {inputs.tokens}$ each.",
        Level.PROVED,
        numbers={"examples": len(examples)},
        arithmetic=_MODULO,
        source="paper, Assumption 2",
    )
    partition = Claim(
        ids.PARTITION,
        "The queries of each group are independent, and no query of an earlier group lies in the "
        "span of a later one.",
        Level.PROVED,
        numbers={"groups": len(sizes), "first": sizes[0], "largest": max(sizes)},
        arithmetic="exact modulo a prime: both properties then hold over ℚ",
        source="ours; docs/mathematics.md, section 2",
    )
    follows = memorizes(
        best.certified, best.first, of=inputs.N, width_one=best.first == inputs.tokens
    )
    return [independent, partition, follows]
