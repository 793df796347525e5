"""Tests, on random small cases, every statement of docs/next-token.md that ranks can refute.

A case returns the statements that it tried and whether each of them held. Case k of a target
depends only on (target, 0, k). Ranks are those of `support/given_oracle.py`, which knows nothing
of sequences: an example is its prefix written out. Rows for examples without positions are computed
separately here, from counts. Even without failures, nothing is proved beyond the cases counted.

    PYTHONPATH=tests python tests/theory/next_token.py TARGET CASES
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations_with_replacement
from math import comb, gcd, prod

from support import attacks
from support.attacks import Outcome
from support.given_oracle import (
    PRIME,
    Example,
    Head,
    Matrix,
    Vector,
    apply,
    columns,
    dot,
    draw_head,
    draw_matrix,
    feature_rank,
    generic_rank,
    group_count,
    jacobian_rank,
    outputs,
    rank,
    rank_mod,
    subsets,
    zero_groups,
)  # fmt: skip

Forest = list[int]  # the parent of each node, -1 for a root; parents come first
Class = tuple[tuple[int, ...], int]  # counts of the symbols in lowest terms, last symbol


# The formulas of the page, from the data alone ---------------------------------------------------


def tangents(d: int, w: int) -> int:
    """The dimension of {K'Qᵀ + KQ'ᵀ} at generic K, Q."""
    return min(w, d) * (2 * d - min(w, d))


def skew(d: int, w: int, L: int) -> int:
    """s(L): the dimension of skew matrices that are 0 on L independent vectors."""
    D = max(d - L, 0)
    j = min(d - min(w, d), D)
    i = max(2 * j - D, 0)
    return comb(D, 2) - j * j + comb(i + 1, 2)


def forest_rank(forest: Forest, d: int, H: int, w: int) -> int:
    """Theorem C, by trying all parent-closed sets of internal nodes up to the size where s is 0."""
    T, roots = len(forest), forest.count(-1)
    inner = sorted({parent for parent in forest if parent >= 0})
    N = H * (tangents(d, w) + d)
    bounds = [T, min(roots, d) + T - roots] + [N] * bool(inner)
    for A in closed_sets(forest, inner, min(w, d)):
        reach = sum(parent in A or parent < 0 for parent in forest)
        bounds.append(N - H * skew(d, w, len(A)) + T - reach)
    return min(bounds)


def closed_sets(forest: Forest, inner: Sequence[int], size: int) -> set[frozenset[int]]:
    """The nonempty parent-closed sets of at most `size` internal nodes."""
    layer: set[frozenset[int]] = {frozenset()}
    sets: set[frozenset[int]] = set()
    for _ in range(size):
        layer = {A | {x} for A in layer for x in inner if x not in A and forest[x] in {-1, *A}}
        sets |= layer
    return sets


def feature_law(forest: Forest, d: int, H: int) -> int:
    """Theorem C for Z."""
    T, roots = len(forest), forest.count(-1)
    return min(T, min(roots, d) + T - roots, T if roots == T else H * d)


def vocabulary_law(V: int, d: int, H: int, w: int) -> int:
    """The number N_V of the page."""
    a, q = min(V - 1, d), min(V, d)
    r = min(w, a, q)
    return H * (r * (a + q - r) + a) + (d >= V)


# Sequences of generic tokens ---------------------------------------------------------------------


def examples_of(forest: Forest, tokens: Matrix) -> list[Example]:
    """The context of a node is the path from its root, its query the last token."""
    paths: list[list[Vector]] = []
    for parent, token in zip(forest, tokens, strict=True):
        paths.append([*(paths[parent] if parent >= 0 else []), token])
    return [(path, path[-1]) for path in paths]


def draw_forest(rng: random.Random, T: int) -> Forest:
    """Paths, leaves on a short path, only roots, or any forest."""
    kind, few = rng.choice(("paths", "leaves", "roots", "any", "any")), rng.randint(1, 4)
    if kind == "leaves":
        return [min(t, few) - 1 for t in range(T)]
    starts = {"paths": 0.1, "roots": 0.9, "any": 0.2}[kind]
    forest: Forest = []
    for t in range(T):
        root = t == 0 or rng.random() < starts
        forest.append(-1 if root else t - 1 if kind == "paths" else rng.randrange(t))
    return forest


def draw_prefix(rng: random.Random, d: int) -> list[list[int]]:
    """A prefix of zeros, repeats, multiples of one token, or any small tokens."""
    base = draw_matrix(rng, rng.randint(1, d), d, rng.choice((0, 1, 3)))
    return [[rng.randint(-1, 2) * x for x in rng.choice(base)] for _ in range(rng.randint(1, 5))]


def lemma_case(rng: random.Random) -> Outcome:
    """Lemma A: the rows of one node with its last token moved span all but the skew directions."""
    d, H = rng.randint(1, 5), rng.randint(1, 3)
    w, prefix = rng.randint(1, d + 1), draw_prefix(rng, d)
    L, N = rank(prefix), H * (tangents(d, w) + d)
    examples = [([*prefix, x], x) for x in draw_matrix(rng, N + 2, d)]
    lost = skew(d, w, L)
    held = generic_rank(rng, examples, H, w, 1, 1) == N - H * lost
    return {"skew directions" if lost else "none": held}


def forest_case(rng: random.Random) -> Outcome:
    """Theorem C."""
    d, H = rng.randint(1, 5), rng.randint(1, 2)
    w = rng.randint(1, d + 1)
    N = H * (tangents(d, w) + d)
    forest = draw_forest(rng, rng.randint(1, rng.choice((6, N, N + 8))))
    examples = examples_of(forest, draw_matrix(rng, len(forest), d))
    T, expected = len(forest), forest_rank(forest, d, H, w)
    held = generic_rank(rng, examples, H, w, 1, 1) == expected
    least = min(T, N, min(forest.count(-1), d) + T - forest.count(-1))
    heads = [draw_head(rng, d, w, 1, 1) for _ in range(H)]
    return {
        "J": held,
        "J, T" if expected == T else "J, below T": held,
        "J, skew directions" if expected < least else "J, none": held,
        "Z": feature_rank(examples, heads) == feature_law(forest, d, H),
    }


def leaves_case(rng: random.Random) -> Outcome:
    """Theorem C where skew directions matter: many leaves, short paths, width 3 or more."""
    d, H = rng.randint(3, 6), 1
    w = rng.randint(3, d + 1)
    N, spine = H * (tangents(d, w) + d), rng.randint(1, 3)
    forest = [t - 1 for t in range(spine)]
    forest += [rng.randrange(spine) for _ in range(N)] + [-1] * rng.randint(0, 2)
    examples = examples_of(forest, draw_matrix(rng, len(forest), d))
    expected = forest_rank(forest, d, H, w)
    held = generic_rank(rng, examples, H, w, 1, 1) == expected
    return {"below N" if expected < min(N, len(forest)) else "N": held}


def positions_case(rng: random.Random) -> Outcome:
    """One sequence over a few symbols, or only one, with learned positions."""
    d, H = rng.randint(1, 4), rng.randint(1, 2)
    w = rng.randint(1, d + 1)
    N = H * (tangents(d, w) + d)
    T, symbols = rng.randint(1, N + 5), draw_matrix(rng, rng.randint(1, 3), d, 2)
    tokens = [
        [x + y for x, y in zip(rng.choice(symbols), position, strict=True)]
        for position in draw_matrix(rng, T, d)
    ]
    examples = examples_of([t - 1 for t in range(T)], tokens)
    heads = [draw_head(rng, d, w, 1, 1) for _ in range(H)]
    return {
        "J": jacobian_rank(examples, heads) == min(T, N),
        "Z": feature_rank(examples, heads) == min(T, H * d),
    }


def labels_case(rng: random.Random) -> Outcome:
    """m labels, for independent sequences with m | H, and for one long sequence."""
    d, m = rng.randint(1, 3), rng.randint(2, 3)
    w, many = rng.randint(1, d + 1), rng.random() < 0.5
    H = rng.randint(1, 3) if many else m * rng.randint(1, 2 if m == 2 else 1)
    d_v = rng.randint(1, m + 1) if many else rng.choice((1, m))
    k = min(d_v, d, m)
    N = H * (tangents(d, w) + k * (d + m - k))
    if many:
        T = N + min(w, d - 1)
        forest, expected = [t - 1 for t in range(T)], N
    else:
        T = rng.randint(1, N // m + 4)
        forest = [-1 if t == 0 or rng.random() < 0.2 else t - 1 for t in range(T)]
        roots = forest.count(-1)
        alone = T if roots == T else N // m
        expected = m * min(T, alone, min(roots, d) + T - roots)
    examples = examples_of(forest, draw_matrix(rng, T, d))
    held = generic_rank(rng, examples, H, w, d_v, m) == expected
    return {"one long sequence" if many else "m divides H": held}


def groups_case(rng: random.Random) -> Outcome:
    """Groups of heads with values that add up to 0, on one sequence."""
    d = rng.randint(1, 4)
    w, sizes = rng.randint(1, d + 1), [rng.randint(1, 4) for _ in range(rng.randint(1, 2))]
    heads, count = zero_groups(rng, sizes, d, w), sum(group_count(k, w, d, d) for k in sizes)
    T = rng.randint(1, count + 3)
    examples = examples_of([t - 1 for t in range(T)], draw_matrix(rng, T, d))
    return {
        "outputs 0": not any(map(any, outputs(examples, heads))),
        "rank, T" if count >= T else "rank, below T": jacobian_rank(examples, heads)
        == min(T, count),
    }


# A finite vocabulary without positions -----------------------------------------------------------


def class_of(text: Sequence[int], V: int) -> Class:
    """Prefixes whose counts are proportional and whose last symbols are equal form one class."""
    counts = [text.count(symbol) for symbol in range(V)]
    common = gcd(*counts)
    return tuple(x // common for x in counts), text[-1]


def classes_of(texts: Sequence[Sequence[int]], V: int) -> list[Class]:
    """The classes of all prefixes, in order."""
    prefixes = [text[: t + 1] for text in texts for t in range(len(text))]
    return list(dict.fromkeys(class_of(prefix, V) for prefix in prefixes))


def count_rows(embedding: Matrix, heads: Sequence[Head], examples: Sequence[Class]) -> Matrix:
    """Rows of J (m = 1), columns of keys, queries, values head by head; counts are any residues."""
    table = []
    for counts, last in examples:
        row: list[int] = []
        for head in heads:
            key, narrow = head_at(head, embedding[last])
            weights = [n * pow(2, dot(c, key) % (PRIME - 1), PRIME)
                       for n, c in zip(counts, embedding, strict=True)]  # fmt: skip
            inverse = pow(sum(weights), -1, PRIME)
            p = [x * inverse % PRIME for x in weights]
            value = [x for (x,) in head.values]
            heights = apply(embedding, value)
            mean = dot(p, heights)
            lifted = [x * (y - mean) % PRIME for x, y in zip(p, heights, strict=True)]
            slope = apply(columns(embedding), lifted)
            row += [a * b % PRIME for a in slope for b in narrow]
            thin = apply(columns(head.keys), slope)
            row += [a * b % PRIME for a in embedding[last] for b in thin]
            row += [x % PRIME for x in apply(columns(embedding), p)]
        table.append(row)
    return table


def head_at(head: Head, query: Vector) -> tuple[list[int], list[int]]:
    """KQᵀe and Qᵀe of a head at a query."""
    narrow = apply(columns(head.queries), query)
    return apply(head.keys, narrow), narrow


def feature_columns(rows: Matrix, H: int, d: int) -> list[list[int]]:
    """The rows of Z, taken from those of J: the columns of each head's values."""
    size = len(rows[0]) // H
    return [[x for h in range(H) for x in row[(h + 1) * size - d : (h + 1) * size]] for row in rows]


def draw_vocabulary(
    rng: random.Random, V: int, d: int, H: int, w: int
) -> tuple[Matrix, list[Head]]:
    heads = [Head(*(draw_matrix(rng, *s) for s in ((d, w), (d, w), (d, 1))), [[1]])
             for _ in range(H)]  # fmt: skip
    return draw_matrix(rng, V, d), heads


def on_no_form(counts: Sequence[Vector], degree: int) -> bool:
    """Whether no nonzero form of this degree vanishes on all of the counts."""
    V = len(counts[0])
    monomials = list(combinations_with_replacement(range(V), degree))
    return rank_mod([[prod(n[v] for v in m) for m in monomials] for n in counts]) == len(monomials)


def forms_case(rng: random.Random) -> Outcome:
    """Theorem F on texts of random symbols, and the bounds on arbitrary texts."""
    V, d = rng.choice((1, 2, 2, 3)), rng.randint(1, 4)
    H = rng.randint(1, 3) if V < 3 else 1
    w, text = rng.randint(1, d + 1), rng.choices(range(V), k=rng.choice((3, 7, 20, 60)))
    classes, N = classes_of([text], V), vocabulary_law(V, d, H, w)
    embedding, heads = draw_vocabulary(rng, V, d, H, w)
    J = count_rows(embedding, heads, classes)
    tried = {"at most N": rank_mod(J) <= N}
    ends = [[n for n, last in classes if last == v] for v in range(V)]
    if all(counts and on_no_form(counts, 2 * H) for counts in ends):
        a = min(V - 1, d)
        tried["N"] = rank_mod(J) == N
        tried["Ha + b"] = rank_mod(feature_columns(J, H, d)) == H * a + (d >= V)
    for v, counts in enumerate(ends):
        if counts:
            rows, s = count_rows(embedding, heads, [(n, v) for n in counts]), rank(counts)
            tried["one last symbol, J"] = rank_mod(rows) <= 2 * H * (s - 1) + 1
            tried["one last symbol, Z"] = rank_mod(feature_columns(rows, H, d)) <= H * (s - 1) + 1
    return tried


def first_symbol_case(rng: random.Random) -> Outcome:
    """Theorem V: some prefixes of texts with few symbols and long runs, with T_σ ≤ H."""
    d, H = rng.randint(2, 4), rng.randint(1, 4)
    V, w = rng.randint(1, 3 * d + 1), rng.randint(1, 2)
    classes = few_of_each(rng, texts_with_first(rng, V, 4 * H), V, H)
    wide = d < V
    most = H * (3 * d - 1) if wide else len(classes)
    J_classes = classes[:most]
    Z_classes = classes[: H * d] if wide else classes
    embedding, heads = draw_vocabulary(rng, V, d, H, w)
    Z = feature_columns(count_rows(embedding, heads, Z_classes), H, d)
    J = count_rows(embedding, heads, J_classes)
    return {
        "Z, tight" if len(Z_classes) in (H * d, H * (V - 1) + 1) else "Z": rank_mod(Z)
        == len(Z_classes),
        "J, tight" if len(J_classes) == H * (3 * d - 1) else "J": rank_mod(J) == len(J_classes),
    }


def texts_with_first(rng: random.Random, V: int, length: int) -> list[list[int]]:
    """Texts in which symbol 0 comes first, and occurs nowhere else."""
    few = range(1, V)
    texts = []
    for _ in range(rng.randint(1, 6)):
        text = [0]
        while few and len(text) < length:
            text += [rng.choice(few)] * rng.choice((1, 1, 2, length))
        texts.append(text[:length])
    return texts


def few_of_each(rng: random.Random, texts: list[list[int]], V: int, H: int) -> list[Class]:
    """Prefixes, at most H of which end in any one symbol; a first symbol alone is a prefix, too."""
    chosen: list[Class] = []
    classes = classes_of(texts, V)
    rng.shuffle(classes)
    for example in classes:
        if sum(last == example[1] for _, last in chosen) < H:
            chosen.append(example)
    return chosen


def classes_case(rng: random.Random) -> Outcome:
    """Prefixes of one class have equal outputs at all weights, others at almost none."""
    V, d = rng.randint(1, 4), rng.randint(2, 3)
    text = rng.choices(range(V), k=rng.randint(2, 8))
    embedding = draw_matrix(rng, V, d)
    examples = examples_of([t - 1 for t in range(len(text))], [embedding[s] for s in text])
    at = [class_of(text[: t + 1], V) for t in range(len(text))]
    values = outputs(examples, [draw_head(rng, d, 1, 1, 1)])
    pairs = [(s, t) for s in range(len(text)) for t in range(s)]
    return {"one class iff one output": all((at[s] == at[t]) == (values[s] == values[t])
                                            for s, t in pairs)}  # fmt: skip


def flats_case(rng: random.Random) -> Outcome:
    """The bound by flats, for texts with or without a first symbol, and whether it is the rank."""
    V, d, H, w = rng.randint(1, 4), rng.randint(2, 4), rng.randint(1, 2), rng.randint(1, 2)
    text = rng.choices(range(V), k=rng.randint(1, 12))
    classes = classes_of([text], V)[-8:]
    embedding, heads = draw_vocabulary(rng, V, d, H, w)
    found, T = rank_mod(count_rows(embedding, heads, classes)), len(classes)
    least = T
    for S in subsets(T):
        moved = list(in_flats(rng, [classes[t] for t in S], len(S)))
        if moved:
            least = min(least, rank_mod(count_rows(embedding, heads, moved)) + T - len(S))
    return {"at most": found <= least, "equal (conjecture)": found == least}


def in_flats(rng: random.Random, classes: Sequence[Class], many: int) -> Iterator[Class]:
    """For each last symbol, generic counts in the span of the counts of the classes that end in
    it."""
    for symbol in {last for _, last in classes}:
        basis = [counts for counts, last in classes if last == symbol]
        for weights in draw_matrix(rng, many, len(basis)):
            yield tuple(apply(columns(basis), weights)), symbol


TARGETS: attacks.Targets = {
    "lemma": lemma_case,
    "forests": forest_case,
    "leaves": leaves_case,
    "positions": positions_case,
    "labels": labels_case,
    "groups": groups_case,
    "classes": classes_case,
    "forms": forms_case,
    "first-symbol": first_symbol_case,
    "flats": flats_case,
}


attack = partial(attacks.attack, TARGETS)


if __name__ == "__main__":
    print(*attack(sys.argv[1], int(sys.argv[2])))
