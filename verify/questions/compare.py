"""The question of `attncert compare`."""

from __future__ import annotations

from dataclasses import dataclass

from attncert.constructions.errors import InputError
from attncert.verify.methods.names import OWN
from attncert.verify.questions.question import Question, option
from attncert.verify.questions.values import SEED, counts, duration, grid, text


@dataclass(frozen=True, repr=False)
class Compare(Question):
    """Memorize DATA by every construction that there is, and say what each costs.

    Arithmetic and source: see `attncert.compare`. Raises InputError for options out of range.

    >>> Compare(sizes=[25, 97]).line()
    'attncert compare DATA --sizes 25,97'
    """

    command = "compare"
    example = "attncert compare digits --examples 25"

    construction: str | None = option(
        None, text(), f"{OWN}: your own beside ours, judged as by prove"
    )
    sizes: str | None = option(
        None,
        counts(),
        "the first so many examples as well, such as 25,97; default: a 16th and a quarter",
    )
    round: str | None = option(
        None, grid(), "round the data to multiples of a step, such as 1/64 or 0.1"
    )
    time_limit: float | None = option(
        None,
        duration(),
        "for each construction, such as 60s or 1h: undecided by then",
        repeats=False,
    )
    seed: int = option(0, SEED, "random seed of the searches")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.round == "auto":
            raise InputError("round", "a step, such as 1/64: one for all constructions", "auto")

    def all_sizes(self, examples: int) -> tuple[int, ...]:
        """Increasing, the last is `examples`. Raises InputError for a size above it.

        >>> Compare().all_sizes(385), Compare(sizes="25,97").all_sizes(97)
        ((24, 96, 385), (25, 97))
        """
        some = [examples // 16, examples // 4]
        if self.sizes is not None:
            some = [int(size) for size in self.sizes.split(",")]
        if max(some) > examples:
            raise InputError("sizes", f"at most the {examples:,} examples", max(some))
        return tuple(sorted({*filter(None, some), examples}))
