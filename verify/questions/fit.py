"""The questions of `attncert fit` and `attncert capacity`: which labels heads can memorize."""

from __future__ import annotations

from dataclasses import dataclass

from attncert.verify.questions.question import Question, option
from attncert.verify.questions.values import (
    DEVICES,
    SEED,
    SIZE,
    TEXT,
    DeviceChoice,
    path,
    whole,
)

_MOST_STEPS = 10**9
_MOST_LAYERS = 16
MOST_EXACT_LAYERS = 5  # the towers of primes below 2^24 allow no more layers
_LAYERS = "number L of layers of H heads each; the last gives the outputs"


@dataclass(frozen=True, repr=False)
class Fit(Question):
    """Fit weights to the labels of DATA and enclose real weights that output them exactly.

    Arithmetic and source: see `attncert.fit`. Raises InputError for options out of range.

    >>> Fit(heads=2).line()
    'attncert fit DATA --heads 2'
    """

    command = "fit"
    example = "attncert fit digits --examples 12"

    heads: int | None = option(
        None, SIZE, "number H of heads; default: the fewest that may suffice, then more"
    )
    head_width: int = option(1, SIZE, "head width d_h")
    value_width: int | None = option(None, SIZE, "value width d_v; default: m")
    layers: int = option(1, whole(1, _MOST_LAYERS), _LAYERS)
    steps: int | None = option(
        None,
        whole(1, _MOST_STEPS),
        "number of Levenberg–Marquardt steps; default: at most 200, fewer without progress",
    )
    device: DeviceChoice = option("auto", DEVICES, "device: auto | cpu | cuda", repeats=False)
    seed: int = option(0, SEED, "random seed for the starts")


@dataclass(frozen=True, repr=False)
class Capacity(Question):
    """Bound how many labels H heads can memorize on DATA, in three senses.

    Arithmetic and source: see `attncert.capacity`. Raises InputError for options out of range.

    >>> Capacity(heads=2).line()
    'attncert capacity DATA --heads 2'
    """

    command = "capacity"
    example = "attncert capacity digits --examples 25 --heads 2"

    heads: int | None = option(
        None, SIZE, "number H of heads; default: the fewest that may suffice"
    )
    head_width: int = option(1, SIZE, "head width d_h")
    value_width: int | None = option(None, SIZE, "value width d_v; default: m")
    layers: int = option(1, whole(1, MOST_EXACT_LAYERS), _LAYERS)
    feed_forward: int = option(
        0, whole(0, 4096), "number W of ReLU units after each layer but the last; 0: none"
    )
    before: str | None = option(
        None,
        path("mean"),
        "blocks before the layers: mean (added to each token), or a network.json",
    )
    device: DeviceChoice = option("auto", DEVICES, "device: auto | cpu | cuda", repeats=False)
    dask: str | None = option(
        None, TEXT, "address of a Dask scheduler, for large Jacobians", repeats=False
    )
    seed: int = option(0, SEED, "random seed for the weights")

    @property
    def unlabelled(self) -> bool:
        return True
