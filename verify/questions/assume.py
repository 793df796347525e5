"""The question of `attncert assume`."""

from __future__ import annotations

from dataclasses import dataclass

from attncert.verify.questions.kruskal import WORK
from attncert.verify.questions.question import Question, option
from attncert.verify.questions.values import SEED, SIZE, whole

_COUNT = whole(0, 10**7)
_LAYER, _TESTS = "layer", "tests"


@dataclass(frozen=True)
class Assume(Question):
    """Judge A1, A2 and general position for DATA; write a report.

    Arithmetic and source: see `attncert.assume`. Raises InputError for options out of range.

    >>> Assume(heads=12, float32=0).line()
    'attncert assume DATA --heads 12 --float32 0'
    """

    command = "assume"
    example = "attncert assume digits --heads 8 --head-width 4"
    data = "folder of attncert embed, .npz or .json of data, or: digits"

    heads: int | None = option(None, SIZE, "H; default: as the manifest says", group=_LAYER)
    head_width: int | None = option(None, SIZE, "d_h; default: the manifest's", group=_LAYER)
    tokens: int | None = option(
        None, whole(1, 2**31 - 1), "n, where DATA is vectors without contexts", group=_LAYER
    )
    subsets: int = option(5000, _COUNT, "random subsets of n queries, exactly", group=_TESTS)
    permutations: int = option(100, _COUNT, "random permutations, every k exactly", group=_TESTS)
    float32: int = option(5000, _COUNT, "random subsets of the paper's own test", group=_TESTS)
    work: float = option(1.0, WORK, "counted work of the search for circuits", group=_TESTS)
    seed: int = option(0, SEED, "random seed of subsets and bases")
