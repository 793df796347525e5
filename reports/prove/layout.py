"""Where the boxes of a directed acyclic graph go: a small version of Sugiyama's layered drawing.

Layers from premises down to conclusions, at most `MOST_WIDE` boxes in each (Coffman and Graham's
bound on the width); an edge that skips layers is threaded through stand-ins, one per layer, so
that it runs between boxes and not behind them; the order inside a layer is improved by sweeps that
move each node to the mean place of its neighbours; the places are then the solution of a linear
programme: edges as upright as the order allows, found by the flow dual to it (Gansner et al. 1993).
Deterministic.
(K. Sugiyama, S. Tagawa, M. Toda, IEEE Trans. SMC 11(2), 1981.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx

MOST_WIDE = 5
_SWEEPS = 24

Node = int | tuple[int, int, int]  # a box, or the stand-in of an edge in one layer
_UNIT = 100  # places are whole numbers of this part of a box
_GAP = (100, 66, 28)  # distance of neighbours in a layer: none, one or both are stand-ins
_NARROW = 8  # cost of the drawing's width, against that of slanted edges
_PULL = (1, 2, 8)  # how upright an edge is kept: by the same count (Gansner et al.)


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


# Every term to be made small is w (x_b - x_a) for a constraint x_b - x_a >= g: a link's |x_a - x_b|
# is (x_a - x_k) + (x_b - x_k) with a node k of its own to the left of both. The dual of such a
# programme is a flow of least cost -g, in which a constraint that carries flow is tight. What is
# tight and what is not leaves each node a range; its ends, for all nodes, are two solutions.


def _places(
    rows: list[list[Node]], links: list[tuple[Node, Node]]
) -> dict[Node, tuple[float, float]]:
    """x minimizes the weighted sum of |x_a - x_b| over the links and of the drawing's width, with
    the order and the distances inside each layer kept: the mean of the two outermost solutions."""
    graph = nx.DiGraph()
    graph.add_edge("left", "right", gap=0, cost=_NARROW)
    for a, b in links:
        for end in (a, b):
            graph.add_edge(("link", a, b), end, gap=0, cost=_PULL[_loose(a) + _loose(b)])
    for row in rows:
        for n in row:
            graph.add_edge("left", n, gap=0, cost=0)
            graph.add_edge(n, "right", gap=0, cost=0)
        for a, b in pairwise(row):
            graph.add_edge(a, b, gap=_GAP[_loose(a) + _loose(b)], cost=0)
    for n in graph:
        excess = graph.in_degree(n, "cost") - graph.out_degree(n, "cost")
        graph.add_node(n, demand=excess)
    for edge in graph.edges.values():
        edge["weight"] = -edge["gap"]
    _, flow = nx.network_simplex(graph)
    for a, b in [*graph.edges]:
        if flow[a][b]:
            graph.add_edge(b, a, weight=graph[a][b]["gap"])
    first = nx.single_source_bellman_ford_path_length(graph, "left")
    last = nx.single_source_bellman_ford_path_length(graph.reverse(), "right")
    width = -first["right"]
    x = {n: (width + last[n] - first[n]) / 2 / _UNIT for row in rows for n in row}
    return {n: (round(x[n], 4), float(k)) for k, row in enumerate(rows) for n in row}


def _loose(node: Node) -> int:
    return int(not isinstance(node, int))
