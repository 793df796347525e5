"""Positions for the boxes of a directed acyclic graph: a small version of Sugiyama's layered
drawing.

Rows lead from premises down to conclusions and hold at most `MOST_WIDE` boxes each (Coffman and
Graham's bound on the width). An edge that skips rows is threaded through stand-ins, one in each
row, so that it runs between boxes, not behind them. Sweeps move each node to the mean position
of its neighbours. Deterministic. (K. Sugiyama, S. Tagawa, M. Toda, IEEE Trans. SMC 11(2), 1981.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

import networkx as nx

MOST_WIDE = 5
_SWEEPS = 8
_STAND_IN = 0.2  # the width of a stand-in, in boxes

Edge = tuple[int, int]
Point = tuple[float, float]
_Node = int | tuple[int, int, int]  # a box, or the stand-in of an edge in one row


def layered(boxes: int, edges: Sequence[Edge]) -> tuple[list[Point], list[list[Point]]]:
    """The positions of the boxes 0 .. boxes-1, and for each edge the points that it runs through.

    x is in box widths, with 0 in the middle; y counts the rows downwards.

    >>> layered(3, [(0, 1), (1, 2), (0, 2)])[0]
    [(0.0, 0.0), (-0.1, 1.0), (0.0, 2.0)]
    """
    row_of = _row_of(boxes, edges)
    chains: list[list[_Node]] = [
        [a, *((a, b, k) for k in range(row_of[a] + 1, row_of[b])), b] for a, b in edges
    ]
    graph = nx.DiGraph()
    graph.add_nodes_from(range(boxes))
    for chain in chains:
        nx.add_path(graph, chain)
    rows: list[list[_Node]] = [[] for _ in range(max(row_of.values(), default=0) + 1)]
    for node in graph:
        rows[row_of[node] if isinstance(node, int) else node[2]].append(node)
    x = _sorted(rows, graph)
    place = {node: (x[node], float(k)) for k, row in enumerate(rows) for node in row}
    return [place[k] for k in range(boxes)], [[place[node] for node in chain] for chain in chains]


def _row_of(boxes: int, edges: Sequence[Edge]) -> dict[int, int]:
    """The row of each box, below its premises; the last edge of a cycle is left out."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(boxes))
    for a, b in edges:
        if not nx.has_path(graph, b, a):
            graph.add_edge(a, b)
    row_of: dict[int, int] = {}
    count = Counter[int]()
    for box in nx.lexicographical_topological_sort(graph):
        k = 1 + max((row_of[premise] for premise in graph.pred[box]), default=-1)
        while count[k] == MOST_WIDE:
            k += 1
        row_of[box] = k
        count[k] += 1
    return row_of


def _sorted(rows: list[list[_Node]], graph: nx.DiGraph) -> dict[_Node, float]:
    """Sort each row by the neighbours above and below in turn. Returns x of every node."""
    x = {node: place for row in rows for node, place in _spread(row)}
    for sweep in range(_SWEEPS):
        near = graph.succ if sweep % 2 else graph.pred
        for row in rows[::-1] if sweep % 2 else rows:
            row.sort(key=lambda node: fmean([x[other] for other in near[node]] or [x[node]]))
            x |= _spread(row)
    return x


def _spread(row: Sequence[_Node]) -> list[tuple[_Node, float]]:
    widths = [1.0 if isinstance(node, int) else _STAND_IN for node in row]
    left = -sum(widths) / 2
    return [(node, round(left + sum(widths[:k]) + widths[k] / 2, 4)) for k, node in enumerate(row)]
