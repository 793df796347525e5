"""What is built for given labels, on random small data, decided by the oracle.

capacity          the rank and the least bound of `attncert capacity DATA`: the oracle takes the
                  minimum over all subsets of the contexts, and draws weights of its own
every-labelling   what `attncert every-labelling` proves, refutes and leaves open; and Theorem 4:
                  its pairs must be built where the hypotheses hold
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from flint import fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer
from attncert.verify.audit.attack.given.cases import Outcome, draw_apart, draw_groups
from attncert.verify.audit.attack.given.oracle import (
    PRIME,
    Example,
    Head,
    Matrix,
    bound,
    draw_head,
    draw_matrix,
    generic_rank,
    jacobian_rank,
    kruskal_rank,
    outputs,
)
from attncert.verify.capacity.of_data import DataCapacitySettings, data_capacity
from attncert.verify.claims.evidence import Level
from attncert.verify.labelling.labelled import LabellingSettings, Way, label_all


def dataset(examples: list[Example], m: int = 1) -> Dataset:
    """Contexts of one number of rows; labels 0."""
    contexts = [context for context, _ in examples]
    return Dataset.of(contexts, [query for _, query in examples], [[0] * m for _ in examples])


def plain(layer: Layer) -> list[Head]:
    """The layer's integers, as the oracle has them."""

    def table(matrix: fmpq_mat) -> list[list[int]]:
        return [[int(x.p) for x in row] for row in matrix.tolist()]

    assert layer.output is not None and layer.value_width is not None
    rows, width = table(layer.output), layer.value_width
    return [
        Head(table(h.key), table(h.query), table(h.value), rows[k * width : (k + 1) * width])
        for k, h in enumerate(layer.heads)
    ]


def capacity_case(rng: random.Random) -> Outcome:
    """Groups of contexts of every kind, generic queries, scalar labels."""
    d, H = rng.randint(1, 4), rng.randint(1, 3)
    w, q = rng.randint(1, d + 1), rng.choice((d, d, max(1, d - 1)))
    groups = draw_groups(rng, d, [rng.choice((1, 2, 5, 20)) for _ in range(rng.randint(1, 3))], q)
    rows = max(len(context) for group in groups for context, _ in group)
    if any(len(context) < rows for group in groups for context, _ in group):
        groups = [[(_longer(context, rows), e) for context, e in group] for group in groups]
    examples = [x for group in groups for x in group]
    wanted = bound(groups, H, w, 1, 1)
    made = data_capacity(dataset(examples), DataCapacitySettings(H, w))
    least = made.uppers[0].bound
    return {
        "rank": made.rank.rank == wanted == generic_rank(rng, examples, H, w, 1, 1),
        "bound": least == wanted,
        "below T" if wanted < len(examples) else "T": made.decided,
    }


def _longer(context: Matrix, rows: int) -> Matrix:
    """The first row again: the spans stay."""
    return [*context, *[context[0]] * (rows - len(context))]


def labelling_case(rng: random.Random) -> Outcome:
    """Contexts alike, scaled, in a line or random; queries small, so that many are dependent."""
    d, n, H = rng.randint(2, 4), rng.randint(2, 3), rng.randint(1, 6)
    T, size = rng.randint(1, min(2 * H + 2, 9)), rng.choice((1, 2, 5))
    pool: list[Matrix] = [draw_matrix(rng, n, d, 2)]
    for _ in range(T - 1):
        base, c = rng.choice(pool), rng.choice((-1, 1, 2))
        kinds = (draw_matrix(rng, n, d, 2), base, [[c * x for x in row] for row in base])
        pool.append(rng.choice(kinds))
    examples: list[Example] = list(zip(pool, draw_matrix(rng, T, d, size), strict=True))
    ways: tuple[Way, ...] = ("auto", "pairs")
    construction = rng.choice(ways)
    settings = LabellingSettings(H, construction=construction, seed=rng.getrandbits(30))
    found = label_all(dataset(examples), settings)
    if found.level is Level.PROVED and found.zero is not None:
        heads = plain(found.zero.layer)
        zero = not any(map(any, outputs(examples, heads)))
        return {f"proved by {found.construction}": zero and jacobian_rank(examples, heads) == T}
    if found.level is Level.REFUTED:
        return {"refuted": _out_of_reach(rng, examples, H, found.claims[-1].witness or {})}
    apart = all(any(row != context[0] for row in context) for context, _ in examples)
    kappa = kruskal_rank([e for _, e in examples])
    promised = apart and (kappa >= 2 or (T == 1 and kappa == 1)) and H // 2 * kappa >= T
    return {"open, and promised" if promised else "open, and not promised": not promised}


def _out_of_reach(
    rng: random.Random, examples: list[Example], H: int, witness: Mapping[str, Any]
) -> bool:
    """A relation holds at weights drawn here, and the rank of J stays below T."""
    d, T = len(examples[0][1]), len(examples)
    relation = witness.get("relation")
    for _ in range(3):
        heads = [draw_head(rng, d, 1, 1, 1) for _ in range(H)]
        if jacobian_rank(examples, heads) >= T:
            return False
        if relation:
            values = outputs(examples, heads)
            terms = zip(relation["indices"], relation["coefficients"], strict=True)
            if sum(_residue(c) * values[t][0] for t, c in terms) % PRIME:
                return False
    return True


def _residue(text: str) -> int:
    x = Fraction(text)
    return x.numerator * pow(x.denominator, -1, PRIME) % PRIME


def pairs_case(rng: random.Random) -> Outcome:
    """Data under the hypotheses of Theorem 4: pairs must be built, with rank T."""
    d, p, size = rng.randint(2, 4), rng.randint(1, 3), rng.choice((1, 2, 3))
    T, n = rng.randint(1, p * d), rng.randint(2, 3)
    queries = draw_apart(rng, T, d, size)
    kappa = kruskal_rank(queries)
    queries = queries[: p * kappa]
    contexts: list[Matrix] = []
    while len(contexts) < len(queries):
        context = draw_matrix(rng, n, d, 1) if rng.random() < 0.6 or not contexts else contexts[0]
        if any(row != context[0] for row in context):
            contexts.append(context)
    examples: list[Example] = list(zip(contexts, queries, strict=True))
    settings = LabellingSettings(2 * p, construction="pairs", seed=rng.getrandbits(30))
    found = label_all(dataset(examples), settings)
    built = found.zero is not None and found.level is Level.PROVED
    return {
        "built": built,
        "zero and rank": built
        and found.zero is not None
        and not any(map(any, outputs(examples, plain(found.zero.layer))))
        and jacobian_rank(examples, plain(found.zero.layer)) == len(examples),
    }
