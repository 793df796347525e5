"""Small true certificates for the checker's tests, made by brute force over plain fractions.

Random small integer heads are drawn until the features have full rank, and the readout is solved
by Gaussian elimination over `fractions.Fraction`. Nothing here is shared with verify/ or
constructions/: canonical form, softmax, rank and readout are written again, in the most direct way.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

Matrix = list[list[Fraction]]
Certificate = dict[str, Any]
PRIME = 2147483579  # safe: (PRIME - 1) / 2 is prime, and 2 has order PRIME - 1


# Digests.


def canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def digested(certificate: Certificate) -> Certificate:
    """A copy with the digest computed afresh."""
    body = {key: value for key, value in certificate.items() if key != "digest"}
    return body | {"digest": hashlib.sha256(canonical(body)).hexdigest()}


def sealed(certificate: Certificate) -> Certificate:
    """A copy with both digests computed afresh."""
    data = hashlib.sha256(canonical(certificate.get("data"))).hexdigest()
    return digested(certificate | {"input_sha256": data})


def written(content: Certificate | bytes | str, folder: Path) -> str:
    path = folder / "certificate.json"
    if isinstance(content, dict):
        content = json.dumps(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def changed(certificate: Certificate, path: str, value: Any) -> Certificate:
    """A copy with the leaf at a dotted path replaced and both digests computed afresh."""
    certificate = copy.deepcopy(certificate)
    *parents, last = path.split(".")
    inner: Any = certificate
    for step in parents:
        inner = inner[int(step)] if isinstance(inner, list) else inner[step]
    inner[int(last) if isinstance(inner, list) else last] = value
    return sealed(certificate)


def on_domain(certificate: Certificate) -> Certificate:
    """The same, with its contexts and queries as the domain of its examples."""
    contexts, queries = (
        [x for i, x in enumerate(rows) if x not in rows[:i]]
        for rows in (certificate["data"]["contexts"], certificate["data"]["queries"])
    )
    origin = {"kind": "domain", "contexts": contexts, "queries": queries}
    return sealed(certificate | {"origin": origin})


def put(*path: str | int, to: Any) -> Callable[[Certificate], None]:
    """Replace a leaf; `to`: a value, or a function of the old one."""

    def change(file: Certificate) -> None:
        inner: Any = file
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = to(inner[path[-1]]) if callable(to) else to

    return change


# Keys that every certificate has, null here.
NOTHING: Certificate = {"format": "attncert/3"}
NOTHING |= dict.fromkeys(["saturation", "origin", "data_file", "tokens"])

# The plain formulas.


def logits_of(context: Matrix, query: list[Fraction], key: Matrix, weight: Matrix) -> list[Any]:
    """E key query^T e in units of ln 2."""
    d = len(query)
    inner = [sum(weight[i][a] * query[i] for i in range(d)) for a in range(len(key[0]))]
    outer = [sum(key[i][a] * inner[a] for a in range(len(inner))) for i in range(d)]
    return [sum(token[j] * outer[j] for j in range(d)) for token in context]


def features_of(context: Matrix, query: list[Fraction], key: Matrix, weight: Matrix) -> list[Any]:
    """z = softmax(E key query^T e) E with logits in units of ln 2, which must be integers."""
    logits = logits_of(context, query, key, weight)
    if any(logit.denominator != 1 for logit in logits):
        raise ValueError("a logit is not an integer")
    powers = [Fraction(2) ** int(logit - min(logits)) for logit in logits]
    pairs = list(zip(powers, context, strict=True))
    return [sum(w * token[j] for w, token in pairs) / sum(powers) for j in range(len(query))]


def echelon(rows: Matrix) -> tuple[Matrix, list[int]]:
    """Reduced row echelon form, zero rows dropped, and the columns of its pivots."""
    rows, pivots, top = [list(row) for row in rows], [], 0
    for column in range(len(rows[0])):
        hit = next((i for i in range(top, len(rows)) if rows[i][column]), None)
        if hit is None:
            continue
        rows[top], rows[hit] = rows[hit], rows[top]
        rows[top] = [x / rows[top][column] for x in rows[top]]
        for i, row in enumerate(rows):
            if i != top and row[column]:
                rows[i] = [x - row[column] * y for x, y in zip(row, rows[top], strict=True)]
        pivots.append(column)
        top += 1
    return rows[:top], pivots


def solution(matrix: Matrix, right: Matrix) -> Matrix:
    """Some X with matrix X = right; free unknowns are 0. The matrix has full row rank."""
    width = len(matrix[0])
    rows, pivots = echelon([a + b for a, b in zip(matrix, right, strict=True)])
    unknowns = [[Fraction(0)] * len(right[0]) for _ in range(width)]
    for row, column in zip(rows, pivots, strict=True):
        unknowns[column] = row[width:]
    return unknowns


def text(matrix: Any) -> Any:
    return [text(x) for x in matrix] if isinstance(matrix, list) else str(matrix)


# The certificates.


def layer_certificate(
    claim: str,
    *,
    T: int = 4,
    n: int = 2,
    d: int = 3,
    m: int = 1,
    H: int = 3,
    d_h: int = 1,
    d_v: int = 1,
    shared: bool = False,
    rational: bool = False,
    seed: int = 0,
    prime: int = PRIME,
    spread: int = 2,
    tokens: Sequence[int] = (),
    inputs: tuple[Any, Any] | None = None,
) -> Certificate:
    """An interpolation or full-rank certificate over small random data whose features can have
    rank T. tokens: the number in each context, if it varies. inputs: contexts and queries to use
    instead of random ones."""
    draw = random.Random(f"{claim} {T} {n} {d} {m} {H} {d_h} {d_v} {shared} {rational} {seed}")

    def entries(rows: int, columns: int, bottom: int = 1) -> Matrix:
        return [
            [Fraction(draw.randint(-spread, spread), bottom) for _ in range(columns)]
            for _ in range(rows)
        ]

    bottom = 3 if rational else 1
    while True:
        counts = tokens or [n] * (1 if shared else T)
        contexts = [entries(count, d, bottom) for count in counts]
        queries, labels = entries(T, d, bottom), entries(T, m, bottom)
        contexts, queries = inputs or (contexts, queries)
        # For denominators 3 in the data, halves in `key` and factors 18 in `query` keep k integral.
        halves = 2 if rational else 1
        heads = [
            {
                "key": entries(d, d_h, halves),
                "query": [[x * halves * bottom**2 for x in row] for row in entries(d, d_h)],
            }
            for _ in range(H)
        ]
        Z = [
            [
                x
                for head in heads
                for x in features_of(contexts[t % len(contexts)], queries[t], *head.values())
            ]
            for t in range(T)
        ]
        if len(echelon(Z)[1]) == T:
            break
    certificate: Certificate = NOTHING | {
        "claim": claim,
        "construction": "random",
        "dims": {
            "examples": T,
            "context": max(tokens, default=n),
            "width": d,
            "labels": m,
            "heads": H,
            "head_width": d_h,
            "value_width": d_v,
        },
        "data": {"contexts": text(contexts), "queries": text(queries), "labels": text(labels)},
        "network": [layer_block([text_of_head(head) for head in heads], None)],
        "tokens": list(tokens) or None,
        "groups": [list(range(T - T // 2)), list(range(T - T // 2, T))][: 2 if T > 1 else 1],
        "produced_by": {"version": "0", "command": "brute force", "seed": seed},
    }
    if claim == "full-rank":
        certificate["rank"] = {"prime": str(prime), "value": T}
        return sealed(certificate)
    V = solution(Z, labels)
    block = certificate["network"][0]
    for h, head in enumerate(block["heads"]):
        padding = entries(d, d_v - m) if d_v > m else [[]] * d
        head["value"] = text([V[h * d + i] + padding[i] for i in range(d)])
    stack = [[Fraction(int(i == j)) for j in range(m)] for i in range(d_v)]
    block["output"] = text(stack * H)
    return sealed(certificate)


def layer_block(heads: list[dict[str, Any]], output: Any, unit: str = "ln 2") -> dict[str, Any]:
    heads = [{"value": None} | head for head in heads]
    return {"kind": "attention", "of": "query", "rule": "softmax", "logit_unit": unit,
            "heads": heads, "output": output, "mask": None, "residual": False}  # fmt: skip


def text_of_head(head: dict[str, Matrix]) -> dict[str, Any]:
    return {name: text(matrix) for name, matrix in head.items()}


def steered(claim: str, own: bool = False, **sizes: Any) -> Certificate:
    """A file with saturation: heads are redrawn until 1 - p < 2^-1 in head 1 (with `own`, also in
    both heads for their own groups); data are numbers with thirds and halves, rounded."""
    seed, pairs = 0, [(1, t) for t in (0, 1)] + [(h, 2 * h + i) for h in (0, 1) for i in (0, 1)]
    while True:
        certificate = layer_certificate(claim, seed=seed, spread=3, **sizes)
        if all(leads_by_two(certificate, h, t) for h, t in pairs[: 6 if own else 2]):
            break
        seed += 1
    before = copy.deepcopy(certificate["data"])
    before["contexts"] = moved_by(before["contexts"], Fraction(1, 3))
    before["queries"] = [[halfway(x) for x in row] for row in before["queries"]]
    origin = {"kind": "rounded", "grid": "1", "largest_change": "1/2", "data": before}
    told = {"saturation": {"bits": 1, "own": own}, "origin": origin}
    return sealed(certificate | told)


def rounded(certificate: Certificate) -> Certificate:
    """The same certificate for data rounded from numbers that are a quarter of a step larger."""
    numbers = [certificate["data"][key] for key in ("contexts", "queries")]
    grid = Fraction(1, math.lcm(*(x.denominator for x in flat(numbers))))
    before = {key: moved_by(x, grid / 4) for key, x in certificate["data"].items()}
    before["labels"] = certificate["data"]["labels"]
    change = {"grid": str(grid), "largest_change": str(grid / 4), "data": before}
    return sealed(certificate | {"origin": {"kind": "rounded"} | change})


def flat(numbers: Any) -> list[Fraction]:
    return (
        [x for y in numbers for x in flat(y)] if isinstance(numbers, list) else [Fraction(numbers)]
    )


def leads_by_two(certificate: Certificate, h: int, t: int) -> bool:
    contexts, head = certificate["data"]["contexts"], certificate["network"][0]["heads"][h]
    query = [Fraction(x) for x in certificate["data"]["queries"][t]]
    numbers = (fractions(m) for m in (contexts[t % len(contexts)], head["key"], head["query"]))
    context, key, weight = numbers
    logits = sorted(logits_of(context, query, key, weight))
    return bool(logits[-1] - logits[-2] >= 2)


def fractions(rows: Any) -> Matrix:
    return [[Fraction(x) for x in row] for row in rows]


def moved_by(numbers: Any, step: Fraction) -> Any:
    return [moved_by(x, step) if isinstance(x, list) else str(Fraction(x) + step) for x in numbers]


def halfway(x: str) -> str:
    """An even number becomes a tie, 1/2 above it; an odd one is unchanged."""
    return x if int(x) % 2 else str(int(x) + Fraction(1, 2))


def dependent_set_certificate(seed: int = 0, rational: bool = False) -> Certificate:
    """Five vectors of width 3, with a relation between four of them."""
    draw = random.Random(f"dependent set {seed}")
    bottom = 3 if rational else 1
    coefficients: list[Fraction] = []
    while not (coefficients and all(coefficients)):
        vectors = [[Fraction(draw.randint(-4, 4), bottom) for _ in range(3)] for _ in range(5)]
        indices = draw.sample(range(5), 4)
        columns = [[vectors[i][j] for i in indices[:3]] for j in range(3)]
        if len(echelon(columns)[1]) == 3:
            right = [[vectors[indices[3]][j]] for j in range(3)]
            coefficients = [x for [x] in solution(columns, right)] + [Fraction(-1)]
    return sealed(
        NOTHING
        | {
            "claim": "dependent-set",
            "construction": "brute force",
            "dims": {"vectors": 5, "width": 3},
            "data": {"vectors": text(vectors)},
            "relation": {"indices": indices, "coefficients": text(coefficients)},
            "produced_by": {"version": "0", "command": "brute force", "seed": None},
        }
    )


def impossible_certificate(
    contexts: Any, queries: Any, labels: Any, relation: list[Any]
) -> Certificate:
    """The planted sum of relation[t] z_t is 0 for all weights, but not that of relation[t] y_t."""
    counts, d = [len(context) for context in contexts], len(queries[0])
    n = max(counts)
    return sealed(
        NOTHING
        | {
            "claim": "impossible",
            "construction": "brute force",
            "dims": {"examples": len(queries), "context": n, "width": d, "labels": len(labels[0])},
            "data": {
                "contexts": text(contexts),
                "queries": text(queries),
                "labels": text(labels),
            },
            "relation": text(relation),
            "tokens": counts if len({*counts}) > 1 else None,
            "produced_by": {"version": "0", "command": "brute force", "seed": None},
        }
    )


def moved(context: Any) -> Any:
    return [[2 * x + 5, 2 * y - 1] for x, y in context]


E, F = [[1, 2], [3, -1], [0, 2]], [[2, 0], [1, 1], [-1, 4]]
IMPOSSIBLE: dict[str, tuple[Any, Any, Any, list[Any]]] = {
    "impossible": (  # equal inputs up to the order of tokens, in examples 0 and 2
        [E, F, [E[1], E[2], E[0]]],
        [[1, 3], [2, 1], [1, 3]],
        [[5], [0], [6]],
        [1, 0, -1],
    ),
    "impossible, opposite queries": (  # two tokens: A(e) + A(-e) = A(f) + A(-f)
        [[[1, 0], [0, 1]]],
        [[1, 2], [-1, -2], [3, 1], [-3, -1]],
        [[1], [1], [1], [2]],
        [1, 1, -1, -1],
    ),
    "impossible, no attention": (  # a token repeated, or a query of zero: features are means
        [[[1, 2], [1, 2]], [[0, 4], [2, 0]], [[2, 3], [2, 3]], [[3, 5], [3, 5]]],
        [[7, 1], [0, 0], [1, 1], [0, 2]],
        [[1, 0], [1, 0], [3, 4], [5, 5]],
        ["1/3", 0, "1/3", "-1/3"],
    ),
    "impossible, shifted and scaled": (  # E and 2 E + s, with the queries 2 e and e; F likewise
        [E, moved(E), F, moved(F), [[Fraction(17, 3), Fraction(-2)]] * 3],
        [[2, 4], [1, 2], [-6, 2], [-3, 1], [1, 1]],
        [[1], [2], [3], [4], [1]],
        [-2, 1, 2, -1, 0],
    ),
    "impossible, tokens repeated": (  # E, and E with every token two or three times
        [E, [*E, E[2], E[1], E[0]], [[1, 1]], E * 3],
        [[1, 3], [1, 3], [0, 1], [1, 3]],
        [[1], [2], [0], [4]],
        [-2, "1", 0, 1],
    ),
}

CASES: dict[str, Callable[[], Certificate]] = {
    "interpolation": lambda: layer_certificate("interpolation"),
    "interpolation, shared": lambda: layer_certificate("interpolation", shared=True, T=4, H=3),
    "interpolation, padded": lambda: layer_certificate("interpolation", m=2, d_v=3, rational=True),
    "interpolation, one": lambda: layer_certificate("interpolation", T=1, n=1, d=1, H=1),
    "full-rank": lambda: layer_certificate("full-rank", d_h=2),
    "full-rank, shared": lambda: layer_certificate(
        "full-rank", shared=True, rational=True, m=2, d_v=2
    ),
    "interpolation, steered": lambda: steered("interpolation"),
    "full-rank, steered": lambda: steered("full-rank", own=True),
    "interpolation, lengths": lambda: layer_certificate("interpolation", tokens=(3, 1, 2, 2)),
    "full-rank, lengths": lambda: layer_certificate(
        "full-rank", rational=True, tokens=(1, 3, 2, 3)
    ),
    "dependent-set": dependent_set_certificate,
    "dependent-set, rational": lambda: dependent_set_certificate(seed=1, rational=True),
    **{
        name: lambda parts=parts: impossible_certificate(*parts)  # type: ignore[misc]
        for name, parts in IMPOSSIBLE.items()
    },
}
