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
e, -e, f, -f: the φ cancel in pairs, so A(e) + A(-e) = A(f) + A(-f). For n ≤ 2, and for contexts of
rank n that are equal up to the order of their rows, there are no others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpz_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.numerals import numeral
from attncert.verify.claims.evidence import RATIONAL, Claim, Level, counted
from attncert.verify.rank import rational
from attncert.verify.rank.directions import direction
from attncert.verify.rank.rational import Relation
from attncert.verify.tightness.probes import adversarial_layers, annihilates, random_layer

__all__ = [
    "MOST_ROWS",
    "Broken",
    "broken_relation",
    "complete",
    "one_context",
    "row_bound",
    "row_relations",
    "same_rows",
    "shortest",
    "tied_examples",
]

MOST_ROWS = 600  # tied examples above which reports look for no relations
_SOURCE = "ours; docs/tightness.md, section 3"
_LISTED = 20  # relations in a witness, at most


@dataclass(frozen=True)
class _Parts:
    """z_t = total_t/n + φ_κ · scale_t: total is the sum of the rows, κ = None where φ vanishes."""

    total: tuple[int, ...]
    kind: object
    scale: Fraction


def row_relations(data: Dataset) -> tuple[Relation, ...]:
    """A basis of the relations described above: Σ coefficients[i] z_indices[i] = 0 for all weights.

    Exact; coefficients are integers.

    >>> from attncert.constructions.data.generators import signed_pairs
    >>> row_relations(signed_pairs())
    (Relation(indices=(0, 1, 2, 3), coefficients=(1, 1, -1, -1)),)
    """
    parts = _parts(data)
    tied = _tied(parts)
    if not tied:
        return ()
    parts = [parts[t] for t in tied]
    kinds = {kind: j for j, kind in enumerate(dict.fromkeys(p.kind for p in parts if p.kind))}
    table = np.zeros((len(parts), data.d + len(kinds)), dtype=object)
    common = np.lcm.reduce(np.array([p.scale.denominator for p in parts], dtype=object))
    for t, part in enumerate(parts):
        table[t, : data.d] = part.total
        if part.kind:
            table[t, data.d + kinds[part.kind]] = int(part.scale * common)
    found = rational.relations(table)
    return tuple(replace(r, indices=tuple(tied[i] for i in r.indices)) for r in found)


def tied_examples(data: Dataset) -> tuple[int, ...]:
    """Those that a relation can involve: what attention adds is 0, or occurs elsewhere too.

    What a class of one example adds cannot cancel, so its coefficient is 0 in every relation.
    """
    return _tied(_parts(data))


def shortest(relations: Iterable[Relation]) -> list[Relation]:
    """The shortest first: those a reader is shown."""
    return sorted(relations, key=lambda r: (len(r.indices), r.indices))


@dataclass(frozen=True)
class Broken:
    """A relation between rows of Z that no weights escape, and that the labels break.

    gap: Σ c_t y_t, not zero.
    """

    relation: Relation
    gap: tuple[Fraction, ...]


def broken_relation(data: Dataset) -> Broken | None:
    """The shortest relation known (a basis of them is looked at) that the labels break. Exact.

    Outputs are linear in the rows of Z: labels must satisfy every relation between these.

    >>> found = broken_relation(Dataset.of([[1, 0], [0, 1]], [[2, 3], [2, 3]], [1, 5]))
    >>> found.relation.coefficients, found.gap
    ((1, -1), (Fraction(-4, 1),))
    """
    return _broken(data, row_relations(data))


def row_bound(data: Dataset, *, probes: int = 9, seed: int = 0) -> tuple[Claim, ...]:
    """What the relations between rows say, for any number of heads of any width.

    Claims: the relations (argued for all weights, tested on random and adversarial layers); the
    verdict on universal memorization; and on the given labels, which every layer's outputs tie by
    the same relations.
    """
    relations = row_relations(data)
    claims = [_found(data, relations)]
    if relations:
        tied = tied_examples(data)
        place = {t: k for k, t in enumerate(tied)}
        local = [replace(r, indices=tuple(place[t] for t in r.indices)) for r in relations]
        claims.append(_tested(data.take(tied), local, probes, seed))
    return (*claims, _universal(data, relations), _labels(data, relations))


def complete(data: Dataset) -> bool:
    """Are all relations that hold for all weights found here? Known for n ≤ 2, and for contexts
    that are equal up to the order of their rows and of rank n."""
    return data.n <= 2 or one_context(data)


def one_context(data: Dataset) -> bool:
    """Are all contexts equal up to the order of their rows, and of rank n?"""
    return same_rows(data) and int(data.contexts[0].integer_matrix().rank()) == data.n


def same_rows(data: Dataset) -> bool:
    """Are all contexts equal up to the order of their rows?"""
    ordered = [sorted(map(tuple, E.tolist())) for E in data.contexts.numerators]
    return all(rows == ordered[0] for rows in ordered)


def _tied(parts: Sequence[_Parts]) -> tuple[int, ...]:
    members = Counter(p.kind for p in parts)
    return tuple(t for t, p in enumerate(parts) if p.kind is None or members[p.kind] > 1)


def _parts(data: Dataset) -> list[_Parts]:
    out = []
    contexts = [_centred(E) for E in data.contexts.numerators]
    for t in range(data.T):
        total, centred = contexts[0 if data.shared else t]
        primitive, r = direction(data.queries.numerators[t].tolist())
        if primitive is None or not any(map(any, centred)):
            out.append(_Parts(total, None, Fraction(1)))
            continue
        rows = tuple(sorted(tuple(r * x for x in row) for row in centred))
        out.append(_Parts(total, (primitive, rows), Fraction(1, r)))
    return out


def _centred(context: np.ndarray) -> tuple[tuple[int, ...], list[list[int]]]:
    """The sum of the rows, and n times the rows minus that."""
    rows = [[int(x) for x in row] for row in context.tolist()]
    total = [sum(column) for column in zip(*rows, strict=True)]
    n = len(rows)
    return tuple(total), [[n * x - s for x, s in zip(row, total, strict=True)] for row in rows]


def _found(data: Dataset, relations: tuple[Relation, ...]) -> Claim:
    known = complete(data)
    return Claim(
        "rows.relations",
        "For every choice of weights the rows of $Z$ obey "
        f"{counted(len(relations), 'independent relation')} $\\sum_t c_tz_t=0$"
        + (", and no others." if known else " (others are not excluded)."),
        Level.ARGUED,
        numbers={"relations": len(relations), "T": data.T, "all of them": known},
        witness={"relations": [r.as_dict() for r in relations[:_LISTED]]},
        arithmetic=RATIONAL,
        source=_SOURCE,
    )


def _tested(data: Dataset, relations: Sequence[Relation], probes: int, seed: int) -> Claim:
    """The relations on random and adversarial layers: a test of the argument, not a part of it."""
    matrix = fmpz_mat(len(relations), data.T)
    for i, relation in enumerate(relations):
        for t, c in zip(relation.indices, relation.coefficients, strict=True):
            matrix[i, t] = c
    rng = np.random.default_rng(seed)
    layers = [
        (f"random {i}", random_layer(data, 2, (1, data.d)[i % 2], (1, 5, 40)[i % 3], rng))
        for i in range(probes)
    ]
    layers += adversarial_layers(data, 3, seed)
    ways = {name: annihilates(data, layer, left=matrix) for name, layer in layers}
    failing = [name for name, way in ways.items() if not way]
    return Claim(
        "rows.tested",
        f"The relations hold on {counted(len(layers), 'random and adversarial layer')}.",
        Level.REFUTED if failing else Level.SAMPLED,
        numbers={
            f"layers, {way}": list(ways.values()).count(way) for way in sorted(set(ways.values()))
        },
        witness={"layers": failing} if failing else None,
        arithmetic="exact features over ℚ; residues modulo a prime where the logits are too large",
        source=_SOURCE,
    )


def _universal(data: Dataset, relations: tuple[Relation, ...]) -> Claim:
    statement = (
        f"Universal memorization: with some number of heads, some keys and queries serve every "
        f"labelling of {counted(data.T, 'example', 'the')}."
    )
    common: dict[str, Any] = {
        "id": "rows.universal",
        "source": _SOURCE,
        "rests_on": ("rows.relations",),
        "numbers": {"rank of Z at most": data.T - len(relations), "T": data.T},
    }
    if relations:
        witness = shortest(relations)[0].as_dict()
        return Claim(statement=statement, level=Level.REFUTED, witness=witness, **common)
    level = Level.ARGUED if complete(data) else Level.UNDECIDED
    return Claim(statement=statement, level=level, **common)


def _broken(data: Dataset, relations: Iterable[Relation]) -> Broken | None:
    labels = data.labels.fractions()
    for relation in shortest(relations):
        pairs = list(zip(relation.indices, relation.coefficients, strict=True))
        gap = tuple(sum((c * labels[t][j] for t, c in pairs), Fraction(0)) for j in range(data.m))
        if any(gap):
            return Broken(relation, gap)
    return None


def _labels(data: Dataset, relations: tuple[Relation, ...]) -> Claim:
    broken = _broken(data, relations)
    witness = None
    if broken is not None:
        gap = [numeral(x) for x in broken.gap]
        witness = broken.relation.as_dict() | {"combination of the labels": gap}
    return Claim(
        "rows.labels",
        "Given labels: they satisfy every relation between rows that no weights escape.",
        Level.REFUTED if witness else Level.PROVED,
        numbers={"relations": len(relations)},
        witness=witness,
        arithmetic=RATIONAL,
        rests_on=("rows.relations",),
        source=_SOURCE,
    )
