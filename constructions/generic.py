"""Generic weights: small random integers, certified by rank (ours; docs/width-one.md, corollary 2).

A maximal minor of Z is a real-analytic function of the weights. If it is nonzero for some weights,
it is nonzero for almost all: then almost every choice of weights memorizes the data universally, at
any width d_h ≥ 1. Under A1 and A2, some minor is nonzero (constructions/width_one/theorem.py); on
other data, one may be nonzero as well. No bound on the weights is known, so the smallest weights
are tried first, and the rank decides whether they are large enough. If H heads of any width can
memorize universally, so can almost all weights of width one, and almost every ray of integers
leaves the zero set of a minor after finitely many steps (docs/width-one.md, Theorem 3). Each head's
share can be placed, too: the ranks R_h of h heads grow by less and less (docs/tightness.md, 7.1),
so the number of unplaced examples divided by the number of remaining heads is at most the rank that
almost all weights of the next head add. So the search would end with probability one if the bound
grew forever (Corollary 3); but it stops at 2048, and then nothing is decided. Each head has

    M_h = K Qᵀ,   K, Q (d×d_h) integral: 1, 2, 4, ... entries ±1 in a column, the others 0;
                  then all entries drawn from {-b, ..., b}, b = 1, 2, 4, ...

Heads are drawn in order, each until it places its share of the unplaced examples. With shared
contexts, d_h = 1 and K = u, a tie among the entries of Eu makes two softmax weights equal for all
examples, and the head can place one example fewer: such draws are skipped.

These are the smallest *weights* of all constructions here, not the smallest logits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from flint import fmpq_mat, fmpz_mat

from attncert.constructions.arrays import IntArray, IntegerArray
from attncert.constructions.construction import (
    BuiltLayer,
    PlacedHead,
    heads_to_place,
    over_primes,
    with_idle_heads,
)
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.sequences import Sequences
from attncert.constructions.errors import HypothesisFails, require_positive
from attncert.constructions.exact import integers
from attncert.constructions.exact.contexts import context_products
from attncert.constructions.given.law import spans
from attncert.constructions.layer import Head, scaled_head
from attncert.constructions.progress import Progress, silent
from attncert.constructions.search.feature_blocks import FeatureBlocks
from attncert.constructions.search.placement import Block, Placement, independent_rows
from attncert.constructions.search.separation import differs

_DOUBLINGS = 12  # values of b tried: 1, 2, 4, ..., 2048
_DRAWS = 6  # draws at the first level; each further level has 6 more


@dataclass(frozen=True, kw_only=True, repr=False)
class GenericHead(PlacedHead):
    """The draw for one head: integers up to `bound`, times the common denominators of the data."""

    key: fmpq_mat
    query: fmpq_mat
    bound: int
    draws: int


def build(
    data: Dataset,
    *,
    heads: int | None = None,
    head_width: int = 1,
    seed: int = 0,
    progress: Progress = silent,
) -> BuiltLayer:
    """Random key and query weights for which the features of all examples are independent.

    heads: H; by default the fewest that suffice under A1 and A2 (Corollary 1), with H(n-1) + 1 ≥ T
    and H·d ≥ T, or one head if n = 1. For contexts of different lengths, no number of heads is
    known to suffice, and n is the smallest token count above 1; for token sequences, H is the least
    that known bounds allow (docs/next-token.md, section 2). With distinct contexts, fewer heads,
    down to T/d, may suffice: the rank decides. Neither A1 nor A2 is needed. Arithmetic: exact; the
    rank is decided mod p here, and verify/ proves it again. Raises InputError and HypothesisFails,
    which is undecided unless T exceeds the largest possible rank of Z (H·d; H(n-1) + 1 with a
    shared context).
    """
    if heads is None:
        heads = promised_heads(data)
        if isinstance(data.origin, Sequences):
            heads = fewest_heads(data, data.origin)
    require_positive(heads=heads, head_width=head_width)
    _require_capacity(data, heads)
    chosen = over_primes(lambda prime: _Search(data, heads, head_width, seed, prime).run(progress))
    return BuiltLayer(
        name="generic",
        layer=with_idle_heads([Head(head.key, head.query) for head in chosen], heads),
        groups=tuple(head.group for head in chosen),
        heads=tuple(chosen),
    )


def promised_heads(data: Dataset) -> int:
    """The fewest H with H(n-1) + 1 ≥ T and H·d ≥ T; 1 if n = 1 (more heads add no rank)."""
    n = min((count for count in data.counts or () if count > 1), default=data.n)
    promised = heads_to_place(data.T, n)
    return 1 if promised is None else max(promised, -(-data.T // data.d))


def fewest_heads(data: Dataset, sequences: Sequences) -> int:
    """The fewest H with Ha + b ≥ T and, without positions, for each last symbol, H(s-1) + 1 at
    least the number of examples that end in it, whose counts of symbols span s dimensions.

    >>> from attncert import of_sequences
    >>> data = of_sequences(["^aaaaaab"], {"width": 4})
    >>> fewest_heads(data, data.origin)
    6
    """
    whole = spans(data)
    heads = max(1, -(-(data.T - whole.common) // max(1, whole.differences)))
    if sequences.positions is not None:
        return heads
    counts = sequences.counts()
    last = np.array([sequences.sequences[s][place] for s, place in sequences.examples])
    for symbol in np.unique(last):
        some = counts[last == symbol]
        dimensions = int(fmpz_mat(some.tolist()).rank()) - 1
        heads = max(heads, -(-(len(some) - 1) // max(1, dimensions)))
    return heads


def _require_capacity(data: Dataset, heads: int) -> None:
    """Check that T is at most H·d, and at most H(n-1) + 1 with a shared context, like rank Z."""
    capacity = heads * data.d
    if data.shared:  # every feature vector is an affine combination of the same n rows
        capacity = min(capacity, heads * (data.n - 1) + 1)
    if capacity < data.T:
        raise HypothesisFails(
            "capacity",
            f"for H = {heads} the features have rank at most {capacity}, whatever the weights, and "
            f"{data.T} examples need rank {data.T}",
            {"examples": data.T, "capacity": capacity, "heads": heads},
        )


@dataclass(frozen=True)
class _Draw:
    key: IntArray
    query: IntArray
    bound: int
    number: int
    logits: IntegerArray
    features: Block


class _Search:
    """Draws the heads in order."""

    def __init__(self, data: Dataset, heads: int, width: int, seed: int, prime: int) -> None:
        self.data, self.heads, self.width, self.prime = data, heads, width, prime
        self.rng = np.random.default_rng(seed)
        self.blocks = FeatureBlocks(data, prime)
        self.placed = Placement(data.T, prime)

    def run(self, progress: Progress) -> list[GenericHead]:
        """Draw all heads. Raises HypothesisFails (undecided) if some examples remain unplaced."""
        chosen: list[GenericHead] = []
        for h in range(self.heads):
            progress(h, self.heads)
            unplaced = self.data.T - len(self.placed.rows)
            if unplaced:
                head = self._head(-(-unplaced // (self.heads - h)))
                chosen += [head] if head else []
        unplaced = self.data.T - len(self.placed.rows)
        if unplaced:
            raise HypothesisFails(
                "search",
                f"no small random weights for H = {self.heads} were found that place {unplaced} "
                f"of {self.data.T}",
                {"left": unplaced, "largest": 2 ** (_DOUBLINGS - 1)},
                decided=False,
            )
        return chosen

    def _head(self, share: int) -> GenericHead | None:
        """The first draw that places `share` examples, else the one that places the most."""
        unplaced = self.placed.unplaced
        best: tuple[list[int], list[int], _Draw, Block] | None = None
        for draw in self._draws():
            remainder = self.placed.remainder(unplaced, draw.features)
            rows, pivots = independent_rows(remainder, self.prime, share)
            if best is None or len(rows) > len(best[0]):
                best = rows, pivots, draw, remainder
            if len(rows) == min(share, len(unplaced)):
                break
        if best is None or not best[0]:
            return None
        rows, pivots, draw, remainder = best
        group, earlier = [unplaced[i] for i in rows], tuple(self.placed.rows)
        self.placed.extend(group, draw.features, pivots, remainder)
        return self._record(group, earlier, pivots, draw)

    def _draws(self) -> Iterator[_Draw]:
        number, d = 0, self.data.d
        sparse = [(2**k, 1) for k in range((d - 1).bit_length())]
        for level, (terms, bound) in enumerate(sparse + [(d, 2**k) for k in range(_DOUBLINGS)]):
            for _ in range(_DRAWS * (level + 1)):
                number += 1
                key, query = (self._weights(terms, bound) for _ in range(2))
                rows = context_products(self.data, key)
                if self.data.shared and self.width == 1 and not differs(rows[None, :, :, 0]).all():
                    continue
                logits = self._logits(rows, query)
                yield _Draw(key, query, bound, number, logits, self.blocks.of(logits))

    def _weights(self, terms: int, bound: int) -> IntArray:
        """A (d, d_h) matrix: ±1 at `terms` places in every column, or entries in -bound..bound."""
        shape = self.data.d, self.width
        if terms == self.data.d:
            return self.rng.integers(-bound, bound, shape, endpoint=True)
        places = np.argsort(self.rng.random(shape), axis=0)[:terms]
        out = np.zeros(shape, dtype=np.int64)
        np.put_along_axis(out, places, self.rng.choice([-1, 1], places.shape), axis=0)
        return out

    def _logits(self, rows: IntegerArray, query: IntArray) -> IntegerArray:
        """The logits Σ_j (E⁽ᵗ⁾K)_j (e_t·Q_j), (T, n)."""
        images = integers.product(self.data.queries.numerators, query)
        total = np.zeros((self.data.T, self.data.n), dtype=np.int64)
        for j in range(self.width):
            total = integers.add(total, integers.multiply(images[:, j : j + 1], rows[:, :, j]))
        return total

    def _record(
        self, group: list[int], earlier: tuple[int, ...], pivots: list[int], draw: _Draw
    ) -> GenericHead:
        head = scaled_head(self.data, draw.key, draw.query)
        return GenericHead(
            group=tuple(group),
            earlier=earlier,
            key=head.key,
            query=head.query,
            bound=draw.bound,
            draws=draw.number,
            logits=tuple(
                tuple(int(k) for k in draw.logits[t, : self.data.kinds(t)].tolist()) for t in group
            ),
            pivots=self.blocks.in_features(pivots),
        )
