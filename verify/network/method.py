"""What a construction of a network is: one record, from which proof, report and attack derive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from attncert.constructions.brief import in_brief
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.blocks import Block
from attncert.constructions.network.network import Network
from attncert.verify.claims.evidence import Claim
from attncert.verify.network.growth import Formula


class Built(Protocol):
    """A network, with whatever was chosen on the way."""

    @property
    def network(self) -> Network: ...


Rows = list[list[Any]]  # the queries after a block
Step = Callable[[Dataset, Any, Sequence[Rows]], Claim | None]


@dataclass(frozen=True)
class Part:
    """So many blocks in a row, None: all that the other parts leave; and what they are for. Source:
    docs/constructions.md, "A network of several blocks".

    >>> Part(1, "It reads the labels off.").blocks
    1
    """

    blocks: int | None
    purpose: str


def query_and_tokens(data: Dataset, t: int) -> str:
    """Tokens in order; none, where contexts have different lengths: no row holds them."""
    tokens = [] if data.shared or data.ragged else data.rows(t).strings()
    return repr((data.queries[t].strings(), tokens))


def query_and_frequencies(data: Dataset, t: int) -> str:
    """Each different token with its share of the context."""
    tokens = Counter(map(tuple, data.rows(0 if data.shared else t).strings()))
    shares = sorted((x, Fraction(count, tokens.total())) for x, count in tokens.items())
    return repr((data.queries[t].strings(), shares))


@dataclass(frozen=True)
class NetworkMethod:
    """One construction of a network that outputs the labels. How to write one:
    docs/constructions.md, "A network of several blocks".

    name:    on the command line and in certificates. title: in a report. theorem: what it is after,
             with its authors. source: where the proof stands.
    parts:   what the blocks are for, in order.
    build:   the network for data and a seed. Raises HypothesisFails, with two equal inputs that
             have different labels, or undecided.
    steps:   those of the proof, checked on the finished network: each a claim "network.<step>" of
             the data, what was built, and the queries before the first block and after each, T
             rows; or None, where there is nothing to check.
    retrieves: whether it is about the queries, as patterns, and not about labels.
    sees:    what its networks can see of example t: it may refuse where two examples with different
             labels have the same, and nowhere else.
    growth:  how many parameters T examples need, by formula (verify/network/growth.py); or None.

    >>> from attncert.verify.methods.registry import method
    >>> method("relu")
    NetworkMethod('relu', source='constructions/network/relu.py')
    """

    name: str
    title: str
    theorem: str
    source: str
    parts: Sequence[Part]
    build: Callable[[Dataset, int], Built]
    steps: Sequence[Step] = ()
    retrieves: bool = False
    sees: Callable[[Dataset, int], object] = query_and_tokens
    growth: Formula | None = None

    def __repr__(self) -> str:
        return in_brief(self, self.name, source=self.source)

    @property
    def certificate_name(self) -> str:
        return self.name

    def placed(self, network: Network) -> Iterator[tuple[Sequence[Block], Part]]:
        """Each part that is there, and its blocks."""
        start, left = 0, network.depth - sum(part.blocks or 0 for part in self.parts)
        for part in self.parts:
            count = left if part.blocks is None else part.blocks
            if count:
                yield network.blocks[start : start + count], part
            start += count
