"""The trace as a reader sees it: claims named in words, heads bundled, the graph kept readable.

A proof with 600 heads has thousands of claims; a diagram with thousands of boxes shows nothing
(and GitHub refuses to draw it). So the diagram is a quotient of the trace: each box stands for one
claim, for one head, or for a run of heads, and carries the weakest standing inside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import networkx as nx

from attncert.reports.words.numbers import indices, words
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.ids import ClaimId, Step, head_and_step, hypothesis_name
from attncert.verify.claims.trace import ProofTrace

MOST_CLAIMS = 26  # boxes in a diagram with one box per claim
MOST_HEADS = 12  # heads in a diagram with one box per head
MOST_BOXES = 60


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
    steps: dict[Step, list[tuple[int, ClaimId]]] = {}
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


def pivotal(trace: ProofTrace, conclusion: ClaimId) -> list[Claim]:
    """The claims to show first where the conclusion does not hold: what fails on its own among all
    that it rests on, else the hypotheses that fail (unless it is refuted with a witness of its
    own), and itself where it adds a witness."""
    itself = trace[conclusion]
    below = [c for c in trace.failures(conclusion) if c is not itself]
    if not below and not (itself.level is Level.REFUTED and itself.witness):
        below = [c for c in trace.failures() if hypothesis_name(c.id)]
    told = [c.witness for c in below]
    adds = not itself.level.holds and (not below or itself.witness not in (None, {}, *told))
    return [*below, itself] if adds else below


@dataclass(frozen=True)
class Box:
    """One box of the diagram: `claims` are the ids inside, `standing` the weakest of theirs."""

    label: str
    standing: Level
    claims: tuple[ClaimId, ...]


@dataclass(frozen=True)
class Diagram:
    """edges: (premise, conclusion) as positions in `boxes`. reduced: edges that follow from others
    are left out. bundled: some box holds more than one claim."""

    boxes: tuple[Box, ...]
    edges: tuple[tuple[int, int], ...]
    reduced: bool
    bundled: bool


def diagram(trace: ProofTrace) -> Diagram:
    """The finest quotient of the trace that is still readable."""
    heads = sorted({h[0] for c in trace if (h := head_and_step(c.id))})
    if len(trace) <= MOST_CLAIMS:
        return _quotient(trace, title)
    runs = [[h] for h in heads] if len(heads) <= MOST_HEADS else _runs(trace, heads)
    name = {h: _run_name(run) for run in runs for h in run}

    def label(claim_id: str) -> str:
        head = head_and_step(claim_id)
        return name[head[0]] if head else title(claim_id)

    view = _quotient(trace, label)
    if len(view.boxes) <= MOST_BOXES:
        return view
    return _quotient(trace, lambda i: label(i) if head_and_step(i) else i.partition(".")[0])


def compact(view: Diagram) -> Diagram:
    """Heads that stand alike (same premises, same conclusions, same standing) in one box: for a
    page, where eight equal boxes side by side are too wide to read."""
    rests = [frozenset(a for a, b in view.edges if b == k) for k in range(len(view.boxes))]
    carries = [frozenset(b for a, b in view.edges if a == k) for k in range(len(view.boxes))]
    alike: dict[object, list[int]] = {}
    for k, box in enumerate(view.boxes):
        one_head = all(head_and_step(i) for i in box.claims) and len(box.claims) > 1
        key = (rests[k], carries[k], box.standing) if one_head else k
        alike.setdefault(key, []).append(k)
    place = {k: new for new, ks in enumerate(alike.values()) for k in ks}
    return Diagram(
        tuple(_merged([view.boxes[k] for k in ks]) for ks in alike.values()),
        tuple(sorted({(place[a], place[b]) for a, b in view.edges})),
        view.reduced,
        view.bundled,
    )


def _merged(boxes: Sequence[Box]) -> Box:
    if len(boxes) == 1:
        return boxes[0]
    claims = tuple(i for box in boxes for i in box.claims)
    heads = sorted({head[0] for i in claims if (head := head_and_step(i))})
    return Box(_run_name(heads), boxes[0].standing, claims)


def _runs(trace: ProofTrace, heads: Sequence[int]) -> list[list[int]]:
    """Consecutive heads of equal standing; the first and the last head stand alone."""
    standing = {h: weakest(trace, claims) for h, claims in by_head(trace) if h is not None}
    runs = [list(run) for _, run in groupby(heads[1:-1], key=standing.__getitem__)]
    if len(runs) > MOST_HEADS:
        runs = [list(heads[1:-1])]
    return [[heads[0]], *runs, [heads[-1]]]


def _run_name(run: Sequence[int]) -> str:
    return f"head {run[0]}" if len(run) == 1 else f"heads {indices(run)}"


def _quotient(trace: ProofTrace, label: Callable[[str], str]) -> Diagram:
    members: dict[str, list[ClaimId]] = {}
    for claim_id in trace.order:
        members.setdefault(label(claim_id), []).append(claim_id)
    place = {claim_id: k for k, ids in enumerate(members.values()) for claim_id in ids}
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(members)))
    graph.add_edges_from((place[a], place[b]) for a, b in trace.graph.edges if place[a] != place[b])
    edges = set(graph.edges)
    if nx.is_directed_acyclic_graph(graph):  # a bundle of heads can turn a path into a circle
        edges = set(nx.transitive_reduction(graph).edges)
    boxes = tuple(
        Box(name, min(map(trace.standing, ids)), tuple(ids)) for name, ids in members.items()
    )
    return Diagram(
        boxes, tuple(sorted(edges)), len(edges) < graph.number_of_edges(),
        any(len(b.claims) > 1 for b in boxes),
    )  # fmt: skip
