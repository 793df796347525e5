"""Evidence: how strongly a claim is known, and the record that carries it.

Levels, strongest first. A claim's wording never goes above its level: sampled or numerical
evidence is never called proved.
"""

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
    """How a claim is known; the value is the word that reports use. What each means stands in
    docs/architecture.md, under Evidence. Raises ValueError for any other word.

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
        """Whether the claim may be used, at this level, by what rests on it."""
        return self in _HOLDS

    def __lt__(self, other: Level) -> bool:
        """Weaker than."""
        return _RANK[self] > _RANK[other]


class About(enum.Enum):
    """The labels that a verdict on memorization speaks of (docs/paper.md, section 1). The first
    notion implies the second, which implies the last two; of these neither implies the other."""

    UNIVERSAL = "universal"  # one choice of key and query weights serves every labelling
    EVERY_LABELLING = "every labelling"  # for each labelling there are some weights
    SOME_LABELLINGS = "some labellings"  # those that some weights output contain an open set
    THESE_LABELS = "these labels"  # there are weights for the given labels


_RANK = {level: rank for rank, level in enumerate(Level)}
_FAILS = (Level.REFUTED, Level.UNDECIDED, Level.VACUOUS, Level.NOT_APPLICABLE)
_HOLDS = frozenset(Level) - set(_FAILS)


@dataclass(frozen=True)
class Claim:
    """One statement with its evidence.

    id:         stable name, dots from general to particular, e.g. "head.3.selector".
    statement:  what is claimed, one sentence (LaTeX between dollar signs).
    level:      how it is known *on its own*; its standing in a trace also depends on `rests_on`.
    numbers:    small exact or rounded figures, JSON-able.
    witness:    data that anyone can check the verdict with (for refuted claims always).
    arithmetic: what computed it, e.g. "exact over ℚ (FLINT)".
    rests_on:   ids of the claims that this one really uses.
    source:     paper, theorem, step; or "ours" with the place of the argument.
    uses:       hypotheses of the theorem that the step needs, each at the strength it needs.
    about:      for a verdict on all weights: where it is refuted, none memorize these labels in
                this sense. None for every other claim. Kept out of `answer.json`, where the id says
                it.
    seconds:    time taken; kept out of reports and of equality.
    What each level means: docs/architecture.md, under Evidence.

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
        """What a check decided: proved where it `holds`, else `failed`, with the witness (or a
        function that finds it).

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
        """That all of them hold: refuted where one is, by its witness; else undecided where one is
        open; else as strong as the weakest, on which it rests.

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
        """Whether no weights memorize the examples in this sense, by what this verdict shows."""
        return self.about is labels and self.level is Level.REFUTED

    def timed(self, seconds: float) -> Claim:
        return replace(self, seconds=seconds)

    def as_dict(self) -> dict[str, Any]:
        """JSON-able form for `answer.json`, without the time."""
        names = [x.name for x in fields(self) if x.name not in ("about", "seconds")]
        content = {name: getattr(self, name) for name in names}
        return content | {"level": self.level.value, "rests_on": list(self.rests_on)}


def timed(check: Callable[[], Claim]) -> Claim:
    """Run a check and note its time."""
    start = time.perf_counter()
    claim = check()
    if not isinstance(claim, Claim):
        raise TypeError(f"a check returned a {type(claim).__name__}, and no Claim")
    return claim.timed(time.perf_counter() - start)
