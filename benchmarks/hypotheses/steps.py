"""The steps of the proof as statements about data, decided exactly without any hypothesis.

Instances are small, and keep their given order and grouping. Each function returns None if the step
can be taken, and otherwise data that show why not. A step that needs no further input from the data
(saturation, finite c, the parameter count) cannot fail and is not listed.

    groups                 T examples fit into H groups of r, r-1, r-1, ...
    duals         step 2   ê_t·e_t' = δ for the group: its queries are independent
    steering      step 2   E⁽ᵗ⁾w = g for all logits g, up to a shift, which softmax ignores
    selector      step 3   v ⊥ group, v·e_s ≠ 0: no earlier query lies in the group's span
    separator     step 4   some u gives all earlier E⁽ˢ⁾u a unique maximum and minimum
    independence  step 7   whatever the earlier heads did, a row of E⁽ᵗ⁾ is off the forbidden flat
    readout       step 9   ZV = Y with blocks of V of rank at most d_v
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from attncert.constructions.numerals import numeral
from attncert.verify.rank.rational import find_relation
from hypotheses.instance import Instance, affine_rank, rank

__all__ = ["STEPS", "ProofStep"]

Witness = dict[str, Any]
_STATES = 1000  # if the second group has at most this many states, all are tried


@dataclass(frozen=True)
class ProofStep:
    """fails: why the step cannot be taken on an instance; None if it can."""

    id: str
    title: str
    fails: Callable[[Instance], Witness | None]


def groups(x: Instance) -> Witness | None:
    over = x.capacity < x.T
    return {"T": x.T, "capacity": x.capacity} if over else None


def duals(x: Instance) -> Witness | None:
    for group in x.groups:
        rows = [x.queries[t].tolist() for t in group]
        if rank(rows) < len(rows):
            return _queries(group, rows)
    return None


def selector(x: Instance) -> Witness | None:
    """An earlier query in the span of a later group. Without one, v exists, since finitely many
    proper subspaces of the group's orthogonal space do not cover it."""
    for h, group in enumerate(x.groups):
        rows = [x.queries[t].tolist() for t in group]
        for s in (s for before in x.groups[:h] for s in before):
            e = x.queries[s].tolist()
            if rank([*rows, e]) == rank(rows):
                return _queries((*group, s), [*rows, e])
    return None


def steering(x: Instance) -> Witness | None:
    """Σ c_i E_i = 0 with Σ c_i = 0: logits g with c·g ≠ 0 are out of reach."""
    for t in range(len(x.contexts)):
        rows = x.context(t)
        if affine_rank(rows) < x.n:
            indices, coefficients = _relation([[*row, 1] for row in rows])
            return {"context": t, "rows": indices, "coefficients": coefficients}
    return None


def separator(x: Instance) -> Witness | None:
    """Valid for n ≤ 3: a repeated row leaves at most two different ones, so it is an extreme of
    E⁽ˢ⁾u for every u. Distinct rows are told apart by almost every u.
    """
    for s in (s for group in x.groups[:-1] for s in group):
        rows = x.context(s)
        for i in range(x.n):
            if rows[i] in rows[:i]:
                return {"example": s, "equal rows": [rows.index(rows[i]), i]}
    return None


def independence(x: Instance) -> Witness | None:
    """A state of the heads so far in which every row of E⁽ᵗ⁾ is forbidden.

    In the first group, the rows x_s of earlier members are independent, and all rows of E⁽ᵗ⁾ lie in
    their span. In the second group (whose states are all tried if there are at most 1000), the
    features z' of the first head are rows, or the mean of the rows for the group's own members; the
    L_s are any rows; every [z'_t, row of E⁽ᵗ⁾] is in the span of all [z'_s, L_s] and placed rows.
    """
    first = x.groups[0]
    for chosen in _placements(x, first, [], [], x.d):
        if isinstance(chosen, dict):
            return chosen
    if len(x.groups) < 2:
        return None
    second = x.groups[1]
    if x.n ** (2 * len(first)) * ((x.n + 1) * x.n) ** len(second) > _STATES:
        return None
    for features in _placements(x, first, [], [], x.d):
        assert isinstance(features, list)
        for latest in product(*(range(x.n) for _ in first)):
            placed = [[*features[k], *x.context(s)[latest[k]]] for k, s in enumerate(first)]
            for before in product(range(x.n + 1), repeat=len(second)):
                for outcome in _placements(x, second, placed, list(before), 2 * x.d):
                    if isinstance(outcome, dict):
                        rows = [x.context(s).index(z) for s, z in zip(first, features, strict=True)]
                        mean = ["mean" if i == x.n else i for i in before]
                        return outcome | {"head 1": [*rows, *mean], "head 2": list(latest)}
    return None


def readout(x: Instance) -> Witness | None:
    """Outputs have rank at most H·d_v, and these labels have rank min(T, m). If the second rank is
    not larger and H = 1, the readout exists: V = R·Y with ZR = I has the same rank as Y."""
    labels = min(x.T, x.m)
    return {"rank Y": labels, "H d_v": x.heads * x.values} if labels > x.heads * x.values else None


STEPS = (
    ProofStep("groups", "grouping", groups),
    ProofStep("duals", "2 duals", duals),
    ProofStep("steering", "2 steering", steering),
    ProofStep("selector", "3 selector", selector),
    ProofStep("separator", "4 separator", separator),
    ProofStep("independence", "7 independence", independence),
    ProofStep("readout", "9 readout", readout),
)


def _placements(
    x: Instance, group: tuple[int, ...], placed: list[list[int]], before: list[int], width: int
) -> Iterator[list[list[int]] | Witness]:
    """All ways to place the group's members, one after another, at rows of their contexts.

    Yields the rows that were appended, or a witness if no row is left for a member. before: the
    member's feature in the previous head, as the number of a row (n: the mean).
    """

    def place(k: int, rows: list[list[int]]) -> Iterator[list[list[int]] | Witness]:
        if k == len(group):
            yield [row[:width] for row in rows[len(placed) :]]
            return
        context = x.context(group[k])
        free = [
            r for i in range(x.n) if rank([*rows, r := _row(context, before, k, i)]) > len(rows)
        ]
        if not free:
            yield {"example": group[k], "rows so far": rows}
        for row in free:
            yield from place(k + 1, [*rows, row])

    yield from place(0, placed)


def _row(context: list[list[int]], before: list[int], k: int, i: int) -> list[int]:
    """[z', x] with x = row i, multiplied by n if z' is the mean."""
    n = len(context)
    if not before:
        return context[i]
    if before[k] < n:
        return [*context[before[k]], *context[i]]
    return [*map(sum, zip(*context, strict=True)), *(n * entry for entry in context[i])]


def _queries(examples: tuple[int, ...], rows: list[list[int]]) -> Witness:
    indices, coefficients = _relation(rows)
    return {"examples": [examples[i] for i in indices], "coefficients": coefficients}


def _relation(rows: list[list[int]]) -> tuple[list[int], list[str]]:
    """A linear relation among these rows: the rows in it, and their integer coefficients."""
    relation = find_relation(rows)
    assert relation is not None
    return list(relation.indices), [numeral(c) for c in relation.coefficients]
