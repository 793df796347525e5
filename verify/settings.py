"""What is asked of `prove`."""

from __future__ import annotations

from dataclasses import dataclass

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.verify.rank.engines.devices import choose_device

CONSTRUCTIONS = ("paper", "rank-one", "generic")
CLAIMS = ("auto", "interpolation", "full-rank")


@dataclass(frozen=True)
class Settings:
    """What is asked of `prove`. None: the default that the data call for.

    construction: "paper" (Theorem 1), "rank-one" (heads of width one, docs/width-one.md) or
    "generic" (small random integers, certified by rank; the same page, corollary 2).
    heads: H. head_width: d_h (default n; rank-one and generic: 1). value_width: d_v (default m).
    claim: "interpolation" (exact output weights), "full-rank" (every labelling has some) or "auto":
    interpolation where its numbers are short enough to compute.
    interior: paper only: a group's example may attend uniformly where that costs little.
    device: where the rank of a large layer is computed. memory: GiB that this may hold.
    Raises InputError for values that make no sense.
    """

    construction: str = "paper"
    heads: int | None = None
    head_width: int | None = None
    value_width: int | None = None
    claim: str = "auto"
    interior: bool = True
    device: str = "auto"
    memory: float = 4.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.construction not in CONSTRUCTIONS:
            raise InputError("--construction", " or ".join(CONSTRUCTIONS), self.construction)
        for argument in ("heads", "head_width", "value_width"):
            value = getattr(self, argument)
            if value is not None and not (_whole(value) and 1 <= value <= 10**4):
                raise InputError(_option(argument), "a whole number from 1 to 10,000", value)
        if self.construction == "rank-one" and self.head_width not in (None, 1):
            raise InputError("--head-width", "1 with --construction rank-one", self.head_width)
        if not _whole(self.seed) or not 0 <= self.seed < 2**63:
            raise InputError("--seed", "a whole number from 0 to 2^63 - 1", self.seed)
        if self.claim not in CLAIMS:
            raise InputError("--claim", " or ".join(CLAIMS), self.claim)
        if not 0 < self.memory <= 2**20:
            raise InputError("--memory", "a number of GiB above 0", self.memory)
        choose_device(self.device)

    @property
    def memory_bytes(self) -> int:
        return int(self.memory * 2**30)

    def width(self, data: Dataset) -> int:
        """d_h for this data."""
        return self.head_width or (data.n if self.construction == "paper" else 1)

    def values(self, data: Dataset) -> int:
        """d_v for this data."""
        return self.value_width or data.m

    def command(self, examples: int) -> str:
        """The command line that repeats this run, without paths."""
        words = ["attncert prove DATA", f"--construction {self.construction}"]
        words += [f"--examples {examples}"]
        for argument in ("heads", "head_width", "value_width"):
            if getattr(self, argument) is not None:
                words.append(f"{_option(argument)} {getattr(self, argument)}")
        words += [f"--claim {self.claim}"] if self.claim != "auto" else []
        words += [] if self.interior else ["--vertices"]
        words += [f"--memory {self.memory:g}"] if self.memory != Settings.memory else []
        return " ".join([*words, f"--seed {self.seed}"])


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _option(argument: str) -> str:
    return f"--{argument.replace('_', '-')}"
