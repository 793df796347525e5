"""`attncert capacity --layers L`: what L layers of H heads can memorize, in three senses.

Lower bounds are ranks modulo a tower of primes at random small integer weights; upper bounds are
the dimension counts of `law.py`. The first L - 1 layers change every token and the query, with a
skip connection; the last layer reads out at the query (docs/depth.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from typing import ClassVar

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.given.law import Spans
from attncert.constructions.given.zeros import best_sizes, most_examples
from attncert.constructions.network.network import Network
from attncert.constructions.progress import StageProgress, silent, timed
from attncert.verify.certificates.certificate import Certificate, TooLarge, produced_by
from attncert.verify.certificates.installed import versions
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import About, Claim, Level
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.claims.words import counted
from attncert.verify.depth.certificate import rank_certificate
from attncert.verify.depth.draw import draw_network, draw_zero
from attncert.verify.depth.law import Architecture, DeepSpans
from attncert.verify.depth.notions import CapacityAnswer, End, Notion, dimension
from attncert.verify.depth.ranks import DeepRank, deep_rank
from attncert.verify.provenance.after import behind
from attncert.verify.provenance.conclusion import in_words_of
from attncert.verify.provenance.sequences import by_class
from attncert.verify.questions.fit import MOST_EXACT_LAYERS, Capacity
from attncert.verify.rank.engines.devices import Device, choose_device
from attncert.verify.rank.whole_layer.jacobian_rows import is_spread
from attncert.verify.rank.whole_layer.spread import rank_records
from attncert.verify.sharding.engine import Cluster

_DRAWS = 3  # maximum number of networks drawn for one rank
_TRIES = 4  # how many head counts are tried in the search for the fewest heads
_MOST_ENTRIES = 2**28  # maximum number of entries in a Jacobian with ReLU blocks
_SOURCE = "ours; docs/depth.md"
JACOBIAN, AT_ZERO, FEATURES = "jacobian", "jacobian at zero", "features"


@dataclass(frozen=True)
class _Notion:
    """A notion of memorizing. of: the matrix whose rank proves it. statement: the claim without
    the words that describe the heads."""

    of: str
    claim: ids.ClaimId
    statement: str


_NOTIONS = {  # the strongest first
    About.UNIVERSAL: _Notion(
        FEATURES,
        ids.DEPTH_UNIVERSAL,
        "One choice of all weights but the last values serves all labels, with",
    ),
    About.EVERY_LABELLING: _Notion(AT_ZERO, ids.DEPTH_EVERY, "Every labelling is memorized by"),
    About.SOME_LABELLINGS: _Notion(
        JACOBIAN, ids.DEPTH_SOME, "An open set of labellings is output by weights of"
    ),
}


@dataclass(frozen=True)
class Reached:
    """A network, and the rank of its Jacobian or of its features modulo a tower of primes."""

    shape: Architecture
    network: Network
    rank: DeepRank


@dataclass(frozen=True)
class Depth:
    """With `layers` layers, rank J is at most `bound` for all weights, and is `rank` for some."""

    layers: int
    bound: int
    rank: int
    parameters: int


@dataclass(frozen=True, kw_only=True, repr=False)
class DepthCapacity(CapacityAnswer):
    """depths: results for 1, 2, … layers with the same heads. spans: the dimensions that the data
    span."""

    report_page: ClassVar[str] = "depth"

    shape: Architecture
    spans: DeepSpans
    depths: tuple[Depth, ...]

    @property
    def labels(self) -> int:
        return self.data.T * self.data.m

    @property
    def fewest_layers(self) -> tuple[int | None, int | None]:
        """A lower bound on the number of layers with these heads that all labels need, and a number
        that suffices for an open set of labellings; None if more are needed than were tried."""
        need = (x.layers for x in self.depths if x.bound >= self.labels)
        enough = (x.layers for x in self.depths if x.rank >= self.labels)
        return next(need, None), next(enough, None)


def depth_capacity(
    data: Dataset,
    question: Capacity,
    cluster: Cluster | None = None,
    progress: StageProgress = silent,
) -> DepthCapacity:
    """The answer for `question.layers` layers. Exact; deterministic for a given seed. Raises
    InputError for a missing device or a Jacobian with too many entries.

    >>> from attncert.constructions.data.generators import random
    >>> answer = depth_capacity(random(T=18, n=3, d=3, seed=1), Capacity(layers=2, heads=1))
    >>> [(x.about.value, x.least, x.most, x.needed, x.enough.number) for x in answer.notions]
    [('universal', 3, 3, 6, 6), ('every labelling', 3, 18, 1, 5), ('some labellings', 18, 18, 1, 1)]
    """
    data = by_class(behind(question.of(data), question.before))
    _require_few(data, question)
    seconds: dict[str, float] = {}
    place = choose_device(question.device)
    search = _Search(data, DeepSpans.of(data), question, place, cluster, progress)
    with timed(seconds, "ranks by layers"):
        depths = tuple(search.depths())
    with timed(seconds, "ranks by heads"):
        found = search.found()
    notions = search.notions(found)
    certificates, why = _certificates(data, found, question)
    return DepthCapacity(
        question=question,
        data=data,
        trace=ProofTrace(in_words_of(data, search.claims(found, notions))),
        conclusion=ids.DEPTH_CAPACITY,
        certificate=next(iter(certificates.values()), None),
        uncertified=why,
        seconds=seconds,
        versions=versions(place.versions),
        shape=search.shape,
        spans=search.spans,
        notions=notions,
        depths=depths,
        certificates=certificates,
    )


def _require_few(data: Dataset, question: Capacity) -> None:
    units = question.feed_forward
    weights = (question.layers - 1) * units * (2 * data.d + 1)
    if data.T * data.m * weights > _MOST_ENTRIES:
        reason = f"the Jacobian in the weights of these blocks has over {_MOST_ENTRIES:,} entries"
        raise InputError("feed_forward", reason, units)


@dataclass(frozen=True)
class _Found:
    """Networks found for each notion. served: with the question's number of heads. enough: with the
    fewest heads found that memorize all labels."""

    served: Mapping[About, Reached]
    enough: Mapping[About, Reached]


@dataclass
class _Search:
    data: Dataset
    spans: DeepSpans
    question: Capacity
    place: Device
    cluster: Cluster | None
    progress: StageProgress

    @property
    def labels(self) -> int:
        return self.data.T * self.data.m

    @property
    def shape(self) -> Architecture:
        return self._shape(self.question.heads or self._needed(About.SOME_LABELLINGS) or 1)

    def _shape(self, heads: int, layers: int | None = None) -> Architecture:
        question = self.question
        return Architecture(
            layers or question.layers,
            heads,
            question.head_width,
            question.value_width or self.data.m,
            question.feed_forward,
        )

    def depths(self) -> Iterator[Depth]:
        """Results for 1, 2, … layers, until the question's number of layers is reached and the rank
        equals the number of labels."""
        for layers in range(1, MOST_EXACT_LAYERS + 1):
            shape = self._shape(self.shape.heads, layers)
            bound = min(self.labels, self.spans.bound(shape))
            reached = self._best(shape, JACOBIAN, bound)
            yield Depth(
                layers, self.spans.bound(shape), reached.rank.rank, shape.parameters(self.data)
            )
            if layers >= self.question.layers and reached.rank.full:
                return

    def found(self) -> _Found:
        wide = self.shape.value_width >= self.data.m
        notions = [about for about in _NOTIONS if wide or about is About.SOME_LABELLINGS]
        served = {
            about: self._best(self.shape, _NOTIONS[about].of, self._most(about, self.shape))
            for about in notions
        }
        enough = {about: self._enough(about, _NOTIONS[about].of) for about in notions}
        return _Found(served, {about: x for about, x in enough.items() if x is not None})

    def _enough(self, about: About, of: str) -> Reached | None:
        """A network that memorizes all labels, with the fewest heads found, or None."""
        least = self._needed(about)
        if least is None:
            return None
        if of == AT_ZERO:
            least = self._fewest_at_zero(least)
        step = max(1, least // 10)
        for heads in islice(count(least, step), _TRIES):
            reached = self._best(self._shape(heads), of, self._all(about))
            if reached.rank.full:
                return reached
        return None

    def _best(self, shape: Architecture, of: str, enough: int) -> Reached:
        """The largest rank among a few random networks; the search stops at `enough`."""
        best: Reached | None = None
        for draw in range(_DRAWS):
            seed = self.question.seed + draw
            network = (
                draw_zero(self.data, shape, self._sizes(shape), seed)
                if of == AT_ZERO
                else draw_network(self.data, shape, seed)
            )
            rank = deep_rank(
                self.data, network, features=of == FEATURES, seed=seed, xp=self.place.namespace,
                cluster=self.cluster,
                progress=partial(self.progress, f"{of}, {counted(shape.heads, 'head')}"),
            )  # fmt: skip
            if best is None or rank.rank > best.rank.rank:
                best = Reached(shape, network, rank)
            if best.rank.rank >= enough:
                break
        assert best is not None
        return best

    def _sizes(self, shape: Architecture) -> tuple[int, ...]:
        """The sizes of the sets of heads in the last layer that share key and query."""
        if self.data.m > 1:
            return (2,) * (shape.heads // 2) + (1,) * (shape.heads % 2)
        return best_sizes(shape.heads, shape.head_width, self._last(shape))

    def _last(self, shape: Architecture) -> Spans:
        """The spans of the inputs of the last layer for generic weights."""
        wide = self.spans.before(shape, shape.layers)
        return Spans(wide, 0, wide, self.data.m)

    def _fewest_at_zero(self, needed: int) -> int:
        """The fewest heads whose best sets memorize all labels (given-labels.md, Theorem 14). For
        labels with several numbers, twice the lower bound on the number of heads."""
        if self.data.m > 1:
            return 2 * needed

        def worth(shape: Architecture) -> int:
            return most_examples(self._sizes(shape), shape.head_width, self._last(shape))

        return next(heads for heads in count(1) if worth(self._shape(heads)) >= self.labels)

    def _all(self, about: About) -> int:
        return self.data.T if about is About.UNIVERSAL else self.labels

    def _most(self, about: About, shape: Architecture) -> int:
        """An upper bound on the rank in question for weights of this shape."""
        if about is About.UNIVERSAL:
            return min(self.data.T, shape.heads * self.spans.before(shape, shape.layers))
        return min(self.labels, self.spans.bound(shape))

    def _needed(self, about: About) -> int | None:
        """A lower bound on the heads per layer that all labels need; None if no number suffices."""
        return self.spans.fewest(
            self.question.layers,
            lambda heads: self._most(about, self._shape(heads)) >= self._all(about),
        )

    def notions(self, found: _Found) -> tuple[Notion, ...]:
        """The notions. A lower bound for a stronger notion also holds for a weaker notion."""
        rows, least, enough = list[Notion](), 0, None
        for about, notion in _NOTIONS.items():
            if about in found.served:
                times = self.data.m if about is About.UNIVERSAL else 1
                least = max(least, found.served[about].rank.rank * times)
                most = self._most(about, self.shape) * times
                known = [End(x.shape.heads) for a, x in found.enough.items() if a is about]
                enough = min([*known, *([] if enough is None else [enough])], default=None)
                needed = self._needed(about)
                rows.append(Notion(about, notion.claim, End(least), End(most), needed, enough))
        return tuple(rows)

    def claims(self, found: _Found, notions: Sequence[Notion]) -> tuple[Claim, ...]:
        shape, labels = self.shape, self.labels
        least, most = notions[-1].least, notions[-1].most
        who, rank = shape.words(), found.served[About.SOME_LABELLINGS].rank
        trivial = most == labels
        records = [rank_records()] if is_spread(labels, self.cluster) else []
        on = tuple(claim.id for claim in records)
        bound = Claim(
            ids.DEPTH_BOUND,
            f"The Jacobian of the outputs with respect to all weights of {who} has rank at most "
            f"{most:,}, whatever the weights.",
            Level.PROVED if trivial else Level.ARGUED,
            numbers={"bound": most, "N": self.spans.bound(shape), "Tm": labels},
            arithmetic="counting" if trivial else "ranks over ℚ of tokens and queries",
            source=f"{_SOURCE}, Theorem 1",
        )
        below = Claim(
            ids.DEPTH_RANK,
            f"At some real weights it has rank {least:,} or more.",
            Level.PROVED,
            numbers={"rank": least, "primes": list(rank.primes)},
            arithmetic=f"derivatives and rank mod {rank.primes[0]}, in a tower of primes",
            rests_on=on,
            source=f"{_SOURCE}, section 2",
        )
        conclusion = dimension(
            ids.DEPTH_CAPACITY,
            (ids.DEPTH_RANK, ids.DEPTH_BOUND),
            who,
            (least, most),
            labels,
            f"{_SOURCE}, Theorem 1",
        )
        served = (self._served(row, on) for row in notions)
        return (*records, *served, bound, below, conclusion)

    def _served(self, row: Notion, on: tuple[ids.ClaimId, ...]) -> Claim:
        """The claim that the question's number of heads memorizes all labels."""
        all_labels, least, most = self.labels, row.least, row.most
        level = Level.UNDECIDED
        if least >= all_labels:
            level = Level.PROVED
        elif most < all_labels:
            level = Level.REFUTED
        statement = f"{_NOTIONS[row.about].statement} {self.shape.words()}."
        witness = {"labels": all_labels, "at least": least, "at most": most}
        return Claim(
            row.claim,
            statement,
            level,
            numbers=witness,
            witness=None if level.holds else witness,
            rests_on=on if level.holds else (),
            arithmetic="ranks mod a tower of primes; counting",
            source=_SOURCE,
            about=row.about,
        )


def _certificates(
    data: Dataset, found: _Found, question: Capacity
) -> tuple[dict[About, Certificate], str]:
    """The certificates of the notions, the strongest first, and the reason if there is none."""
    certificates: dict[About, Certificate] = {}
    why = "no weights were found that serve all labels"
    provenance = produced_by(question.line(), question.seed)
    for about, reached in found.enough.items():
        try:
            certificates[about] = rank_certificate(
                data, reached.network, reached.rank, _NOTIONS[about].of,
                construction="small random integers (docs/depth.md)", produced_by=provenance,
            )  # fmt: skip
        except TooLarge as reason:
            why = str(reason)
    return certificates, "" if certificates else why
