"""The questions of `attncert kruskal` and `attncert assume`, which use the same search."""

from __future__ import annotations

from dataclasses import dataclass

from attncert.verify.questions.question import Question, option
from attncert.verify.questions.values import DEVICES, SEED, SIZE, TEXT, DeviceChoice, number, whole

WORK = number("a number of nominal seconds above 0, up to 10^7", 0, 10**7, above=True)
_COUNT = whole(0, 10**7)


@dataclass(frozen=True, repr=False)
class Kruskal(Question):
    """Bound the Kruskal rank of DATA from both sides; write a report and a witness.

    Arithmetic and source: see `attncert.kruskal`. Raises InputError for options out of range.

    >>> Kruskal(k=5, work=20.0, device="cpu").line()
    'attncert kruskal DATA --k 5 --work 20'
    """

    command = "kruskal"
    example = "attncert kruskal digits --k 4"
    data = ".json, .npz, .npy or .csv of vectors, - (stdin), or: digits"

    k: int | None = option(
        None, whole(1, 2**63 - 1, "2^63 - 1"), "only decide whether all k-subsets are independent"
    )
    subsets: int | None = option(
        None,
        whole(0, 10**9),
        "number of random subsets of size k (or upper bound); default: 1000, 0 if that is settled",
    )
    work: float = option(60.0, WORK, "limit on the counted work, in seconds on two cores")
    device: DeviceChoice = option(
        "auto", DEVICES, "device for the subsets: auto | cpu | cuda", repeats=False
    )
    dask: str | None = option(None, TEXT, "address of a Dask scheduler", repeats=False)
    seed: int = option(0, SEED, "random seed for subsets and bases")


@dataclass(frozen=True, repr=False)
class Assume(Question):
    """Judge A1, A2 and general position for DATA; write a report.

    Arithmetic and source: see `attncert.assume`. Raises InputError for options out of range.

    >>> Assume(heads=12, subsets=0).line()
    'attncert assume DATA --heads 12 --subsets 0'
    """

    command = "assume"
    example = "attncert assume digits --heads 8 --head-width 4"
    data = ".npz or .json of queries and contexts, or: digits"

    heads: int | None = option(None, SIZE, "number H of heads of the layer")
    head_width: int | None = option(None, SIZE, "head width d_h of the layer; default: 1")
    subsets: int = option(5000, _COUNT, "number of random subsets of n queries")
    work: float = option(1.0, WORK, "limit on counted work for circuits")
    seed: int = option(0, SEED, "random seed for subsets and bases")
