"""What a construction is: one record, from which everything else derives.

`prove`, the settings, the rules of a trace, the words of a report, the attack, the audit and the
command line ask this record; none of them knows a construction by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from attncert.constructions.construction import Bound, Construction
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer
from attncert.constructions.progress import Progress
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.proof import Outline, Voice

if TYPE_CHECKING:
    from attncert.verify.settings import Settings

Build = Callable[[Dataset, "Settings", Progress], Construction]


class HeadClaims(Protocol):
    """The steps of the proof, head by head, as claims; with_ranks: the rank after every head."""

    def __call__(
        self, data: Dataset, construction: Construction, *, with_ranks: bool
    ) -> Iterator[Claim]: ...


@dataclass(frozen=True)
class Attack:
    """How a search for failures runs the construction.

    build:     key and query weights for data, H, d_h, and one choice between two variants.
    width_one: whether every case has d_h = 1.
    promises:  whether the theorem promises to place these data (H, d_h); those of the search always
               meet A2, T ≤ H(r-1)+1 with r = min(n, d_h) (width one: n), and A1 or the partition
               condition.
    """

    build: Callable[[Dataset, int, int, bool], Layer]
    width_one: bool = True
    promises: Callable[[Dataset, int, int], bool] = lambda data, heads, head_width: True


def _nothing(data: Dataset, construction: Construction) -> list[Claim]:
    return []


def _no_remarks(data: Dataset, construction: Construction) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True)
class Method:
    """One construction.

    name:        on the command line. certificate: its name in certificates (None: the same).
    aliases:     further names that the command line takes.
    theorem:     what it is the proof of. source: where that is written.
    build:       key and query weights from data and settings. Raises HypothesisFails.
    head_claims: the steps of the proof, checked on what was built. outline: the steps that every
                 trace must hold, and the hypotheses of the theorem.
    bound:       the theorem's capacity. width: the default d_h for n tokens. only_width: the one
                 d_h that there is, or None.
    uses_a1_a2:  whether the proof uses Assumptions 1 and 2.
    follows:     what the finished weights show beside the answer; may rest on any claim before it.
    remarks:     what a reader should know about the weights that were found, by name.
    strength:    names of the steps that place a group and that give it its logits, for the count of
                 how strongly each hypothesis is used; None where no step uses one.
    voice:       a report's words. attack: how to search for failures; None where nothing promises.
    """

    name: str
    theorem: str
    source: str
    build: Build
    head_claims: HeadClaims
    outline: Outline
    voice: Voice
    certificate: str | None = None
    aliases: tuple[str, ...] = ()
    bound: Bound = field(default_factory=Bound)
    width: Callable[[int], int] = lambda n: 1
    only_width: int | None = None
    uses_a1_a2: bool = False
    follows: Callable[[Dataset, Construction], list[Claim]] = _nothing
    remarks: Callable[[Dataset, Construction], Mapping[str, str]] = _no_remarks
    strength: tuple[str, str] | None = None
    attack: Attack | None = None

    @property
    def certificate_name(self) -> str:
        return self.certificate or self.name

    def r(self, data: Dataset, head_width: int) -> int:
        """r of the bound, for these data."""
        return self.bound.strength(data.n, head_width)
