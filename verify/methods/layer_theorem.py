"""What a theorem about one layer of attention says beside its hypotheses and steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from attncert.constructions.construction import Bound, BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.proof import Voice


@dataclass(frozen=True)
class LayerTheorem:
    """The theorem of a construction of one layer, whose values are solved for.

    bound:   how many examples it places, None if it does not say. width: the default d_h for n
             tokens.
    follows: what the finished weights show beside the answer; may rest on any claim before it.
    remarks: what a reader should know about these weights, by name.
    voice:   a report's words.
    owes:    for `attack`: whether the theorem places these data with enough heads, decided by other
             code than the builder's. None: it does if all hypotheses hold.
    """

    bound: Bound | None = None
    width: Callable[[int], int] = lambda n: 1
    follows: Callable[[Dataset, BuiltLayer], Iterable[Claim]] = lambda data, built: ()
    remarks: Callable[[Dataset, BuiltLayer], Mapping[str, str]] = lambda data, built: {}
    voice: Voice = field(default_factory=Voice)
    owes: Callable[[Dataset], bool] | None = None

    def r(self, data: Dataset, head_width: int) -> int:
        """r of the bound, for these data; n if there is no bound."""
        return data.n if self.bound is None else self.bound.strength(data.n, head_width)

    def places(self, heads: int | None, r: int) -> int | None:
        """How many examples the theorem places with these heads, if it says so."""
        return self.bound.places(heads, r) if self.bound and heads else None
