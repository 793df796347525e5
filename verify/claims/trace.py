"""A proof as a graph of claims, and the standing of each claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import networkx as nx

from attncert.constructions.brief import in_brief
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.faces import displayed
from attncert.verify.claims.ids import ClaimId, hypothesis_name


class TraceError(ValueError):
    """The claims do not form a proof: an id occurs twice, a premise is missing, or there is a
    cycle."""


class ProofTrace:
    """A directed acyclic graph of claims; edges run from premise to conclusion.

    The *standing* of a claim is at most its own level, and at most the standing of each premise. A
    claim with a premise that does not hold is undecided, even if its own check passed.

    >>> trace = ProofTrace([
    ...     Claim("A1", "the queries have Kruskal rank 4", Level.SAMPLED),
    ...     Claim("rank", "rank Z = T", Level.PROVED),
    ...     Claim("theorem", "Theorem 1 applies", Level.PROVED, rests_on=("A1", "rank")),
    ... ])
    >>> trace.standing("rank"), trace.standing("theorem")
    (<Level.PROVED: 'proved'>, <Level.SAMPLED: 'sampled'>)
    """

    def __init__(self, claims: Iterable[Claim]) -> None:
        """Raises TraceError for an id given twice, a premise that is missing, or a cycle."""
        self._claims: dict[ClaimId, Claim] = {}
        for claim in claims:
            if claim.id in self._claims:
                raise TraceError(f"claim {claim.id!r} is given twice")
            self._claims[claim.id] = claim
        graph = nx.DiGraph()
        graph.add_nodes_from(self._claims)
        for claim in self._claims.values():
            for premise in claim.rests_on:
                if premise not in self._claims:
                    raise TraceError(f"claim {claim.id!r} rests on {premise!r}, which is missing")
                graph.add_edge(premise, claim.id)
        if not nx.is_directed_acyclic_graph(graph):
            circle = " -> ".join(a for a, _ in nx.find_cycle(graph))
            raise TraceError(f"the proof is circular: {circle}")
        self.graph = graph
        place = {claim_id: k for k, claim_id in enumerate(self._claims)}
        self.order: list[ClaimId] = list(
            nx.lexicographical_topological_sort(graph, key=place.__getitem__)
        )
        self._standing: dict[ClaimId, Level] = {}
        for claim_id in self.order:
            self._standing[claim_id] = self._derive(self._claims[claim_id])

    def __repr__(self) -> str:
        levels = Counter(self.standing(name).value for name in self.order)
        counts = {level.name.lower(): levels[level.value] or None for level in Level}
        return in_brief(self, claims=len(self), **counts)

    def _repr_svg_(self) -> str | None:
        """The graph for a notebook, drawn as in a report."""
        return displayed("trace", self)

    def _derive(self, claim: Claim) -> Level:
        if not claim.level.holds:
            return claim.level
        premises = [self._standing[p] for p in claim.rests_on]
        if not all(level.holds for level in premises):
            return Level.UNDECIDED
        return min([claim.level, *premises])

    def __iter__(self) -> Iterator[Claim]:
        """The claims in topological order; apart from that, the given order is kept."""
        return (self._claims[claim_id] for claim_id in self.order)

    def __len__(self) -> int:
        return len(self._claims)

    def __contains__(self, claim_id: object) -> bool:
        return claim_id in self._claims

    def __getitem__(self, claim_id: ClaimId) -> Claim:
        return self._claims[claim_id]

    def get(self, claim_id: ClaimId) -> Claim | None:
        """The claim with this id, or None."""
        return self._claims.get(claim_id)

    def standing(self, claim_id: ClaimId) -> Level:
        """The level of the claim, given all claims on which it rests."""
        return self._standing[claim_id]

    def failures(self, claim_id: ClaimId | None = None) -> list[Claim]:
        """The claims that fail on their own, among all, or among `claim_id` and its ancestors."""
        named = set(self.order) if claim_id is None else self.ancestors(claim_id) | {claim_id}
        return [c for c in self if c.id in named and not c.level.holds]

    def pivotal(self, conclusion: ClaimId) -> list[Claim]:
        """The claims to show first if the conclusion does not hold: the ancestors that fail on
        their own or, if there are none and the conclusion is not refuted with its own witness, the
        hypotheses that fail; then the conclusion itself, if it adds a witness."""
        itself = self[conclusion]
        below = [c for c in self.failures(conclusion) if c is not itself]
        if not below and not (itself.level is Level.REFUTED and itself.witness):
            below = [c for c in self.failures() if hypothesis_name(c.id)]
        witnesses = [c.witness for c in below]
        adds = not itself.level.holds and (
            not below or itself.witness not in (None, {}, *witnesses)
        )
        return [*below, itself] if adds else below

    def ancestors(self, claim_id: ClaimId) -> set[ClaimId]:
        """The ids of all claims on which a claim rests, directly or indirectly."""
        return set(nx.ancestors(self.graph, claim_id))

    def as_dict(self) -> dict[str, Any]:
        """The JSON form: the claims in order, each with its standing but without its time."""
        return {"claims": [c.as_dict() | {"standing": self.standing(c.id).value} for c in self]}

    def seconds(self) -> dict[ClaimId, float]:
        """The time of each claim, for `timings.json`."""
        return {c.id: round(c.seconds, 6) for c in self}
