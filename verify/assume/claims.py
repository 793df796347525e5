"""What is claimed of the assumptions, each at its level: A1, A2, general position, what follows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from attncert.verify.assume.given import Given
from attncert.verify.assume.groups import Placed
from attncert.verify.assume.spectra import Spectrum
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level, counted
from attncert.verify.kruskal.bounds import Interval
from attncert.verify.kruskal.dependency import Dependency
from attncert.verify.kruskal.examine import Findings
from attncert.verify.kruskal.sampling.sampled import Samples, Sweep
from attncert.verify.partition.certificate import memorizes

_MODULO = "exact modulo primes, or over ℚ"


def claims(
    given: Given,
    found: Findings,
    sampled: Samples | None,
    contexts: Sequence[Spectrum],
    placed: Sequence[Placed],
) -> tuple[Claim, ...]:
    """A1 and the contexts first. found: of the distinct queries."""
    n, N = given.tokens, given.distinct.N
    repeated = bool(given.repeats) and n > 1
    about = counted(N, "distinct query" if repeated else "query", "the")
    every = partial(_every, d=given.d, about=about, interval=found.interval)
    first = every(ids.A1_DISTINCT if repeated else ids.A1, min(n, N), "Assumption 1")
    told = [_repeated(given) if repeated else first, _contexts(given, contexts)]
    told += [first] if repeated else []
    told += [every(ids.GENERAL_POSITION, min(N, given.d), "general position")]
    told += [sampled.claim()] if sampled is not None and sampled.subsets else []
    sweep = found.sampled
    told += [sweep.claim()] if isinstance(sweep, Sweep) and sweep.permutations else []
    best = max(placed, key=lambda made: made.memorized, default=None)
    if best is not None and best.memorized:
        told += _follows(given, best)
    return tuple(told)


def equal_pair(given: Given) -> Dependency:
    """The first two inputs with equal queries, as a relation."""
    pair = Dependency.among(given.queries, given.repeats[0][:2])
    assert pair is not None, "equal queries are dependent"
    return pair


def _repeated(given: Given) -> Claim:
    """A1 where queries are equal: refuted by two of them."""
    k = min(given.tokens, given.N)
    return Claim(
        ids.A1,
        f"Every {k} of {counted(given.N, 'query', 'the')} are independent (Assumption 1).",
        Level.REFUTED,
        numbers={"queries": given.N, "distinct": given.distinct.N, "asked": k},
        witness={"equal queries": list(given.repeats[0])} | equal_pair(given).as_dict(),
        arithmetic="exact comparison of queries",
        source="docs/assumptions.md",
    )


def _every(
    claim_id: ids.ClaimId, k: int, name: str, *, d: int, about: str, interval: Interval
) -> Claim:
    low, high = interval.lower, interval.upper
    level = Level.UNDECIDED
    witness: dict[str, Any] | None = None
    if k > d:
        level, witness = Level.REFUTED, {"k": k, "d": d}
    elif (answer := interval.answers(k)) is not None:
        level = low.level if answer else Level.REFUTED
        if not answer:
            witness = high.as_dict()
    elif not low.level.holds:
        raise ArithmeticError("a bound that is not proved")
    if level is Level.UNDECIDED:
        witness = {"reason": interval.stopped}
    return Claim(
        claim_id,
        f"Every {k} of {about} are independent ({name}).",
        level,
        numbers={"Kruskal rank at least": low.value, "at most": high.value, "asked": k},
        witness=witness,
        arithmetic=_MODULO,
        source="docs/kruskal.md",
    )


def _contexts(given: Given, contexts: Sequence[Spectrum]) -> Claim:
    bad = next((spectrum for spectrum in contexts if spectrum.rank < spectrum.size), None)
    good = [spectrum for spectrum in contexts if spectrum.rank == spectrum.size]
    full = len(good)  # one counts for all that share it
    level = Level.PROVED
    witness: dict[str, Any] | None = None
    if not contexts:
        level, witness = Level.UNDECIDED, {"reason": "no context is given"}
    elif bad is not None:
        relation = None if bad.relation is None else bad.relation.as_dict()
        level = Level.REFUTED
        witness = {"context": bad.number, "rank": bad.rank, "relation": relation}
    return Claim(
        ids.CONTEXTS,
        f"Each of {counted(len(given.kept), 'context', 'the')} that are given has {_rows(given)}.",
        level,
        numbers={
            "given": len(given.kept),
            "of": given.N,
            f"of rank {given.lengths}": full * (len(given.kept) if given.shared else 1),
        },
        witness=witness,
        arithmetic=_MODULO,
        source="paper, Assumption 2",
    )


def _rows(given: Given) -> str:
    if given.shortest is None:
        return f"${given.tokens}$ independent rows (Assumption 2)"
    return (
        f"independent rows: {given.lengths} of them. Assumption 2 asks for equally many, and so do "
        "the constructions paper and width-one; affine and generic do not"
    )


def _follows(given: Given, best: Placed) -> list[Claim]:
    """A2 and the partition condition for the examples of these groups, and memorization."""
    examples = sorted(t for group in best.certified for t in group)
    many = counted(len(examples), "example", "these")
    sizes = [len(group) for group in best.certified]
    independent = Claim(
        ids.A2,
        f"The contexts of {many} have rank $n = {given.tokens}$ each.",
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
        arithmetic="exact modulo a prime: independence and being outside a span lift",
        source="ours; docs/mathematics.md, section 2",
    )
    follows = memorizes(
        best.certified, best.first, of=given.N, width_one=best.first == given.tokens
    )
    return [independent, partition, follows]
