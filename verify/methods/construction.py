"""What a construction is: one record, from which proof, report, attack and rules derive."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from attncert.constructions.brief import in_brief
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.blocks import Attention, Block
from attncert.constructions.network.network import Network
from attncert.verify.methods.goals import Exact, Goal
from attncert.verify.methods.layer_theorem import LayerTheorem
from attncert.verify.methods.record import require_record
from attncert.verify.methods.request import Request
from attncert.verify.methods.statements import Hypothesis, Step

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
        """Raises InputError for a record that is not as it must be, and names the field."""
        require_record(self)

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
