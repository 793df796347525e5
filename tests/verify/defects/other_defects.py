"""Errors beside the steps: false hypotheses, finished layers that are off, broken routes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from types import ModuleType
from typing import Any
from unittest.mock import patch

import mpmath
import numpy as np
from defect_matrix import Defect, Family, Fired, failing
from flint import fmpq, fmpq_mat
from step_defects import greedy_choice_skipped
from support.built import Built, changed, paper, width_one, with_head, with_label

from attncert.constructions.arrays import FloatArray
from attncert.constructions.data import generators
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Head, Layer
from attncert.constructions.paper import BOUND
from attncert.constructions.readout.solve import pivot_system, right_inverse, solve, with_readout
from attncert.constructions.search.grouping import consecutive
from attncert.verify import features
from attncert.verify.claims import ids
from attncert.verify.interpolation import multiprecision, rational, symbolic
from attncert.verify.interpolation.enclosure import enclose_error
from attncert.verify.interpolation.readout import readout_solves
from attncert.verify.steps import hypotheses
from attncert.verify.steps.conclusions import full_rank

# Hypotheses.


@dataclass(frozen=True)
class Asked:
    """Data, and the sizes of the layer that is asked for; heads: None for as many as they need."""

    data: Dataset
    head_width: int = 3
    value_width: int | None = None
    heads: int | None = None


def false_hypotheses(asked: Asked) -> Fired:
    """As `prove --a1-work 0` asks for them, the examples grouped in the order given."""
    data, r = asked.data, min(asked.data.n, asked.head_width)
    groups = tuple(consecutive(range(data.T), r, r - 1))
    claims = [
        hypotheses.sizes(data),
        hypotheses.value_width(data, asked.value_width or data.m),
        hypotheses.independent_contexts(data),
        hypotheses.kruskal_at_least(data, data.n, ids.A1, 0, work=0.0),
        hypotheses.capacity(data.T, asked.heads or len(groups), r, BOUND),
        hypotheses.partition(data, groups),
    ]
    if r < data.n:
        claims.append(hypotheses.kruskal_at_least(data, r, ids.A1_AT_R, 0, work=0.0))
    return failing(claims)


def interior() -> Dataset:
    return paper("interior").data


def more_rows_than_columns() -> Asked:
    """n = 4 rows of width d = 3."""
    data = paper("rational").data
    contexts = [[*rows, rows[0]] for rows in data.contexts.fractions()]
    return Asked(Dataset.of(contexts, data.queries, data.labels))


def dependent_context() -> Dataset:
    return generators.dependent_context(interior(), 4, 2, {0: 1, 1: -2}).data


def with_query(t: int, terms: dict[int, int], data: Dataset | None = None) -> Dataset:
    """Query t made the combination of these."""
    return generators.dependent_query(data or interior(), t, terms).data


def dependent_across_groups() -> Dataset:
    """Queries 0, 3 and 5 are dependent; no group needs them together."""
    return with_query(5, {0: 1, 3: 1})


def set_that_samples_miss() -> Asked:
    """One dependent set of 4 among 487,635; the first group is that set."""
    data = generators.family(60, 4, 5, queries="moment-curve", bound=30, seed=1)
    return Asked(with_query(3, {0: 1, 1: 1, 2: 1}, data), head_width=4)


HYPOTHESES = Family(
    title="Hypotheses of the theorem",
    checks=(ids.CONTEXT_SIZE, ids.VALUE_WIDTH, ids.A2, ids.A1, ids.A1_AT_R, ids.CAPACITY,
            ids.PARTITION),
    fired=false_hypotheses,
    correct={"as asked": lambda: Asked(interior()), "width 2": lambda: Asked(interior(), 2)},
    defects=(
        Defect("more context rows than columns", ids.CONTEXT_SIZE, more_rows_than_columns),
        Defect("values narrower than labels", ids.VALUE_WIDTH,
               lambda: Asked(generators.family(7, 3, 4, queries="moment-curve", m=2, seed=1),
                             value_width=1)),
        Defect("a context with a dependent row", ids.A2, lambda: Asked(dependent_context())),
        Defect("one example more than the heads hold", ids.CAPACITY,
               lambda: Asked(interior(), heads=2)),
        Defect("dependent queries, in three groups", ids.A1,
               lambda: Asked(dependent_across_groups())),
        Defect("dependent queries, in one group", ids.PARTITION,
               lambda: Asked(with_query(2, {0: 1, 1: 1}))),
        Defect("parallel queries, heads of width 2", ids.A1_AT_R,
               lambda: Asked(with_query(6, {1: -2}), head_width=2)),
        Defect("a query that is zero", ids.PARTITION, lambda: Asked(with_query(4, {}))),
        Defect("a dependent group that random subsets miss", ids.PARTITION,
               set_that_samples_miss),
    ),
    implied={
        ids.CONTEXT_SIZE: "A2 implies it: more than d rows are dependent. It is a "
        "hypothesis of its own in the paper, and says why A2 cannot hold.",
        ids.A1_AT_R: "A1 implies it. It is what the proof uses of A1, and can hold where "
        "A1 does not.",
    },
)  # fmt: skip


# The finished layer.


@dataclass(frozen=True)
class Finished:
    """A layer for its data; floats: its float64 weights, if they are looked at as well."""

    data: Dataset
    layer: Layer
    floats: dict[str, FloatArray] | None = None
    primes: tuple[int, ...] = features.PRIMES


def amiss(run: Finished) -> Fired:
    """Rank, readout, and the enclosed error of the float64 weights, which is below 1e-9."""
    with patch.object(features, "PRIMES", run.primes):
        claims = [full_rank(run.data, run.layer)]
    if run.layer.output is not None:
        claims.append(readout_solves(run.data, run.layer))
    if run.floats is not None:
        claims.append(enclose_error(run.data, run.floats, tolerance="1e-6"))
    return failing(claims)


@cache
def finished(name: str) -> Finished:
    """interior, shared: the paper's heads with a readout. width one: float64 weights too."""
    run = width_one("short heads") if name == "width one" else paper(name)
    data, built = run.data, run.construction
    layer = with_readout(built, data, solve(pivot_system(built, data), data.label_matrix))
    return Finished(data, layer, layer.to_numpy() if name == "width one" else None)


def relabelled(change: Callable[[list[list[Fraction]]], list[list[Fraction]]]) -> Finished:
    """The layer of "interior", for other labels."""
    run = finished("interior")
    labels = change(run.data.labels.fractions())
    return replace(run, data=Dataset.of(run.data.contexts, run.data.queries, labels))


def off_by(name: str, amount: Fraction) -> Finished:
    """The label of example 3."""
    run = finished(name)
    return replace(run, data=with_label(run.data, 3, 0, amount))


def last_bit_of_a_value() -> Finished:
    run = finished("interior")
    value: Any = run.layer.heads[1].value
    i = next(i for i, row in enumerate(value.tolist()) if row[0])
    spoilt = changed(value, i, 0, fmpq(1, value[i, 0].q))
    return replace(run, layer=with_head(run.layer, 1, value=spoilt))


def output_entry() -> Finished:
    run = finished("interior")
    spoilt = changed(run.layer.output, 1, 0, fmpq(1, 10**9))
    return replace(run, layer=replace(run.layer, output=spoilt))


def values_exchanged() -> Finished:
    run = finished("interior")
    first, second = (run.layer.heads[h].value for h in (1, 2))
    layer = with_head(with_head(run.layer, 1, value=second), 2, value=first)
    return replace(run, layer=layer)


def prime_of_small_order() -> Finished:
    """Two examples whose logits differ by 31: equal mod 2^31 - 1, where 2^31 = 1."""
    data = Dataset.of([[1, 0], [0, 1]], [[1, 0], [32, 0]], [0, 1])
    layer = Layer((Head(fmpq_mat([[1], [0]]), fmpq_mat([[1], [0]])),))
    assert full_rank(data, layer).level.holds
    return Finished(data, layer, primes=(2**31 - 1,))


def unfinished(run: Built, *examples: int) -> Finished:
    return Finished(run.data.take(examples) if examples else run.data, run.layer)


def floats(change: Callable[[dict[str, FloatArray]], dict[str, FloatArray]]) -> Finished:
    run = finished("width one")
    assert run.floats is not None
    return replace(run, floats=change({name: x.copy() for name, x in run.floats.items()}))


def queries_over(divisor: float) -> Finished:
    return floats(lambda weights: weights | {"W_Q": weights["W_Q"] / divisor})


def half_precision(weights: dict[str, FloatArray]) -> dict[str, FloatArray]:
    return {name: x.astype(np.float16).astype(np.float64) for name, x in weights.items()}


LAYERS = Family(
    title="The finished layer",
    checks=(ids.RANK, ids.READOUT, ids.ENCLOSURE_ERROR),
    fired=amiss,
    correct={name: partial(finished, name) for name in ("interior", "shared", "width one")},
    defects=(
        Defect("a label changed by 10^-30", ids.READOUT,
               partial(off_by, "interior", Fraction(1, 10**30))),
        Defect("readout of another data set", ids.READOUT,
               partial(relabelled, lambda labels: [[y + 1 for y in row] for row in labels])),
        Defect("one readout entry off in its last bit", ids.READOUT, last_bit_of_a_value),
        Defect("one entry of W_O off by 10^-9", ids.READOUT, output_entry),
        Defect("values of two heads exchanged", ids.READOUT, values_exchanged),
        Defect("labels permuted against the examples", ids.READOUT,
               partial(relabelled, lambda labels: labels[1:] + labels[:1])),
        Defect("a prime modulo which 2 has order 31", ids.RANK, prime_of_small_order),
        Defect("greedy choice skipped, ranks of single heads left out", ids.RANK,
               lambda: unfinished(greedy_choice_skipped())),
        Defect("an example repeated", ids.RANK,
               lambda: unfinished(paper("shared"), *range(6), 0)),
        Defect("values of the float route off by 10^-4", ids.ENCLOSURE_ERROR,
               partial(floats, lambda weights: weights | {"W_V": weights["W_V"] * (1 + 1e-4)})),
        Defect("softmax with base e in place of 2", ids.ENCLOSURE_ERROR,
               partial(queries_over, math.log(2))),
        Defect("logits scaled by 1/√d", ids.ENCLOSURE_ERROR, partial(queries_over, 2.0)),
        Defect("float route rounded to float16", ids.ENCLOSURE_ERROR,
               partial(floats, half_precision)),
    ),
)  # fmt: skip


# The three routes of the final check. A route that finds every layer right must be contradicted by
# those that are left.

Broken = tuple[ModuleType, str, Callable[..., Any]]  # a function of a module, and what replaces it
ROUTE = {"rational": rational, "symbolic": symbolic, "multiprecision": multiprecision}


@cache
def _right_inverse() -> fmpq_mat:
    run = width_one("short heads")
    return right_inverse(run.construction, run.data)


def contradicted(routed: tuple[Finished, tuple[Broken, ...]]) -> Fired:
    """Routes that do not confirm the equality."""
    run, broken = routed
    with ExitStack() as stack:
        for module, name, function in broken:
            stack.enter_context(patch.object(module, name, function))
        return failing([
            rational.rational(run.data, run.layer),
            symbolic.symbolic(run.data, run.layer, _right_inverse()),
            multiprecision.multiprecision(run.data, run.layer),
        ])  # fmt: skip


def blind(*names: str) -> tuple[Finished, tuple[Broken, ...]]:
    """A wrong label, and these routes look at the correct layer whatever they are shown."""
    right = finished("width one")

    def yes(name: str) -> Broken:
        route = getattr(ROUTE[name], name)
        return ROUTE[name], name, lambda data, layer, *rest: route(right.data, right.layer, *rest)

    return off_by("width one", Fraction(1, 10**9)), tuple(map(yes, names))


def broken(module: ModuleType, name: str, wrong: Callable[..., Any]) -> Callable[[], Any]:
    """wrong: is given what it replaces, then its arguments."""
    right = getattr(module, name)
    return lambda: (finished("width one"), ((module, name, partial(wrong, right)),))


def natural(right: Callable[..., Any], precision: int) -> Any:
    """Without the factor ln 2."""
    context = mpmath.MPContext()
    context.prec, context.ln2 = precision, context.mpf(1)
    return context


def first_logit_off(right: Callable[..., Any], *arguments: Any) -> Any:
    table, exception = right(*arguments)
    return [[table[0][0] + 1, *table[0][1:]], *table[1:]], exception


def first_output_off(right: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
    rows = right(*arguments)
    outputs, rests = next(rows)
    yield [outputs[0] + 1, *outputs[1:]], rests
    yield from rows


ROUTES = Family(
    title="The three routes of the final check",
    checks=(ids.RATIONAL, ids.SYMBOLIC, ids.MULTIPRECISION),
    fired=contradicted,
    correct={"width one": lambda: (finished("width one"), ())},
    defects=(
        Defect("a wrong label, and only the rational route sees", ids.RATIONAL,
               partial(blind, "symbolic", "multiprecision")),
        Defect("a wrong label, and only the symbolic route sees", ids.SYMBOLIC,
               partial(blind, "rational", "multiprecision")),
        Defect("a wrong label, and only the multiprecision route sees", ids.MULTIPRECISION,
               partial(blind, "rational", "symbolic")),
        Defect("rational route: one logit off by one", ids.RATIONAL,
               broken(rational, "_logits", first_logit_off)),
        Defect("symbolic route: softmax with base 4", ids.SYMBOLIC,
               broken(symbolic, "_softmax", lambda right, logits: right([2 * k for k in logits]))),
        Defect("multiprecision route: softmax with base e", ids.MULTIPRECISION,
               broken(multiprecision, "context", natural)),
        Defect("multiprecision route: half the bits", ids.MULTIPRECISION,
               broken(multiprecision, "context", lambda right, bits: right(bits // 2))),
        Defect("multiprecision route: one output off by one", ids.MULTIPRECISION,
               broken(multiprecision, "_evaluate", first_output_off)),
    ),
)  # fmt: skip
