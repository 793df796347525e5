"""The question of `attncert attack`."""

from __future__ import annotations

from dataclasses import dataclass

from attncert.verify.methods.names import ATTACKED, OWN
from attncert.verify.questions.question import Question, option
from attncert.verify.questions.values import SEED, text, whole


@dataclass(frozen=True)
class Attack(Question):
    """Search small degenerate data for a case where a construction fails.

    Arithmetic and source: see `attncert.attack`. Raises InputError for options out of range.

    >>> Attack("paper", cases=300).line()
    'attncert attack --construction paper --cases 300'
    """

    command = "attack"
    example = "attncert attack --construction paper --cases 300"
    data = ""

    construction: str = option("width-one", text(*ATTACKED), " | ".join((*ATTACKED, OWN)))
    cases: int = option(2000, whole(1, 2**63 - 1, "2^63 - 1"), "how many data sets to draw")
    start: int = option(0, whole(0, 2**63 - 1, "2^63 - 1"), "first case, to resume a run")
    seed: int = option(0, SEED, "random seed of the cases")
