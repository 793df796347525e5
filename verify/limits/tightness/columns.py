"""The columns of Z: bounds on its rank, attained for almost all queries (ours; Theorem U).

For every set S of examples and all weights of H heads of any width (in Coq: `universal_upper`),

    rank Z ≤ H a(S) + b(S) + T - |S|,

where a(S) is the dimension spanned by all differences of tokens within contexts of S, and b(S) is
the dimension that their tokens add to it. For almost all queries the least of these bounds is
attained (docs/given-labels.md, (4)). There are 2ᵀ sets, but one elimination finds the least bound.
By Lemma 2 of that page it is the rank of T general vectors, one in each of the spaces

    R_t = { (c E_1 + δ_1, ..., c E_1 + δ_H) : δ_h in the span of the differences of context t }.

Integer vectors drawn from these spaces have at most this rank, also modulo a prime, and the bound
of any S is at least the least bound. Only one set needs to be tested: the set of vectors that occur
in some relation. If its bound equals the rank of the vectors drawn, it is the least bound, so a
proof does not depend on luck.

If contexts are shared, or equal up to the order of their rows, and have n independent rows, then a
= n - 1 and b = 1, and the bound is H(n-1) + 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from attncert.constructions.arrays import IntArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.constructions.given.law import Spans, spans
from attncert.verify.certificates.coq.theorems import in_coq
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import OVER_Q, About, Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.features.features import related_rows

_MOST = 2**22  # vectors are drawn only if T·H·d is at most this number
_SOURCE = "ours; docs/given-labels.md, Theorem U"


@dataclass(frozen=True)
class Columns:
    """The bound on rank Z from the spans of the contexts of one set S of examples.

    heads: the number of heads for which S was chosen. least: whether no set gives a smaller bound.
    """

    heads: int
    examples: int
    members: Sequence[int]
    spans: Spans
    least: bool

    @property
    def rank(self) -> int:
        return self.bound(self.heads)

    def bound(self, heads: int) -> int:
        """H a + b + T - |S|, an upper bound on rank Z for all weights of this number of heads."""
        return self.spans.features(heads) + self.examples - len(self.members)


def columns(data: Dataset, heads: int, seed: int = 0) -> Columns:
    """The set that gives the least bound; or all examples, with least = False, if there would be
    too many vectors or the draw is unlucky. Exact.

    >>> data = Dataset.of([[[1, 0], [0, 1]]] * 3 + [[[1, 2], [3, 4]]], [[1, 1]] * 4, [0] * 4)
    >>> columns(data, 1).rank, len(columns(data, 1).members), columns(data, 1).least
    (2, 4, True)
    """
    every = range(data.T)
    whole = Columns(heads, data.T, every, spans(data), False)
    if data.T * heads * data.d > _MOST:
        return whole
    rank, members = related_rows(_drawn(data, heads, seed), PRIMES_FLOAT64[0])
    some = spans(data.take(members)) if members else Spans(0, 0, 0, data.m)
    related = Columns(heads, data.T, members, some, True)
    return next((x for x in (replace(whole, least=True), related) if x.rank == rank), whole)


def _drawn(data: Dataset, heads: int, seed: int) -> IntArray:
    """One vector drawn from each R_t, T×(H d), modulo the prime."""
    p, rng = PRIMES_FLOAT64[0], np.random.default_rng(seed)
    rows = (data.contexts.numerators % p).astype(np.int64)
    differences = (rows[:, 1:] - rows[:, :1]) % p
    factors = rng.integers(0, p, (data.T, heads, data.n - 1))
    scale = rng.integers(0, p, (data.T, 1, 1))
    vectors = (scale * rows[:, :1] + factors @ differences) % p
    return vectors.reshape(data.T, heads * data.d)


def column_bound(data: Dataset, heads: int) -> tuple[Claim, ...]:
    """The claims that no weights work for all labels at once; () if the bound does not show it."""
    bound = columns(data, heads)
    if bound.rank >= data.T:
        return ()
    why = f"rank Z is at most {bound.rank}; some labels are out of reach of any one choice"
    verdict = Claim(
        ids.TIGHTNESS_UNIVERSAL,
        f"Universal memorization: some keys and queries of {counted(heads, 'head')} serve every "
        f"labelling of {counted(data.T, 'example', 'the')} ({why}).",
        Level.REFUTED,
        numbers={"T": data.T, "bound": bound.rank},
        witness={"T": data.T, "bound": bound.rank},
        rests_on=(ids.TIGHTNESS_BOUND,),
        source=_SOURCE,
        about=About.UNIVERSAL,
    )
    return (*bound_claims(data, bound), verdict)


def bound_claims(data: Dataset, bound: Columns) -> tuple[Claim, Claim]:
    """The claim about the spans of the set (exact) and the claim that states the bound (a theorem
    in Coq if all contexts have the same length)."""
    a, b, size = bound.spans.differences, bound.spans.common, len(bound.members)
    members = f"the contexts of $S$, {counted(size, 'example')}"
    contexts = "all contexts" if size == data.T else members
    spanned = Claim(
        ids.TIGHTNESS_SPANS,
        f"Differences of tokens within {contexts}: {counted(a, 'dimension')}; the tokens add {b}."
        if size
        else "$S$ is empty: $Z$ has $T$ rows.",
        Level.PROVED,
        numbers={"a": a, "b": b, "examples in S": size, "T": data.T},
        witness={"S": list(bound.members)} if 0 < size < data.T else None,
        arithmetic=OVER_Q,
        source=_SOURCE,
    )
    limit = Claim(
        ids.TIGHTNESS_BOUND,
        f"$\\operatorname{{rank}}Z\\le Ha+b+T-|S|={bound.rank}$ for every choice of weights of "
        f"{counted(bound.heads, 'head')} of any width.",
        Level.ARGUED if data.ragged else Level.KERNEL,
        numbers={"bound": bound.rank, "columns of Z": bound.heads * data.d, "T": data.T},
        arithmetic="counting" if data.ragged else in_coq("universal.universal_upper_real"),
        rests_on=(ids.TIGHTNESS_SPANS,),
        source=_SOURCE,
    )
    return spanned, limit
