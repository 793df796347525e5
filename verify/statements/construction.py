"""The record of a construction, from which its proof, report, attack and audit are derived."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import networkx as nx

from attncert.constructions.brief import in_brief
from attncert.constructions.construction import BuiltLayer, places
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.network.blocks import Attention, Block
from attncert.constructions.network.network import Network
from attncert.constructions.progress import Progress, StageProgress, silent
from attncert.verify.claims.evidence import Claim
from attncert.verify.sharding.engine import Cluster
from attncert.verify.statements.goals import Exact, Goal
from attncert.verify.statements.statements import Hypothesis, Step

_NAME = re.compile("[a-z][a-z0-9]*(-[a-z0-9]+)*")
_STATEMENT = re.compile("[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*")


@dataclass(frozen=True)
class Request:
    """The options of `prove` that a construction may read.

    heads: H, or None for the construction's default. head_width: d_h. value_width: d_v. saturation:
    the bits to which every head must saturate, if the construction takes this option. beta: the
    parameter β of retrieval. seed: the seed of random searches. progress: a callback progress(done,
    of). Source: docs/constructions.md.

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
    """The theorem behind a construction of one layer, whose values solve linear equations.

    r: the r in H(r-1)+1, the number of examples that the theorem places, in LaTeX; None if that
    number is unknown. strength: gives r for n tokens and head width d_h. follows: further claims
    about the finished weights. owes: for `attack`, whether the theorem covers these data if there
    are enough heads, decided without the builder's code."""

    r: str | None = None
    strength: Callable[[int, int], int] = lambda n, head_width: n
    width: Callable[[int], int] = lambda n: 1
    follows: Callable[[Dataset, BuiltLayer], Iterable[Claim]] = lambda data, built: ()
    heads: str = "Groups list the examples that a head places."
    owes: Callable[[Dataset], bool] | None = None

    def places(self, heads: int | None, r: int) -> int | None:
        """The number of examples that the theorem places with these heads, if it is known."""
        return places(heads, r) if self.r and heads else None

    @property
    def capacity(self) -> str:
        """The number of examples in words, with LaTeX between dollar signs."""
        return f"$H(r-1)+1$ with $r = {self.r}$"


Build = Callable[[Dataset, Request], Any]


def calling(builder: Callable[..., Any], *options: str) -> Build:
    """A `build` that calls the builder with the data and with these options, passed by name."""
    return lambda data, request: builder(data, **{x: getattr(request, x) for x in options})


@dataclass(frozen=True)
class Sizes:
    """The variables of a promise: T examples of n tokens of width d, labels of m numbers, and H
    heads in all blocks together. built: what the builder returned.

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
    return sum(len(block.heads) for block in network.leaves if isinstance(block, Attention))


Promise = Callable[[Sizes], int]
MEASURES: Mapping[str, Callable[[Network], int]] = {
    "parameters": lambda network: network.parameters,
    "blocks": lambda network: network.depth,
    "heads": heads_of,
    "units": lambda network: network.units,
}
"""The numbers of a network that a promise can bound."""
_PROMISED = (*MEASURES, "examples")


@dataclass(frozen=True)
class Construction:
    """A construction: how its network is built, the statements of its proof, and its claims.

    name: lower-case words joined by hyphens, for the command line and certificates. build: a
    function of data and a `Request` that returns a `Network`, or an object with an attribute
    `network`; it raises HypothesisFails if the theorem does not apply. title, theorem, source: for
    reports. hypotheses, steps: statements by name, about the data and about what was built.

    promises: formulas by name. They bound "parameters", "blocks", "heads" and "units", or give the
    number of "examples" that the theorem places. claims: `Exact`, `Within`, `Nearest`, `Generates`,
    each at most once; the first, which must not be `Generates`, is the conclusion. options: the
    options of `prove` that the construction takes besides device and seed. purposes: pairs (number
    of blocks, purpose) in order; None means all remaining blocks.

    subject: returns the data as the construction sees them. adapt: changes small random data for
    `attack`, so that they meet a hypothesis that random data rarely meet. layer: the rest of the
    theorem, if the construction is one layer of attention. Source: docs/constructions.md.

    >>> from attncert.verify.statements.registry import method
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
        """Raises InputError for the first fault, with the name of its field."""
        for part, must, got in _faults(self):
            named = f"construction {self.name}" if part != "name" else "construction"
            raise InputError(f"{named}: {part}", must, got)

    def __repr__(self) -> str:
        return in_brief(self, self.name, source=self.source)

    @property
    def heading(self) -> str:
        """The title, or the name if there is none."""
        return self.title or self.name

    @property
    def assumes_a1_a2(self) -> bool:
        """Whether a step rests on Assumption 2; such constructions use Assumption 1 as well."""
        return any("A2" in step.rests_on for step in self.steps.values())

    def purposes_of(self, network: Network) -> Iterator[tuple[Sequence[Block], str]]:
        """The blocks that serve each purpose. Any further block has the purpose ""."""
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
    """A construction with its data and options. data: the data as the construction sees them.
    progress: a callback progress(stage, done, of). cluster: used for domains and
    large ranks."""

    data: Dataset
    construction: Construction
    request: Request
    progress: StageProgress = silent
    cluster: Cluster | None = None

    @property
    def theorem(self) -> LayerTheorem:
        return self.construction.layer or LayerTheorem()

    @property
    def r(self) -> int:
        return self.theorem.strength(self.data.n, self.request.head_width)


def _faults(construction: Any) -> Iterator[tuple[str, str, object]]:
    """All faults, each as the field's name, what the field must be, and its value."""
    if not (isinstance(construction.name, str) and _NAME.fullmatch(construction.name)):
        yield "name", "in lower case, like my-heads", construction.name
    if not callable(construction.build):
        yield "build", "a function", type(construction.build).__name__
    yield from _statements("hypotheses", construction.hypotheses, Hypothesis)
    yield from _statements("steps", construction.steps, Step)
    if isinstance(construction.options, str):
        yield "options", f"a tuple, ({construction.options!r},)", "a string"
    if not construction.claims or not all(hasattr(x, "concluded") for x in construction.claims):
        yield "claims", "one or more, such as Exact()", repr(construction.claims)
    elif getattr(construction.claims[0], "of_domain", False):
        yield "claims", "led by one about the examples, such as Nearest()", construction.claims[0]
    elif len({type(claim) for claim in construction.claims}) < len(construction.claims):
        yield "claims", "of different kinds", construction.claims
    for claim in construction.claims:
        if unknown := {*getattr(claim, "rests_on", ())} - {*construction.steps}:
            yield "claims: rests_on", "names of steps", min(unknown)
    if not isinstance(construction.promises, Mapping):
        yield "promises", "formulas by name", type(construction.promises).__name__
    elif other := [name for name in construction.promises if name not in _PROMISED]:
        yield "promises", f"of {', '.join(_PROMISED)}", other[0]
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
        elif not isinstance(statement.sentence, str):
            yield f"{part}: {name}: sentence", "a string", type(statement.sentence).__name__
        elif not callable(statement.relations):
            kind = type(statement.relations).__name__
            yield f"{part}: {name}: relations", "a function", kind
        elif isinstance(statement.where, str):
            yield f"{part}: {name}: where", f"a tuple, ({statement.where!r},)", "a string"
        elif getattr(statement, "each", "") not in ("", "head", "group", "block"):
            yield f"{part}: {name}: each", "head, group or block", statement.each


def _premises(
    hypotheses: Mapping[str, Hypothesis], steps: Mapping[str, Step]
) -> Iterator[tuple[str, str, object]]:
    """Faults of premises: unknown or circular premises, and steps named like a hypothesis."""
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
