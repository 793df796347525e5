"""Placing examples one at a time: residuals, spans and pivots agree with Gaussian elimination."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.oracles import rank_mod

from attncert.constructions.exact.primes import PRIMES_21
from attncert.constructions.search import placement
from attncert.constructions.search.placement import (
    Block,
    Placement,
    Span,
    independent_rows,
)

P = PRIMES_21[0]


def block(rows: list[list[int]], floats: list[list[float]] | None = None) -> Block:
    """Residues with floats beside them, which are the same numbers unless others are given."""
    width = len(rows[0]) if rows else 0
    whole = np.array(rows, dtype=np.int64).reshape(len(rows), width)
    approx = whole.astype(np.float64) if floats is None else np.array(floats, dtype=np.float64)
    return Block(np.mod(whole, P).astype(np.float64), approx)


small = st.integers(-2, 2)


def tables(rows: int, columns: int) -> st.SearchStrategy[list[list[int]]]:
    row = st.lists(small, min_size=columns, max_size=columns)
    return st.lists(row, min_size=rows, max_size=rows)


def distances(rests: Block) -> list[float | None]:
    """The distances of rows from a span: the norms of their residuals, or None for rows in it."""
    lengths = np.linalg.norm(rests.float, axis=1).tolist()
    return [length if any(row) else None for length, row in zip(lengths, rests.mod, strict=True)]


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 4), st.integers(1, 5), st.data())
def test_a_span_knows_its_members(d: int, count: int, data: st.DataObject) -> None:
    """The distance is None exactly when a row does not raise the rank mod p; else NumPy agrees."""
    span, members = Span(P, d), []
    for row in data.draw(tables(count, d)):
        rest = span.beyond(block([row]))
        (distance,) = distances(rest)
        outside = rank_mod([*members, row], P) > len(members)
        assert (distance is not None) == outside
        if outside:
            assert distance == pytest.approx(_distance(row, members), abs=1e-9)
            span.add(rest)
            members.append(row)


@pytest.mark.parametrize("slab", [1, 2, placement._SLAB])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_placement_is_elimination(slab: int, data: st.DataObject) -> None:
    """A group is placed exactly when the pivot columns and the new block give it full rank.

    `residual` is compared with what Gaussian elimination leaves; the rows at the pivots must be
    invertible after every step.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(placement, "_SLAB", slab)
        _compare_with_elimination(data)


def _compare_with_elimination(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 2), min_size=1, max_size=3))
    T, d = sum(sizes) + 1, 3
    placed, start = Placement(T, P), 0
    features: list[list[int]] = [[] for _ in range(T)]
    columns = list[int]()
    for size in sizes:
        head = data.draw(tables(T, d))
        group = list(range(start, start + size))
        together = [  # only the pivot columns of earlier heads count
            [features[t][j] for j in columns] + head[t] for t in (*placed.rows, *group)
        ]
        pivots = placed.pivots(group, block(head))
        fits = rank_mod(together, P) == len(together)
        assert (pivots is not None) == fits
        if pivots is None:
            return
        eliminators = placed.eliminators(group)
        residual = placed.residual(eliminators, block(head)[group], block(head)[placed.rows])
        again = placed.remainder(group, block(head))
        assert residual.mod.tolist() == again.mod.tolist()
        assert residual.mod.tolist() == _residuals(placed, features, columns, group, head)
        placed.extend(group, block(head), pivots)
        columns += [len(features[0]) + j for j in pivots]
        features = [row + extra for row, extra in zip(features, head, strict=True)]
        start += size
        chosen = [[features[t][j] for j in columns] for t in placed.rows]
        assert rank_mod(chosen, P) == len(placed.rows) == start


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 6), st.integers(1, 4), st.data())
def test_independent_rows_are_the_first_ones(count: int, d: int, data: st.DataObject) -> None:
    rows = data.draw(tables(count, d))
    most = data.draw(st.one_of(st.none(), st.integers(0, d)))
    table = block(rows) if rows else Block(np.zeros((0, d)), np.zeros((0, d)))
    kept, pivots = independent_rows(table, P, most)
    wanted: list[int] = []
    for i, row in enumerate(rows):
        if len(wanted) == most:
            break
        if rank_mod([*(rows[j] for j in wanted), row], P) > len(wanted):
            wanted.append(i)
    assert kept == wanted
    assert len(set(pivots)) == len(kept)
    square = [[rows[i][j] for j in pivots] for i in kept]
    assert rank_mod(square, P) == len(kept)


def test_independent_rows_across_chunks() -> None:
    """There are more rows than are eliminated at a time: unit vectors, each given twice."""
    size = 90
    eye = np.eye(size, dtype=int).tolist()
    rows = [row for row in eye for _ in (0, 1)]
    kept, pivots = independent_rows(block(rows), P)
    assert kept == list(range(0, 2 * size, 2))
    assert pivots == list(range(size))


def _distance(row: list[int], members: list[list[int]]) -> float:
    if not members:
        return float(np.linalg.norm(row))
    basis = np.array(members, dtype=float).T
    rest = np.array(row, dtype=float)
    return float(np.linalg.norm(rest - basis @ np.linalg.lstsq(basis, rest, rcond=None)[0]))


def _residuals(
    placement: Placement,
    features: list[list[int]],
    columns: list[int],
    group: list[int],
    head: list[list[int]],
) -> list[list[int]]:
    """x_t - Z[t, C] A⁻¹ X_S, by eliminating the placed rows from [Z[t, C], x_t] in integers."""

    def row(t: int) -> list[int]:
        return [features[t][j] for j in columns] + head[t]

    width = len(columns)
    echelon: list[list[int]] = []
    for s in placement.rows:
        reduced = row(s)
        for pivot in echelon:
            at = next(j for j in range(width) if pivot[j])
            reduced = [(x - reduced[at] * y) % P for x, y in zip(reduced, pivot, strict=True)]
        at = next((j for j in range(width) if reduced[j] % P), None)
        assert at is not None  # A is invertible
        inverse = pow(reduced[at], -1, P)
        echelon.append([x * inverse % P for x in reduced])
    out = []
    for t in group:
        reduced = row(t)
        for pivot in echelon:
            at = next(j for j in range(width) if pivot[j])
            reduced = [(x - reduced[at] * y) % P for x, y in zip(reduced, pivot, strict=True)]
        assert not any(x % P for x in reduced[:width])
        out.append([x % P for x in reduced[width:]])
    return out
