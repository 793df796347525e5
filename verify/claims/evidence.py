"""Claims and their levels of evidence. Sampled or numerical evidence is never called proved."""

from __future__ import annotations

import enum
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from attncert.constructions.brief import in_brief
from attncert.verify.claims.ids import ClaimId

OVER_Q = "exact over ℚ (FLINT)"  # the arithmetic of most claims


class Level(enum.Enum):
    """The level of evidence for a claim; the value is the word for it in reports. The levels are
    defined in docs/architecture.md, under Evidence. Raises ValueError for any other word.

    >>> Level.SAMPLED.holds, Level.SAMPLED < Level.PROVED, Level("refuted").holds
    (True, True, False)
    """

    KERNEL = "kernel"
    PROVED = "proved"
    ENCLOSED = "enclosed"
    ARGUED = "argued"
    SAMPLED = "sampled"
    NUMERICAL = "numerical"
    ASSUMED = "assumed"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    VACUOUS = "vacuous"
    NOT_APPLICABLE = "not applicable"

    @property
    def holds(self) -> bool:
        """Whether other claims may rest on a claim of this level."""
        return self in _HOLDS

    def __lt__(self, other: Level) -> bool:
        """Whether this level is weaker than the other."""
        return _RANK[self] > _RANK[other]


class About(enum.Enum):
    """Which labels a verdict on memorization is about (docs/paper.md, section 1). The first notion
    implies the second, which implies the last two; neither of these implies the other."""

    UNIVERSAL = "universal"  # one choice of key and query weights works for every labelling
    EVERY_LABELLING = "every labelling"  # every labelling is output by some weights
    SOME_LABELLINGS = "some labellings"  # weights of this shape output an open set of labellings
    THESE_LABELS = "these labels"  # some weights output the given labels


_RANK = {level: rank for rank, level in enumerate(Level)}
_FAILS = (Level.REFUTED, Level.UNDECIDED, Level.VACUOUS, Level.NOT_APPLICABLE)
_HOLDS = frozenset(Level) - set(_FAILS)


@dataclass(frozen=True)
class Claim:
    """One statement with its evidence.

    id:         a stable name; dots separate its parts, from general to particular:
                "head.3.selector".
    statement:  the claim in one sentence (LaTeX between dollar signs).
    level:      the level of the claim's own evidence; its standing in a trace also depends on
                `rests_on`.
    numbers:    a few exact or rounded numbers that JSON can hold.
    witness:    data with which anyone can check the verdict; every refuted claim has one.
    arithmetic: the arithmetic of the check, such as "exact over ℚ (FLINT)".
    rests_on:   the ids of the claims that it uses.
    source:     the paper, theorem and step; or "ours" and the place of the argument.
    uses:       the hypotheses of the theorem that the step needs, each with the strength needed.
    about:      for a claim about all weights, the sense in which no weights memorize the labels if
                the claim is refuted. None for every other claim. `answer.json` omits it, since the
                id implies it.
    seconds:    the time that the check took; it is neither reported nor compared.

    Source: docs/architecture.md, Evidence.

    >>> Claim("parity", "The features are the identity modulo 2", Level.PROVED)
    Claim('parity', 'proved', 'The features are the identity modulo 2')
    """

    id: ClaimId
    statement: str
    level: Level
    numbers: Mapping[str, Any] = field(default_factory=dict)
    witness: Mapping[str, Any] | None = None
    arithmetic: str = ""
    rests_on: tuple[ClaimId, ...] = ()
    source: str = ""
    uses: Mapping[str, str] = field(default_factory=dict)
    about: About | None = None
    seconds: float = field(default=0.0, compare=False)

    def __repr__(self) -> str:
        return in_brief(self, self.id, self.level, self.statement)

    @classmethod
    def checked(
        cls,
        claim_id: ClaimId,
        statement: str,
        holds: bool,
        witness: Mapping[str, Any] | Callable[[], Mapping[str, Any]] = dict,
        *,
        failed: Level = Level.REFUTED,
        **rest: Any,
    ) -> Claim:
        """The claim that a check makes: proved if it `holds`, else `failed` with the witness. The
        witness may be given as a function that finds it.

        >>> Claim.checked("hypothesis.even", "$n$ is even.", 3 % 2 == 0, {"n": 3}).level
        <Level.REFUTED: 'refuted'>
        """
        if holds:
            return cls(claim_id, statement, Level.PROVED, **rest)
        counterexample = witness() if callable(witness) else witness
        return cls(claim_id, statement, failed, witness=counterexample, **rest)

    @classmethod
    def together(
        cls, claim_id: ClaimId, statement: str, parts: Sequence[Claim], **rest: Any
    ) -> Claim:
        """The claim that all parts hold. If a part is refuted, so is the claim, with the part's
        witness. Otherwise it is undecided if a part is, and else as weak as the weakest part.

        >>> parts = Claim("a", "A.", Level.PROVED), Claim("b", "B.", Level.REFUTED)
        >>> Claim.together("c", "A and B.", parts)
        Claim('c', 'refuted', 'A and B.')
        """
        worst = min(parts, key=lambda part: (part.level is not Level.REFUTED, part.level.holds))
        if worst.level.holds:
            on = tuple(part.id for part in parts)
            weakest = min(part.level for part in parts)
            return cls(claim_id, statement, weakest, rests_on=on, **rest)
        level = Level.REFUTED if worst.level is Level.REFUTED else Level.UNDECIDED
        witness = dict(worst.witness or {})
        why = f": {witness['reason']}" if "reason" in witness else ""
        witness["reason"] = f"this fails: {worst.statement.removesuffix('.')}{why}"
        return cls(claim_id, statement, level, witness=witness, **rest)

    def excludes(self, labels: About) -> bool:
        """Whether this claim shows that no weights memorize the examples in this sense."""
        return self.about is labels and self.level is Level.REFUTED

    def timed(self, seconds: float) -> Claim:
        return replace(self, seconds=seconds)

    def as_dict(self) -> dict[str, Any]:
        """The JSON form for `answer.json`, without the time."""
        names = [x.name for x in fields(self) if x.name not in ("about", "seconds")]
        content = {name: getattr(self, name) for name in names}
        return content | {"level": self.level.value, "rests_on": list(self.rests_on)}


def timed(check: Callable[[], Claim]) -> Claim:
    """Run a check and return its claim with the time taken."""
    start = time.perf_counter()
    return check().timed(time.perf_counter() - start)
