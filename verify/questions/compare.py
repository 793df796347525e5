"""The question of `attncert compare`."""

from __future__ import annotations

from dataclasses import dataclass

from attncert.verify.questions.constructions import OWN
from attncert.verify.questions.question import Question, option
from attncert.verify.questions.values import SEED, text


@dataclass(frozen=True, repr=False)
class Compare(Question):
    """Memorize DATA with every construction, and say what each costs.

    Arithmetic and source: see `attncert.compare`. Raises InputError for options out of range.

    >>> Compare(examples=25).line()
    'attncert compare DATA --examples 25'
    """

    command = "compare"
    example = "attncert compare digits --examples 25"

    construction: str | None = option(
        None, text(), f"{OWN}: also judge your own construction, as prove does"
    )
    seed: int = option(0, SEED, "random seed for the searches")
