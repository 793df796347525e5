"""The result of a construction, and the checks of Theorem 1's hypotheses that precede it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from flint import fmpq_mat, nmod_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.exact.integers import null_relation
from attncert.constructions.exact.modular import UnluckyPrime
from attncert.constructions.exact.primes import PRIMES_21
from attncert.constructions.layer import Head, Layer
from attncert.constructions.numerals import numeral
from attncert.constructions.search.grouping import consecutive, find, violation

Groups = tuple[tuple[int, ...], ...]
Result = TypeVar("Result")

_SMALL = 4096  # contexts with more entries are first tested on some of their columns


@dataclass(frozen=True, kw_only=True, repr=False)
class PlacedHead:
    """A head that places a group, that is, the examples whose features it makes independent.

    group, earlier: the examples placed by this head, and by the heads before it.
    logits: n integers for each example of the group, in units of ln 2.
    pivots: feature columns of this head at which the group's residuals are invertible.
    """

    group: tuple[int, ...]
    earlier: tuple[int, ...]
    logits: tuple[tuple[int, ...], ...]
    pivots: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class SteeringHead(PlacedHead, ABC):
    """A head that also moves every earlier example towards one row of its context, its target, by
    the term c·u vᵀ with selector v and separator u (d×1 over ℚ). gap_bits: the smallest lead of a
    target over another row at this c."""

    selector: fmpq_mat | None
    separator: fmpq_mat | None
    c: int | None
    targets: tuple[int, ...]
    gap_bits: int | None

    @abstractmethod
    def weights(self, head_width: int) -> Head:
        """Key and query, d×d_h over ℚ."""


@dataclass(frozen=True, repr=False)
class BuiltLayer:
    """The layer's key and query weights, and all choices of the builder; heads that place no group
    are idle.

    r: the first group has r examples, each later one r - 1, so the capacity is H(r-1) + 1; 0 if
    groups may have any size. partition: a grouping that meets the partition condition, if the heads
    form other groups. Arithmetic: exact; logits in units of ln 2. Source: docs/constructions.md.

    >>> from attncert import Dataset
    >>> from attncert.constructions import paper
    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
    >>> paper.build(data, heads=2).groups
    ((0, 1), (2,))
    """

    name: str
    layer: Layer
    groups: Groups
    heads: tuple[PlacedHead, ...]
    r: int = 0
    regrouped: bool = False
    partition: Groups | None = None


def places(heads: int, r: int) -> int:
    """The number of examples that Theorem 1 places with H heads, H(r-1)+1. Exact.

    >>> places(8, 4)
    25
    """
    return heads * (r - 1) + 1


def heads_to_place(examples: int, r: int) -> int | None:
    """The smallest H with which Theorem 1 places `examples`; None if there is none.

    >>> heads_to_place(25, 4), heads_to_place(26, 4), heads_to_place(1, 1), heads_to_place(2, 1)
    (8, 9, 1, None)
    """
    if r == 1:
        return 1 if examples == 1 else None
    return max(1, -(-(examples - 1) // (r - 1)))


def over_primes(attempt: Callable[[int], Result]) -> Result:
    """The value of attempt(p) for the first of the builders' primes p that is not unlucky. Raises
    HypothesisFails (undecided) if all are unlucky."""
    for prime in PRIMES_21:
        try:
            return attempt(prime)
        except UnluckyPrime:
            continue
    raise HypothesisFails("search", "three primes in a row were unlucky", {}, decided=False)


def with_idle_heads(heads: Sequence[Head], total: int) -> Layer:
    """A layer of these heads, followed by idle heads (all weights 0) up to `total`."""
    d, width = heads[0].key.nrows(), heads[0].width
    idle = Head(fmpq_mat(d, width), fmpq_mat(d, width))
    return Layer((*heads, *[idle] * (total - len(heads))))


def require_independent_rows(data: Dataset) -> None:
    """Check A2: every context must have n tokens and rank n. Exact. Raises HypothesisFails with the
    numbers of tokens, or a linear relation, as a witness.

    Full rank mod p proves full rank over Q, and so does full rank of any n columns, which are
    tried first for large contexts.
    """
    if data.counts is not None:
        raise HypothesisFails(
            "token-counts",
            f"the proof needs contexts of equal length, and these have {data.lengths} tokens",
            {"tokens": sorted(set(data.counts))},
        )
    if data.n > data.d:
        raise HypothesisFails(
            "context-size",
            f"{data.n} context rows of width {data.d} cannot be independent",
            {"n": data.n, "d": data.d},
        )
    few = np.sort(np.random.default_rng(0).permutation(data.d)[: data.n])
    for t in range(len(data.contexts)):
        if data.n * data.d > _SMALL:
            square = ExactArray(data.contexts.stored[t][:, few]).integer_matrix()
            if nmod_mat(square, PRIMES_21[0]).rank() == data.n:
                continue
        matrix = data.contexts[t].integer_matrix()
        if matrix.rank() < data.n:
            raise HypothesisFails(
                "A2",
                f"the rows of context {t} are dependent",
                {"context": t, "coefficients": [numeral(x) for x in null_relation(matrix) or ()]},
            )


def theorem_groups(data: Dataset, r: int, heads: int | None, seed: int) -> tuple[Groups, bool]:
    """Groups of r, then r - 1 examples each, that meet the partition condition, and whether they
    differ from the consecutive ones.

    The groups are consecutive if the condition allows it; else there are at most `heads` groups
    (None: as few as the search finds). Raises HypothesisFails.
    """
    fewest = heads_to_place(data.T, r)
    if fewest is None or (heads is not None and heads < fewest):
        count = "any number of heads" if heads is None else f"H = {heads}"
        most = places(heads or 1, r)
        raise HypothesisFails(
            "capacity",
            f"{data.T} > {most} examples, the most allowed with {count} and r = {r}",
            {"examples": data.T, "capacity": most, "r": r},
        )
    given_order = consecutive(range(data.T), r, r - 1)
    if violation(data, given_order) is None:
        return given_order, False
    most = data.T if heads is None else heads  # single examples fail only for parallel queries
    few = [fewest, *(fewest + 2**k for k in range(most.bit_length()))]
    for allowed in few:
        if allowed < most:
            with suppress(HypothesisFails):
                return tuple(find(data, r, r - 1, allowed, seed)), True
    return tuple(find(data, r, r - 1, most, seed)), True
