"""One certificate for all labels of given examples: weights with outputs 0 and J onto.

Random weights are drawn for sets of heads (`zeros.py`), first as many heads as Theorem 14 requires.
On almost all data, these memorize as many labels as Theorem 14 says. If the best sizes memorize
fewer, sets of two are drawn. On any data, random pairs memorize at least as many labels as the
pairs of Theorem 4, because almost all weights have the largest rank. Limits for every labelling are
in verify/limits/capacity.

Separate code checks the zero outputs and the rank on the finished layer. Only the sets of
heads are taken from the builder's record, and they are checked, too.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from flint import fmpq_mat

from attncert.constructions.arrays import IntArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.law import Spans, spans
from attncert.constructions.given.zeros import BOUNDS, Zero, best_sizes, draw_groups, most_examples
from attncert.constructions.numerals import numeral
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.certificates.certificate import Certificate, layer_body, sealed
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import OVER_Q, About, Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.rank.whole_layer.jacobian_rows import (
    JacobianRank,
    jacobian_rank,
    require_small,
)

GROUPS = "groups"  # the name of this construction in certificates
_SOURCE = "ours; docs/given-labels.md, Theorem 12"


@dataclass(frozen=True)
class Trial:
    """A choice of weights, and the rank of the Jacobian at these weights."""

    zero: Zero
    rank: JacobianRank


@dataclass(frozen=True, repr=False)
class Labelling:
    """trials: weights whose outputs are 0. zero: the last of these weights, if they prove that
    every labelling is memorized. claims: the steps of this proof. why: the reason if nothing was
    shown, as a clause."""

    data: Dataset
    trials: tuple[Trial, ...] = ()
    zero: Zero | None = None
    claims: tuple[Claim, ...] = ()
    why: str = ""

    @property
    def best(self) -> Trial | None:
        return max(self.trials, key=lambda trial: trial.rank.rank, default=None)

    @property
    def proved(self) -> bool:
        return self.zero is not None and all(claim.level.holds for claim in self.claims)

    @property
    def heads(self) -> int | None:
        """A number of heads that suffices for every labelling; None if none is known."""
        return self.zero.heads if self.zero is not None and self.proved else None


def label_all(
    data: Dataset,
    heads: int | None = None,
    head_width: int = 1,
    value_width: int | None = None,
    *,
    seed: int = 0,
    xp: Any = np,
    progress: StageProgress = silent,
) -> Labelling:
    """Weights that prove that every labelling of these examples is memorized, or the best weights
    that were tried.

    heads: by default, the fewest found to suffice. value_width: default m. xp: the array
    namespace. Only the width of the labels of `data` matters. Exact: ranks modulo primes,
    everything else over ℚ. Raises InputError if a Jacobian is too large.
    """
    search = _Search(data, heads, head_width, value_width or data.m, seed, xp, progress)
    zero = search.run()
    if zero is not None:
        claims = claims_of(data, zero, search.trials[-1].rank)
        return Labelling(data, tuple(search.trials), zero, claims)
    labelled = Labelling(data, tuple(search.trials))
    if (best := labelled.best) is None:
        return labelled
    reached = f"rank {best.rank.rank} of {best.rank.rows} at {counted(best.zero.heads, 'head')}"
    return replace(labelled, why=f"no zero with an onto Jacobian found, {reached}")


@dataclass
class _Search:
    """The search. heads: the number of heads; if None, it tries numbers from the fewest that may
    suffice up to the number of examples."""

    data: Dataset
    heads: int | None
    head_width: int
    value_width: int
    seed: int
    xp: Any
    progress: StageProgress
    trials: list[Trial] = field(default_factory=list)

    def run(self) -> Zero | None:
        whole = spans(self.data)
        for heads in self._counts(whole):
            for sizes in self._sizes(heads, whole):
                zero = self._drawn(sizes, whole)
                if zero is not None:
                    return zero
        return None

    def _drawn(self, sizes: tuple[int, ...], whole: Spans) -> Zero | None:
        """Sets of these sizes with full rank, or None. Short integers are tried first."""
        for bound in BOUNDS:
            zero = draw_groups(
                self.data,
                sizes,
                head_width=self.head_width,
                value_width=self.value_width,
                bound=bound,
                seed=self.seed,
            )
            rank = self._rank(zero)
            if rank.full:
                return zero
            if self.data.m == 1 and rank.rank >= most_examples(sizes, self.head_width, whole):
                return None  # no weights with sets of these sizes memorize more
        return None

    def _rank(self, zero: Zero) -> JacobianRank:
        stage = f"Jacobian, {counted(zero.heads, 'head')}"
        columns = useful_columns(self.data, zero)
        require_small(self.data.T * self.data.m, len(columns))
        progress = partial(self.progress, stage)
        rank = jacobian_rank(self.data, zero.layer, columns=columns, xp=self.xp, progress=progress)
        self.trials.append(Trial(zero, rank))
        return rank

    def _counts(self, whole: Spans) -> Iterator[int]:
        if self.heads is not None:
            yield self.heads
            return
        fewest = whole.fewest_heads(self.data.T, self.head_width, self.value_width)
        if fewest is None:  # keys and queries have no effect
            return
        least = 2 * fewest  # pairs of heads whose Jacobian is onto (Theorem 13)
        if self.data.m == 1:
            least = _fewest_worth(self.data.T, self.head_width, whole)
        step = max(1, math.ceil(least / 10))
        yield from range(least, least + 5 * step + 1, step)
        more = 2 * least
        while more <= self.data.T:  # up to one pair for two examples: Theorem 4 with κ = 2
            yield more
            more *= 2

    def _sizes(self, heads: int, whole: Spans) -> Iterator[tuple[int, ...]]:
        """The sizes that memorize the most; then pairs (and a single head), if these suffice."""
        pairs = (2,) * (heads // 2) + (1,) * (heads % 2)
        if self.data.m > 1:
            yield pairs
            return
        best = best_sizes(heads, self.head_width, whole)
        yield best
        if best != pairs and most_examples(pairs, self.head_width, whole) >= self.data.T:
            yield pairs


def useful_columns(data: Dataset, zero: Zero) -> IntArray:
    """Columns of the Jacobian that span its column space.

    In a set with one M and one output matrix O, all heads have the same columns for values, and the
    columns for keys and queries add up to 0 because the values do. So the values of the first head,
    and the keys and queries of all heads except the last, suffice. If d_v ≥ m and O = [I; 0], the
    columns for O are combinations of the columns for the values.
    """
    layer, d, m = zero.layer, data.d, data.m
    assert layer.value_width is not None and layer.output is not None
    both, d_v = 2 * d * layer.head_width, layer.value_width
    each, columns = both + d * d_v, list[IntArray]()
    for members in zero.sets:
        columns += [h * each + np.arange(both) for h in members[:-1]]
        columns.append(members[0] * each + both + np.arange(d * d_v))
    if d_v < m:
        columns.append(zero.heads * each + np.arange(zero.heads * d_v * m))
    return np.concatenate(columns)


def _fewest_worth(examples: int, head_width: int, whole: Spans) -> int:
    """The fewest heads whose best sets memorize this number of examples (Theorem 14), by
    bisection."""

    def worth(heads: int) -> int:
        return most_examples(best_sizes(heads, head_width, whole), head_width, whole)

    high = 1
    while worth(high) < examples:
        high *= 2
    return bisect_left(range(high), examples, 1, key=worth)


def labelling_certificate(
    data: Dataset, zero: Zero, prime: int, produced_by: Mapping[str, Any]
) -> Certificate:
    """The certificate. prime: the prime modulo which the Jacobian has rank T·m. Raises TooLarge."""
    body = layer_body(
        "every-labelling", data, zero.layer,
        unit="ln 2", construction=GROUPS, provenance=produced_by,
    )  # fmt: skip
    rank = {"prime": numeral(prime), "value": data.T * data.m}
    return sealed(body | {"groups": [list(range(data.T))], "rank": rank})


def claims_of(data: Dataset, zero: Zero, rank: JacobianRank) -> tuple[Claim, ...]:
    """The steps of the proof in order; the last claim is the verdict."""
    full = Claim(
        ids.LABELLING_RANK,
        "At these weights the Jacobian of the outputs with respect to all weights has rank $Tm$.",
        Level.PROVED if rank.full else Level.UNDECIDED,
        numbers={"rank": rank.rank, "Tm": rank.rows, "prime": rank.prime},
        arithmetic=f"derivatives and rank mod {rank.prime}, without the factor ln 2 of the columns "
        "of keys; the rank over ℝ is at least this",
        source=_SOURCE,
    )
    verdict = Claim(
        ids.EVERY_LABELLING,
        f"For every labelling of {counted(data.T, 'example', 'the')} there are real weights of "
        f"{counted(zero.heads, 'head')} that memorize it.",
        Level.PROVED,
        numbers={"T": data.T, "heads": zero.heads},
        arithmetic="zero outputs and the rank; the theorem says that they suffice",
        rests_on=(ids.LABELLING_ZERO, ids.LABELLING_RANK),
        source=_SOURCE,
        about=About.EVERY_LABELLING,
    )
    return outputs_are_zero(zero), full, verdict


def outputs_are_zero(zero: Zero) -> Claim:
    """The claim that heads of one set have equal keys and queries and products V_h O_h that add up
    to 0."""
    layer, wrong = zero.layer, list[dict[str, Any]]()
    assert layer.output is not None and layer.value_width is not None
    width, m = layer.value_width, int(layer.output.ncols())
    rows = layer.output.tolist()
    for number, members in enumerate(zero.sets):
        first = layer.heads[members[0]]
        total = fmpq_mat(int(first.key.nrows()), m)
        for h in members:
            head = layer.heads[h]
            total += head.value * fmpq_mat(rows[h * width : (h + 1) * width])
            if (head.key, head.query) != (first.key, first.query):
                wrong.append({"set": number, "head": h, "because": "another key or query"})
        if any(total.entries()):
            wrong.append({"set": number, "because": "products V_h O_h do not add up to 0"})
    once = sorted(h for members in zero.sets for h in members) == list(range(zero.heads))
    return Claim.checked(
        ids.LABELLING_ZERO,
        "All outputs are 0, whatever the data: heads in one set have equal keys and queries, and "
        "the products of their value and output matrices add up to 0.",
        not wrong and once,
        {"sets": wrong[:8], "each head once": once},
        numbers={"sizes of the sets": [len(members) for members in zero.sets]},
        arithmetic=OVER_Q,
        source=_SOURCE,
    )
