"""What a construction is: one record, from which everything else derives.

`prove`, the rules of a trace, the words of a report, the attack, the audit and the command line use
this record. Only the method of a construction and its steps know it by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from attncert.constructions.brief import in_brief
from attncert.constructions.construction import Bound, Construction
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer
from attncert.constructions.progress import Progress
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.ids import Step
from attncert.verify.claims.proof import Outline, Voice
from attncert.verify.methods.request import Request

Build = Callable[[Dataset, Request, Progress], Construction]


class HeadClaims(Protocol):
    """The steps of the proof, head by head, as claims; with_ranks: the rank after every head."""

    def __call__(
        self, data: Dataset, construction: Construction, *, with_ranks: bool
    ) -> Iterator[Claim]: ...


@dataclass(frozen=True)
class Target:
    """How a search for failures runs the construction.

    build:     key and query weights for data, H, d_h, and one choice between two variants.
    width_one: whether every case has d_h = 1.
    promises:  whether the theorem promises to place these data with as many heads as it takes.
               None: what the search decides by itself, A2 and A1 or the partition condition;
               T ≤ H(r-1)+1 with r = min(n, d_h) (width one: n) in every case.
    adapt:     changes a drawn case (`verify.attack.cases.Case`) so that it meets a hypothesis
               that chance rarely meets.
    """

    build: Callable[[Dataset, int, int, bool], Layer]
    width_one: bool = True
    promises: Callable[[Dataset], bool] | None = None
    adapt: Callable[[Any], Any] = lambda case: case


@dataclass(frozen=True)
class Method:
    """One construction. How to write one: docs/constructions.md.

    name:        on the command line. certificate: its name in certificates (None: the same), which
                 the command line takes, too.
    theorem:     what it is the proof of, "" for no theorem. source: where that is written.
    build:       key and query weights from data and a request. Raises HypothesisFails.
    steps:       of the proof, checked on what was built. outline: the steps that every trace must
                 hold, and the hypotheses of the theorem.
    hypotheses:  claims of those that are its own, "hypothesis.<name>"; A1, A2, context-size and
                 capacity need only be named in the outline.
    bound:       the theorem's capacity, None where it names none. width: the default d_h for n
                 tokens. only_width: the one d_h that there is, or None.
    saturates:   examples that its heads can saturate on demand: none (""), the earlier ones
                 ("earlier"), their own group's too ("own").
    uses_a1_a2:  whether the proof uses Assumptions 1 and 2.
    follows:     what the finished weights show beside the answer; may rest on any claim before it.
    remarks:     what a reader should know about these weights, by name.
    strength:    names of the steps that place a group and that give it its logits, for the count of
                 how strongly each hypothesis is used; None where no step uses one.
    voice:       a report's words. attack: how to search for failures; None where nothing promises.

    >>> from attncert.verify.methods.registry import method
    >>> method("paper")
    Method('paper', theorem='Theorem 1', source='paper, Theorem 1')
    """

    name: str
    theorem: str
    source: str
    build: Build
    steps: HeadClaims
    outline: Outline
    voice: Voice = field(default_factory=Voice)
    certificate: str | None = None
    hypotheses: Callable[[Dataset, Request], Iterable[Claim]] = lambda data, request: ()
    bound: Bound | None = None
    width: Callable[[int], int] = lambda n: 1
    only_width: int | None = None
    saturates: Literal["", "earlier", "own"] = ""
    uses_a1_a2: bool = False
    follows: Callable[[Dataset, Construction], Iterable[Claim]] = lambda data, built: ()
    remarks: Callable[[Dataset, Construction], Mapping[str, str]] = lambda data, built: {}
    strength: tuple[Step, Step] | None = None
    attack: Target | None = None

    def __repr__(self) -> str:
        return in_brief(self, self.name, theorem=self.theorem, source=self.source)

    @property
    def certificate_name(self) -> str:
        return self.certificate or self.name

    @property
    def title(self) -> str:
        return self.voice.title or self.name

    def r(self, data: Dataset, head_width: int) -> int:
        """r of the bound, for these data; n where there is no bound."""
        return data.n if self.bound is None else self.bound.strength(data.n, head_width)

    def head_width(self, data: Dataset, width: int | None) -> int:
        """d_h for these data."""
        return width or self.only_width or self.width(data.n)

    def places(self, heads: int | None, r: int) -> int | None:
        """How many examples the theorem places with these heads, where it says."""
        return self.bound.places(heads, r) if self.bound and heads else None
