"""Where the boxes of a directed acyclic graph go: a small version of Sugiyama's layered drawing.

Layers from premises down to conclusions, at most `MOST_WIDE` boxes in each (Coffman and Graham's
bound on the width); an edge that skips layers is threaded through stand-ins, one per layer, so
that it runs between boxes and not behind them; the order inside a layer is improved by sweeps that
move each node to the mean place of its neighbours; the places are then those of least squares:
edges as upright as the order allows (isotonic regression, layer by layer). Deterministic.
(K. Sugiyama, S. Tagawa, M. Toda, IEEE Trans. SMC 11(2), 1981.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import fmean

import networkx as nx

MOST_WIDE = 5
_SWEEPS = 8

Node = int | tuple[int, int, int]  # a box, or the stand-in of an edge in one layer
_GAP = (1.0, 0.6, 0.2)  # distance of neighbours in a layer: none, one or both are stand-ins
_NARROW = 0.4  # weight of a place's distance from the middle, against that of a slanted edge
_ROUNDS = 12


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
    chains: list[list[Node]] = []
    for a, b in edges:
        stand_ins = [(a, b, k) for k in range(layer[a] + 1, layer[b])]
        for stand_in in stand_ins:
            rows[stand_in[2]].append(stand_in)
        chains.append([a, *stand_ins, b])
    links = [link for chain in chains for link in pairwise(chain)]
    place = _places(_ordered(rows, links), links)
    return Layout(
        tuple(tuple(n for n in row if isinstance(n, int)) for row in rows),
        {n: xy for n, xy in place.items() if isinstance(n, int)},
        tuple(tuple(place[node] for node in chain) for chain in chains),
    )


def _layers(boxes: int, edges: Sequence[tuple[int, int]]) -> dict[int, int]:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(boxes))
    for a, b in edges:
        if not nx.has_path(graph, b, a):
            graph.add_edge(a, b)
    layer: dict[int, int] = {}
    count = Counter[int]()
    for node in nx.lexicographical_topological_sort(graph):
        k = 1 + max((layer[p] for p in graph.predecessors(node)), default=-1)
        while count[k] == MOST_WIDE:
            k += 1
        layer[node] = k
        count[k] += 1
    return layer


def _ordered(rows: list[list[Node]], links: list[tuple[Node, Node]]) -> list[list[Node]]:
    graph = nx.DiGraph(links)
    graph.add_nodes_from(n for row in rows for n in row)
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        near = graph.pred if downwards else graph.succ
        for row in rows if downwards else reversed(rows):
            at = {n: k for other in rows for k, n in enumerate(other)}
            means = {n: fmean([at[p] for p in near[n]] or [at[n]]) for n in row}
            row.sort(key=means.__getitem__)
    return rows


def _places(
    rows: list[list[Node]], links: list[tuple[Node, Node]]
) -> dict[Node, tuple[float, float]]:
    """x minimizes Σ (x_a - x_b)² over the links and, weighted, Σ x², with the order and the
    distances inside each layer kept: layer by layer, the others fixed, again and again."""
    graph = nx.Graph(links)
    graph.add_nodes_from(n for row in rows for n in row)
    x = dict.fromkeys(graph, 0.0)
    for _ in range(_ROUNDS):
        for row in rows:
            weights = [graph.degree(n) + _NARROW for n in row]
            sums = [sum(x[other] for other in graph[n]) for n in row]
            gaps = [_GAP[isinstance(a, tuple) + isinstance(b, tuple)] for a, b in pairwise(row)]
            x |= zip(row, _spread(sums, weights, gaps), strict=True)
    return {n: (round(x[n], 4), float(k)) for k, row in enumerate(rows) for n in row}


def _spread(sums: Sequence[float], weights: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """The places nearest to sums/weights, in weighted least squares, at least `gaps` apart:
    isotonic regression, by pooling neighbours that come too near."""
    offsets = list(accumulate(gaps, initial=0.0))
    pools: list[tuple[float, float, int]] = []
    for total, weight, offset in zip(sums, weights, offsets, strict=True):
        total, count = total - weight * offset, 1
        while pools and pools[-1][0] * weight >= total * pools[-1][1]:
            more = pools.pop()
            total, weight, count = total + more[0], weight + more[1], count + more[2]
        pools.append((total, weight, count))
    places = [total / weight for total, weight, count in pools for _ in range(count)]
    return [place + offset for place, offset in zip(places, offsets, strict=True)]
