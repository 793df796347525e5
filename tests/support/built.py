"""Correct small constructions on data of seven examples, and ways to spoil one of their heads.

`record` changes only what the builder recorded, and `weights` only the layer; `rebuilt` makes the
weights from the changed record, as if the error had come first. `consistent` goes furthest:
everything that follows from the error is measured again, as if the builder had made it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from itertools import combinations
from typing import Any

import pytest
from flint import fmpq, fmpq_mat
from support import exact_data
from support.planted import scaled

from attncert.constructions import generic as of_generic
from attncert.constructions import paper as the_paper
from attncert.constructions import width_one as of_width_one
from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer
from attncert.constructions.paper.head import PaperBuilder
from attncert.constructions.width_one import affine as of_affine
from attncert.verify.claims.evidence import Claim
from attncert.verify.features import features
from attncert.verify.features.tables import dense, leads
from attncert.verify.statements import registry
from attncert.verify.statements.judged import of_keys
from attncert.verify.statements.statements import step_claims
from attncert.verify.statements.states import Views
from attncert.verify.statements.steps.heads import lead

HEAD = 1  # the head to spoil, counted from 0: it places two examples after three others


@dataclass(frozen=True)
class Built:
    """Data, and the layer built for them."""

    data: Dataset
    construction: BuiltLayer

    @property
    def layer(self) -> Layer:
        return self.construction.layer

    def head(self, h: int = HEAD) -> Any:
        """The record of head h."""
        return self.construction.heads[h]


_on_curve = partial(exact_data.family, queries="moment-curve")
_curve = partial(_on_curve, 7, 3, 4, seed=1)


def _shared(examples: int = 7) -> Dataset:
    return _on_curve(7, 3, 4, shared=True, seed=1).take(examples)


def _rational() -> Dataset:
    return scaled(_on_curve(5, 3, 3, seed=4), Fraction(1, 7), Fraction(1, 6))


def _ragged() -> Dataset:
    """Token counts 3, 3, 2, 3, 3, 3, 3; one context of equal rows, two of affine dimension 1."""
    data = _curve()
    contexts = data.contexts.fractions()
    contexts[1] = [contexts[1][0]] * 3
    contexts[2] = contexts[2][:2]
    contexts[5] = [contexts[5][0], contexts[5][1], contexts[5][0]]
    return Dataset.of(contexts, data.queries, data.labels)


def _uniform(builder: PaperBuilder) -> bool:
    """Whether the first candidate is the barycentre."""
    return bool(builder.placed.rows)


def _paper(data: Dataset, steered: bool = False, **options: Any) -> BuiltLayer:
    """steered: no example of a group may attend uniformly, as most otherwise would."""
    candidates = PaperBuilder._candidates
    with pytest.MonkeyPatch.context() as patch:
        if steered:
            patch.setattr(
                PaperBuilder, "_candidates", lambda b, *t: candidates(b, *t)[_uniform(b) :]
            )
        return the_paper.build(data, **options)


_BUILD: dict[str, Callable[..., BuiltLayer]] = {
    "paper": _paper,
    "width-one": of_width_one.build,
    "affine": of_affine.build,
    "generic": of_generic.build,
}

# Data and settings, by construction and name.
# paper      interior: some targets are the barycentre. vertices: none is. wide: d_h = 5 > r = 3,
#            with room for an extra key column. rational: no entry is an integer. trap: two
#            new examples can add just one direction (step 7).
# width-one  short_heads: False leaves only the heads of the proof.
# affine     ragged: token counts differ, and a token occurs twice.
RUNS: dict[str, dict[str, tuple[Callable[[], Dataset], dict[str, Any]]]] = {
    "paper": {
        "interior": (_curve, {}),
        "vertices": (_curve, {"steered": True}),
        "shared": (_shared, {}),
        "wide": (_curve, {"head_width": 5, "steered": True}),
        "rational": (_rational, {}),
        "one head": (partial(_shared, 3), {}),
        "one token": (partial(Dataset.of, [[2, -1]], [[3, 1]], [5]), {}),
        "idle heads": (partial(_on_curve, 4, 2, 3, seed=2), {"heads": 6}),
        "trap": (exact_data.step_seven_trap, {"heads": 2, "head_width": 3}),
    },
    "width-one": {
        "distinct": (_curve, {"short_heads": False}),
        "several alphas": (partial(_on_curve, 7, 3, 4, bound=2, seed=2), {"short_heads": False}),
        "shared": (_shared, {"short_heads": False}),
        "one head": (partial(_shared, 3), {"short_heads": False}),
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
        "rational": (_rational, {}),
    },
}
PAPER = tuple(RUNS["paper"])


@cache
def run(construction: str, name: str) -> Built:
    """The data and layer of one of `RUNS`."""
    make, settings = RUNS[construction][name]
    data = make()
    return Built(data, _BUILD[construction](data, **settings))


paper, width_one, affine, generic = (partial(run, name) for name in RUNS)


def claims(built: Built) -> list[Claim]:
    """All claims about groups and heads, made by the checks of the construction that was run."""
    steps = registry.method(built.construction.name).steps
    made, data = built.construction, built.data
    views = Views(data, made, of_keys(made.layer, data.d), made.groups)
    return step_claims(steps, views, lambda part: nullcontext(), "")


# Ways to spoil.


def stated(built: Built, **parts: Any) -> Built:
    """A copy with other statements about the whole construction: groups, r, records, layer."""
    return replace(built, construction=replace(built.construction, **parts))


def record(built: Built, h: int = HEAD, **parts: Any) -> Built:
    heads = list(built.construction.heads)
    heads[h] = replace(heads[h], **parts)
    return stated(built, heads=tuple(heads))


def weights(built: Built, h: int = HEAD, **parts: fmpq_mat) -> Built:
    return stated(built, layer=with_head(built.layer, h, **parts))


def rebuilt(built: Built, h: int = HEAD, **parts: Any) -> Built:
    """A copy with the record changed, and key and query computed from it."""
    spoilt = record(built, h, **parts)
    factors = spoilt.head(h).weights(built.construction.layer.head_width)
    return weights(spoilt, h, key=factors.key, query=factors.query)


def consistent(built: Built, h: int = HEAD, **parts: Any) -> Built:
    """`rebuilt`, with the least c = 1, 2, 4, ... at which every target leads, and its gap.

    Raises ValueError if no such c is found, because the error leaves no row that leads.
    """
    for exponent in range(24):
        spoilt = measured(rebuilt(built, h, c=2**exponent, **parts), h)
        if (spoilt.head(h).gap_bits or 0) >= 1:
            return spoilt
    raise ValueError("no c makes every target lead")


def measured(built: Built, h: int = HEAD) -> Built:
    """The construction, with the targets and the least gap that its weights actually have."""
    head, data = built.head(h), built.data
    table = features.logits(built.layer.heads[h], data)
    targets = [max(range(data.n), key=row.__getitem__) for row in dense(lead(data, head)).tolist()]
    gap = min(leads(table[list(head.earlier)], targets), default=None)
    return record(built, h, targets=tuple(targets), gap_bits=gap)


def measured_logits(built: Built, h: int = HEAD) -> Built:
    """The construction, with the logits that its weights actually give the group."""
    table = features.logits(built.layer.heads[h], built.data)
    rows = (table[t] for t in built.head(h).group)
    return record(built, h, logits=tuple(tuple(int(k) for k in row) for row in rows))


def changed(matrix: fmpq_mat, i: int, j: int, by: fmpq | int) -> fmpq_mat:
    """A copy of the matrix with `by` added to one entry."""
    copy = fmpq_mat(matrix)
    copy[i, j] = matrix[i, j] + by
    return copy


def bumped(vector: fmpq_mat, by: int = 1) -> fmpq_mat:
    return changed(vector, 0, 0, by)


def with_head(layer: Layer, h: int, **parts: fmpq_mat) -> Layer:
    """A copy with key, query or value of one head replaced."""
    heads = list(layer.heads)
    heads[h] = replace(heads[h], **parts)
    return replace(layer, heads=tuple(heads))


def with_label(data: Dataset, t: int, c: int, by: Any) -> Dataset:
    """A copy with `by` added to one label."""
    labels = data.labels.fractions()
    labels[t][c] += by
    return Dataset.of(data.contexts, data.queries, labels)


# Vectors that lack one property.


def blind(built: Built) -> fmpq_mat:
    """A vector that is orthogonal to the group, like a selector, but also to an earlier query."""
    head = built.head()
    return _orthogonal(built.data.queries[[*head.group, head.earlier[0]]].integer_matrix())


def with_ties(data: Dataset, examples: tuple[int, ...]) -> Iterator[fmpq_mat]:
    """Columns u for which one of these examples has two equal entries in E⁽ˢ⁾u."""
    for s in examples:
        rows = data.context(s).tolist()
        for i, j in combinations(range(data.n), 2):
            u = _orthogonal(fmpq_mat([[x - y for x, y in zip(rows[i], rows[j], strict=True)]]))
            yield from (u, -u)


def tied(built: Built, top: bool) -> fmpq_mat:
    """A separator for which an earlier example has two equal largest (or smallest) entries."""
    s = built.head().earlier[-1]
    for u in with_ties(built.data, (s,)):
        entries = (built.data.context(s) * u).entries()
        if entries.count(max(entries) if top else min(entries)) == 2:
            return u
    raise AssertionError("no tie")


def one_end_tied(built: Built, examples: tuple[int, ...]) -> bool:
    """Whether the largest or the smallest entry of E⁽ˢ⁾u occurs twice for one of the examples."""
    u = built.head().separator
    tables = [(built.data.context(s) * u).entries() for s in examples]
    return any(row.count(end) > 1 for row in tables for end in (min(row), max(row)))


def tied_consistently(built: Built, examples: tuple[int, ...]) -> Iterator[Built]:
    """Heads with such a u and everything that follows from it, if every target leads."""
    for u in with_ties(built.data, examples):
        with suppress(ValueError):
            yield measured_logits(consistent(built, separator=u))


def _orthogonal(rows: Any) -> fmpq_mat:
    """A nonzero integer column whose product with each row is 0."""
    basis, nullity = fmpq_mat(rows).numer_denom()[0].nullspace()
    assert nullity
    return fmpq_mat(int(basis.nrows()), 1, [basis[i, 0] for i in range(int(basis.nrows()))])
