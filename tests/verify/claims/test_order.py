"""Orders and ancestors of directed graphs, against networkx."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from attncert.verify.claims.order import CircleError, ancestors, ordered

graphs = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=14)


@given(graphs)
def test_nodes_come_after_their_premises_or_a_circle_is_named(edges: list[tuple[int, int]]) -> None:
    premises = {node: [a for a, b in edges if b == node] for node in range(8)}
    graph = nx.DiGraph(edges)
    graph.add_nodes_from(range(8))
    for node in graph:
        assert ancestors(premises, node) - {node} == nx.ancestors(graph, node)
    try:
        assert ordered(premises) == list(nx.lexicographical_topological_sort(graph))
        assert nx.is_directed_acyclic_graph(graph)
    except CircleError as error:
        circle = [int(node) for node in str(error).split(" -> ")]
        assert all(map(graph.has_edge, circle, [*circle[1:], circle[0]]))
