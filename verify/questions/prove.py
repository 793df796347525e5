"""The question of `attncert prove`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from attncert.constructions.errors import InputError
from attncert.verify.questions.constructions import OURS, OWN, RETRIEVAL
from attncert.verify.questions.question import Question, option
from attncert.verify.questions.values import (
    DEVICES,
    SEED,
    SIZE,
    SWITCH,
    TEXT,
    DeviceChoice,
    exact,
    grid,
    one_of,
    path,
    text,
    whole,
)

ClaimChoice: TypeAlias = Literal["auto", "interpolation", "full-rank"]
_CLAIMS = get_args(ClaimChoice)
_MOST_BITS = 10**5  # maximum number of bits of saturation


@dataclass(frozen=True, repr=False)
class Prove(Question):
    """Build weights that memorize DATA, prove every step, write a report and a certificate.

    Arithmetic and source: see `attncert.prove`. Raises InputError for options out of range.

    >>> Prove(heads=0)
    Traceback (most recent call last):
    attncert.InputError: heads: must be a whole number from 1 to 16,384, not 0
    """

    command = "prove"
    example = "attncert prove digits --examples 25 --heads 8 --head-width 4"

    construction: str = option("paper", text(*OURS), " | ".join((*OURS, OWN)))
    heads: int | None = option(
        None, SIZE, "number H of heads; default: the fewest that the theorem needs"
    )
    head_width: int | None = option(None, SIZE, "head width d_h; default: n for paper, else 1")
    value_width: int | None = option(None, SIZE, "value width d_v; default: m")
    beta: str | None = option(None, exact(), "for retrieval: β > 0 of the softmax; default: 1")
    claim: ClaimChoice = option("auto", one_of(*_CLAIMS), " | ".join(_CLAIMS))
    saturate: int | None = option(
        None,
        whole(1, _MOST_BITS),
        "BITS: each earlier example attends to one row, with 1-p < 2^-BITS",
    )
    round: str | None = option(
        None,
        grid(),
        "round the data to multiples of this step, such as 1/64 or 0.1",
    )
    before: str | None = option(
        None,
        path("mean"),
        "a block before the layer: mean (added to each token), or a network.json",
    )
    data_file: bool = option(False, SWITCH, "write the data to a file beside the certificate")
    device: DeviceChoice = option(
        "auto",
        DEVICES,
        "auto | cpu | cuda: where the rank of a large layer is computed",
        repeats=False,
    )
    dask: str | None = option(
        None, TEXT, "address of a Dask scheduler, for large ranks and for domains", repeats=False
    )
    seed: int = option(0, SEED, "random seed for the searches")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.before and self.round is not None:
            raise InputError("before", "left out if the data are rounded", "given")
        if self.before and self.data_file:
            raise InputError("before", "left out if the data are written to a file", "given")

    @property
    def unlabelled(self) -> bool:
        return self.claim == "full-rank" or self.construction == RETRIEVAL
