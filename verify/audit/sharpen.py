"""The purpose of each hypothesis: data on which only it is false, and the first statement that
fails on them.

Small data are drawn as for an attack, adapted by the construction, and then slightly changed, since
adapted data satisfy every hypothesis. If exactly one hypothesis is false, the construction builds a
network. The first step, promise or claim that is refuted shows the purpose of the hypothesis, and
the data are shrunk. If nothing fails, only the number of data sets tried is reported: a hypothesis
is never shown to be unnecessary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from attncert.constructions.errors import InputError
from attncert.constructions.progress import StageProgress
from attncert.verify.audit.attack import networks
from attncert.verify.audit.attack.networks import NetworkCase
from attncert.verify.audit.attack.search import shrink, smaller
from attncert.verify.claims import ids
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.prove.prove import prove
from attncert.verify.questions.prove import Prove
from attncert.verify.statements.construction import Construction
from attncert.verify.statements.judged import levels_of_hypotheses
from attncert.verify.statements.known import CAPACITY, PARTITION

DRAWN, QUICK_DRAWN = 200, 40  # the number of cases
_SPOILT = 4  # the number of changed versions of each case
_OWN = ("step", "head", "group", "block", "promise", "claimed")  # id prefixes of statements
_OPEN = "the builder refuses, or a statement stays undecided"


@dataclass
class Sharpened:
    """The result for one hypothesis. tried: the number of data sets on which only this hypothesis
    is false. open: how many of them decide nothing. broken: the first failure on the smallest data.
    level: the level of the result."""

    construction: Construction
    hypothesis: str
    tried: int = 0
    open: int = 0
    broken: Claim | None = None
    smallest: NetworkCase | None = None
    level: Level = Level.UNDECIDED

    @property
    def used(self) -> str:
        steps = self.construction.steps.items()
        return ", ".join(name for name, step in steps if self.hypothesis in step.rests_on)

    @property
    def words(self) -> str:
        if self.broken is not None:
            return f"{self.broken.id} breaks"
        if not self.tried:
            return "no data set was found on which it alone is false"
        if self.open == self.tried:
            return f"on {counted(self.tried, 'data set', 'all')} tried {_OPEN}"
        rest = f"; on {self.open} more {_OPEN}" if self.open else ""
        return f"not needed on {counted(self.tried - self.open, 'data set')} tried{rest}"

    def claim(self) -> Claim:
        """The claim: its level is that of a counterexample, if there is one, else sampled;
        undecided without data."""
        witness = None if self.tried else {"reason": self.words}
        if self.broken is not None and self.smallest is not None:
            shown = self.broken.witness or {}
            reason = shown.get("relation") or shown.get("reason") or self.broken.statement
            reason = f"{self.broken.id} is refuted: {reason}"
            witness = {"reason": reason} | self.smallest.as_dict()
        name, hypothesis = self.construction.name, self.hypothesis
        return Claim(
            ids.sharpened(name, hypothesis),
            f"If {hypothesis} alone of the hypotheses of {name} is false: {self.words}.",
            self.level,
            {"tried": self.tried, "open": self.open},
            witness,
            arithmetic="small data; in each case, the arithmetic of `prove`",
            source="ours; verify/audit/sharpen.py",
        )


def sharpen(
    construction: Construction, quick: bool, seed: int, progress: StageProgress
) -> list[Sharpened]:
    """Test each hypothesis until something fails. Raises InputError for an error in `adapt`."""
    found = {
        name: Sharpened(construction, name)
        for name, hypothesis in construction.hypotheses.items()
        if hypothesis not in (PARTITION, CAPACITY)  # these are about groups, not data
    }
    cases = QUICK_DRAWN if quick else DRAWN
    for number in range(cases if found else 0):
        progress(f"hypotheses of {construction.name}", number, cases)
        for case in _spoilt(construction, seed, number):
            one = found.get(_false_alone(construction, case))
            if one is not None and one.broken is None:
                _try(one, case)
    return [*found.values()]


def _try(one: Sharpened, case: NetworkCase) -> None:
    """Build for this case; if something fails, shrink the case."""
    construction = one.construction

    def broken(less: NetworkCase) -> Claim | None:
        same = _false_alone(construction, less) == one.hypothesis
        return _broken(_said(_proof(construction, less))) if same else None

    said = _said(_proof(construction, case))
    one.tried, one.level = one.tried + 1, Level.SAMPLED
    if _broken(said):
        one.smallest = shrink(case, lambda x: broken(x) is not None, partial(_less, construction))
        one.broken = known = broken(one.smallest)
        levels = _levels(construction, one.smallest)
        balls = known is not None and "ball" in known.arithmetic
        levels[one.hypothesis] = Level.ENCLOSED if balls else Level.PROVED
        one.level = min(levels.values())
    elif not all(claim.level.holds for claim in said):
        one.open += 1


def _proof(construction: Construction, case: NetworkCase) -> Answer | None:
    """The proof, or None if code that relies on the false hypothesis raises an error."""
    try:
        return prove(case.dataset, Prove(construction=construction.name, seed=int(case.option)))
    except InputError:
        return None


def _said(proof: Answer | None) -> list[Claim]:
    """The statements of the proof that are not vacuous, then the conclusion."""
    if proof is None:
        return [Claim(ids.PROOF, "Something is built.", Level.UNDECIDED)]
    own = [x for x in proof.trace if x.id.partition(".")[0] in _OWN]
    return [*(x for x in own if x.level is not Level.VACUOUS), proof.claim]


def _broken(said: Sequence[Claim]) -> Claim | None:
    return next((claim for claim in said if claim.level is Level.REFUTED), None)


def _false_alone(construction: Construction, case: NetworkCase) -> str:
    """The only false hypothesis; "" if none or several are false, or if one is undecided."""
    levels = _levels(construction, case)
    failing = [name for name, level in levels.items() if not level.holds]
    return failing[0] if len(failing) == 1 and levels[failing[0]] is Level.REFUTED else ""


def _levels(construction: Construction, case: NetworkCase) -> dict[str, Level]:
    """The level of each hypothesis; empty if the hypotheses do not apply to data of this shape."""
    try:
        return levels_of_hypotheses(construction, case.dataset)
    except InputError:
        return {}


def _spoilt(construction: Construction, seed: int, number: int) -> Iterator[NetworkCase]:
    """A drawn case, the adapted case, and the adapted case with a row or an entry changed."""
    drawn = networks.draw(np.random.default_rng([seed, number]))
    adapted = networks.of_dataset(networks.adapted(construction, drawn), drawn)
    yield from (drawn, adapted)
    rng = np.random.default_rng([seed, number, 1])
    for _ in range(_SPOILT):
        name = str(rng.choice(adapted.tables))
        table = getattr(adapted, name).copy()
        rows = table.reshape(-1, table.shape[-1])
        a, b = rng.integers(len(rows), size=2)
        rows[a] = rows[b]
        if a == b:
            rows[a, rng.integers(rows.shape[1])] += adapted.denominator
        yield replace(adapted, **{name: table})


def _less(construction: Construction, case: NetworkCase) -> Iterator[NetworkCase]:
    """Smaller cases, and their adapted versions, in which the other hypotheses hold again, if still
    smaller."""
    for less in smaller(case):
        yield less
        with suppress(InputError):
            again = networks.of_dataset(networks.adapted(construction, less), less)
            if again.size < case.size:
                yield again
