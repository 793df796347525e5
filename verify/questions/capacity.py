"""The question of `attncert capacity`."""

from __future__ import annotations

from dataclasses import dataclass

from attncert.verify.questions.question import Question, option
from attncert.verify.questions.values import SEED, SIZE


@dataclass(frozen=True)
class Capacity(Question):
    """Say how many labels H heads can carry on DATA: all at once, each labelling, these labels.

    Arithmetic and source: see `attncert.capacity`. Raises InputError for options out of range.

    >>> Capacity(heads=2).line()
    'attncert capacity DATA --heads 2'
    """

    command = "capacity"
    example = "attncert capacity digits --examples 25 --heads 2"

    heads: int | None = option(None, SIZE, "heads H; default: the fewest that may suffice")
    head_width: int = option(1, SIZE, "d_h")
    value_width: int | None = option(None, SIZE, "d_v; default: m")
    seed: int = option(0, SEED, "random seed of the weights")

    @property
    def unlabelled(self) -> bool:
        return True
