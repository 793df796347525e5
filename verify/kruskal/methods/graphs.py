"""The Kruskal rank of the edges of a graph is its girth minus one.

Let every vector have at most two nonzero entries. Take the coordinates as nodes, with one more, the
*ground*: a vector with entries a at u and b at w is an edge between u and w, and a vector with a
single entry at u is an edge between u and the ground. Suppose that nonzero numbers x_u satisfy
a x_u + b x_w = 0 for every vector with two entries. Scaling coordinate u by x_u changes no
dependence and turns the vectors into multiples of e_u - e_w and e_u. With the ground as a
further coordinate (the negative sum of the others, so again no dependence changes) they are
multiples of the columns of the oriented incidence matrix of this graph. A set of these columns is
dependent if and only if its edges contain a cycle (Oxley, Matroid Theory, 2nd ed. 2011, section
5.1). Hence the smallest dependent sets are the shortest cycles. A zero vector is a cycle of length
one.

In each component, a spanning tree determines the numbers x_u up to a factor; the other edges test
them, in Fractions. Breadth-first search finds a shortest cycle through each edge.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from fractions import Fraction

from attncert.verify.claims.words import counted
from attncert.verify.kruskal.bounds import RankBound, witnessed
from attncert.verify.kruskal.vectors import Vectors

Graph = list[list[tuple[int, int]]]
"""For each node, its edges as pairs: the other node, and the index of the vector."""


def nominal_seconds(N: int, d: int) -> float:
    return 1e-7 * N * d + 1e-6 * (N + d) * N


def two_entries(vectors: Vectors) -> bool:
    """Whether no vector has more than two nonzero entries."""
    return bool(((vectors.array != 0).sum(axis=1) <= 2).all())


def graph_bounds(vectors: Vectors) -> Iterator[RankBound]:
    """Both bounds on the Kruskal rank if the vectors, each with at most two nonzero entries, are
    the edges of a graph; otherwise none. Arithmetic: exact.

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


def _graph(vectors: Vectors) -> Graph | None:
    """The graph, if the numbers x_u exist. The ground is the last node."""
    graph: Graph = [[] for _ in range(vectors.d + 1)]
    ratios: dict[int, tuple[int, Fraction]] = {}  # x_w = ratio x_u, for the vector's first u
    for i, row in enumerate(vectors.array.tolist()):
        ends = [j for j, x in enumerate(row) if x]
        u, w = ends if len(ends) == 2 else (*ends, vectors.d) if ends else (vectors.d, vectors.d)
        graph[u].append((w, i))
        graph[w].append((u, i))
        if len(ends) == 2:
            ratios[i] = u, -Fraction(row[u]) / Fraction(row[w])
    return graph if _scaled(graph, ratios) else None


def _scaled(graph: Graph, ratios: dict[int, tuple[int, Fraction]]) -> bool:
    """Whether numbers x_u exist; edges to the ground impose no condition."""
    x: dict[int, Fraction] = {}
    for root in range(len(graph) - 1):
        queue = [] if root in x else [root]
        x.setdefault(root, Fraction(1))
        for u in queue:
            for w, i in graph[u]:
                if i not in ratios:
                    continue
                first, ratio = ratios[i]
                value = x[u] * ratio if u == first else x[u] / ratio
                if w not in x:
                    x[w] = value
                    queue.append(w)
                elif x[w] != value:
                    return False
    return True


def _shortest_cycle(graph: Graph) -> list[int]:
    """The edges of a shortest cycle, empty if there is none. For every edge, the shortest way back
    along other edges is searched."""
    shortest: list[int] = []
    for u, edges in enumerate(graph):
        for w, i in edges:
            if u <= w:
                most = len(shortest) - 1 if shortest else len(graph)
                shortest = _way_back(graph, u, w, i, most) or shortest
    return shortest


def _way_back(graph: Graph, u: int, w: int, i: int, most: int) -> list[int]:
    """Edge i from u to w and a shortest path from w to u without it, if these are `most` edges or
    fewer; else an empty list."""
    queue, seen = deque([(w, [i])]), {w}
    while queue:
        node, path = queue.popleft()
        if len(path) > most:
            break
        if node == u:
            return path
        for next_, j in graph[node]:
            if j != i and next_ not in seen:
                seen.add(next_)
                queue.append((next_, [*path, j]))
    return []
