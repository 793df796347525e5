"""Errors in the finished layer: ranks, readout, labels, float64 weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from typing import Any
from unittest.mock import patch

import numpy as np
from flint import fmpq, fmpq_mat

from attncert.constructions.arrays import FloatArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Head, Layer
from attncert.constructions.readout.solve import pivot_system, solve, with_readout
from attncert.verify import features
from attncert.verify.audit.defects.defect import Defect, Family, Fired, failing
from attncert.verify.audit.defects.runs import Built, paper, width_one
from attncert.verify.audit.defects.spoil import changed, with_head, with_label
from attncert.verify.audit.defects.steps.paper import greedy_choice_skipped
from attncert.verify.claims import ids
from attncert.verify.interpolation.enclosure import enclose_error
from attncert.verify.interpolation.readout import readout_solves
from attncert.verify.steps.conclusions import full_rank

TOLERANCE = "1e-6"  # of the float64 weights; what they reach is below 1e-9


@dataclass(frozen=True)
class Finished:
    """A layer for its data; floats: its float64 weights, if they are looked at as well."""

    data: Dataset
    layer: Layer
    floats: dict[str, FloatArray] | None = None
    primes: tuple[int, ...] = features.PRIMES


def fired(run: Finished) -> Fired:
    """Rank, readout, and the enclosed error of the float64 weights; no step of a head."""
    with patch.object(features, "PRIMES", run.primes):
        claims = [full_rank(run.data, run.layer)]
    if run.layer.output is not None:
        claims.append(readout_solves(run.data, run.layer))
    if run.floats is not None:
        claims.append(enclose_error(run.data, run.floats, tolerance=TOLERANCE))
    return failing(claims)


@cache
def finished(name: str) -> Finished:
    """interior, shared: the paper's heads with a readout. width one: float64 weights too."""
    run: Built = width_one("short heads") if name == "width one" else paper(name)
    data, built = run.data, run.construction
    layer = with_readout(built, data, solve(pivot_system(built, data), data.label_matrix))
    return Finished(data, layer, layer.to_numpy() if name == "width one" else None)


# Labels and readout.


def labelled(change: Callable[[list[list[Fraction]]], list[list[Fraction]]]) -> Finished:
    """The layer of "interior", for other labels."""
    run = finished("interior")
    labels = change(run.data.labels.fractions())
    return replace(run, data=Dataset.of(run.data.contexts, run.data.queries, labels))


def label_changed() -> Finished:
    run = finished("interior")
    return replace(run, data=with_label(run.data, 3, 0, Fraction(1, 10**30)))


def last_bit_of_a_value() -> Finished:
    run = finished("interior")
    value: Any = run.layer.heads[1].value
    i = next(i for i, row in enumerate(value.tolist()) if row[0])
    spoilt = changed(value, i, 0, fmpq(1, value[i, 0].q))
    return replace(run, layer=with_head(run.layer, 1, value=spoilt))


def output_entry() -> Finished:
    run = finished("interior")
    return replace(
        run, layer=replace(run.layer, output=changed(run.layer.output, 1, 0, fmpq(1, 10**9)))
    )


def values_exchanged() -> Finished:
    run = finished("interior")
    first, second = (run.layer.heads[h].value for h in (1, 2))
    layer = with_head(with_head(run.layer, 1, value=second), 2, value=first)
    return replace(run, layer=layer)


# Ranks.


def prime_of_small_order() -> Finished:
    """Two examples whose logits differ by 31: equal mod 2^31 - 1, where 2^31 = 1."""
    data = Dataset.of([[1, 0], [0, 1]], [[1, 0], [32, 0]], [0, 1])
    head = Head(fmpq_mat([[1], [0]]), fmpq_mat([[1], [0]]))
    assert full_rank(data, Layer((head,))).level.holds
    return Finished(data, Layer((head,)), primes=(2**31 - 1,))


def unfinished(run: Built) -> Finished:
    return Finished(run.data, run.construction.layer)


def example_repeated() -> Finished:
    run = paper("shared")
    return unfinished(replace(run, data=run.data.take([*range(6), 0])))


# Float64 weights.


def floats(change: Callable[[dict[str, FloatArray]], dict[str, FloatArray]]) -> Finished:
    run = finished("width one")
    assert run.floats is not None
    return replace(run, floats=change({name: x.copy() for name, x in run.floats.items()}))


def perturbed(weights: dict[str, FloatArray]) -> dict[str, FloatArray]:
    weights["W_V"][weights["W_V"] != 0] *= 1 + 1e-4
    return weights


def base_two_forgotten(weights: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """A softmax in base e of logits that were meant for base 2."""
    return weights | {"W_Q": weights["W_Q"] / math.log(2)}


def scaled_by_width(weights: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """Logits over √d, as in a library that scales by the model's width."""
    return weights | {"W_Q": weights["W_Q"] / math.sqrt(weights["W_Q"].shape[1])}


def half_precision(weights: dict[str, FloatArray]) -> dict[str, FloatArray]:
    return {name: x.astype(np.float16).astype(np.float64) for name, x in weights.items()}


LAYERS = Family(
    name="layer",
    title="The finished layer",
    checks=(ids.RANK, ids.READOUT, ids.ENCLOSURE_ERROR),
    fired=fired,
    correct={name: partial(finished, name) for name in ("interior", "shared", "width one")},
    defects=(
        Defect("a label changed by 10^-30", ids.READOUT, label_changed),
        Defect("readout of another data set", ids.READOUT,
               partial(labelled, lambda labels: [[y + 1 for y in row] for row in labels])),
        Defect("one readout entry off in its last bit", ids.READOUT, last_bit_of_a_value),
        Defect("one entry of W_O off by 10^-9", ids.READOUT, output_entry),
        Defect("values of two heads exchanged", ids.READOUT, values_exchanged),
        Defect("labels permuted against the examples", ids.READOUT,
               partial(labelled, lambda labels: labels[1:] + labels[:1])),
        Defect("a prime modulo which 2 has order 31", ids.RANK, prime_of_small_order),
        Defect("greedy choice skipped, ranks of single heads left out", ids.RANK,
               lambda: unfinished(greedy_choice_skipped())),
        Defect("an example repeated", ids.RANK, example_repeated),
        Defect("values of the float route off by 10^-4", ids.ENCLOSURE_ERROR,
               partial(floats, perturbed)),
        Defect("softmax with base e in place of 2", ids.ENCLOSURE_ERROR,
               partial(floats, base_two_forgotten)),
        Defect("logits scaled by 1/√d", ids.ENCLOSURE_ERROR, partial(floats, scaled_by_width)),
        Defect("float route rounded to float16", ids.ENCLOSURE_ERROR,
               partial(floats, half_precision)),
    ),
)  # fmt: skip
