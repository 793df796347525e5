"""What a construction is: one record, from which proof, report, attack and rules derive."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import networkx as nx

from attncert.constructions.brief import in_brief
from attncert.constructions.construction import Bound, BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.network.blocks import Attention, Block
from attncert.constructions.network.network import Network
from attncert.constructions.progress import Progress, StageProgress, silent
from attncert.verify.claims.evidence import Claim
from attncert.verify.methods.goals import Exact, Goal
from attncert.verify.methods.statements import Hypothesis, Step

_NAME = re.compile("[a-z][a-z0-9]*(-[a-z0-9]+)*")
_STATEMENT = re.compile("[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*")


@dataclass(frozen=True)
class Request:
    """What a construction is asked to build: all that it may read beside the data.

    heads: H, None for the construction's default. head_width: d_h. value_width: d_v. saturation:
    bits to which every head is to saturate, only if the construction takes the option. beta: of a
    retrieval. seed: of its random searches. progress: to be called as progress(done, of). Source:
    docs/constructions.md.

    >>> from attncert import Request
    >>> Request(heads=3).head_width
    1
    """

    heads: int | None = None
    head_width: int = 1
    value_width: int = 1
    saturation: int | None = None
    beta: Fraction | None = None
    seed: int = 0
    progress: Progress = field(default=silent, compare=False)


@dataclass(frozen=True)
class LayerTheorem:
    """The theorem of a construction of one layer, whose values are solved for.

    bound:   how many examples it places, None if it does not say. width: the default d_h for n
             tokens.
    follows: what the finished weights show beside the answer; may rest on any claim before it.
    heads:   in a report, the paragraph above the table of heads.
    owes:    for `attack`: whether the theorem places these data with enough heads, decided by other
             code than the builder's. None: it does if all hypotheses hold.
    """

    bound: Bound | None = None
    width: Callable[[int], int] = lambda n: 1
    follows: Callable[[Dataset, BuiltLayer], Iterable[Claim]] = lambda data, built: ()
    heads: str = "Groups list the examples that a head places."
    owes: Callable[[Dataset], bool] | None = None

    def r(self, data: Dataset, head_width: int) -> int:
        """r of the bound, for these data; n if there is no bound."""
        return data.n if self.bound is None else self.bound.strength(data.n, head_width)

    def places(self, heads: int | None, r: int) -> int | None:
        """How many examples the theorem places with these heads, if it says so."""
        return self.bound.places(heads, r) if self.bound and heads else None


Build = Callable[[Dataset, Request], Any]


@dataclass(frozen=True)
class Sizes:
    """What a promise is a formula in: T examples of n tokens of width d, labels of m numbers, H
    heads in all blocks together; built: what the builder returned.

    Source: docs/constructions.md.

    >>> Sizes(T=3, n=2, d=2, m=1, H=4).H
    4
    """

    T: int
    n: int
    d: int
    m: int
    H: int
    built: Any = None

    @classmethod
    def of(cls, data: Dataset, network: Network, built: Any) -> Sizes:
        return cls(data.T, data.n, data.d, data.m, heads_of(network), built)


def heads_of(network: Network) -> int:
    """How many heads all blocks have together."""
    return sum(len(block.heads) for block in network.blocks if isinstance(block, Attention))


Promise = Callable[[Sizes], int]


@dataclass(frozen=True)
class Construction:
    """One construction: what it builds, what its proof says, and what is claimed of the result.

    name:       on the command line and in certificates: lower case, words joined by hyphens.
    build:      the network for data and a `Request`, as a `Network` or as an object with an
                attribute `network` beside whatever was chosen on the way. Raises HypothesisFails if
                the theorem does not apply.
    title:      in a report. theorem: what it is the proof of. source: where the proof stands.
    hypotheses: statements about the data, by name.
    steps:      statements about what was built, by name, in the order of the proof.
    promises:   formulas by name. "parameters", "blocks", "heads" and "units" are at most that many;
                "examples" is the number that the theorem places. Each becomes a claim.
    claims:     what the finished network is claimed to do: `Exact`, `Within`, `Nearest`, each once.
                The first is the conclusion.
    options:    those of `prove` that it takes, beside the limits and the seed.
    purposes:   what the blocks are for, in order: (how many of them, purpose); None: all that the
                others leave.
    subject:    the data as the construction sees them, if it changes them.
    adapt:      changes small random data, for `attack`, so that they meet a hypothesis that chance
                rarely meets.
    layer:      what a theorem about one layer of attention says beside this; or None.
    Source: docs/constructions.md.

    >>> from attncert.verify.methods.registry import method
    >>> method("relu")
    Construction('relu', source='constructions/network/relu.py')
    """

    name: str
    build: Build
    title: str = ""
    theorem: str = ""
    source: str = ""
    hypotheses: Mapping[str, Hypothesis] = field(default_factory=dict)
    steps: Mapping[str, Step] = field(default_factory=dict)
    promises: Mapping[str, Promise] = field(default_factory=dict)
    claims: Sequence[Goal] = (Exact(),)
    options: Sequence[str] = ("round", "before")
    purposes: Sequence[tuple[int | None, str]] = ()
    subject: Callable[[Dataset, Request], Dataset] = lambda data, request: data.expanded()
    adapt: Callable[[Dataset], Dataset] = lambda data: data
    layer: LayerTheorem | None = None

    def __post_init__(self) -> None:
        """Raises InputError for the first field that is not as it must be, and names it."""
        for part, must, got in _faults(self):
            raise InputError(f"construction: {part}", must, got)

    def __repr__(self) -> str:
        return in_brief(self, self.name, source=self.source)

    @property
    def assumes_a1_a2(self) -> bool:
        """Whether a step rests on Assumption 2; these use Assumption 1 as well."""
        return any("A2" in step.rests_on for step in self.steps.values())

    def purposes_of(self, network: Network) -> Iterator[tuple[Sequence[Block], str]]:
        """The blocks that serve each purpose; those of which none is said serve "" each."""
        counts = [count for count, _ in self.purposes]
        left = network.depth - sum(count or 0 for count in counts)
        start = 0
        for count, purpose in self.purposes:
            some = network.blocks[start : start + (left if count is None else count)]
            start += len(some)
            if some:
                yield some, purpose
        yield from (((block,), "") for block in network.blocks[start:])


@dataclass(frozen=True)
class Task:
    """A construction, and what it is asked to build. data: as the construction sees them. progress:
    called as progress(stage, done, of)."""

    data: Dataset
    construction: Construction
    request: Request
    progress: StageProgress = silent

    @property
    def theorem(self) -> LayerTheorem:
        return self.construction.layer or LayerTheorem()

    @property
    def r(self) -> int:
        return self.theorem.r(self.data, self.request.head_width)


def _faults(construction: Construction) -> Iterator[tuple[str, str, object]]:
    """Field, what it must be, and what it is."""
    for part in ("name", "title", "theorem", "source"):
        text = getattr(construction, part)
        if not isinstance(text, str):
            yield part, "a text", type(text).__name__
    if not _NAME.fullmatch(construction.name):
        yield "name", "in lower case, like my-heads", construction.name
    for part in ("build", "subject", "adapt"):
        if not callable(getattr(construction, part)):
            yield part, "a function", type(getattr(construction, part)).__name__
    for part, kind in (("hypotheses", Hypothesis), ("steps", Step)):
        yield from _statements(part, getattr(construction, part), kind)
    if not isinstance(construction.promises, Mapping):
        yield "promises", "functions by name", type(construction.promises).__name__
    if not construction.claims or not all(hasattr(x, "concluded") for x in construction.claims):
        yield "claims", "one or more, such as Exact()", construction.claims
    elif len({type(claim) for claim in construction.claims}) < len(construction.claims):
        yield "claims", "of different kinds", construction.claims
    yield from _premises(construction.hypotheses, construction.steps)


def _statements(part: str, named: Any, kind: Any) -> Iterator[tuple[str, str, object]]:
    if not isinstance(named, Mapping):
        yield part, f"{kind.__name__} records by name", type(named).__name__
        return
    for name, statement in named.items():
        if not (isinstance(name, str) and _STATEMENT.fullmatch(name)):
            yield part, "named by words joined by hyphens", name
        if not isinstance(statement, kind):
            yield f"{part}: {name}", f"a {kind.__name__}", type(statement).__name__
        elif not (isinstance(statement.sentence, str) and callable(statement.relations)):
            yield f"{part}: {name}", "a sentence and a function", statement.sentence
        elif getattr(statement, "each", "") not in ("", "head", "group", "block"):
            yield f"{part}: {name}: each", "head, group or block", statement.each


def _premises(
    hypotheses: Mapping[str, Hypothesis], steps: Mapping[str, Step]
) -> Iterator[tuple[str, str, object]]:
    """Premises that are neither, a name that is both, and steps that rest on themselves."""
    if both := sorted(set(hypotheses) & set(steps)):
        yield "steps", "named unlike every hypothesis", both[0]
    for name, step in steps.items():
        for premise in step.rests_on:
            if premise not in hypotheses and premise not in steps:
                yield f"steps: {name}: rests_on", "names of hypotheses and steps", premise
    graph = nx.DiGraph((premise, name) for name, step in steps.items() for premise in step.rests_on)
    if not nx.is_directed_acyclic_graph(graph):
        circle = " -> ".join(a for a, _ in nx.find_cycle(graph))
        yield "steps", "such that none rests on itself", circle
