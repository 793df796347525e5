"""The maximum number of labels that H heads can fit: the dimension count N for these contexts
(ours).

Softmax depends on tokens only through their differences. Let a be the dimension of the span of all
differences of tokens of one context, b the rank of all tokens minus a, d' the rank of the queries,
and ρ = min(d_h, a, d'), δ = min(d_v, a, m). The outputs depend on the weights through P M_h (rank
at most ρ, a×d'), P V_h O_h (rank at most δ, a×m), P the projection onto the differences, and
through the sum of all V_h O_h on b further dimensions. So they lie in the image of a manifold of
dimension

    N = H [ρ (a + d' - ρ) + δ (a + m - δ)] + e,

with e = b r + c (m - r), r = min(m, H d_v), c = min(b, H max(d_v - a, 0)): the row spaces of the
heads' values together have dimension r, and c of the b dimensions depend on what P maps to 0
(docs/given-labels.md, Theorem 9). Hence, for any data with T·m > N, the labels that some weights
output have measure zero (Sard). Whether T·m ≤ N is enough for given labels is another question,
which `fit` tests by a search. The same holds for every set S of examples, with its own N(S): so all
examples together have at most min_S N(S) + m (T - |S|) labels. `Law` takes the set of all examples,
and the sets that share one context (Theorem 7 of that page treats all sets).
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpz_mat, nmod_mat

from attncert.constructions.arrays import IntegerArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.contexts import as_if_once
from attncert.constructions.exact.hashing import Hashed
from attncert.constructions.exact.primes import PRIME_62


@dataclass(frozen=True)
class Spans:
    """The dimensions a of differences, b of all tokens beyond a, d' of queries and m of labels."""

    differences: int
    common: int
    queries: int
    labels: int

    def bound(self, heads: int, head_width: int, value_width: int) -> int:
        """The dimension count N for H heads of these widths.

        >>> Spans(8, 0, 8, 1).bound(4, 1, 1), Spans(3, 1, 8, 1).bound(4, 1, 1)
        (92, 53)
        """
        a, b, m, H = self.differences, self.common, self.labels, heads
        rho, delta = min(head_width, a, self.queries), min(value_width, a, m)
        reached, unseen = min(m, H * value_width), min(b, H * max(value_width - a, 0))
        e = b * reached + unseen * (m - reached)
        return H * (rho * (a + self.queries - rho) + delta * (a + m - delta)) + e

    def features(self, heads: int) -> int:
        """H a + b: no weights of H heads, of any width, give features of larger rank.

        >>> Spans(3, 1, 8, 1).features(4)
        13
        """
        return heads * self.differences + self.common

    def fewest_heads(self, examples: int, head_width: int, value_width: int) -> int | None:
        """The least H with N >= T·m; None if no number of heads is enough."""
        labels = examples * self.labels
        if self.differences == 0 or self.queries == 0:  # more than m heads add nothing
            most = self.labels + 1
            counts = [h for h in range(1, most) if self.bound(h, head_width, value_width) >= labels]
            return min(counts, default=None)
        heads = 1
        while self.bound(heads, head_width, value_width) < labels:
            heads += 1
        return heads


@dataclass(frozen=True)
class Law:
    """parts: sets of examples, each with its size and its spans; the first contains all."""

    parts: tuple[tuple[int, Spans], ...]

    @property
    def whole(self) -> Spans:
        return self.parts[0][1]

    def bound(self, heads: int, head_width: int, value_width: int) -> int:
        """The largest T·m that the count allows; beyond it, almost no labels can be fitted."""
        T, m = self.parts[0][0], self.whole.labels
        return min(
            part.bound(heads, head_width, value_width) + m * (T - size) for size, part in self.parts
        )

    def fewest_heads(self, head_width: int, value_width: int) -> int | None:
        """The least H for which no part has too many labels; None if no H is enough."""
        counts = [part.fewest_heads(size, head_width, value_width) for size, part in self.parts]
        known = [count for count in counts if count is not None]
        return max(known) if len(known) == len(counts) else None


def law(data: Dataset) -> Law:
    """The law of a data set: all examples, and every proper subset that shares one context."""
    groups: dict[Hashed, list[int]] = {}
    if not data.shared:
        for t in range(data.T):
            context = Hashed(map(tuple, as_if_once(data, t)))
            groups.setdefault(context, []).append(t)
    some = [group for group in groups.values() if 1 < len(group) < data.T]
    parts = [(len(group), spans(data.take(group))) for group in some]
    return Law(((data.T, spans(data)), *parts))


def spans(data: Dataset) -> Spans:
    """The spans of a data set, exactly."""
    tokens = data.contexts.numerators
    if data.contexts.bits() > 60:
        tokens = tokens.astype(object)
    differences = (tokens[:, 1:] - tokens[:, :1]).reshape(-1, data.d)
    a = span_of(differences)
    whole = span_of(tokens.reshape(-1, data.d))
    return Spans(a, whole - a, span_of(data.queries.numerators), data.m)


def span_of(rows: IntegerArray) -> int:
    """The exact rank of integer rows: modulo a prime if that is full, else by the Gram matrix."""
    count, width = rows.shape
    for some in (rows[: 4 * width], rows):  # usually a few rows are enough
        if some.size == 0:
            return 0
        entries = [x % PRIME_62 for x in some.ravel().tolist()]
        rank = int(nmod_mat(*some.shape, entries, PRIME_62).rank())
        if rank in (width, count):
            return rank
    matrix = fmpz_mat(count, width, rows.ravel().tolist())
    smaller = matrix.transpose() * matrix if width <= count else matrix * matrix.transpose()
    return int(smaller.rank())
