"""How many examples do H heads of width d_h memorize universally?

For a setting (H, n, d_h, d, shared or distinct contexts, seed) a data set of random integers is
drawn, with more examples than any weights could serve, and layers of small random integers. Since
rows 1, ..., T of Z depend on the first T examples alone, one elimination of the whole Z decides all
T at once: the longest independent prefix mod p is a number of examples that these weights memorize
universally, and full rank mod p is full rank over ℚ.

From above, no weights of H heads, of whatever width, serve more than min(H d, H b + ρ - b) of these
examples, with b and ρ the dimensions of the data set's own contexts
(verify/tightness/relations/flat.py; H(n-1) + 1 where the context is shared). Where the two meet,
the capacity of that data set is known; where they do not, nothing is claimed about the gap.

Beside it the constructions are run on the first examples of the same data set, as many as their
theorems promise, and their ranks are certified in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from attncert.constructions import paper as the_paper
from attncert.constructions import width_one as of_width_one
from attncert.constructions.construction import Construction, capacity
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import family
from attncert.constructions.errors import InputError, require_positive, require_seed
from attncert.constructions.layer import Layer, parameter_count
from attncert.constructions.progress import StageProgress, silent
from attncert.verify import features
from attncert.verify.capacity.parameters import Cost, costs
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level, counted
from attncert.verify.rank.modular import rank_mod
from attncert.verify.rank.primes import PRIMES_FLOAT64
from attncert.verify.steps import conclusions
from attncert.verify.tightness.relations.flat import bound_of
from attncert.verify.tightness.relations.probes import random_layer

__all__ = [
    "AXES", "Built", "Capacity", "Point", "Setting", "SweepSettings", "certify", "examples_of",
    "independent_prefix", "sweep",
]  # fmt: skip

AXES = ("heads", "context", "head_width")
DRAWS = 12  # of a layer's weights, while the bound from above is not reached
BOUNDS = (3, 9, 30)  # of the entries of keys and queries, in turn
MOST_EXAMPLES = 4096  # H·d: a setting beyond it is no matter of a sweep


@dataclass(frozen=True)
class Setting:
    """H = heads, n = context, d_h = head_width, d = width. Raises InputError.

    seed: of the data set and of the weights.
    """

    heads: int
    context: int
    head_width: int
    width: int
    shared: bool
    seed: int = 0

    def __post_init__(self) -> None:
        names = ("heads", "context", "head_width", "width")
        require_positive(**{name: getattr(self, name) for name in names})
        if self.context > self.width:
            raise InputError("context", f"at most the width {self.width}", self.context)
        if self.heads * self.width > MOST_EXAMPLES:
            must = f"such that H·d is at most {MOST_EXAMPLES}"
            raise InputError("heads", must, f"{self.heads}, with d = {self.width}")
        require_seed(self.seed, "seed")

    @property
    def paper(self) -> int:
        """H(min(n, d_h) - 1) + 1: what the paper's theorem promises."""
        return capacity(self.heads, self.context, self.head_width)

    @property
    def width_one(self) -> int:
        """H(n-1) + 1: what heads of width one memorize (docs/width-one.md)."""
        return capacity(self.heads, self.context, self.context)


@dataclass(frozen=True)
class Built:
    """A construction on the first examples: as many as promised, and the rank that was certified.

    rank equals `examples` where the claim "rank Z = T" is proved (modulo `prime`).
    parameters: H(2d·d_h + d·d_v + d_v·m) with d_v = m = 1.
    """

    construction: str
    head_width: int
    examples: int
    rank: int
    prime: int
    parameters: int


@dataclass(frozen=True)
class Point:
    """What is known about one setting.

    certified:  the first so many examples have independent features with the weights of this draw
                (proved modulo `prime`). draw: 1, 2, ...; bound: of the weights' entries.
    upper:      no weights serve more of these examples (argued; docs/tightness.md).
    parameters: of the random layer, with d_v = m = 1.
    built:      the constructions beside it.
    """

    setting: Setting
    certified: int
    prime: int
    draw: int
    bound: int
    upper: int
    parameters: int
    built: tuple[Built, ...] = ()

    @property
    def met(self) -> bool:
        """The two bounds meet: the capacity of this data set is `certified`, for every width of at
        least d_h."""
        return self.certified == self.upper

    def claims(self) -> tuple[Claim, Claim]:
        """What is proved from below and what is argued from above, each at its own level."""
        s, kind = self.setting, "one shared context" if self.setting.shared else "distinct contexts"
        below = Claim(
            ids.CAPACITY_CERTIFIED,
            f"Some keys and queries of {counted(s.heads, 'head')} of width {s.head_width} serve "
            f"every labelling of the first {counted(self.certified, 'example')} "
            f"(n = {s.context}, d = {s.width}, {kind}).",
            Level.PROVED,
            numbers={"T": self.certified, "prime": self.prime, "draw": self.draw, "seed": s.seed},
            arithmetic=f"features and rank mod {self.prime}; the rank over ℚ is at least that",
            source="ours; verify/capacity/sweeps.py",
        )
        above = Claim(
            ids.CAPACITY_UPPER,
            f"No weights of {counted(s.heads, 'head')}, of any width, memorize more than "
            f"{self.upper} of these examples universally.",
            Level.ARGUED,
            numbers={"bound": self.upper, "H d": s.heads * s.width, "met": self.met},
            arithmetic="dimensions of the contexts exact over ℚ",
            source="ours; docs/tightness.md",
        )
        return below, above

    def as_dict(self) -> dict[str, Any]:
        """JSON-able, with the curves of the theorems."""
        curves = {"paper": self.setting.paper, "width_one": self.setting.width_one}
        return asdict(self) | {"met": self.met, "curves": curves}


@dataclass(frozen=True)
class SweepSettings:
    """The base setting and the values that each axis takes while the others stay there.

    build: also run the constructions. Raises InputError for values that no setting may have.
    """

    base: Setting = Setting(heads=6, context=8, head_width=4, width=16, shared=False)
    heads: tuple[int, ...] = (1, 2, 3, 4, 6, 8, 10, 12)
    context: tuple[int, ...] = (1, 2, 3, 4, 6, 8, 10, 12)
    head_width: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 8, 10, 12)
    build: bool = True

    def __post_init__(self) -> None:
        for axis in AXES:
            if not getattr(self, axis):
                raise InputError(axis, "one or more values", "none")
            for _ in self.along(axis, self.base.shared):
                pass  # each Setting checks itself

    @classmethod
    def quick(cls, seed: int = 0) -> SweepSettings:
        """A few seconds' worth."""
        base = Setting(heads=3, context=4, head_width=2, width=8, shared=False, seed=seed)
        return cls(base, (1, 2, 3, 4), (1, 2, 3, 4, 6), (1, 2, 3, 4, 5))

    def along(self, axis: str, shared: bool) -> Iterator[Setting]:
        for value in getattr(self, axis):
            yield replace(self.base, shared=shared, **{axis: value})


@dataclass(frozen=True)
class Capacity:
    """A finished sweep: settings -> point; `along` lists those of one axis in order.

    costs: every construction on as many examples as width one is promised, as H grows.
    """

    settings: SweepSettings
    points: dict[Setting, Point]
    costs: tuple[Cost, ...] = ()

    def along(self, axis: str, shared: bool) -> list[Point]:
        return [self.points[s] for s in self.settings.along(axis, shared)]

    @cached_property
    def open(self) -> tuple[Setting, ...]:
        """Settings where the two bounds do not meet."""
        return tuple(s for s, point in self.points.items() if not point.met)

    @property
    def unbuilt(self) -> tuple[tuple[Setting, Built], ...]:
        """Constructions whose promised rank was not certified (none is expected)."""
        return tuple(
            (s, b) for s, point in self.points.items() for b in point.built if b.rank < b.examples
        )


def sweep(
    settings: SweepSettings | None = None,
    progress: StageProgress = silent,
) -> Capacity:
    """Every setting of every axis, shared and distinct contexts, once. Deterministic.

    >>> base = Setting(heads=2, context=3, head_width=1, width=4, shared=False)
    >>> found = sweep(SweepSettings(base, heads=(1, 2), context=(3,), head_width=(1, 2)))
    >>> [(p.setting.head_width, p.certified, p.upper) for p in found.along("head_width", True)]
    [(1, 5, 5), (2, 5, 5)]
    """
    settings = settings or SweepSettings()
    every = dict.fromkeys(
        s for axis in AXES for shared in (True, False) for s in settings.along(axis, shared)
    )
    points: dict[Setting, Point] = {}
    for done, setting in enumerate(every):
        progress("capacity", done, len(every))
        points[setting] = certify(setting, build=settings.build)
    return Capacity(settings, points, tuple(_costs(settings)) if settings.build else ())


def _costs(settings: SweepSettings) -> Iterator[Cost]:
    for shared in (True, False):
        for setting in settings.along("heads", shared):
            yield from costs(examples_of(setting).take(setting.width_one), setting.seed)


def certify(setting: Setting, *, build: bool = False) -> Point:
    """The largest T that some draw of the weights certifies, and the bound from above.

    >>> point = certify(Setting(heads=3, context=3, head_width=1, width=5, shared=False))
    >>> point.certified, point.upper, point.setting.width_one, point.setting.paper
    (15, 15, 7, 1)
    """
    data = examples_of(setting)
    upper = min(bound_of(data, setting.heads), setting.heads * setting.width)
    rng = np.random.default_rng(setting.seed)
    best = (0, 0, 0, 0)
    for draw in range(DRAWS):
        bound = BOUNDS[draw % len(BOUNDS)]
        layer = random_layer(data, setting.heads, setting.head_width, bound, rng)
        length, prime = independent_prefix(data, layer)
        if length > best[0]:
            best = length, prime, draw + 1, bound
        if length == upper:
            break
    certified, prime, draws, bound = best
    count = parameter_count(setting.width, 1, setting.heads, setting.head_width, 1)
    built = tuple(_constructions(setting, data)) if build else ()
    return Point(setting, certified, prime, draws, bound, upper, count, built)


def examples_of(setting: Setting) -> Dataset:
    """The data set of a setting: one more example than the layer can serve. Contexts of rank n."""
    columns = (setting.context - 1) * setting.heads + 1 if setting.shared else 0
    count = (columns or setting.heads * setting.width) + 1
    return family(count, setting.context, setting.width, shared=setting.shared, seed=setting.seed)


def independent_prefix(data: Dataset, layer: Layer) -> tuple[int, int]:
    """The longest prefix of the examples whose features are independent mod p, and p.

    The largest over two primes modulo which 2 is primitive: a softmax sum may vanish mod one.
    """
    best = 0, 0
    tables = [features.logits(head, data) for head in layer.heads]
    for matrix, p in features.residues(data, tables, PRIMES_FLOAT64[:2]):
        rows = rank_mod(matrix, p).rows
        length = next((i for i, row in enumerate(rows) if i != row), len(rows))
        best = max(best, (length, p))
        if length == min(data.T, len(layer.heads) * data.d):
            break
    return best


def _constructions(setting: Setting, data: Dataset) -> Iterator[Built]:
    """The paper's on its H(min(n, d_h)-1) + 1 examples; heads of width one on theirs."""
    H, width = setting.heads, setting.head_width
    paper = data.take(setting.paper)
    yield _built(paper, the_paper.build(paper, heads=H, head_width=width, seed=setting.seed))
    # n = 1 has nothing to choose; heads of width one do not depend on d_h and are still built.
    narrow = data.take(setting.width_one)
    yield _built(narrow, of_width_one.build(narrow, heads=H, saturated=True, seed=setting.seed))


def _built(data: Dataset, built: Construction) -> Built:
    claim = conclusions.full_rank(data, built.layer)
    heads, width = len(built.layer.heads), built.head_width
    return Built(
        built.name,
        width,
        data.T,
        claim.numbers["rank"],
        claim.numbers["prime"],
        parameter_count(data.d, 1, heads, width, 1),
    )
