"""The trace as a reader sees it: claims named in words, heads bundled, the graph kept readable.

A proof with 600 heads has thousands of claims, and a diagram with thousands of boxes shows nothing.
So the diagram is a quotient of the trace: each box stands for one claim or for all heads with the
same standing, and shows the weakest standing in it.

Two kinds of edges are drawn. What is certified is decided from the data and the weights; a standing
derives from `rests_on` alone. The written proof takes another route: hypotheses give the steps of
each head, the steps give the rank, and the rank gives every labelling. `argued` returns these
edges; no standing derives from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

from attncert.reports.words.numbers import indices, words
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.ids import ClaimId, head_and_step, hypothesis_name, of_head
from attncert.verify.claims.trace import ProofTrace

MOST_BOXES = 60
ROUTES = (ids.RATIONAL, ids.SYMBOLIC, ids.MULTIPRECISION)
_WHOLE = (
    (ids.CAPACITY, ids.GROUPS),  # T examples fill enough groups
    (ids.VALUE_WIDTH, ids.REDUCTION),  # if d_v >= m, V can hold the labels
    (ids.THEOREM, ids.UNIVERSAL),  # what Theorem 1 says
    (ids.PARTITION_MEMORIZES, ids.UNIVERSAL),  # what the proof shows under a weaker hypothesis
    (ids.UNIVERSAL, ids.MEMORIZATION),  # every labelling implies these labels
    (ids.AGREEMENT, ids.MEMORIZATION),  # a cross-check
)  # fmt: skip


def title(claim_id: str) -> str:
    """A claim's id in words, as plain text.

    >>> title("head.3.selector"), title("hypothesis.value-width"), title("interpolation.exact")
    ('head 3: selector', 'hypothesis: value-width', 'interpolation: exact')
    """
    head = head_and_step(claim_id)
    if head:
        return f"head {head[0]}: {words(head[1]).replace('.', ', ')}"
    first, _, rest = words(claim_id).partition(".")
    return f"{first}: {rest.replace('.', ', ')}" if rest else first


def bundle(claim_ids: Iterable[ClaimId]) -> list[tuple[str, list[ClaimId]]]:
    """Names of claims with their ids; the same step of several heads is one entry.

    >>> bundle(["rank", "head.1.base", "head.2.head", "head.3.head"])  # doctest: +ELLIPSIS
    [('rank', ['rank']), ('base of head 1', ['head.1.base']), ('head of heads 2, 3', [...])]
    """
    steps: dict[str, list[tuple[int, ClaimId]]] = {}
    out: list[tuple[str, list[ClaimId]]] = []
    for claim_id in claim_ids:
        if head := head_and_step(claim_id):
            steps.setdefault(head[1], []).append((head[0], claim_id))
        else:
            out.append((title(claim_id), [claim_id]))
    for step, members in steps.items():
        numbers = sorted(k for k, _ in members)
        out.append((f"{words(step)} of {heads_name(numbers)}", [i for _, i in members]))
    return out


def by_head(trace: ProofTrace) -> dict[int, list[Claim]]:
    claims: dict[int, list[Claim]] = {}
    for claim in trace:
        if head := head_and_step(claim.id):
            claims.setdefault(head[0], []).append(claim)
    return claims


def weakest(trace: ProofTrace, claims: Iterable[Claim]) -> Level:
    return min(trace.standing(c.id) for c in claims)


def causes(trace: ProofTrace, claim: Claim) -> list[ClaimId]:
    """The claims whose own levels lower the standing of `claim` below its level."""
    standing = trace.standing(claim.id)
    if standing is claim.level:
        return []
    ancestors = trace.ancestors(claim.id)
    above = [c for c in trace if c.id in ancestors]
    broken = [c.id for c in above if not c.level.holds]
    return broken or [c.id for c in above if c.level is standing]


@dataclass(frozen=True)
class Box:
    """One box of the diagram: the ids of its claims, and the weakest of their standings."""

    label: str
    standing: Level
    claims: tuple[ClaimId, ...]


@dataclass(frozen=True)
class Diagram:
    """The drawn part of a trace; edges are (premise, conclusion) as positions in `boxes`, without
    those implied by others. argued: further arguments of the written proof. apart: claims
    without any edge, not drawn."""

    boxes: tuple[Box, ...]
    rests: tuple[tuple[int, int], ...]
    argued: tuple[tuple[int, int], ...]
    apart: tuple[ClaimId, ...]


def diagram(trace: ProofTrace) -> Diagram:
    """The trace, small enough to be read: all heads with the same standing share one box."""
    name = _heads_alike(trace)

    def label(claim_id: ClaimId) -> str:
        head = head_and_step(claim_id)
        return name[head[0]] if head else title(claim_id)

    view = _quotient(trace, label)
    if len(view.boxes) <= MOST_BOXES:
        return view
    return _quotient(trace, lambda i: label(i) if head_and_step(i) else i.partition(".")[0])


def box_anchor(box: Box, anchors: Mapping[ClaimId, str]) -> str:
    """The place on the page that describes a box: its first claim, or the heads' first step."""
    heads = len(box.claims) > 1 and all(map(head_and_step, box.claims))
    return "heads-1" if heads else anchors[box.claims[0]]


def _heads_alike(trace: ProofTrace) -> dict[int, str]:
    """The name of each head's box."""
    alike: dict[Level, list[int]] = {}
    for head, claims in by_head(trace).items():
        alike.setdefault(weakest(trace, claims), []).append(head)
    return {head: heads_name(sorted(heads)) for heads in alike.values() for head in heads}


def heads_name(heads: Sequence[int]) -> str:
    """
    >>> heads_name([3]), heads_name([1, 2, 3, 5])
    ('head 3', 'heads 1–3, 5')
    """
    return f"head {heads[0]}" if len(heads) == 1 else f"heads {indices(heads, 4)}"


def _quotient(trace: ProofTrace, label: Callable[[ClaimId], str]) -> Diagram:
    members: dict[str, list[ClaimId]] = {}
    for claim_id in trace.order:
        members.setdefault(label(claim_id), []).append(claim_id)
    box_of = {claim_id: name for name, inside in members.items() for claim_id in inside}
    inside = {(name, name) for name in members}
    rests = {(box_of[a], box_of[b]) for a, b in trace.graph.edges} - inside
    also = {(box_of[a], box_of[b]) for a, b in argued(trace)} - rests - inside
    joined = {name for edge in rests | also for name in edge} or set(members)
    drawn = {name: k for k, name in enumerate(name for name in members if name in joined)}

    def numbered(edges: set[tuple[str, str]]) -> tuple[tuple[int, int], ...]:
        return tuple(sorted((drawn[a], drawn[b]) for a, b in edges))

    return Diagram(
        tuple(
            Box(name, weakest(trace, map(trace.__getitem__, members[name])), tuple(members[name]))
            for name in drawn
        ),
        numbered(_reduced(rests)),
        numbered(_reduced(rests | also) - rests),
        tuple(i for name, ids in members.items() if name not in joined for i in ids),
    )


def _reduced(edges: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The edges that do not follow from others; all edges if bundling makes a cycle."""
    graph = nx.DiGraph(sorted(edges))
    if not nx.is_directed_acyclic_graph(graph):
        return edges
    return set(nx.transitive_reduction(graph).edges)


def argued(trace: ProofTrace) -> list[tuple[ClaimId, ClaimId]]:
    """Edges (premise, conclusion) between claims of the trace, none of them in `rests_on`: from a
    hypothesis to each step that names it in `uses`, from groups through the steps of the heads to
    the rank, and from the rank to the routes that evaluate a readout."""
    edges = dict.fromkeys(
        (a, b)
        for a, b in _edges(trace)
        if a in trace and b in trace and a != b and a not in trace[b].rests_on
    )
    return list(edges)


def _edges(trace: ProofTrace) -> Iterator[tuple[ClaimId, ClaimId]]:
    yield from _WHOLE
    for claim in trace:
        yield from ((ids.hypothesis(name), claim.id) for name in claim.uses)
        if hypothesis_name(claim.id) and ids.THEOREM not in trace:
            yield claim.id, ids.MEMORIZATION
        head = head_and_step(claim.id)
        if head is None:
            continue
        rank = of_head(head[0], "rank")
        if not any(head_and_step(premise) for premise in claim.rests_on) and claim.id != rank:
            yield ids.GROUPS, claim.id
        if not any(head_and_step(after) for after in trace.graph.successors(claim.id)):
            yield claim.id, rank if rank in trace and claim.id != rank else ids.RANK
    for route in ROUTES:
        yield from ((ids.RANK, route), (ids.REDUCTION, route))
