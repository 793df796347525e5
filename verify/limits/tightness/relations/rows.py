"""Relations between rows of Z that hold for every choice of weights (ours; docs/tightness.md, 3).

Write μ_t for the mean of the rows of E⁽ᵗ⁾ and C_t for the rows minus μ_t. Softmax does not change
if all logits are shifted, so with x = M e_t the features are z_t = μ_t + φ, φ(C, e) = Σ_i σ_i(C x)
C_i. φ does not depend on the order of the rows of C, vanishes if e = 0 or C = 0, and satisfies

    φ(C/r, r e) = φ(C, e)/r        for every r ≠ 0, even r < 0, and all weights,

since the logits are the same. So if e ≠ 0 and C ≠ 0, then z_t = μ_t + φ_κ/r_t, where κ is the class
of (C_t, e_t) up to this scaling; any other example has z_t = μ_t and is in no class. Then
Σ c_t z_t = 0 for all weights of all heads whenever

    Σ_t c_t μ_t = 0    and    Σ_{t in κ} c_t/r_t = 0 for every class κ.

These linear equations for c are solved exactly. Special cases are equal inputs, up to the order of
context rows; contexts that are equal up to a shift; and, for n = 2, where C = -C as a set, queries
e, -e, f, -f: the φ cancel in pairs, so A(e) + A(-e) = A(f) + A(-f).

There are no other relations if no two classes have parallel queries (docs/tightness.md, section 3),
or if the rows of every context with e ≠ 0 and C ≠ 0 are affinely independent, as for n ≤ 2 (Theorem
6). Otherwise, other relations are not excluded.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from attncert.constructions.arrays import ObjectArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact import integers
from attncert.constructions.exact.contexts import as_if_once
from attncert.constructions.exact.hashing import Hashed, direction
from attncert.constructions.numerals import numeral
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import OVER_Q, About, Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.rank import rational
from attncert.verify.rank.rational import Relation

MOST_ROWS = 600  # with more tied examples, no relations are sought
_SOURCE = "ours; docs/tightness.md, section 3"
_LISTED = 20  # maximum number of relations in a witness
_Class = tuple[Hashed, Hashed]  # the direction of the query, and the centred rows scaled to match


@dataclass(frozen=True)
class _Parts:
    """The parts of z_t = total/L + factor φ_κ. L is the least common multiple of the token counts,
    total is L times the mean of the rows, and kind is κ; None if φ vanishes."""

    total: tuple[int, ...]
    kind: _Class | None = None
    factor: Fraction = Fraction(0)


def row_relations(data: Dataset) -> tuple[Relation, ...]:
    """A basis of the relations described above: Σ coefficients[i] z_indices[i] = 0 for all weights.

    Exact, with integer coefficients. Empty if more than MOST_ROWS examples are tied.

    >>> from attncert.constructions.data.generators import signed_pairs
    >>> row_relations(signed_pairs())
    (Relation(indices=(0, 1, 2, 3), coefficients=(1, 1, -1, -1)),)
    """
    parts = _parts(data)
    return _relations(parts) if len(_tied(parts)) <= MOST_ROWS else ()


def shortest(relations: Iterable[Relation]) -> list[Relation]:
    """The relations sorted from shortest to longest, as in reports."""
    return sorted(relations, key=lambda r: (len(r.indices), r.indices))


@dataclass(frozen=True)
class BrokenRelation:
    """A relation between rows of Z that holds for all weights, but that the labels violate. gap: Σ
    c_t y_t, which is not zero.
    """

    relation: Relation
    gap: tuple[Fraction, ...]


def broken_relation(data: Dataset) -> BrokenRelation | None:
    """The shortest relation in a basis that the labels violate; None if they satisfy all. Exact.

    Outputs are linear in the rows of Z, so labels must satisfy every relation between the rows.

    >>> broken = broken_relation(Dataset.of([[1, 0], [0, 1]], [[2, 3], [2, 3]], [1, 5]))
    >>> broken.relation.coefficients, broken.gap
    ((1, -1), (Fraction(-4, 1),))
    """
    labels = data.labels.fractions()
    for relation in shortest(_relations(_parts(data))):
        pairs = list(zip(relation.indices, relation.coefficients, strict=True))
        gap = tuple(sum((c * labels[t][j] for t, c in pairs), Fraction(0)) for j in range(data.m))
        if any(gap):
            return BrokenRelation(relation, gap)
    return None


def row_bound(data: Dataset) -> tuple[Claim, ...]:
    """The claims about relations between rows, for any number of heads of any width.

    They are: the relations (argued for all weights); the verdict on universal memorization; and the
    verdict on the given labels, which must obey the same relations.
    """
    relations = row_relations(data)
    labels = (_labels(data, relations),) if data.labelled else ()
    return _obeyed(data, relations), _universal(data, relations), *labels


def complete(data: Dataset) -> bool:
    """Whether all relations that hold for all weights are found; False if this is not known."""
    parts = _parts(data)
    lines = [line for line, _ in {p.kind for p in parts if p.kind is not None}]
    known = len(set(lines)) == len(lines) or _untied(data)
    return known and len(_tied(parts)) <= MOST_ROWS


def _tied(parts: Sequence[_Parts]) -> tuple[int, ...]:
    """The examples that a relation can involve: their φ is 0 or is shared with another example.

    In a class of one example φ cannot cancel, so the example's coefficient is 0 in every relation.
    """
    members = Counter(p.kind for p in parts)
    return tuple(t for t, p in enumerate(parts) if p.kind is None or members[p.kind] > 1)


def _relations(parts: Sequence[_Parts]) -> tuple[Relation, ...]:
    tied = _tied(parts)
    if not tied:
        return ()
    relations = rational.relations(_equations([parts[t] for t in tied]))
    return tuple(replace(r, indices=tuple(tied[i] for i in r.indices)) for r in relations)


def _equations(parts: Sequence[_Parts]) -> ObjectArray:
    """One row for each example, with the total and the factor of each class. Each column is
    multiplied by its own least common denominator."""
    d = len(parts[0].total)
    kinds = {kind: d + j for j, kind in enumerate(dict.fromkeys(p.kind for p in parts if p.kind))}
    units = dict.fromkeys(kinds, 1)
    for part in parts:
        if part.kind is not None:
            units[part.kind] = math.lcm(units[part.kind], part.factor.denominator)
    table = np.zeros((len(parts), d + len(kinds)), dtype=object)
    for t, part in enumerate(parts):
        table[t, :d] = part.total
        if part.kind is not None:
            table[t, kinds[part.kind]] = int(part.factor * units[part.kind])
    return table


def _untied(data: Dataset) -> bool:
    """Whether the rows of every context whose φ does not vanish are affinely independent
    (docs/tightness.md, Theorem 6)."""
    if data.longest <= 2:
        return True
    live = data.queries.numerators.any(axis=1)
    used = [0] if data.shared and live.any() else np.flatnonzero(live).tolist()
    for t in used:
        E = data.rows(t).numerators
        differences = integers.subtract(E[1:], E[:1])
        if differences.any() and int(integers.to_flint(differences).rank()) < len(differences):
            return False
    return True


def _parts(data: Dataset) -> list[_Parts]:
    parts = []
    tables = [as_if_once(data, t) for t in range(len(data.contexts))]
    L = math.lcm(*map(len, tables))
    contexts = [_centred(rows, L) for rows in tables]
    for t in range(data.T):
        total, centred = contexts[0 if data.shared else t]
        primitive, r = direction(data.queries.numerators[t].tolist())
        if primitive is None or not any(map(any, centred)):
            parts.append(_Parts(total))
            continue
        rows = Hashed(sorted(tuple(r * x for x in row) for row in centred))
        parts.append(_Parts(total, (primitive, rows), Fraction(1, r)))
    return parts


def _centred(rows: list[list[int]], L: int) -> tuple[tuple[int, ...], list[list[int]]]:
    """L times the mean of the rows, and L times the difference between each row and the mean. L
    is a multiple of the number of rows."""
    total = [sum(column) * (L // len(rows)) for column in zip(*rows, strict=True)]
    return tuple(total), [[L * x - s for x, s in zip(row, total, strict=True)] for row in rows]


def _obeyed(data: Dataset, relations: tuple[Relation, ...]) -> Claim:
    known = complete(data)
    return Claim(
        ids.ROWS_RELATIONS,
        "For every choice of weights the rows of $Z$ obey "
        f"{counted(len(relations), 'independent relation')} $\\sum_t c_tz_t=0$"
        + (", and no others." if known else " (others are not excluded)."),
        Level.ARGUED,
        numbers={"relations": len(relations), "T": data.T, "all of them": known},
        witness={"relations": [r.as_dict() for r in relations[:_LISTED]]},
        arithmetic=OVER_Q,
        source=_SOURCE,
    )


def _universal(data: Dataset, relations: tuple[Relation, ...]) -> Claim:
    statement = (
        f"Universal memorization: with some number of heads, some keys and queries serve every "
        f"labelling of {counted(data.T, 'example', 'the')}."
    )
    common: dict[str, Any] = {
        "id": ids.ROWS_UNIVERSAL,
        "about": About.UNIVERSAL,
        "source": _SOURCE,
        "rests_on": (ids.ROWS_RELATIONS,),
        "numbers": {"rank of Z at most": data.T - len(relations), "T": data.T},
    }
    if relations:
        witness = shortest(relations)[0].as_dict()
        return Claim(statement=statement, level=Level.REFUTED, witness=witness, **common)
    level = Level.ARGUED if complete(data) else Level.UNDECIDED
    return Claim(statement=statement, level=level, **common)


def _labels(data: Dataset, relations: tuple[Relation, ...]) -> Claim:
    broken = broken_relation(data)
    scope = "" if complete(data) else " found here"
    witness: dict[str, Any] = {}
    if broken is not None:
        gap = [numeral(x) for x in broken.gap]
        witness = broken.relation.as_dict() | {"combination of the labels": gap}
    return Claim.checked(
        ids.ROWS_LABELS,
        f"Given labels: they satisfy every relation{scope} between rows that holds for all "
        "weights.",
        not witness,
        witness,
        numbers={"relations": len(relations)},
        arithmetic=OVER_Q,
        rests_on=(ids.ROWS_RELATIONS,),
        source=_SOURCE,
        about=About.THESE_LABELS,
    )
