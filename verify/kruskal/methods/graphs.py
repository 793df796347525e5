"""The Kruskal rank of the edges of a graph is its girth minus one.

Let every vector have at most two nonzero entries. The nodes are the coordinates and an extra node,
the *ground*: a vector with entries a at u and b at w is an edge between u and w, and a vector with
a single entry at u is an edge between u and the ground. Suppose that nonzero numbers x_u satisfy
a x_u + b x_w = 0 for every vector with two entries. Scaling coordinate u by x_u changes no
dependence and turns the vectors into multiples of e_u - e_w and e_u. With the ground as a
further coordinate (the negative sum of the other coordinates, so again no dependence changes) they
are multiples of the columns of the oriented incidence matrix of this graph. A set of these columns
is dependent if and only if its edges contain a cycle (Oxley, Matroid Theory, 2nd ed. 2011, section
5.1). Hence the smallest dependent sets are the shortest cycles. A zero vector is a cycle of length
one.

In each component, a spanning tree determines the numbers x_u up to a factor; the other edges test
them, in exact fractions. Breadth-first search (networkx) finds a shortest cycle through each edge.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise

import networkx as nx

from attncert.verify.claims.words import counted
from attncert.verify.kruskal.bounds import RankBound, witnessed
from attncert.verify.kruskal.vectors import Vectors


def nominal_seconds(N: int, d: int) -> float:
    return 1e-7 * N * d + 1e-6 * (N + d) * N


def two_entries(vectors: Vectors) -> bool:
    """Whether no vector has more than two nonzero entries."""
    return bool(((vectors.array != 0).sum(axis=1) <= 2).all())


def graph_bounds(vectors: Vectors) -> Iterator[RankBound]:
    """Both bounds on the Kruskal rank if the vectors, each with at most two nonzero entries, are
    the edges of a graph; otherwise no bounds. Arithmetic: exact.

    >>> triangle = Vectors.of([[1, -2, 0], [0, 3, 3], [5, 0, 10], [1, 0, 0]])
    >>> [(bound.end, bound.value) for bound in graph_bounds(triangle)]
    [('lower', 2), ('upper', 2)]
    """
    graph = _graph(vectors)
    if graph is None:
        return
    cycle = _shortest_cycle(graph)
    girth = len(cycle) if cycle else vectors.N + 1
    what = f"its shortest cycle has {girth} edges" if cycle else "it has no cycle"
    why = (
        "With the coordinates scaled, the vectors are multiples of the edges of a graph, whose "
        f"nodes are the {counted(vectors.d, 'coordinate')} and one more; {what}."
    )
    yield RankBound("lower", girth - 1, "graph", why, numbers={"nodes": vectors.d + 1})
    relation = vectors.relation(cycle) if cycle else None
    if relation is not None:
        yield witnessed(relation, "graph")


def _graph(vectors: Vectors) -> nx.MultiGraph | None:
    """The graph, whose edges have the indices of their vectors as keys, if the numbers x_u exist.
    The ground is the last node."""
    rows, ground = vectors.array.tolist(), vectors.d
    graph = nx.MultiGraph()
    graph.add_nodes_from(range(ground + 1))
    for i, row in enumerate(rows):
        ends = [j for j, entry in enumerate(row) if entry]
        u, w = [*ends, ground, ground][:2]
        graph.add_edge(u, w, key=i)
    inner, x = graph.subgraph(range(ground)), dict[int, Fraction]()

    def term(i: int, u: int) -> Fraction:
        return Fraction(rows[i][u]) * x[u]

    for root in inner:
        if root in x:
            continue
        x[root] = Fraction(1)
        for u, w in nx.bfs_edges(inner, root):
            i = min(inner[u][w])
            x[w] = -term(i, u) / Fraction(rows[i][w])
    scaled = all(term(i, u) + term(i, w) == 0 for u, w, i in inner.edges(keys=True))
    return graph if scaled else None


def _shortest_cycle(graph: nx.MultiGraph) -> list[int]:
    """The edges of a shortest cycle, empty if there is none. The edges are removed from the graph
    one by one, and each is completed to a cycle by a shortest path along the remaining edges."""
    shortest = list[int]()
    for u, w, i in list(graph.edges(keys=True)):
        graph.remove_edge(u, w, i)
        with suppress(nx.NetworkXNoPath):
            path = nx.shortest_path(graph, u, w)
            cycle = [i, *(min(graph[a][b]) for a, b in pairwise(path))]
            shortest = min(shortest or cycle, cycle, key=len)
    return shortest
