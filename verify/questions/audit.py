"""The question of `attncert audit`."""

from __future__ import annotations

from dataclasses import dataclass

from attncert.verify.methods.names import LAYERS
from attncert.verify.questions.question import Question, option
from attncert.verify.questions.values import SEED, SWITCH, text


@dataclass(frozen=True)
class Audit(Question):
    """Say which edge cases a construction meets, and which step uses which hypothesis on DATA.

    Arithmetic and source: see `attncert.audit`. Raises InputError for options out of range.

    >>> Audit(construction="paper", quick=True).line(bare=True)
    'attncert audit --construction paper --quick'
    """

    command = "audit"
    example = "attncert audit digits --examples 25 --quick"
    optional = True

    construction: str | None = option(
        None,
        text(*LAYERS),
        "the one to audit, MODULE:NAME too; default: paper and width-one",
    )
    quick: bool = option(False, SWITCH, "fewer cases of the same kinds, in seconds")
    seed: int = option(0, SEED, "random seed of the searches")
