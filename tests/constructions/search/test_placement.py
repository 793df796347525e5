"""Placing examples one at a time: residuals, spans and pivots against Gauss elimination by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.oracles import rank_mod

from attncert.constructions.exact.modular import PRIMES
from attncert.constructions.search import placement
from attncert.constructions.search.placement import (
    SLACK_BITS,
    Block,
    Placement,
    Span,
    choose,
    independent_rows,
)

P = PRIMES[0]


def block(rows: list[list[int]], floats: list[list[float]] | None = None) -> Block:
    """Residues, and the same numbers as floats unless other ones are given."""
    width = len(rows[0]) if rows else 0
    whole = np.array(rows, dtype=np.int64).reshape(len(rows), width)
    approx = whole.astype(np.float64) if floats is None else np.array(floats, dtype=np.float64)
    return Block(np.mod(whole, P).astype(np.float64), approx)


small = st.integers(-2, 2)


def tables(rows: int, columns: int) -> st.SearchStrategy[list[list[int]]]:
    row = st.lists(small, min_size=columns, max_size=columns)
    return st.lists(row, min_size=rows, max_size=rows)


def distances(rests: Block) -> list[float | None]:
    """Of rows from a span, by what is left of them; None inside."""
    lengths = np.linalg.norm(rests.float, axis=1).tolist()
    return [length if any(row) else None for length, row in zip(lengths, rests.mod, strict=True)]


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 4), st.integers(1, 5), st.data())
def test_a_span_knows_its_members(d: int, count: int, data: st.DataObject) -> None:
    """None exactly for rows that do not raise the rank mod p; the distance else, as in numpy."""
    span, members = Span(P), []
    for row in data.draw(tables(count, d)):
        rest = span.beyond(block([row]))
        (distance,) = distances(rest)
        outside = rank_mod([*members, row], P) > len(members)
        assert (distance is not None) == outside
        if outside:
            assert distance == pytest.approx(_distance(row, members), abs=1e-9)
            span.add(rest)
            members.append(row)


def test_distances_of_many_rows_at_once() -> None:
    span = Span(P)
    span.add(block([[1, 1, 0]]))
    found = distances(span.beyond(block([[2, 2, 0], [1, 0, 0], [0, 0, 5]])))
    assert found[0] is None
    assert found[1:] == [pytest.approx(0.5**0.5), pytest.approx(5.0)]


def test_residues_decide_and_floats_only_prefer() -> None:
    """A row that floats call dependent and residues do not is outside; and the other way round."""
    span = Span(P)
    span.add(block([[1, 0]], floats=[[1.0, 0.0]]))
    assert distances(span.beyond(block([[3, 1]], floats=[[3.0, 0.0]]))) == [0.0]
    assert distances(span.beyond(block([[3, 0]], floats=[[3.0, 9.0]]))) == [None]


def test_choose_takes_the_cheapest_within_the_slack() -> None:
    far = 2**SLACK_BITS
    candidates = block([[far, 0], [1, 0], [2, 0], [0, 0]])
    assert choose(candidates, [9.0, 1.0, 5.0, 0.0]) == 1  # at the slack exactly; 3 is zero
    assert choose(candidates, [9.0, 10.0, 5.0, 0.0]) == 2
    nearer = block([[far + 1, 0], [1, 0], [2, 0]])
    assert choose(nearer, [9.0, 1.0, 5.0]) == 2  # 1 is farther than the slack now
    assert choose(block([[1, 0], [2, 0]]), [3.0, 3.0]) == 1  # a tie goes to the farther


def test_choose_finds_nothing_in_the_span() -> None:
    span = Span(P)
    span.add(block([[1, 2]]))
    assert choose(span.beyond(block([[2, 4], [0, 0]])), [0.0, 0.0]) is None


@pytest.mark.parametrize("bad", [float("inf"), float("nan")])
def test_choose_survives_floats_that_overflowed(bad: float) -> None:
    chosen = choose(block([[1, 0], [2, 0]], floats=[[bad, 0.0], [bad, 1.0]]), [2.0, 1.0])
    assert chosen in (0, 1)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_placement_is_elimination(data: st.DataObject) -> None:
    """A group is placed exactly if the pivot columns and the new block give it full rank.

    `residual` is compared with what Gauss elimination leaves, and the rows at the pivots must be
    invertible after every step.
    """
    sizes = data.draw(st.lists(st.integers(1, 2), min_size=1, max_size=3))
    T, d = sum(sizes) + 1, 3
    placement, start = Placement(T, P), 0
    features: list[list[int]] = [[] for _ in range(T)]
    for size in sizes:
        head = data.draw(tables(T, d))
        group = list(range(start, start + size))
        together = [  # of the earlier heads only the pivot columns count
            [features[t][h * d + j] for h, j in placement.columns] + head[t]
            for t in (*placement.rows, *group)
        ]
        pivots = placement.pivots(group, block(head))
        fits = rank_mod(together, P) == len(together)
        assert (pivots is not None) == fits
        if pivots is None:
            return
        multipliers = placement.multipliers(group)
        residual = placement.residual(multipliers, block(head)[group], block(head)[placement.rows])
        again = placement.remainder(group, block(head))
        assert residual.mod.tolist() == again.mod.tolist()
        assert residual.mod.tolist() == _residuals(placement, features, group, head)
        placement.extend(group, block(head), pivots)
        features = [row + extra for row, extra in zip(features, head, strict=True)]
        start += size
        chosen = [[features[t][h * d + j] for h, j in placement.columns] for t in placement.rows]
        assert rank_mod(chosen, P) == len(placement.rows) == start


def test_the_last_place_is_forced() -> None:
    """After e_1 with head (1, 0), a new example with z = e_1 must leave the diagonal."""
    placement = Placement(2, P)
    first = block([[1, 0], [1, 0]])
    pivots = placement.pivots([0], first)
    assert pivots == [0]
    placement.extend([0], first, pivots)
    assert placement.pivots([1], block([[3, 4], [3, 4]])) is None
    assert placement.pivots([1], block([[3, 4], [3, 5]])) is not None


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


@pytest.mark.parametrize("panel", [1, 7, 256])
def test_rows_are_worked_out_as_far_as_they_are_looked_at(
    panel: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placement, "_PANEL", panel)
    draw, placed = np.random.default_rng(3), Placement(200, P)
    for start in range(0, 60, 15):  # four groups
        group = list(range(start, start + 15))
        features = block(draw.integers(-9, 10, (200, 20)).tolist())
        pivots = placed.pivots(group, features)
        assert pivots is not None
        placed.extend(group, features, pivots)
    low = draw.integers(-9, 10, (200, 5)) @ draw.integers(-9, 10, (5, 20))
    for features in (block(low.tolist()), block(draw.integers(-9, 10, (200, 20)).tolist())):
        unplaced = list(range(60, 200))
        rest = placed.remainder(unplaced, features)
        direct = placed.residual(placed.multipliers(unplaced), features[unplaced],
                                 features[placed.rows])  # fmt: skip
        assert (rest.mod == direct.mod).all()
        for most in (3, 20):
            rows, pivots = placed.independent(unplaced, features, most)
            assert rows == independent_rows(rest, P, most)[0] and len(pivots) == len(rows)
            minor = rest.mod[np.ix_(rows, pivots)].astype(np.int64).tolist()
            assert rank_mod(minor, P) == len(rows)


def test_independent_rows_across_chunks() -> None:
    """More rows than are eliminated together: unit vectors, each given twice."""
    size = 90
    eye = np.eye(size, dtype=int).tolist()
    rows = [row for row in eye for _ in (0, 1)]
    kept, pivots = independent_rows(block(rows), P)
    assert kept == list(range(0, 2 * size, 2))
    assert pivots == list(range(size))


@given(st.lists(st.integers(0, 3), min_size=2, max_size=2, unique=True))
def test_a_block_is_indexed_and_added_as_a_pair(rows: list[int]) -> None:
    values = list(itertools.product([P - 1, 3], [5, -7]))
    table = block([list(v) for v in values])
    part = table[rows]
    assert part.mod.tolist() == [[x % P for x in values[i]] for i in rows]
    assert part.plus(part, P).mod.tolist() == [[2 * x % P for x in values[i]] for i in rows]


def _distance(row: list[int], members: list[list[int]]) -> float:
    if not members:
        return float(np.linalg.norm(row))
    basis = np.array(members, dtype=float).T
    rest = np.array(row, dtype=float)
    return float(np.linalg.norm(rest - basis @ np.linalg.lstsq(basis, rest, rcond=None)[0]))


def _residuals(
    placement: Placement, features: list[list[int]], group: list[int], head: list[list[int]]
) -> list[list[int]]:
    """x_t - Z[t, C] A⁻¹ X_S, by eliminating the placed rows from [Z[t, C], x_t] in integers."""
    d = len(head[0])

    def row(t: int) -> list[int]:
        return [features[t][h * d + j] for h, j in placement.columns] + head[t]

    width = len(placement.columns)
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
