"""Correct small runs that errors are planted in: real constructions on data of seven examples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from attncert.constructions import paper as the_paper
from attncert.constructions import width_one as of_width_one
from attncert.constructions.construction import Construction
from attncert.constructions.data import generators
from attncert.constructions.data.dataset import Dataset

PAPER = ("interior", "vertices", "shared", "wide", "rational", "one head", "one token",
         "idle heads", "trap")  # fmt: skip
WIDTH_ONE = ("distinct", "several alphas", "shared", "one head", "short heads")


@dataclass(frozen=True)
class Built:
    """Data and what was built for them."""

    data: Dataset
    construction: Construction

    def with_construction(self, construction: Construction) -> Built:
        return replace(self, construction=construction)


@cache
def paper(name: str) -> Built:
    """A run of the paper's construction, of one kind each (`PAPER`).

    interior: some targets at the barycentre. vertices: none. wide: d_h = 5 > r = 3, room for a key
    column too many. rational: no entry of the data is whole. trap: step 7's, where two new
    examples can bring the same new direction.
    """
    curve = _curve()
    match name:
        case "interior":
            return Built(curve, the_paper.build(curve))
        case "vertices":
            return Built(curve, the_paper.build(curve, interior=False))
        case "shared":
            data = _shared()
            return Built(data, the_paper.build(data))
        case "wide":
            return Built(curve, the_paper.build(curve, head_width=5, interior=False))
        case "rational":
            data = _rational()
            return Built(data, the_paper.build(data))
        case "one head":
            data = _shared().take(3)
            return Built(data, the_paper.build(data))
        case "one token":
            data = Dataset.of([[2, -1]], [[3, 1]], [5])
            return Built(data, the_paper.build(data))
        case "idle heads":
            data = generators.family(4, 2, 3, queries="moment-curve", seed=2)
            return Built(data, the_paper.build(data, heads=6))
        case "trap":
            data = generators.step_seven_trap()
            return Built(data, the_paper.build(data, heads=2, head_width=3))
        case _:
            raise ValueError(name)


@cache
def width_one(name: str) -> Built:
    """A run of the width-one construction (`WIDTH_ONE`): the proof's heads, or short ones too."""
    match name:
        case "shared":
            data = _shared()
        case "one head":
            data = _shared().take(3)
        case "several alphas":
            data = generators.family(7, 3, 4, queries="moment-curve", bound=2, seed=2)
        case _:
            data = _curve()
    return Built(data, of_width_one.build(data, saturated=name != "short heads"))


def _curve() -> Dataset:
    return generators.family(7, 3, 4, queries="moment-curve", seed=1)


def _shared() -> Dataset:
    return generators.family(7, 3, 4, queries="moment-curve", shared=True, seed=1)


def _rational() -> Dataset:
    data = generators.family(5, 3, 3, queries="moment-curve", seed=4)
    contexts = [[[x / 7 for x in row] for row in E] for E in data.contexts.fractions()]
    queries = [[x / 6 for x in row] for row in data.queries.fractions()]
    return Dataset.of(contexts, queries, data.labels)
