"""The rows of Z: relations that hold for every choice of weights (ours; docs/tightness.md, 3).

Write μ_t for the mean of the rows of E⁽ᵗ⁾ and C_t for the rows minus μ_t. Softmax does not see a
shift of all logits, so with x = M e_t the features are z_t = μ_t + φ, φ(C, e) = Σ_i σ_i(C x) C_i.
φ depends on the rows of C and not on their order, vanishes where e = 0 or C = 0, and

    φ(C/r, r e) = φ(C, e)/r        for every r ≠ 0, negative ones too, and all weights:

the logits are the same. So an example with e ≠ 0 and C ≠ 0 is z_t = μ_t + φ_κ/r_t, with κ the
class of (C_t, e_t) up to this scaling; any other is z_t = μ_t and in no class. Then Σ c_t z_t = 0
for all weights of all heads whenever

    Σ_t c_t μ_t = 0    and    Σ_{t in κ} c_t/r_t = 0 for every class κ.

These are linear equations for c, solved exactly. Special cases: equal inputs, up to the order of
context rows; contexts that are equal up to a shift; and, with n = 2, where C = -C as a set, queries
e, -e, f, -f: the φ cancel in pairs, so A(e) + A(-e) = A(f) + A(-f).

The φ of different classes may be tied, too, where their queries lie on one line and their rows have
equal sums (sums.py): then some φ_κ are written in terms of others, and the equations are those for
what is left. With these there are no other relations, wherever sums.py could decide its part. No φ
of different classes are tied where the rows of every context with e ≠ 0 and C ≠ 0 are affinely
independent, as they are for n ≤ 2 (docs/tightness.md, Theorem 6).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
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
from attncert.verify.tightness.relations.sums import Rows, ties

MOST_ROWS = 600  # tied examples above which reports look for no relations
_SOURCE = "ours; docs/tightness.md, section 3"
_LISTED = 20  # relations in a witness, at most
_Kind = tuple[Hashed, Rows]  # the line of the query, and the rows on it


@dataclass(frozen=True)
class _Parts:
    """z_t = total/L + Σ terms[κ] φ_κ: total is L times the mean of the rows, L the least common
    multiple of the token counts; no terms where φ vanishes."""

    total: tuple[int, ...]
    terms: Mapping[_Kind, Fraction]


def row_relations(data: Dataset) -> tuple[Relation, ...]:
    """A basis of the relations described above: Σ coefficients[i] z_indices[i] = 0 for all weights.

    Exact; coefficients are integers.

    >>> from attncert.constructions.data.generators import signed_pairs
    >>> row_relations(signed_pairs())
    (Relation(indices=(0, 1, 2, 3), coefficients=(1, 1, -1, -1)),)
    """
    return _relations(_joined(data)[0])


def few_tied(data: Dataset) -> bool:
    """Whether reports look for relations: no more than MOST_ROWS examples are tied."""
    return len(_tied(_joined(data)[0])) <= MOST_ROWS


def shortest(relations: Iterable[Relation]) -> list[Relation]:
    """The shortest first: those a reader is shown."""
    return sorted(relations, key=lambda r: (len(r.indices), r.indices))


@dataclass(frozen=True)
class BrokenRelation:
    """A relation between rows of Z that holds for all weights, and that the labels break.

    gap: Σ c_t y_t, not zero. checkable: it holds class by class, without ties between classes:
    verify/checker decides that alone.
    """

    relation: Relation
    gap: tuple[Fraction, ...]
    checkable: bool = True


def broken_relation(data: Dataset) -> BrokenRelation | None:
    """The shortest relation known (a basis of them is looked at) that the labels break: one that
    the checker can decide, if there is any. Exact.

    Outputs are linear in the rows of Z: labels must satisfy every relation between these.

    >>> found = broken_relation(Dataset.of([[1, 0], [0, 1]], [[2, 3], [2, 3]], [1, 5]))
    >>> found.relation.coefficients, found.gap
    ((1, -1), (Fraction(-4, 1),))
    """
    plain = _broken(data, _relations(_parts(data)))
    if plain is not None:
        return plain
    other = _broken(data, row_relations(data))
    return None if other is None else replace(other, checkable=False)


def row_bound(data: Dataset) -> tuple[Claim, ...]:
    """What the relations between rows say, for any number of heads of any width.

    Claims: the relations (argued for all weights); the verdict on universal memorization; and on
    the given labels, which every layer's outputs tie by the same relations.
    """
    relations = row_relations(data)
    labels = (_labels(data, relations),) if data.labelled else ()
    return _obeyed(data, relations), _universal(data, relations), *labels


def complete(data: Dataset) -> bool:
    """Are all relations that hold for all weights found here? False where that is not known."""
    return _joined(data)[1]


def _tied(parts: Sequence[_Parts]) -> tuple[int, ...]:
    """The examples that a relation can involve: what attention adds to them is 0, or occurs twice.

    What a class of one example adds cannot cancel, so its coefficient is 0 in every relation.
    """
    members = Counter(kind for p in parts for kind in p.terms)
    return tuple(t for t, p in enumerate(parts) if all(members[kind] > 1 for kind in p.terms))


def _relations(parts: Sequence[_Parts]) -> tuple[Relation, ...]:
    tied = _tied(parts)
    if not tied:
        return ()
    relations = rational.relations(_equations([parts[t] for t in tied]))
    return tuple(replace(r, indices=tuple(tied[i] for i in r.indices)) for r in relations)


def _equations(parts: Sequence[_Parts]) -> ObjectArray:
    """One row for each example: the total, and the factor of each class, each column made whole by
    the least unit that serves it."""
    d = len(parts[0].total)
    kinds = {kind: d + j for j, kind in enumerate(dict.fromkeys(k for p in parts for k in p.terms))}
    units = dict.fromkeys(kinds, 1)
    for part in parts:
        for kind, factor in part.terms.items():
            units[kind] = math.lcm(units[kind], factor.denominator)
    table = np.zeros((len(parts), d + len(kinds)), dtype=object)
    for t, part in enumerate(parts):
        table[t, :d] = part.total
        for kind, factor in part.terms.items():
            table[t, kinds[kind]] = int(factor * units[kind])
    return table


def _joined(data: Dataset) -> tuple[list[_Parts], bool]:
    """The parts with what ties the classes of one line resolved; are all such ties known?"""
    parts, lines = _parts(data), defaultdict[Hashed, list[Rows]](list)
    for line, rows in dict.fromkeys(kind for p in parts for kind in p.terms):
        lines[line].append(rows)
    several = {line: tuple(kinds) for line, kinds in lines.items() if len(kinds) > 1}
    if not several or _untied(data):
        return parts, True
    by_line = {line: ties(kinds) for line, kinds in several.items()}
    written = {
        (line, rows): {(line, several[line][i]): x for i, x in terms.items()}
        for line, tied in by_line.items()
        for rows, terms in zip(several[line], tied.terms, strict=True)
    }
    joined = []
    for part in parts:
        terms = {kind: written.get(kind, {kind: Fraction(1)}) for kind in part.terms}
        resolved = {k: x * part.terms[kind] for kind, of in terms.items() for k, x in of.items()}
        joined.append(replace(part, terms=resolved))
    return joined, all(tied.complete for tied in by_line.values())


def _untied(data: Dataset) -> bool:
    """The rows of every live context are affinely independent: docs/tightness.md, Theorem 6."""
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
            parts.append(_Parts(total, {}))
            continue
        rows = Hashed(sorted(tuple(r * x for x in row) for row in centred))
        parts.append(_Parts(total, {(primitive, rows): Fraction(1, r)}))
    return parts


def _centred(rows: list[list[int]], L: int) -> tuple[tuple[int, ...], list[list[int]]]:
    """L times the mean of the rows, and L times the rows minus that; L a multiple of their
    number."""
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


def _broken(data: Dataset, relations: Iterable[Relation]) -> BrokenRelation | None:
    labels = data.labels.fractions()
    for relation in shortest(relations):
        pairs = list(zip(relation.indices, relation.coefficients, strict=True))
        gap = tuple(sum((c * labels[t][j] for t, c in pairs), Fraction(0)) for j in range(data.m))
        if any(gap):
            return BrokenRelation(relation, gap)
    return None


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
