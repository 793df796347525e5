"""Bounds on the Kruskal rank: an interval, with a proof for each end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from attncert.verify.claims.evidence import Level
from attncert.verify.claims.words import counted
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.rational import Relation


class Contradiction(ArithmeticError):
    """Two bounds contradict each other, so one of the proofs, or a record on which it rests, is
    wrong."""


@dataclass(frozen=True, repr=False)
class RankBound:
    """A proved bound: one end of the interval.

    end, value: "lower": any `value` of the vectors are independent; "upper": some `value` + 1 of
                the vectors are dependent, or there are only `value` vectors.
    method:     the name of the method in reports, one or two words.
    statement:  the proof in one sentence.
    level:      proved (exact), enclosed (balls), or assumed.
    dependency: the witness of an upper bound, if there is one: `value` + 1 dependent vectors.
    numbers:    figures from the method, as values that JSON can hold.
    assumed: the unverified records on which the bound rests, in one sentence; "" if there are none.
    """

    end: Literal["lower", "upper"]
    value: int
    method: str
    statement: str
    level: Level = Level.PROVED
    dependency: Relation | None = None
    numbers: Mapping[str, Any] = field(default_factory=dict)
    assumed: str = ""

    def as_dict(self) -> dict[str, Any]:
        witness = None if self.dependency is None else self.dependency.as_dict()
        return asdict(self) | {"level": self.level.value, "dependency": witness}


def witnessed(dependency: Relation, method: str, **numbers: Any) -> RankBound:
    s = dependency.size
    what = "One vector is zero" if s == 1 else f"{s} of the vectors are dependent"
    return RankBound("upper", s - 1, method, f"{what}.", dependency=dependency, numbers=numbers)


@dataclass(frozen=True, repr=False)
class Interval:
    """lower.value <= Kruskal rank <= upper.value.

    trail:   every bound that improved an end, in the order in which it was found.
    stopped: why the search ended, in one sentence ("" while it is running).
    """

    lower: RankBound
    upper: RankBound
    trail: tuple[RankBound, ...] = ()
    stopped: str = ""

    @classmethod
    def trivial(cls, vectors: Vectors) -> Interval:
        """0 <= Kruskal rank <= min(N, d).

        >>> start = Interval.trivial(Vectors.of([[1, 2], [2, 4], [0, 1]]))
        >>> start.lower.value, start.upper.value, start.decided, start.answers(2)
        (0, 2, False, None)
        """
        N, d = vectors.N, vectors.d
        if d >= N:
            why = f"No more than {counted(N, 'vector', 'the')}."
        else:
            why = f"More than {counted(d, 'vector')} of width {d} are dependent."
        low = RankBound("lower", 0, "definition", "The empty set is independent.")
        high = RankBound("upper", min(N, d), "definition", why)
        return cls(low, high, (low, high))

    @property
    def decided(self) -> bool:
        """Whether the Kruskal rank is known."""
        return self.lower.value == self.upper.value

    def answers(self, k: int) -> bool | None:
        """Whether every set of k vectors is independent; None if this is not known."""
        if k <= self.lower.value:
            return True
        return False if k > self.upper.value else None

    def line(self) -> str:
        latest = self.trail[-1].method
        return f"{self.lower.value} <= Kruskal rank <= {self.upper.value}   ({latest})"

    def tighten(self, bound: RankBound) -> Interval:
        """The interval with this bound, if the bound improves an end. Raises Contradiction if it
        contradicts the other end.
        """
        lower, upper = self.lower, self.upper
        if bound.end == "lower" and bound.value > lower.value:
            lower = bound
        elif bound.end == "upper" and bound.value < upper.value:
            upper = bound
        else:
            return self
        if lower.value > upper.value:
            raise Contradiction(f"bounds contradict: {lower.as_dict()}, {upper.as_dict()}")
        return replace(self, lower=lower, upper=upper, trail=(*self.trail, bound))
