"""The trace as a reader sees it: claims named in words, heads bundled, the graph kept readable.

A proof with 600 heads has thousands of claims; a diagram with thousands of boxes shows nothing. So
the diagram is a quotient of the trace: each box stands for one claim or for all heads that stand
alike, and carries the weakest standing inside it.

How the written proofs argue stands in edges beside those that claims rest on. What is certified is
decided from the data and the weights; a standing is derived from `rests_on` alone. The proof that
the construction follows goes another way: hypotheses give the steps of each head, these the rank,
the rank every labelling. A reader wants to see both. No standing is derived from an edge made here.
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

MOST_CLAIMS = 16  # boxes in a diagram with one box per claim
MOST_BOXES = 60
ROUTES = (ids.RATIONAL, ids.SYMBOLIC, ids.MULTIPRECISION)
_WHOLE = (
    (ids.CAPACITY, ids.GROUPS),  # so many examples fill so many groups
    (ids.VALUE_WIDTH, ids.REDUCTION),  # V holds the labels where d_v >= m
    (ids.THEOREM, ids.UNIVERSAL),  # what Theorem 1 says
    (ids.PARTITION_MEMORIZES, ids.UNIVERSAL),  # what its proof shows, asked for less
    (ids.UNIVERSAL, ids.MEMORIZATION),  # every labelling: these labels too
    (ids.AGREEMENT, ids.MEMORIZATION),  # a cross-check
    (ids.SATURATION_SYMBOLIC, ids.SATURATION_ASKED),  # a cross-check
)  # fmt: skip


def title(claim_id: str) -> str:
    """A claim's id in words, plain text.

    >>> title("head.3.selector"), title("hypothesis.value-width"), title("interpolation.exact")
    ('head 3: selector', 'hypothesis: value-width', 'interpolation: exact')
    """
    head = head_and_step(claim_id)
    if head:
        return f"head {head[0]}: {words(head[1]).replace('.', ', ')}"
    first, _, rest = words(claim_id).partition(".")
    return f"{first}: {rest.replace('.', ', ')}" if rest else first


def bundle(claim_ids: Iterable[ClaimId]) -> list[tuple[str, list[ClaimId]]]:
    """Claims to name together: (words, ids); the same step of several heads is one entry.

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
        noun = "head" if len(numbers) == 1 else "heads"
        out.append((f"{words(step)} of {noun} {indices(numbers)}", [i for _, i in members]))
    return out


def by_head(trace: ProofTrace) -> list[tuple[int | None, list[Claim]]]:
    """Claims in order; those of one head together, where its first claim stands."""
    out: list[tuple[int | None, list[Claim]]] = []
    place: dict[int, list[Claim]] = {}
    for claim in trace:
        head = head_and_step(claim.id)
        if head is None:
            out.append((None, [claim]))
        elif head[0] in place:
            place[head[0]].append(claim)
        else:
            place[head[0]] = [claim]
            out.append((head[0], place[head[0]]))
    return out


def weakest(trace: ProofTrace, claims: Iterable[Claim]) -> Level:
    return min(trace.standing(c.id) for c in claims)


def causes(trace: ProofTrace, claim: Claim) -> list[ClaimId]:
    """Ids of the claims that hold `claim` below its own level, each weak on its own."""
    standing = trace.standing(claim.id)
    if standing is claim.level:
        return []
    ancestors = trace.ancestors(claim.id)
    above = [c for c in trace if c.id in ancestors]
    broken = [c.id for c in above if not c.level.holds]
    return broken or [c.id for c in above if c.level is standing]


@dataclass(frozen=True)
class Box:
    """One box of the diagram: `claims` are the ids inside, `standing` the weakest of theirs."""

    label: str
    standing: Level
    claims: tuple[ClaimId, ...]


@dataclass(frozen=True)
class Diagram:
    """What is drawn of a trace, edges as (premise, conclusion), positions in `boxes`.

    rests: what a box rests on (`rests_on`). argued: the way of the written proof, where it is
    another (`argued`). reduced: edges that follow from others are left out.
    bundled: some box holds more than one claim. apart: claims without any edge, not drawn.
    """

    boxes: tuple[Box, ...]
    rests: tuple[tuple[int, int], ...]
    argued: tuple[tuple[int, int], ...]
    reduced: bool
    bundled: bool
    apart: tuple[ClaimId, ...]


def diagram(trace: ProofTrace) -> Diagram:
    """The trace, small enough to be read: where it has many claims, one box holds the heads of
    the same standing."""
    if len(trace) <= MOST_CLAIMS:
        return _quotient(trace, title)
    name = _heads_alike(trace)

    def label(claim_id: ClaimId) -> str:
        head = head_and_step(claim_id)
        return name[head[0]] if head else title(claim_id)

    view = _quotient(trace, label)
    if len(view.boxes) <= MOST_BOXES:
        return view
    return _quotient(trace, lambda i: label(i) if head_and_step(i) else i.partition(".")[0])


def box_anchor(box: Box, anchors: Mapping[ClaimId, str]) -> str:
    """Where on the page a box is told: at its first claim; heads, where all their steps begin."""
    heads = len(box.claims) > 1 and all(map(head_and_step, box.claims))
    return "heads-1" if heads else anchors[box.claims[0]]


def _heads_alike(trace: ProofTrace) -> dict[int, str]:
    """The name of each head's box."""
    alike: dict[Level, list[int]] = {}
    for head, claims in by_head(trace):
        if head is not None:
            alike.setdefault(weakest(trace, claims), []).append(head)
    named = [(heads, _heads_name(sorted(heads))) for heads in alike.values()]
    return {head: name for heads, name in named for head in heads}


def _heads_name(heads: Sequence[int]) -> str:
    return f"head {heads[0]}" if len(heads) == 1 else f"heads {indices(heads, 4)}"


def _quotient(trace: ProofTrace, label: Callable[[ClaimId], str]) -> Diagram:
    members: dict[str, list[ClaimId]] = {}
    for claim_id in trace.order:
        members.setdefault(label(claim_id), []).append(claim_id)
    box_of = {claim_id: name for name, inside in members.items() for claim_id in inside}
    rests = {(box_of[a], box_of[b]) for a, b in trace.graph.edges} - {(x, x) for x in members}
    also = {(box_of[a], box_of[b]) for a, b in argued(trace)} - rests - {(x, x) for x in members}
    joined = {name for edge in rests | also for name in edge} or set(members)
    drawn = {name: k for k, name in enumerate(name for name in members if name in joined)}
    solid, dashed = _reduced(rests), _reduced(rests | also) - rests
    return Diagram(
        tuple(
            Box(name, weakest(trace, map(trace.__getitem__, members[name])), tuple(members[name]))
            for name in drawn
        ),
        tuple(sorted((drawn[a], drawn[b]) for a, b in solid)),
        tuple(sorted((drawn[a], drawn[b]) for a, b in dashed)),
        len(solid) + len(dashed) < len(rests) + len(also),
        any(len(members[name]) > 1 for name in drawn),
        tuple(i for name, inside in members.items() if name not in joined for i in inside),
    )


def _reduced(edges: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Without those that follow from others; as they are where bundling closed a circle."""
    graph = nx.DiGraph(sorted(edges))
    if not nx.is_directed_acyclic_graph(graph):
        return edges
    return set(nx.transitive_reduction(graph).edges)


def argued(trace: ProofTrace) -> list[tuple[ClaimId, ClaimId]]:
    """Edges (premise, conclusion) between claims of the trace, none of them in `rests_on`.

    A hypothesis leads to each step that names it in `uses`; where no theorem was applied, to the
    answer. Groups lead to the heads' first steps; a head's last steps to its rank, that to the rank
    of the layer; the rank to the routes that evaluate a readout, which exists by it.
    """
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
        so_far = of_head(head[0], "rank")
        if not any(head_and_step(premise) for premise in claim.rests_on) and claim.id != so_far:
            yield ids.GROUPS, claim.id
        if not any(head_and_step(after) for after in trace.graph.successors(claim.id)):
            yield claim.id, so_far if so_far in trace and claim.id != so_far else ids.RANK
    for route in ROUTES:
        yield from ((ids.RANK, route), (ids.REDUCTION, route))
