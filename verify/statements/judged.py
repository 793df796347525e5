"""Checks of a construction on data, except for its outputs: the hypotheses, what the builder
returns, the steps, the promises, and whether the proof holds. An error in third-party code becomes
one line that names the part.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from flint import fmpq_mat

from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails, InputError
from attncert.constructions.from_layer import from_layer
from attncert.constructions.layer import Head, Layer, parameter_count
from attncert.constructions.network.blocks import Attention
from attncert.constructions.network.network import Network
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.stands import stands
from attncert.verify.claims.words import counted
from attncert.verify.statements.construction import (
    MEASURES,
    Construction,
    LayerTheorem,
    Request,
    Sizes,
    Task,
)
from attncert.verify.statements.known import Known
from attncert.verify.statements.registry import errors_of, foreign
from attncert.verify.statements.statements import ErrorsOf, step_claims
from attncert.verify.statements.states import Views


@dataclass(frozen=True)
class Judged:
    """A judged construction: its claims, except those about outputs, and the data as the
    construction sees them. failure: the hypothesis that the builder named, or why the rank of a
    layer is too small. placed: the layer with the examples that each head places."""

    data: Dataset
    claims: list[Claim]
    built: Any = None
    views: Views | None = None
    layer: Layer | None = None
    placed: BuiltLayer | None = None
    failure: HypothesisFails | None = None


def judged(task: Task) -> Judged:
    """Judge a construction on its data. Raises InputError for errors in third-party code."""
    construction, data, request = task.construction, task.data, task.request
    errors = partial(errors_of, construction, data=data)
    task.progress("hypotheses", 0, 1)
    claims = _hypotheses(task, errors)
    task.progress("building", 0, 1)
    try:
        with errors("build"):
            built = construction.build(data, request)
            layer, network = _layer_and_network(built, data)
            placed, failed = _placed(construction, built, layer, data, request)
        task.progress("steps", 0, 1)
        if placed is not None:
            claims += _of_groups(task, placed)
        subject = built if placed is None else placed
        groups = placed.groups if placed else ()
        views = Views(data, subject, network, groups, task.progress, task.cluster)
        before = _weights(network) if foreign(construction) else []
        steps = step_claims(construction.steps, views, errors, construction.source)
        promises = list(_promised(task, views, layer, errors))
        with errors("steps"):
            if before and before != _weights(network):
                raise ValueError("they change the network")
    except HypothesisFails as failure:
        return Judged(data, claims, failure=failure)
    except InputError:
        if (false := _first_false(claims)) is None:
            raise
        return Judged(data, claims, failure=false)
    claims += [*steps, *promises, *stands(claims, steps, promises)]
    return Judged(data, claims, built, views, layer, placed, failed)


def levels_of_hypotheses(construction: Construction, data: Dataset) -> dict[str, Level]:
    """The level of each hypothesis about the data alone. Raises InputError for errors in
    third-party code."""
    theorem = construction.layer or LayerTheorem()
    request = Request(head_width=theorem.width(data.n), value_width=data.m)
    task = Task(data, construction, request)
    claims = _hypotheses(task, partial(errors_of, construction, data=data))
    levels = {claim.id: claim.level for claim in claims}
    names = construction.hypotheses
    return {name: levels[own] for name in names if (own := ids.hypothesis(name)) in levels}


def _hypotheses(task: Task, errors: ErrorsOf) -> list[Claim]:
    """The claims about the hypotheses on the data, before anything is built."""
    claims = list[Claim]()
    for name, hypothesis in task.construction.hypotheses.items():
        with errors(f"hypothesis {name}"):
            if isinstance(hypothesis, Known):
                claims += hypothesis.claims(task)
            else:
                claims.append(hypothesis.claim(name, task.data))
    return claims


def _of_groups(task: Task, built: BuiltLayer) -> list[Claim]:
    some = (x for x in task.construction.hypotheses.values() if isinstance(x, Known))
    return [claim for hypothesis in some for claim in hypothesis.of_groups(task, built)]


def _weights(network: Network) -> list[fmpq_mat]:
    return [fmpq_mat(x) for block in network.blocks for x in block.matrices]


def _first_false(hypotheses: list[Claim]) -> HypothesisFails | None:
    """The first false hypothesis, if any. The builder and the steps may rely on all hypotheses."""
    for claim in hypotheses:
        if claim.level is Level.REFUTED:
            name = ids.hypothesis_name(claim.id) or ""
            reason = f"this hypothesis is false: {claim.statement.removesuffix('.')}"
            return HypothesisFails(name, reason, dict(claim.witness or {}))
    return None


def _layer_and_network(built: Any, data: Dataset) -> tuple[Layer | None, Network]:
    """The layer, if keys and queries were built, and the network that the steps are about."""
    layer = getattr(built, "layer", built)
    if isinstance(layer, Layer):
        return layer, of_keys(layer, data.d)
    network = getattr(built, "network", built)
    if not isinstance(network, Network):
        raise TypeError(f"it returns {type(built).__name__}, not a Network or a Layer")
    return None, network


def of_keys(layer: Layer, d: int) -> Network:
    """A layer without values as a network of one block; the values are set to 0."""
    none = fmpq_mat(d, 1)
    heads = tuple(Head(head.key, head.query, none) for head in layer.heads)
    return Network((Attention(heads, fmpq_mat(len(heads), 1)),))


def _placed(
    construction: Construction, built: Any, layer: Layer | None, data: Dataset, request: Request
) -> tuple[BuiltLayer | None, HypothesisFails | None]:
    """The layer with the examples that each head adds to the rank, or why the rank is too small."""
    if layer is None:
        return None, None
    if isinstance(built, BuiltLayer):
        return built, None
    try:
        return from_layer(layer, data, construction.name, heads=request.heads), None
    except HypothesisFails as failure:
        return None, failure


def _promised(task: Task, views: Views, layer: Layer | None, errors: ErrorsOf) -> Iterator[Claim]:
    """A claim for each promise, which compares the promised number with the number that was built.
    The parameters of a layer include its values, which are solved for."""
    construction, data = task.construction, views.data
    sizes, thing = Sizes.of(data, views.network, views.built), "layer" if layer else "network"
    for what, formula in construction.promises.items():
        with errors(f"promise {what}"):
            most = operator.index(formula(sizes))
        if what == "examples":
            measured = data.T
            statement = (
                f"The theorem places {counted(most, 'example')}, and there are {measured:,}."
            )
        else:
            measured = MEASURES[what](views.network)
            if what == "parameters" and layer is not None:
                shape = len(layer.heads), layer.head_width, task.request.value_width
                measured = parameter_count(data.d, data.m, *shape)
            statement = f"The {thing} has {measured:,} {what}, and at most {most:,} are promised."
        numbers = {"promised": most, "built": measured}
        yield Claim.checked(
            ids.promise(what),
            statement,
            measured <= most,
            numbers,
            numbers=numbers,
            arithmetic="counted",
            source=construction.source,
        )
