"""The places of the boxes of a directed acyclic graph: a small version of Sugiyama's layered
drawing.

Rows lead from premises down to conclusions and hold at most `MOST_WIDE` boxes each (Coffman and
Graham's bound on the width). An edge that skips rows is threaded through stand-ins, one in each
row, so that it runs between boxes and not behind them. Sweeps move each node to the mean place of
its neighbours. Deterministic. (K. Sugiyama, S. Tagawa, M. Toda, IEEE Trans. SMC 11(2), 1981.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean

from attncert.verify.claims.order import ancestors, ordered

MOST_WIDE = 5
_SWEEPS = 8
_STAND_IN = 0.2  # the width of a stand-in, in boxes

Edge = tuple[int, int]
Point = tuple[float, float]
_Node = int | tuple[int, int, int]  # a box, or the stand-in of an edge in one row
_Neighbours = dict[_Node, list[_Node]]


def layered(boxes: int, edges: Sequence[Edge]) -> tuple[list[Point], list[list[Point]]]:
    """The places of the boxes 0 .. boxes-1, and for each edge the points that it runs through.

    x is in widths of a box, and 0 is the middle; y counts the rows downwards.

    >>> layered(3, [(0, 1), (1, 2), (0, 2)])[0]
    [(0.0, 0.0), (-0.1, 1.0), (0.0, 2.0)]
    """
    row_of = _row_of(boxes, edges)
    chains: list[list[_Node]] = [
        [a, *((a, b, k) for k in range(row_of[a] + 1, row_of[b])), b] for a, b in edges
    ]
    above: dict[_Node, list[_Node]] = {box: [] for box in range(boxes)}
    below: dict[_Node, list[_Node]] = {}
    for upper, lower in (pair for chain in chains for pair in pairwise(chain)):
        above.setdefault(lower, []).append(upper)
        below.setdefault(upper, []).append(lower)
    rows: list[list[_Node]] = [[] for _ in range(max(row_of.values(), default=0) + 1)]
    for node in above:
        rows[row_of[node] if isinstance(node, int) else node[2]].append(node)
    x = _sorted(rows, above, below)
    place = {node: (x[node], float(k)) for k, row in enumerate(rows) for node in row}
    return [place[k] for k in range(boxes)], [[place[node] for node in chain] for chain in chains]


def _row_of(boxes: int, edges: Sequence[Edge]) -> dict[int, int]:
    """The row of each box, below its premises. If bundling closed a cycle, its last edge is left
    out."""
    premises: dict[int, list[int]] = {box: [] for box in range(boxes)}
    for a, b in edges:
        if a != b and b not in ancestors(premises, a):
            premises[b].append(a)
    row_of: dict[int, int] = {}
    count = Counter[int]()
    for box in ordered(premises):
        k = 1 + max((row_of[premise] for premise in premises[box]), default=-1)
        while count[k] == MOST_WIDE:
            k += 1
        row_of[box] = k
        count[k] += 1
    return row_of


def _sorted(rows: list[list[_Node]], above: _Neighbours, below: _Neighbours) -> dict[_Node, float]:
    """Sort each row by the neighbours above, then below, in turn; x of every node."""
    x = {node: place for row in rows for node, place in _spread(row)}
    for sweep in range(_SWEEPS):
        near = below if sweep % 2 else above
        for row in rows[::-1] if sweep % 2 else rows:
            means = {node: fmean([x[k] for k in near.get(node, ())] or [x[node]]) for node in row}
            row.sort(key=means.__getitem__)
            x |= _spread(row)
    return x


def _spread(row: Sequence[_Node]) -> list[tuple[_Node, float]]:
    """Places for the nodes side by side, around the middle."""
    widths = [1.0 if isinstance(node, int) else _STAND_IN for node in row]
    left = -sum(widths) / 2
    return [(node, round(left + sum(widths[:k]) + widths[k] / 2, 4)) for k, node in enumerate(row)]
