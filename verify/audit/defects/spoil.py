"""Ways of spoiling one head of a correct construction in one place.

`record` changes what the builder said and nothing else; `weights` the layer and nothing else;
`rebuilt` makes the weights from the changed record: an error made before the weights were.
`consistent` goes furthest: all that follows from the error is measured again, as a builder would
that made it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from typing import Any

from flint import fmpq, fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer
from attncert.verify import features
from attncert.verify.audit.defects.runs import Built
from attncert.verify.steps.shared import lead
from attncert.verify.tables import dense, leads

HEAD = 1  # the head (from 0) that is spoilt: it has two examples, and three before it


def head(run: Built, h: int = HEAD) -> Any:
    """The record of that head."""
    return run.construction.heads[h]


def record(run: Built, h: int = HEAD, **parts: Any) -> Built:
    built = run.construction
    heads = list(built.heads)
    heads[h] = replace(heads[h], **parts)
    return run.with_construction(replace(built, heads=tuple(heads)))


def weights(run: Built, h: int = HEAD, **parts: fmpq_mat) -> Built:
    built = run.construction
    return run.with_construction(replace(built, layer=with_head(built.layer, h, **parts)))


def rebuilt(run: Built, h: int = HEAD, **parts: Any) -> Built:
    """The record changed, and key and query computed from it."""
    spoilt = record(run, h, **parts)
    made = head(spoilt, h).weights(run.construction.head_width)
    return weights(spoilt, h, key=made.key, query=made.query)


def consistent(run: Built, h: int = HEAD, **parts: Any) -> Built:
    """`rebuilt`, with the least c = 1, 2, 4, ... at which every target leads, and its gap.

    Raises ValueError where no such c is found: the error does not leave a leading row.
    """
    for exponent in range(24):
        spoilt = measured(rebuilt(run, h, c=2**exponent, **parts), h)
        gap = head(spoilt, h).gap_bits
        if gap is not None and gap >= 1:
            return spoilt
    raise ValueError("no c makes every target lead")


def measured(run: Built, h: int = HEAD) -> Built:
    """Targets and least gap as the weights really have them."""
    found, data = head(run, h), run.data
    table = features.logits(run.construction.layer.heads[h], data)
    targets = [max(range(data.n), key=row.__getitem__) for row in dense(lead(data, found)).tolist()]
    gap = min(leads(table[list(found.earlier)], targets), default=None)
    return record(run, h, targets=tuple(targets), gap_bits=gap)


def measured_logits(run: Built, h: int = HEAD) -> Built:
    """The group's logits as the weights really have them."""
    table = features.logits(run.construction.layer.heads[h], run.data)
    group = head(run, h).group
    return record(run, h, logits=tuple(tuple(int(k) for k in table[t]) for t in group))


# The same error in every construction that can have it.


def other_logits(run: Built) -> Built:
    return record(run, logits=with_first(head(run).logits, (9, 0, 0)))


def exchanged(run: Built, part: str) -> Built:
    """Queries or contexts of an example of the group and of a later one, after the build.

    Its logits differ, so that they depend on both its query and its context.
    """
    found, order = head(run), list(range(run.data.T))
    a = next(t for t, row in zip(found.group, found.logits, strict=True) if len(set(row)) > 1)
    b = head(run, HEAD + 1).group[0]
    order[a], order[b] = order[b], order[a]
    parts: dict[str, Any] = {part: getattr(run.data, part)[order]}
    return replace(run, data=replace(run.data, **parts))


# Vectors with one property too few.


def blind(run: Built) -> fmpq_mat:
    """Orthogonal to the group, as a selector is, and to one earlier query too."""
    found = head(run)
    return _orthogonal(run.data.queries[[*found.group, found.earlier[0]]].integer_matrix())


def with_ties(data: Dataset, examples: tuple[int, ...]) -> Iterator[fmpq_mat]:
    """Columns u for which one of these examples has two equal entries in E⁽ˢ⁾u."""
    for s in examples:
        rows = data.context(s).tolist()
        for i, j in combinations(range(data.n), 2):
            u = _orthogonal(fmpq_mat([[x - y for x, y in zip(rows[i], rows[j], strict=True)]]))
            yield from (u, -u)


def tied(run: Built, top: bool) -> fmpq_mat:
    """A separator for which an earlier example has two equal largest (or smallest) entries."""
    s = head(run).earlier[-1]
    for u in with_ties(run.data, (s,)):
        values = (run.data.context(s) * u).entries()
        if values.count(max(values) if top else min(values)) == 2:
            return u
    raise AssertionError("no tie")


def one_end_tied(run: Built, u: fmpq_mat, examples: tuple[int, ...]) -> bool:
    """Whether the largest or the smallest entry of E⁽ˢ⁾u occurs twice for one of the examples."""
    tables = [(run.data.context(s) * u).entries() for s in examples]
    return any(row.count(end) > 1 for row in tables for end in (min(row), max(row)))


def tied_consistently(run: Built, examples: tuple[int, ...]) -> Iterator[Built]:
    """Heads with such a u and all that follows from it, where every target leads."""
    for u in with_ties(run.data, examples):
        with suppress(ValueError):
            yield measured_logits(consistent(run, separator=u))


def bumped(vector: fmpq_mat | None, by: int = 1) -> fmpq_mat:
    assert vector is not None
    return changed(vector, 0, 0, by)


def with_first(values: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    return (value, *values[1:])


# Layers and labels.


def changed(matrix: fmpq_mat, i: int, j: int, by: fmpq | int) -> fmpq_mat:
    """A copy with `by` added to one entry."""
    copy = fmpq_mat(matrix)
    copy[i, j] = matrix[i, j] + by
    return copy


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


def said(run: Built, **parts: Any) -> Built:
    """Another statement about the construction as a whole: groups, r, records, layer."""
    return run.with_construction(replace(run.construction, **parts))


def _orthogonal(rows: Any) -> fmpq_mat:
    """A nonzero integer column with product 0 with each row."""
    basis, nullity = fmpq_mat(rows).numer_denom()[0].nullspace()
    assert nullity
    return fmpq_mat(int(basis.nrows()), 1, [basis[i, 0] for i in range(int(basis.nrows()))])
