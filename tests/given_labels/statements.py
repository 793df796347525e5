"""Tests, on random small cases, every statement of docs/given-labels.md that ranks can refute.

A case returns each statement that it tried and whether it held. Data are lists of integers,
and everything is decided by `support/given_oracle.py`. Case k of a target depends only on
(target, 0, k). Even without failures, nothing is proved beyond the cases counted.

    python tests/given_labels/statements.py TARGET CASES

The last three targets attack what `attncert capacity DATA` builds.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import Any

from support import attacks
from support.attacks import Outcome
from support.given_oracle import (
    PRIME,
    Example,
    Matrix,
    Span,
    bound,
    conjectured_rank,
    coordinate_bound,
    dataset,
    draw_apart,
    draw_context,
    draw_groups,
    draw_head,
    draw_matrix,
    feature_rank,
    generic_rank,
    group_count,
    jacobian_rank,
    law,
    matroid_rank,
    outputs,
    pair_jacobian,
    plain,
    rank,
    rank_mod,
    reached,
    subsets,
    zero_groups,
)  # fmt: skip
from support.oracles import kruskal_rank

from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level
from attncert.verify.limits.capacity.capacity import capacity
from attncert.verify.limits.labelling.labelled import label_all
from attncert.verify.limits.tightness.columns import columns
from attncert.verify.questions.fit import Capacity


def law_case(rng: random.Random) -> Outcome:
    """Theorem 7: equality at generic weights, and the bound at small or repeated ones."""
    d, H, d_v = rng.randint(1, 5), rng.randint(1, 4), rng.choice((1, 1, 2))
    w, q = rng.randint(1, d + 1), rng.choice((d, d, d, max(1, d - 1), 1))
    sizes = [
        rng.choice((1, 2, rng.randint(1, 8), rng.randint(1, 40))) for _ in range(rng.randint(1, 4))
    ]
    groups = draw_groups(rng, d, sizes, q)
    examples = [x for group in groups for x in group]
    expected = bound(groups, H, w, d_v, 1)
    weak = [draw_head(rng, d, w, d_v, 1, 1) for _ in range(H)]
    if rng.random() < 0.3:
        weak[-1] = weak[0]
    held = generic_rank(rng, examples, H, w, d_v, 1) == expected
    return {
        "equality": held,
        "equality, below T" if expected < len(examples) else "equality, T": held,
        "weak weights": jacobian_rank(examples, weak) <= expected,
    }


def queries_case(rng: random.Random) -> Outcome:
    """Theorem 7': given queries (equal, parallel, in a plane, opposite) and generic contexts."""
    d, H, n = rng.randint(1, 4), rng.randint(1, 3), rng.randint(2, 4)
    w, groups = rng.randint(1, d + 1), []
    for _ in range(rng.randint(1, 4)):
        e = [0] * d
        while not any(e):
            e = draw_matrix(rng, 1, d, 1)[0]
        size = rng.choice((1, rng.randint(1, 8), rng.randint(1, 30)))
        groups.append([(draw_matrix(rng, n, d), e)
                       for _ in range(size)])  # fmt: skip
    examples = [x for group in groups for x in group]
    expected = bound(groups, H, w, 1, 1)
    held = generic_rank(rng, examples, H, w, 1, 1) == expected
    return {"below T" if expected < len(examples) else "T": held}


def universal_case(rng: random.Random) -> Outcome:
    """Theorem U: contexts of every kind; queries in a subspace, or each on its own line."""
    d, H = rng.randint(1, 4), rng.randint(1, 4)
    sizes = [rng.choice((1, 2, 4, 8)) for _ in range(rng.randint(1, 4))]
    groups = draw_groups(rng, d, sizes, rng.randint(1, d))
    if rng.random() < 0.3:
        groups = [[(context, on_a_line(rng, d)) for context, _ in group] for group in groups]
    examples = [x for group in groups for x in group]
    expected, alone = bound(groups, H, 0, 1, 1), law(Span.of(examples), H, 0, 1, 1)
    heads = [draw_head(rng, d, rng.randint(1, d + 1), 1, 1) for _ in range(H)]
    least = columns(dataset(examples), H)
    held = feature_rank(examples, heads) == expected
    below = "below T" if expected < len(examples) else "T"
    return {
        "rank": held,
        f"rank, {'and all examples' if expected < min(len(examples), alone) else below}": held,
        "by one elimination": least.least and least.rank == expected,
    }


def on_a_line(rng: random.Random, d: int) -> list[int]:
    """A large multiple of a small nonzero vector."""
    factor, e = rng.randint(1, 2**40), draw_matrix(rng, 1, d, 3)[0]
    return [factor * x for x in e] if any(e) else on_a_line(rng, d)


def universal_queries_case(rng: random.Random) -> Outcome:
    """Theorem U': queries repeated, parallel, opposite; random contexts of two or more rows."""
    d, H, T = rng.randint(1, 4), rng.randint(1, 4), rng.randint(1, 18)
    few = [e for e in draw_matrix(rng, 9, d, 1) if any(e)] or [[1] * d]
    examples = [(draw_matrix(rng, rng.randint(2, 4), d), rng.choice(few)) for _ in range(T)]
    heads = [draw_head(rng, d, rng.randint(1, d + 1), 1, 1) for _ in range(H)]
    held = feature_rank(examples, heads) == min(T, H * d)
    return {"below T" if H * d < T else "T": held}


def coordinates_case(rng: random.Random) -> Outcome:
    """Theorem 9."""
    d, H, m = rng.randint(1, 4), rng.randint(1, 4), rng.randint(2, 4)
    w, d_v, many = rng.randint(1, d + 1), rng.randint(1, m + 1), rng.random() < 0.25
    sizes = [rng.randint(1, 12) for _ in range(rng.randint(1, 3))]
    groups = draw_groups(rng, d, sizes, d)
    if many:  # one context, more examples than N
        context = groups[0][0][0]
        s = Span.of([(context, [1])])
        T = law(Span(s.a, s.b, d), H, w, d_v, m) + 1
        groups = [[(context, e) for e in draw_matrix(rng, min(T, 70), d, 2**40)]]
    examples = [x for group in groups for x in group]
    upper = bound(groups, H, w, d_v, m)
    found = generic_rank(rng, examples, H, w, d_v, m)
    weak = [draw_head(rng, d, w, d_v, m, 1) for _ in range(H)]
    tried = {"bound": found <= upper, "weak weights": jacobian_rank(examples, weak) <= upper}
    if many and len(examples) == T:
        tried["many examples"] = found == law(Span.of(examples), H, w, d_v, m)
    if d_v >= m or m <= H:
        tried["from below"] = found >= coordinate_bound(groups, H, w, d_v, m)
    if H % m == 0 and (d_v >= m or d_v == 1):
        tried["exact"] = found == upper
    return tried


def narrow_values_case(rng: random.Random) -> Outcome:
    """The formula of Theorem 9 (3) if m divides H and 1 < d_v < m (conjecture)."""
    m, d = rng.randint(3, 4), rng.randint(1, 4)
    H, w, d_v = m * rng.choice((1, 1, 2)), rng.randint(1, d + 1), rng.randint(2, m - 1)
    sizes = [rng.choice((1, 2, rng.randint(1, 16))) for _ in range(rng.randint(1, 3))]
    groups = draw_groups(rng, d, sizes, rng.randint(1, d))
    examples = [x for group in groups for x in group]
    expected = bound(groups, H, w, d_v, m)
    held = generic_rank(rng, examples, H, w, d_v, m) == expected
    return {"below Tm" if expected < len(examples) * m else "Tm": held}


def pairs_case(rng: random.Random) -> Outcome:
    """Theorem 4, and the formula of Proposition 5 for contexts that are not generic."""
    d, p, size = rng.randint(2, 5), rng.randint(1, 4), rng.choice((1, 2, 3))
    T, independent = rng.randint(1, min(p * d + d, 11)), rng.random() < 0.4
    queries = draw_apart(rng, T, d, size)
    contexts: list[Matrix] = []
    while len(contexts) < T:
        context = draw_context(rng, d, contexts)
        if rng.random() < 0.2:
            x = draw_matrix(rng, 1, d, 2)[0]
            context = [x, [2 * y for y in x]]
        if any(row != context[0] for row in context) and (
            not independent or rank(context) == len(context)
        ):
            contexts.append(context)
    if rng.random() < 0.3:
        contexts = [contexts[0]] * T
    examples = list(zip(contexts, queries, strict=True))
    kappa, omega = kruskal_rank(queries), 1
    if independent:
        omega = min(kappa, *map(len, contexts))
    key, steering = draw_matrix(rng, 1, d)[0], draw_matrix(rng, p, d)
    found = rank_mod(pair_jacobian(examples, key, steering))
    tried = {"formula (conjecture)": found == matroid_rank(queries, p)}
    if p * kappa >= T:
        tried["even H"] = found == T
    if p * kappa + omega >= T:
        extra = draw_head(rng, d, 1, 1, 1)
        tried["odd H"] = rank_mod(pair_jacobian(examples, key, steering, extra)) == T
    return tried


def shared_pairs_case(rng: random.Random) -> Outcome:
    """Proposition 5': one context, a key for each pair, independent sets of at most k queries."""
    positive = rng.random() < 0.5  # if so, k + 1 tokens are enough
    k = rng.randint(1, 4)
    n, p = k + 2 - positive, rng.randint(1, 4)
    d = rng.randint(max(2, n - 1), 6)
    few = [[x, y] for x in range(positive - 1, 3) for y in range(3) if x or y]
    queries: list[list[int]] = []
    for _ in range(4 * p * k):  # sparse: many are dependent, but no two are parallel
        (i, j), (x, y) = rng.sample(range(d), 2), rng.choice(few)
        e = [x * (h == i) + y * (h == j) for h in range(d)]
        if len(queries) < p * k and all(rank([e, f]) == 2 for f in queries):
            queries.append(e)
    context = draw_matrix(rng, n, d, 2)
    if Span.of([(context, [1])]).a < n - 1 or len(queries) > 10 or not placed(queries, p, k):
        return {}
    examples = [([*context, *context[: rng.randint(0, 1)]], e) for e in queries]
    blocks = [pair_jacobian(examples, draw_matrix(rng, 1, d)[0], draw_matrix(rng, 1, d))
              for _ in range(p)]  # fmt: skip
    J = [list(chain(*row)) for row in zip(*blocks, strict=True)]
    beyond = kruskal_rank(queries) * p < len(queries)
    return {"beyond Theorem 4" if beyond else "rank": rank_mod(J) == len(queries)}


def placed(queries: list[list[int]], p: int, k: int) -> bool:
    """Whether p independent sets of at most k can cover all queries (Rado, truncated)."""
    return all(
        p * min(k, rank([queries[t] for t in S])) >= len(S) for S in subsets(len(queries)) if S
    )


def groups_case(rng: random.Random) -> Outcome:
    """Theorem 14: distinct contexts, ragged ones, or one with affinely independent rows."""
    d = rng.randint(1, 5)
    w = rng.choice((1, rng.randint(1, d + 1)))
    sizes = [rng.randint(1, min(d + 2, 5)) for _ in range(rng.randint(1, 3))]
    heads, kind = zero_groups(rng, sizes, d, w), rng.choice(("distinct", "ragged", "shared"))
    shared, n = [[0] * d], rng.randint(2, 5)
    while Span.of([(shared, [1])]).a < min(n - 1, d):
        shared = draw_matrix(rng, min(n, d + 1), d, 3)
    shared += [rng.choice(shared)] * rng.randint(0, 1)
    s = Span.of([(shared, [1])]) if kind == "shared" else Span(d, 0, d)
    count = sum(group_count(k, w, s.a, d) for k in sizes) + s.b
    T = rng.choice((count, count + 2, rng.randint(1, count)))
    examples: list[Example] = []
    for e in draw_matrix(rng, T, d):
        rows = rng.randint(2, 4) if kind == "ragged" else n
        examples.append((shared if kind == "shared" else draw_matrix(rng, rows, d), e))
    return {
        f"{kind}: outputs 0": not any(any(row) for row in outputs(examples, heads)),
        f"{kind}: rank": jacobian_rank(examples, heads) == min(T, count),
    }


def labels_case(rng: random.Random) -> Outcome:
    """Theorems 11 to 13: random labels, from points where J is onto, from points where it is not,
    and from a zero."""
    d, H, T = rng.randint(1, 3), rng.randint(1, 2), rng.randint(1, 6)
    group = [(draw_matrix(rng, 2, d, 2), draw_matrix(rng, 1, d, 2)[0]) for _ in range(T)]
    examples, heads = list[Example](group), [draw_head(rng, d, 1, 1, 1, 2) for _ in range(H)]
    heads = [replace(head, outputs=[[1]]) for head in heads]
    labels = [rng.randint(-99, 99) for _ in examples]
    opposite = [replace(head, outputs=[[-1]]) for head in heads]
    whole, double = jacobian_rank(examples, heads), [*heads, *opposite]
    tried = {"halving": jacobian_rank(examples, double) >= whole}
    if whole == T:
        tried["onto: reached"] = reached(examples, heads, labels)
        tried["zero: outputs"] = not any(map(any, outputs(examples, double)))
        tried["zero: reached"] = reached(examples, double, labels)
    elif bound([examples], H, 1, 1, 1) < T:
        tried["never onto: not reached"] = not reached(examples, heads, labels)
    return tried


def conjecture_case(rng: random.Random) -> Outcome:
    """Conjecture 10, and the simple formula without (L) and (L')."""
    d, H, m, n = rng.randint(1, 5), rng.randint(1, 4), rng.randint(2, 7), rng.randint(2, 5)
    if rng.random() < 0.5:
        n, H = rng.randint(2, 3), rng.randint(1, 2)
    w, d_v, one = rng.randint(1, d + 1), rng.randint(1, m + 1), rng.random() < 0.4
    shared = draw_matrix(rng, n, d)
    s = Span.of([(shared, [1])]) if one else Span(d, 0, d)
    s = Span(s.a, s.b, d)
    T = rng.randint(1, law(s, H, w, d_v, m) // m + 4)
    examples = [(shared if one else draw_matrix(rng, n, d), e) for e in draw_matrix(rng, T, d)]
    found = generic_rank(rng, examples, H, w, d_v, m)
    kind = "shared" if one else ("distinct, H(n-1) < m" if H * (n - 1) < m else "distinct")
    return {kind: found == conjectured_rank(s, T, H, w, d_v, m, None if one else n)}


# What is built, claimed and certified ------------------------------------------------------------


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
    law = capacity(dataset(examples), Capacity(H, w)).jacobian
    return {
        "rank": law.least == wanted == generic_rank(rng, examples, H, w, 1, 1),
        "bound": law.most == wanted,
        "below T" if wanted < len(examples) else "T": law.decided,
    }


def _longer(context: Matrix, rows: int) -> Matrix:
    """The first row is repeated, which does not change the spans."""
    return [*context, *[context[0]] * (rows - len(context))]


def labelling_case(rng: random.Random) -> Outcome:
    """Contexts are equal, scaled, collinear or random; queries are small, so many are dependent."""
    d, n, H = rng.randint(2, 4), rng.randint(2, 3), rng.randint(1, 6)
    T, size = rng.randint(1, min(2 * H + 2, 9)), rng.choice((1, 2, 5))
    pool: list[Matrix] = [draw_matrix(rng, n, d, 2)]
    for _ in range(T - 1):
        base, c = rng.choice(pool), rng.choice((-1, 1, 2))
        kinds = (draw_matrix(rng, n, d, 2), base, [[c * x for x in row] for row in base])
        pool.append(rng.choice(kinds))
    examples: list[Example] = list(zip(pool, draw_matrix(rng, T, d, size), strict=True))
    found = capacity(dataset(examples), Capacity(H, seed=rng.getrandbits(30)))
    level = found.trace[ids.LAW_EVERY].level
    if level is Level.REFUTED:
        tied = ids.ROWS_UNIVERSAL in found.trace
        witness = {"relation": found.trace[ids.ROWS_UNIVERSAL].witness} if tied else {}
        return {"refuted": _out_of_reach(rng, examples, H, witness)}
    if level is Level.PROVED and (found.labelled.heads or H + 1) <= H:
        heads = plain(found.labelled.trials[-1].zero.layer)
        zero = not any(map(any, outputs(examples, heads)))
        return {"proved by groups": zero and jacobian_rank(examples, heads) == T}
    if level is Level.PROVED:
        return {"proved at once": found.trace.standing(ids.LAW_UNIVERSAL) is Level.PROVED}
    apart = all(any(row != context[0] for row in context) for context, _ in examples)
    kappa = kruskal_rank([e for _, e in examples])
    promised = apart and (kappa >= 2 or (T == 1 and kappa == 1)) and H // 2 * kappa >= T
    return {"open, and promised" if promised else "open, and not promised": not promised}


def _out_of_reach(
    rng: random.Random, examples: list[Example], H: int, witness: Mapping[str, Any]
) -> bool:
    """Whether the relation holds at weights drawn here, and the rank of J stays below T."""
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


def built_pairs_case(rng: random.Random) -> Outcome:
    """Data under the hypotheses of Theorem 4: sets of two heads must have rank T."""
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
    found = label_all(dataset(examples), 2 * p, seed=rng.getrandbits(30))
    built = found.proved
    return {
        "built": built,
        "zero and rank": built
        and found.zero is not None
        and not any(map(any, outputs(examples, plain(found.zero.layer))))
        and jacobian_rank(examples, plain(found.zero.layer)) == len(examples),
    }


TARGETS: attacks.Targets = {
    "law": law_case,
    "queries": queries_case,
    "universal": universal_case,
    "universal-queries": universal_queries_case,
    "coordinates": coordinates_case,
    "narrow-values": narrow_values_case,
    "pairs": pairs_case,
    "pairs-shared": shared_pairs_case,
    "groups": groups_case,
    "labels": labels_case,
    "conjecture": conjecture_case,
    "capacity": capacity_case,
    "every-labelling": labelling_case,
    "pairs-built": built_pairs_case,
}


attack = partial(attacks.attack, TARGETS)


if __name__ == "__main__":
    print(*attack(sys.argv[1], int(sys.argv[2])))
