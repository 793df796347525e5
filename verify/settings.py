"""The settings of `prove`: what to build, and how."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from attncert.constructions.brief import command_line
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError, require_seed, require_sizes, whole
from attncert.constructions.numerals import fraction
from attncert.constructions.search.saturation import Saturation
from attncert.verify.claims.proof import Kind
from attncert.verify.kruskal.budget import plain
from attncert.verify.kruskal.within import MOST
from attncert.verify.methods import registry
from attncert.verify.methods.method import Method
from attncert.verify.rank.engines.devices import DeviceChoice, choose_device
from attncert.verify.steps.hypotheses import A1_WORK

Asked = Kind | Literal["auto"]
CLAIMS: tuple[str, ...] = ("auto", *get_args(Kind))
GRID = re.compile("[1-9][0-9]{0,17}(/[1-9][0-9]{0,17})?", re.ASCII)
MOST_BITS = 10**5  # of saturation that a command line asks for


@dataclass(frozen=True)
class Settings:
    """The settings of `prove`. None: the default that the data call for.

    construction: the name of a registered one: "paper" (Theorem 1), "width-one" (heads of width
    one, docs/width-one.md), "generic" (small random integers, certified by rank; the same page,
    corollary 2) or a third-party one; package.module:NAME imports one.
    heads: H. head_width: d_h (default: the construction's). value_width: d_v (default m).
    claim: "interpolation" (exact output weights), "full-rank" (every labelling has some) or "auto":
    interpolation where its numbers are short enough to compute.
    interior: paper only: a group's example may attend uniformly where that costs little.
    saturate: B, paper and width-one only: in every head each earlier example attends to its row
    with 1-p < 2^-B, at the least c that gives it. saturate_own: paper only: the group's own
    examples too.
    round_to: contexts and queries are rounded to multiples of this, "1/64", ties to even; "auto":
    the finest power of two on which interpolation is expected to take about a minute at most.
    mix: the layer is the second of two; the first mixes tokens (constructions/mixing.py).
    a1_work: nominal seconds (`kruskal --work`) for each question whether every k queries are
    independent, where the subsets are too many to look at one by one; 0: sample them.
    device: where the rank of a large layer is computed. memory: GiB that this may hold.
    time_limit: seconds, by the clock, after which `prove` raises OutOfTime
    (verify/pipeline/time_limit.py); not part of `command`, since it changes no answer.
    data_file: the data stand in a file beside the certificate (verify/pipeline/data_file.py).
    seed: of the random searches. Raises InputError for values that make no sense.

    >>> Settings("width-one", heads=3).command(7)
    'attncert prove DATA --construction width-one --examples 7 --heads 3 --seed 0'
    >>> Settings(heads=0)
    Traceback (most recent call last):
    attncert.InputError: --heads: must be a whole number from 1 to 10,000, not 0
    """

    construction: str = "paper"
    heads: int | None = None
    head_width: int | None = None
    value_width: int | None = None
    claim: Asked = "auto"
    interior: bool = True
    saturate: int | None = None
    saturate_own: bool = False
    round_to: str | None = None
    mix: bool = False
    a1_work: float = A1_WORK
    device: DeviceChoice = "auto"
    memory: float = 4.0
    time_limit: float | None = None
    data_file: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        method = registry.method(self.construction)
        if ":" not in self.construction:
            object.__setattr__(self, "construction", method.name)
        require_sizes(self, 10**4)
        if method.only_width is not None and self.head_width not in (None, method.only_width):
            only = f"{method.only_width} with --construction {method.name}"
            raise InputError("--head-width", only, self.head_width)
        require_seed(self.seed)
        self._require_saturation(method)
        if self.round_to not in (None, "auto") and not GRID.fullmatch(str(self.round_to)):
            must = "auto, or a step above 0 of at most 18 digits, like 1/64"
            raise InputError("--round", must, self.round_to)
        if self.mix and self.round_to is not None:
            raise InputError("--mix", "given without --round", f"with --round {self.round_to}")
        if self.mix and self.data_file:
            raise InputError("--mix", "given without --data-file", "with it")
        if self.claim not in CLAIMS:
            raise InputError("--claim", " or ".join(CLAIMS), self.claim)
        if not 0 <= self.a1_work <= MOST:
            raise InputError("--a1-work", f"a number of seconds from 0 to {MOST:,}", self.a1_work)
        if not 0 < self.memory <= 2**20:
            raise InputError("--memory", "a number of GiB above 0", self.memory)
        limit = self.time_limit
        if limit is not None and not 0 < limit <= MOST:
            raise InputError("--time-limit", f"seconds above 0, up to {MOST:,}", limit)
        choose_device(self.device)

    def _require_saturation(self, method: Method) -> None:
        bits = self.saturate
        if bits is not None and not (whole(bits) and 1 <= bits <= MOST_BITS):
            raise InputError("--saturate", f"a whole number of bits from 1 to {MOST_BITS:,}", bits)
        if bits is not None and not method.saturates:
            got = f"with --construction {method.name}, whose heads steer no example"
            raise InputError("--saturate", "with --construction paper or width-one", got)
        if self.saturate_own and bits is None:
            raise InputError("--saturate-own", "given with --saturate BITS", "without it")
        if self.saturate_own and method.saturates != "own":
            got = f"with --construction {method.name}"
            raise InputError("--saturate-own", "with --construction paper", got)

    @property
    def saturation(self) -> Saturation | None:
        """What is asked of every head."""
        return None if self.saturate is None else Saturation(self.saturate, self.saturate_own)

    @property
    def grid(self) -> Fraction | None:
        """What the data are rounded to, where that is said."""
        return None if self.round_to in (None, "auto") else fraction(str(self.round_to))

    @property
    def method(self) -> Method:
        """The construction that is asked for."""
        return registry.method(self.construction)

    @property
    def memory_bytes(self) -> int:
        return int(self.memory * 2**30)

    def width(self, data: Dataset) -> int:
        """d_h for this data."""
        return self.method.head_width(data, self.head_width)

    def values(self, data: Dataset) -> int:
        """d_v for this data."""
        return self.value_width or data.m

    def command(self, examples: int) -> str:
        """The command line that repeats this run, without paths."""
        return command_line(
            "attncert prove DATA", construction=self.construction, examples=examples,
            heads=self.heads, head_width=self.head_width, value_width=self.value_width,
            claim=self.claim if self.claim != "auto" else None,
            vertices=not self.interior, saturate=self.saturate, saturate_own=self.saturate_own,
            round=self.round_to, mix=self.mix,
            a1_work=plain(self.a1_work) if self.a1_work != A1_WORK else None,
            memory=f"{self.memory:g}" if self.memory != Settings.memory else None,
            data_file=self.data_file, seed=self.seed,
        )  # fmt: skip
