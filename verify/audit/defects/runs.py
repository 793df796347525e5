"""Correct small runs that errors are planted in: real constructions on data of seven examples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from attncert.constructions import generic as of_generic
from attncert.constructions import paper as the_paper
from attncert.constructions import width_one as of_width_one
from attncert.constructions.construction import Construction
from attncert.constructions.data import generators
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.width_one import affine

_BUILD: dict[str, Callable[..., Construction]] = {
    "paper": the_paper.build,
    "width-one": of_width_one.build,
    "affine": affine.build,
    "generic": of_generic.build,
}


@dataclass(frozen=True)
class Built:
    """Data and what was built for them."""

    data: Dataset
    construction: Construction

    def with_construction(self, construction: Construction) -> Built:
        return replace(self, construction=construction)


_on_curve = partial(generators.family, queries="moment-curve")
_curve = partial(_on_curve, 7, 3, 4, seed=1)


def _shared(examples: int = 7) -> Dataset:
    return _on_curve(7, 3, 4, shared=True, seed=1).take(examples)


def _rational() -> Dataset:
    data = generators.family(5, 3, 3, queries="moment-curve", seed=4)
    contexts = [[[x / 7 for x in row] for row in E] for E in data.contexts.fractions()]
    queries = [[x / 6 for x in row] for row in data.queries.fractions()]
    return Dataset.of(contexts, queries, data.labels)


def _ragged() -> Dataset:
    """Token counts 3, 3, 2, 3, 3, 3, 3; one context of equal rows, two of affine dimension 1."""
    data = _curve()
    contexts = data.contexts.fractions()
    contexts[1] = [contexts[1][0]] * 3
    contexts[2] = contexts[2][:2]
    contexts[5] = [contexts[5][0], contexts[5][1], contexts[5][0]]
    return Dataset.of(contexts, data.queries, data.labels)


# Data and settings, by construction and name.
#   paper      interior: some targets at the barycentre. vertices: none. wide: d_h = 5 > r = 3, room
#              for a key column too many. rational: no entry of the data is whole. trap: step 7's,
#              where two new examples can bring the same new direction.
#   width-one  short heads; else the proof's alone.
#   affine     ragged: token counts differ, and a token occurs twice.
#   generic    spare: one head more than the examples need.
RUNS: dict[str, dict[str, tuple[Callable[[], Dataset], dict[str, Any]]]] = {
    "paper": {
        "interior": (_curve, {}),
        "vertices": (_curve, {"interior": False}),
        "shared": (_shared, {}),
        "wide": (_curve, {"head_width": 5, "interior": False}),
        "rational": (_rational, {}),
        "one head": (partial(_shared, 3), {}),
        "one token": (partial(Dataset.of, [[2, -1]], [[3, 1]], [5]), {}),
        "idle heads": (partial(_on_curve, 4, 2, 3, seed=2), {"heads": 6}),
        "trap": (generators.step_seven_trap, {"heads": 2, "head_width": 3}),
    },
    "width-one": {
        "distinct": (_curve, {"saturated": True}),
        "several alphas": (partial(_on_curve, 7, 3, 4, bound=2, seed=2), {"saturated": True}),
        "shared": (_shared, {"saturated": True}),
        "one head": (partial(_shared, 3), {"saturated": True}),
        "short heads": (_curve, {}),
    },
    "affine": {
        "distinct": (_curve, {}),
        "ragged": (_ragged, {}),
        "shared": (_shared, {}),
        "one head": (partial(_shared, 3), {}),
    },
    "generic": {
        "distinct": (_curve, {}),
        "wide": (_curve, {"head_width": 3}),
        "spare": (_shared, {"heads": 4}),
        "rational": (_rational, {}),
    },
}
PAPER = tuple(RUNS["paper"])


@cache
def run(construction: str, name: str) -> Built:
    """One of `RUNS`."""
    make, settings = RUNS[construction][name]
    data = make()
    return Built(data, _BUILD[construction](data, **settings))


def runs(construction: str) -> dict[str, Callable[[], Built]]:
    """All of its runs, none of them built yet."""
    return {name: partial(run, construction, name) for name in RUNS[construction]}


paper, width_one, generic = (partial(run, name) for name in ("paper", "width-one", "generic"))
