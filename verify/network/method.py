"""What a construction of a network is: one record, from which proof, report and attack derive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from attncert.constructions.brief import in_brief
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.network import Network
from attncert.verify.claims.evidence import Claim


class Built(Protocol):
    """A network, with whatever was chosen on the way."""

    @property
    def network(self) -> Network: ...


@dataclass(frozen=True)
class Part:
    """So many blocks in a row, and what they are for: a sentence."""

    blocks: int
    purpose: str


@dataclass(frozen=True)
class NetworkMethod:
    """One construction of a network that outputs the labels.

    name:    on the command line. title: in a report. theorem: what it is after, with its authors.
    source:  where the proof stands.
    build:   the network for data and a seed. Raises HypothesisFails, with two equal inputs that
             have different labels, or undecided.
    steps:   the steps of the proof, checked on the finished network: claims "network.<step>".
    parts:   what the blocks are for, in order.
    retrieves: whether it is about the queries, as patterns, and not about labels.

    >>> from attncert.verify.methods.registry import method
    >>> method("relu")
    NetworkMethod('relu', source='constructions/network/relu.py')
    """

    name: str
    title: str
    theorem: str
    source: str
    build: Callable[[Dataset, int], Built]
    steps: Callable[[Dataset, Any], Iterable[Claim]]
    parts: Callable[[Any], Sequence[Part]]
    retrieves: bool = False

    def __repr__(self) -> str:
        return in_brief(self, self.name, source=self.source)

    @property
    def certificate_name(self) -> str:
        return self.name
