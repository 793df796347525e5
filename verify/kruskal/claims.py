"""The claims of `attncert kruskal` (both ends of the interval, the conclusion and, separately, the
sample), and the certificate of a dependent set."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from attncert.constructions.numerals import numeral
from attncert.verify.certificates.certificate import NOTHING, Certificate, canonical_bytes, sealed
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.words import counted, every
from attncert.verify.kruskal.bounds import Interval, RankBound
from attncert.verify.kruskal.shards.sampled import Samples
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.rational import Relation

_EXACT = "exact modulo primes, or over ℚ"
_SOURCE = "docs/commands.md"
_ENDS: tuple[ids.ClaimId, ...] = (ids.KRUSKAL_LOWER, ids.KRUSKAL_UPPER)
_MOST_MEMBERS = 8  # larger dependent sets are not listed member by member
_MOST_NUMBERS, _MOST_BYTES = 2**21, 2**24  # limits on the vectors in a certificate


def claims(
    vectors: Vectors,
    k: int | None,
    interval: Interval,
    sampled: Samples | None,
) -> tuple[Claim, ...]:
    """The claims; the last claim is the conclusion."""
    low, high = interval.lower, interval.upper
    ends = (
        _end(ids.KRUSKAL_LOWER, f"The Kruskal rank is at least {low.value}.", low),
        _end(ids.KRUSKAL_UPPER, f"The Kruskal rank is at most {high.value}.", high),
    )
    beside = [] if sampled is None else [sampled.claim()]
    if assumed := [x.assumed for x in (low, high, sampled) if x is not None and x.assumed]:
        statement = f"Results that were not computed here are correct. {' '.join(assumed)}"
        beside.append(Claim(ids.KRUSKAL_RECORDS, statement, Level.ASSUMED, source=_SOURCE))
    return (*ends, *beside, _rank(vectors, interval) if k is None else _every(vectors, k, interval))


def members(bound: RankBound) -> str:
    """A clause naming the dependent set that proves an upper end; "" if there is none.

    >>> from attncert.verify.kruskal.bounds import witnessed
    >>> from attncert.verify.rank.rational import Relation
    >>> members(witnessed(Relation((0, 3), (2, -1)), "parallel"))
    'vectors 0 and 3 are dependent'
    """
    indices = () if bound.dependency is None else bound.dependency.indices
    if len(indices) <= 1:
        return f"vector {indices[0]} is zero" if indices else ""
    if len(indices) > _MOST_MEMBERS:
        return f"{len(indices):,} of them are dependent"
    return f"vectors {', '.join(map(str, indices[:-1]))} and {indices[-1]} are dependent"


def _end(claim_id: ids.ClaimId, statement: str, bound: RankBound) -> Claim:
    return Claim(
        claim_id,
        f"{statement} {bound.statement}",
        bound.level,
        numbers={"method": bound.method, **bound.numbers},
        witness=_witness(bound),
        arithmetic="balls" if bound.level is Level.ENCLOSED else _EXACT,
        rests_on=(ids.KRUSKAL_RECORDS,) if bound.assumed else (),
        source=_SOURCE,
    )


def _witness(bound: RankBound) -> dict[str, Any] | None:
    if bound.dependency is None:
        return None
    relation = bound.dependency.as_dict()
    return {"vectors": relation["indices"], "coefficients": relation["coefficients"]}


def _rank(vectors: Vectors, interval: Interval) -> Claim:
    low, high = interval.lower.value, interval.upper.value
    between = f"from {low} to {high}"
    if interval.decided:
        between = f"{low}{' (general position)' if low == vectors.d else ''}"
    why = f": {dependent}" if (dependent := members(interval.upper)) else ""
    return Claim(
        ids.KRUSKAL_RANK,
        f"The Kruskal rank of {counted(vectors.N, 'vector')} of width {vectors.d:,} is "
        f"{between}{why}.",
        Level.PROVED,
        {"at least": low, "at most": high},
        arithmetic="comparison of integers",
        rests_on=_ENDS,
        source=_SOURCE,
    )


def _every(vectors: Vectors, k: int, interval: Interval) -> Claim:
    low, high = interval.lower, interval.upper
    statement = f"{every(k, vectors.N, 'vector')}."
    independent = interval.answers(k)
    witness: dict[str, Any] | None = None
    if independent:
        level, premises = Level.PROVED, _ENDS[:1]
    elif independent is None:
        between = f"the Kruskal rank is from {low.value} to {high.value}"
        level, witness, premises = Level.UNDECIDED, {"reason": between}, _ENDS
    else:
        witness = {"reason": members(high)} | (_witness(high) or {})
        level, premises = Level.REFUTED, _ENDS[1:]
    return Claim(
        ids.KRUSKAL_EVERY,
        statement,
        level,
        {"asked": k, "at least": low.value, "at most": high.value},
        witness,
        arithmetic="comparison of integers",
        rests_on=premises,
        source=_SOURCE,
    )


def dependent_set(
    vectors: Vectors, dependency: Relation, produced_by: Mapping[str, Any]
) -> Certificate:
    """The certificate that some of the vectors are dependent.

    The file contains all vectors, in order, if that keeps its size moderate; otherwise it contains
    only the vectors of the dependent set. The numbers are exactly those stored; rational vectors
    are multiplied by their common denominator, which changes no relation. Raises TooLarge.
    """
    table, indices = vectors.array, dependency.indices
    if table.nbytes > _MOST_BYTES or vectors.N * (vectors.d + 1) > _MOST_NUMBERS:
        table, indices = table[list(indices)], tuple(range(len(indices)))
    data = {"vectors": [[numeral(x) for x in row] for row in table.tolist()]}
    body: dict[str, Any] = NOTHING | {
        "claim": "dependent-set",
        "construction": "kruskal",
        "dims": {"vectors": len(table), "width": vectors.d},
        "data": data,
        "relation": {
            "indices": list(indices),
            "coefficients": [numeral(c) for c in dependency.coefficients],
        },
        "produced_by": dict(produced_by),
        "input_sha256": hashlib.sha256(canonical_bytes(data)).hexdigest(),
    }
    return sealed(body)
