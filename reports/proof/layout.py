"""Where the boxes of a directed acyclic graph go: a small version of Sugiyama's layered drawing.

Layers from premises down to conclusions, at most `MOST_WIDE` boxes in each (Coffman and Graham's
bound on the width); an edge that skips layers is threaded through stand-ins, one per layer, so
that it runs between boxes and not behind them; the order inside a layer is improved by sweeps that
move each node to the mean place of its neighbours; the places are then the solution of a linear
programme: edges as upright as the order allows (Gansner et al. 1993). Deterministic.
(K. Sugiyama, S. Tagawa, M. Toda, IEEE Trans. SMC 11(2), 1981.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx
import numpy as np
from scipy.optimize import linprog

MOST_WIDE = 5
_SWEEPS = 24

Node = int | tuple[int, int, int]  # a box, or the stand-in of an edge in one layer
_GAP = (1.0, 0.66, 0.28)  # distance of neighbours in a layer: none, one or both are stand-ins
_NARROW = 8.0  # cost of the drawing's width, against that of slanted edges
_PULL = (1.0, 2.0, 8.0)  # how upright an edge is kept: by the same count (Gansner et al.)


@dataclass(frozen=True)
class Layout:
    """rows: the boxes of each layer from top to bottom (numbers of boxes).
    place: (x, y) of each box, in units of one box; y counts layers downwards.
    routes: for each edge the points it runs through, both ends included."""

    rows: tuple[tuple[int, ...], ...]
    place: dict[int, tuple[float, float]]
    routes: tuple[tuple[tuple[float, float], ...], ...]


def layered(boxes: int, edges: Sequence[tuple[int, int]]) -> Layout:
    """Lay out boxes 0 .. boxes-1. A graph with a circle has its closing edges left unlayered.

    >>> layered(3, [(0, 1), (1, 2), (0, 2)]).rows
    ((0,), (1,), (2,))
    """
    layer = _layers(boxes, edges)
    rows: list[list[Node]] = [[] for _ in range(max(layer.values(), default=0) + 1)]
    for box in range(boxes):
        rows[layer[box]].append(box)
    links: list[tuple[Node, Node]] = []
    chains: list[list[Node]] = []
    for a, b in edges:
        chain: list[Node] = [a]
        for k in range(layer[a] + 1, layer[b]):
            stand_in = (a, b, k)
            rows[k].append(stand_in)
            chain.append(stand_in)
        chain.append(b)
        chains.append(chain)
        links += pairwise(chain)
    rows = _ordered(rows, links)
    place = _places(rows, links)
    routes = tuple(tuple(place[node] for node in chain) for chain in chains)
    return Layout(
        tuple(tuple(n for n in row if isinstance(n, int)) for row in rows),
        {n: xy for n, xy in place.items() if isinstance(n, int)},
        routes,
    )


def _layers(boxes: int, edges: Sequence[tuple[int, int]]) -> dict[int, int]:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(boxes))
    for a, b in edges:
        if not nx.has_path(graph, b, a):
            graph.add_edge(a, b)
    order = list(nx.lexicographical_topological_sort(graph))
    order.sort(key=lambda node: graph.degree(node) == 0)  # lone boxes fill what is left
    layer: dict[int, int] = {}
    room: dict[int, int] = {}
    for node in order:
        k = 1 + max((layer[p] for p in graph.predecessors(node)), default=-1)
        while room.get(k, 0) >= MOST_WIDE:
            k += 1
        layer[node], room[k] = k, room.get(k, 0) + 1
    # Boxes that rest on nothing sink towards what uses them: shorter edges.
    for node in reversed(order):
        below = [layer[s] for s in graph.successors(node)]
        for k in range(min(below, default=0) - 1, layer[node], -1):
            if room.get(k, 0) < MOST_WIDE and not graph.in_degree(node):
                room[layer[node]], room[k] = room[layer[node]] - 1, room.get(k, 0) + 1
                layer[node] = k
                break
    used = {k: i for i, k in enumerate(sorted(set(layer.values())))}
    return {node: used[k] for node, k in layer.items()}


def _ordered(rows: list[list[Node]], links: list[tuple[Node, Node]]) -> list[list[Node]]:
    up: dict[Node, list[Node]] = {}
    down: dict[Node, list[Node]] = {}
    for a, b in links:
        down.setdefault(a, []).append(b)
        up.setdefault(b, []).append(a)
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        near = up if downwards else down
        for row in rows if downwards else reversed(rows):
            at = {n: k for other in rows for k, n in enumerate(other)}
            means = {
                n: sum(at[p] for p in near[n]) / len(near[n]) if near.get(n) else at[n] for n in row
            }
            row.sort(key=means.__getitem__)
    return rows


def _places(
    rows: list[list[Node]], links: list[tuple[Node, Node]]
) -> dict[Node, tuple[float, float]]:
    """x minimizes the weighted sum of |x_a - x_b| over the links and of the drawing's width, with
    the order and the distances inside each layer kept.

    Variables: every x, one bound for each link, and the drawing's two edges.
    """
    nodes = [n for row in rows for n in row]
    at = {n: k for k, n in enumerate(nodes)}
    left = len(nodes) + len(links)
    right = left + 1
    cost = np.zeros(right + 1)
    cost[left], cost[right] = -_NARROW, _NARROW
    smaller: list[tuple[dict[int, float], float]] = []  # sum of coefficient · variable <= bound
    for k, (a, b) in enumerate(links, start=len(nodes)):
        cost[k] = _PULL[_loose(a) + _loose(b)]
        smaller += [({at[a]: s, at[b]: -s, k: -1.0}, 0.0) for s in (1.0, -1.0)]
    for n in nodes:
        smaller += [({left: 1.0, at[n]: -1.0}, 0.0), ({at[n]: 1.0, right: -1.0}, 0.0)]
    for layer in rows:
        for a, b in pairwise(layer):
            smaller.append(({at[a]: 1.0, at[b]: -1.0}, -_GAP[_loose(a) + _loose(b)]))
    matrix = np.zeros((len(smaller), right + 1))
    for row, (coefficients, _) in zip(matrix, smaller, strict=True):
        for k, c in coefficients.items():
            row[k] = c
    fixed = [(None, None)] * left + [(0.0, 0.0), (None, None)]  # the left edge is at 0
    x = linprog(cost, matrix, [b for _, b in smaller], bounds=fixed, method="highs").x
    return {n: (round(float(x[at[n]]), 4), float(k)) for k, row in enumerate(rows) for n in row}


def _loose(node: Node) -> int:
    return int(not isinstance(node, int))
