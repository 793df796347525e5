"""The questions of `attncert audit` and `attncert attack`, which test promises of constructions."""

from __future__ import annotations

from dataclasses import dataclass

from attncert.verify.questions.constructions import ATTACKED, LAYERS, OWN
from attncert.verify.questions.question import Question, option
from attncert.verify.questions.values import SEED, SWITCH, text, whole


@dataclass(frozen=True, repr=False)
class Audit(Question):
    """Say what breaks without each hypothesis of a construction.

    Arithmetic and source: see `attncert.audit`. Raises InputError for options out of range.

    >>> Audit(construction="paper", quick=True).line()
    'attncert audit --construction paper --quick'
    """

    command = "audit"
    example = "attncert audit --construction paper --quick"
    data = ""

    construction: str | None = option(
        None,
        text(*LAYERS),
        "construction to audit, built-in or MODULE:NAME; default: paper and width-one",
    )
    quick: bool = option(False, SWITCH, "run fewer cases of the same kinds (takes seconds)")
    seed: int = option(0, SEED, "random seed for the searches")


@dataclass(frozen=True, repr=False)
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
    cases: int = option(2000, whole(1, 2**63 - 1, "2^63 - 1"), "number of data sets to draw")
    seed: int = option(0, SEED, "random seed for the cases")
