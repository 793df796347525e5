"""The capacity law on one data set: the rank of the Jacobian, certified from both sides (ours).

F maps all weights of H heads to the T·m outputs; J is its Jacobian. Its largest rank over all
weights says how many labels these examples can carry (docs/given-labels.md, Theorems 7, 9, 11):

    largest rank = T·m    the reachable labellings contain an open set, and 2H heads memorize every
                          labelling;
    largest rank < T·m    almost no labelling is reachable (Sard).

*From below*: the rank of J at random integers, modulo a prime, is a lower bound; no luck is needed
for its truth. *From above*: for every set S of examples

    rank J ≤ N(S) + m (T - |S|),      N(S) from the spans of S alone (`law.py`),

and for m > 1 the bounds (R), (L), (L') of the page; and a relation between examples that holds for
all weights (`verify/tightness/rows.py`) is one between rows of J, for each label. Of all sets S
few matter: none of the examples, all of them, and the one set that the matrix itself names. Let S
be the examples with a row that takes part in a relation between rows of J, at weights where every
set of rows has its largest rank.
Then the other rows are independent of one another and of those of S, so that rank J = rank J_S +
m (T - |S|): if any set attains its bound, S does (Lemma 2 of the page). So S comes from the left
kernel modulo the prime, whatever contexts are shared by whom; and what it proves, N(S), is computed
from the data alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import nmod_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import require_seed, require_sizes
from attncert.constructions.given.law import Spans, spans
from attncert.constructions.given.zeros import draw_layer
from attncert.constructions.layer import Layer, parameter_count
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import About, Claim, Level, counted
from attncert.verify.labelling.labelled import Labelled, LabellingSettings, label_all
from attncert.verify.rank.residues import to_host
from attncert.verify.rank.whole_layer.jacobian_rows import (
    JacobianRank,
    JacobianRows,
    jacobian_rank,
    require_small,
)
from attncert.verify.tightness.rows import MOST_ROWS, row_relations, tied_examples
from attncert.verify.tightness.universal import bound_from_above

__all__ = ["DataCapacity", "DataCapacitySettings", "Upper", "data_capacity"]

MOST_KERNEL = 3000  # rows up to which the left kernel is computed
_DRAWS = 3
_MOST_HEADS = 2**14
_SOURCE = "ours; docs/given-labels.md"

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class DataCapacitySettings:
    """heads: None for the fewest with N ≥ T·m. value_width: None for the labels' width."""

    heads: int | None = None
    head_width: int = 1
    value_width: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        require_sizes(self, _MOST_HEADS)
        require_seed(self.seed)


@dataclass(frozen=True)
class Upper:
    """rank J ≤ bound for all weights. examples: |S|, of which a, b, d' and N are taken; None for a
    bound of another kind. name: what it is called in reports."""

    name: str
    bound: int
    examples: int | None = None
    spans: Spans | None = None
    law: int | None = None


@dataclass(frozen=True)
class DataCapacity:
    """rank: of J from below. uppers: bounds, the least first. every: what is known of every
    labelling by as many heads. universal: an upper bound of rank Z, T where none is known."""

    data: Dataset
    settings: DataCapacitySettings
    heads: int
    spans: Spans
    rank: JacobianRank
    uppers: tuple[Upper, ...]
    every: Labelled
    universal: int
    claims: tuple[Claim, ...]

    @property
    def value_width(self) -> int:
        return self.settings.value_width or self.data.m

    @property
    def law(self) -> int:
        """N of all examples."""
        return self.spans.bound(self.heads, self.settings.head_width, self.value_width)

    @property
    def decided(self) -> bool:
        """Whether the largest rank of J is known."""
        return self.rank.rank == self.uppers[0].bound

    @property
    def exit_status(self) -> int:
        """0: the largest rank is known from both sides; 3: it is not."""
        return 0 if self.decided else 3


def data_capacity(
    data: Dataset,
    settings: DataCapacitySettings | None = None,
    progress: Progress = lambda stage, done, of: None,
) -> DataCapacity:
    """The law for these contexts and queries, the rank, and what each implies. The labels of `data`
    count by their width alone. Exact. Raises InputError where the Jacobian is too large.
    """
    settings = settings or DataCapacitySettings()
    found, width = spans(data), settings.value_width or data.m
    heads = settings.heads
    if heads is None:
        heads = found.fewest_heads(data.T, settings.head_width, width) or 1
    wanted = data.T * data.m
    columns = parameter_count(data.d, data.m, heads, settings.head_width, width)
    require_small(wanted, columns)
    uppers = [Upper("the number of labels", wanted), *_uppers(data, settings, heads, range(data.T))]
    few = len(tied_examples(data)) <= MOST_ROWS
    relations = len(row_relations(data)) if few else 0
    if relations:
        uppers.append(Upper("relations for all weights", data.m * (data.T - relations)))
    least = min(upper.bound for upper in uppers)
    rank, layer = _rank(data, settings, heads, least, progress)
    if rank.rank < least and wanted <= MOST_KERNEL:
        members = _related(data, layer, rank.prime)
        if 0 < len(members) < data.T:
            uppers += _uppers(data, settings, heads, members)
    uppers.sort(key=lambda upper: upper.bound)
    every = label_all(
        data,
        LabellingSettings(
            heads, settings.head_width, settings.value_width, "groups", settings.seed
        ),
        progress,
    )
    universal = bound_from_above(data, heads).rank if few else min(data.T, heads * data.d)
    made = DataCapacity(data, settings, heads, found, rank, tuple(uppers), every, universal, ())
    claims = _claims(made)
    return DataCapacity(data, settings, heads, found, rank, tuple(uppers), every, universal, claims)


def _uppers(data: Dataset, settings: DataCapacitySettings, heads: int, members: Any) -> list[Upper]:
    """Bounds on rank J for all weights, from this set of examples."""
    some, w, width = data.take(list(members)), settings.head_width, settings.value_width or data.m
    found, m, every = spans(some), data.m, len(members) == data.T
    N = found.bound(heads, w, width)
    name = "all examples" if every else "the examples in relations"
    uppers = [Upper(name, N + m * (data.T - len(members)), len(members), found, N)]
    if m == 1 or not every:
        return uppers
    a, b, d, T = found.differences, found.common, data.d, data.T

    def matrices(k: int, rows: int) -> int:
        """Dimension of the T×m matrices of rank at most k."""
        k = min(k, m, rows)
        return k * (rows + m - k)

    rank_bound = matrices(heads * min(width, d), T)
    uppers.append(Upper("(R)", rank_bound))
    if b <= T:
        uppers.append(Upper("(R)", b * m + matrices(heads * min(width, a), T - b)))
    values = found.bound(heads, 0, width)
    moved = T * min(m, heads * min(data.n - 1, width, d))
    uppers.append(Upper("(L)", min(values, rank_bound) + moved))
    if a == d and heads <= d * m:
        free = min(heads - 1, max(d - width, 0) * max(m - width, 0))
        uppers.append(Upper("(L')", values - heads * (heads - 1 - free) + moved))
    return uppers


def _rank(
    data: Dataset, settings: DataCapacitySettings, heads: int, enough: int, progress: Progress
) -> tuple[JacobianRank, Layer]:
    """The largest rank of a few draws, and the weights."""
    best: tuple[JacobianRank, Layer] | None = None
    for draw in range(_DRAWS):
        layer = draw_layer(
            data, heads, settings.head_width, settings.value_width, seed=[settings.seed, draw]
        )
        stage = f"Jacobian, {counted(heads, 'head')}"
        found = jacobian_rank(
            data,
            layer,
            enough=enough,
            progress=lambda done, of, stage=stage: progress(stage, done, of),  # type: ignore[misc]
        )
        if best is None or found.rank > best[0].rank:
            best = found, layer
        if best[0].rank >= enough:
            break
    assert best is not None
    return best


def _related(data: Dataset, layer: Layer, p: int) -> list[int]:
    """Examples with a row of J in some relation between rows, modulo p."""
    made, rows = JacobianRows(data, layer, p), []
    for start in range(0, data.T, 64):
        block = to_host(made.rows(start, min(start + 64, data.T))).astype(np.int64) % p
        rows.append(block)
    table = np.vstack(rows).T
    matrix = nmod_mat(*table.shape, table.ravel().tolist(), p)
    kernel, nullity = matrix.nullspace()
    basis = np.array([int(x) for x in kernel.entries()]).reshape(table.shape[1], -1)[:, :nullity]
    related = basis.any(axis=1).reshape(data.T, data.m).any(axis=1)
    return [int(t) for t in np.flatnonzero(related)]


def _claims(made: DataCapacity) -> tuple[Claim, ...]:
    data, least, rank = made.data, made.uppers[0], made.rank
    wanted, who = data.T * data.m, counted(made.heads, "head")
    upper = Claim(
        ids.LAW_BOUND,
        f"The Jacobian of the outputs by all weights of {who} has rank at most {least.bound}, "
        "whatever the weights.",
        Level.ARGUED,
        numbers={"bound": least.bound, "from": least.name, "Tm": wanted, "N": made.law},
        arithmetic="ranks over ℚ of tokens and queries",
        source=f"{_SOURCE}, Theorems 7 and 9",
    )
    lower = Claim(
        ids.LAW_RANK,
        f"At some integer weights it has rank {rank.rank} or more.",
        Level.PROVED,
        numbers={"rank": rank.rank, "prime": rank.prime},
        arithmetic=f"derivatives and rank mod {rank.prime}, without the factor ln 2",
        source=f"{_SOURCE}, section 3",
    )
    twice = Claim(
        ids.LAW_TWICE,
        f"Every labelling is memorized by {counted(2 * made.heads, 'head')}.",
        Level.PROVED,
        rests_on=(ids.LAW_RANK,),
        source=f"{_SOURCE}, Theorem 13",
    )
    more = (twice,) if rank.full else ()
    return (upper, lower, _these(made), _every(made), *more, _universal(made))


def _these(made: DataCapacity) -> Claim:
    """What the rank says of single labellings: an open set is reachable, or almost none."""
    wanted, who = made.data.T * made.data.m, counted(made.heads, "head")
    shown: dict[str, Any] = {"level": Level.UNDECIDED}
    said = f"Whether {who} reach an open set of labellings, or almost none, is open."
    if made.rank.full:
        said = (
            f"The labellings that some weights of {who} output contain an open set. Whether they "
            "contain the given one is another question (attncert fit)."
        )
        shown = {"level": Level.PROVED, "rests_on": (ids.LAW_RANK,)}
    elif made.uppers[0].bound < wanted:
        said = (
            f"Almost no labelling is output by any weights of {who}: the reachable ones have "
            "measure zero. The given one may be among them."
        )
        shown = {"level": Level.ARGUED, "rests_on": (ids.LAW_BOUND,)}
    return Claim(ids.LAW_THESE, said, source=f"{_SOURCE}, Theorem 11", **shown)


def _every(made: DataCapacity) -> Claim:
    """What is known of every labelling by these heads: a zero found, a bound, or nothing."""
    found, who = made.every, counted(made.heads, "head")
    if found.level is Level.PROVED:
        return Claim(
            ids.LAW_EVERY,
            f"Every labelling is memorized by {who}: attncert every-labelling shows it.",
            Level.PROVED,
            numbers={"sets of heads": [len(s) for s in found.zero.sets] if found.zero else []},
            arithmetic="a zero of the outputs whose Jacobian has rank Tm mod a prime",
            source=f"{_SOURCE}, Theorem 12",
            about=About.EVERY_LABELLING,
        )
    if found.level is Level.REFUTED or made.uppers[0].bound < made.data.T * made.data.m:
        witness = dict(found.claims[-1].witness or {}) if found.claims else {}
        return Claim(
            ids.LAW_EVERY,
            f"Every labelling is memorized by {who}.",
            Level.REFUTED,
            witness=witness or {"rank at most": made.uppers[0].bound},
            rests_on=(ids.LAW_BOUND,),
            source=f"{_SOURCE}, Theorem 11",
            about=About.EVERY_LABELLING,
        )
    return Claim(
        ids.LAW_EVERY,
        f"Every labelling is memorized by {who}.",
        Level.UNDECIDED,
        witness={"reason": found.why},
        source=f"{_SOURCE}, Theorem 12",
        about=About.EVERY_LABELLING,
    )


def _universal(made: DataCapacity) -> Claim:
    below = made.universal < made.data.T
    return Claim(
        ids.LAW_UNIVERSAL,
        f"One choice of keys and queries of {counted(made.heads, 'head')} serves all labels.",
        Level.REFUTED if below else Level.UNDECIDED,
        numbers={"rank Z at most": made.universal, "T": made.data.T},
        witness={"rank Z at most": made.universal, "T": made.data.T}
        if below
        else {"reason": "attncert tightness and attncert prove look for such weights"},
        source="ours; docs/tightness.md",
        about=About.UNIVERSAL,
    )


def capacity_dict(made: DataCapacity) -> dict[str, Any]:
    """JSON-able."""
    return {
        "decided": made.decided,
        "data": {"sha256": made.data.sha256, "examples": made.data.T, "labels": made.data.m},
        "settings": vars(made.settings) | {"heads": made.heads},
        "law": vars(made.spans) | {"N": made.law},
        "rank": {"rank": made.rank.rank, "of": made.rank.rows, "prime": made.rank.prime},
        "bounds": [
            {
                "name": upper.name,
                "bound": upper.bound,
                "examples": upper.examples,
                "spans": None if upper.spans is None else vars(upper.spans),
                "N": upper.law,
            }
            for upper in made.uppers
        ],
        "claims": [claim.as_dict() for claim in made.claims],
    }
