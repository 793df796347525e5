"""Directed acyclic graphs, given by the premises of each node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from typing import TypeVar

Node = TypeVar("Node")


class CircleError(ValueError):
    """The nodes of a circle, each a premise of the next."""

    def __init__(self, circle: list[str]) -> None:
        super().__init__(" -> ".join(circle))


def ordered(premises: Mapping[Node, Iterable[Node]]) -> list[Node]:
    """The nodes, each after its premises, and otherwise as they are given. Every premise must be a
    key. Raises CircleError.

    >>> ordered({"theorem": ["A1", "rank"], "A1": [], "rank": []})
    ['A1', 'rank', 'theorem']
    """
    nodes, order, ready = list(premises), list[Node](), list[int]()
    place = {node: k for k, node in enumerate(nodes)}
    sorter = TopologicalSorter(premises)
    try:
        sorter.prepare()
    except CycleError as error:
        raise CircleError([str(node) for node in error.args[1][:-1]]) from None
    while sorter.is_active():
        for node in sorter.get_ready():
            heappush(ready, place[node])
        order.append(nodes[heappop(ready)])
        sorter.done(order[-1])
    return order


def ancestors(premises: Mapping[Node, Iterable[Node]], node: Node) -> set[Node]:
    """The nodes on which this one rests, directly or not."""
    found, left = set[Node](), [*premises[node]]
    while left:
        premise = left.pop()
        if premise not in found:
            found.add(premise)
            left += premises[premise]
    return found
