"""A second evaluator of networks, in plain fractions from the blocks as JSON; random small
networks.

It evaluates one example at a time from the definitions in docs/certificate.md, and shares no
evaluation with verify/ or constructions/.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import chain
from typing import Any

from mpmath import e, mpf, workprec
from support.small_certificates import NOTHING, Certificate, sealed

from attncert.constructions.data.dataset import Dataset

Vector = list[Fraction]


class Irrational(Exception):
    """The outputs are irrational, or powers of two would be too large for a test."""


def vector(texts: Any) -> Vector:
    return [Fraction(x) for x in texts]


def times(x: Vector, rows: Any) -> Vector:
    matrix = [vector(row) for row in rows]
    assert len(matrix) == len(x)
    return [
        sum(a * row[j] for a, row in zip(x, matrix, strict=True)) for j in range(len(matrix[0]))
    ]


def plus(x: Vector, y: Vector) -> Vector:
    return [a + b for a, b in zip(x, y, strict=True)]


def shares(block: Any, logits: Vector, exact: bool = True) -> Vector:
    """The softmax of logits / ln 2 or of logits, accurate to 2^-300, by mpmath."""
    if block["rule"] == "linear":
        return logits
    if block["rule"] == "hardmax":
        return [Fraction(x == max(logits), logits.count(max(logits))) for x in logits]
    above = [x - min(logits) for x in logits]
    if not exact and max(above) < 2000:
        with workprec(300):
            base = mpf(2) if block["logit_unit"] == "ln 2" else e
            weights = [as_fraction(base ** (mpf(x.numerator) / x.denominator)) for x in above]
        return [x / sum(weights) for x in weights]
    if max(above) > 2000:
        raise Irrational
    if any(above) and (block["logit_unit"] == "1" or any(x.denominator > 1 for x in above)):
        raise Irrational
    powers = [Fraction(2) ** int(x) for x in above]
    return [x / sum(powers) for x in powers]


def as_fraction(x: mpf) -> Fraction:
    man, exp = x.man_exp
    return Fraction(int(man)) * Fraction(2) ** int(exp)


def attended(
    block: Any, x: Vector, tokens: list[Vector], sees: list[int], exact: bool = True
) -> Vector:
    seen, start = [token for token, one in zip(tokens, sees, strict=True) if one], 0
    total = [Fraction(0)] * len(block["output"][0])
    for head in block["heads"]:
        query = times(x, head["query"])
        keys = [times(token, head["key"]) for token in seen]
        logits = [
            sum((a * b for a, b in zip(query, key, strict=True)), Fraction(0)) for key in keys
        ]
        values = [times(token, head["value"]) for token in seen]
        mean = [Fraction(0)] * len(values[0])
        for share, value in zip(shares(block, logits, exact), values, strict=True):
            mean = plus(mean, [share * y for y in value])
        rows = block["output"][start : start + len(mean)]
        total, start = plus(total, times(mean, rows)), start + len(mean)
    return total


def fed(block: Any, x: Vector) -> Vector:
    z = plus(times(x, block["weights"]), vector(block["bias"]))
    if block["activation"] == "relu":
        return [max(y, Fraction(0)) for y in z]
    return [Fraction(y >= 0) for y in z] if block["activation"] == "threshold" else z


def output(blocks: Any, tokens: list[Vector], query: Vector, exact: bool = True) -> Vector:
    """The output of the blocks for one example. Raises Irrational."""
    for block in blocks:
        n, mask = len(tokens), block.get("mask")
        if mask is None or mask == "causal":
            causal = [[int(j <= i or mask is None) for j in range(n)] for i in range(n)]
            mask = [*causal, [1] * n]

        def new(
            x: Vector, row: int, block: Any = block, tokens: Any = tokens, m: Any = mask
        ) -> Vector:
            if block["kind"] == "attention":
                y = attended(block, x, tokens, m[row], exact)
            else:
                y = fed(block, x if block["of"] != "row" else list(chain(x, *tokens)))
            return plus(x, y) if block["residual"] else y

        changed = [new(x, i) for i, x in enumerate(tokens)] if block["of"] == "all" else tokens
        tokens, query = changed, new(query, -1)
    return query


def dataset(data: Any, labels: Any = None) -> Dataset:
    """The data set in a certificate's `data`."""
    shared = len(data["contexts"]) == 1
    return Dataset.of(data["contexts"][0] if shared else data["contexts"], data["queries"], labels)


def outputs(blocks: Any, data: Any, exact: bool = True) -> list[Vector]:
    """The outputs for all examples of a certificate's `data`."""
    contexts = [[vector(row) for row in context] for context in data["contexts"]]
    queries = [vector(row) for row in data["queries"]]
    contexts = contexts * (len(queries) if len(contexts) == 1 else 1)
    return [output(blocks, E, q, exact) for E, q in zip(contexts, queries, strict=True)]


# Random networks.


def numbers(draw: random.Random, rows: int, columns: int, whole: bool = False) -> Any:
    below = [1] if whole else [1, 1, 2, 3]
    return [
        [str(Fraction(draw.randint(-3, 3), draw.choice(below))) for _ in range(columns)]
        for _ in range(rows)
    ]


def network(seed: int) -> tuple[list[Any], Any, list[int] | None]:
    """Blocks, data without labels, and the token counts if they differ."""
    draw = random.Random(seed)
    T, n, d = draw.randint(1, 4), draw.randint(1, 3), draw.randint(1, 3)
    kind, whole = draw.choice(["shared", "own", "ragged"]), draw.random() < 0.6
    counts = [draw.randint(1, 3) if kind == "ragged" else n for _ in range(T)]
    ragged = len(set(counts)) > 1
    n = max(counts)
    contexts = [numbers(draw, count, d, whole) for count in counts]
    if kind == "shared":
        contexts = contexts[:1]
    blocks = random_blocks(draw, d, 0 if ragged else n, whole)
    data = {"contexts": contexts, "queries": numbers(draw, T, d, whole)}
    return blocks, data, counts if ragged else None


def random_blocks(draw: random.Random, d: int, n: int, whole: bool) -> list[Any]:
    """Blocks for tokens and queries of width d; n: the number of tokens, 0 if it varies."""
    blocks, wide, tokens = [], d, d  # widths of query and tokens
    for _ in range(draw.randint(1, 3)):
        ofs = ["query", *(["all"] if wide == tokens else [])]
        residual, width = draw.random() < 0.5, draw.randint(1, 3)
        width = wide if residual else width
        if draw.random() < 0.5:
            of = draw.choice([*ofs, *(["row"] if n else [])])
            rows = wide + n * tokens if of == "row" else wide
            block = {
                "kind": "feed-forward", "of": of, "residual": residual,
                "activation": draw.choice(["identity", "relu", "threshold"]),
                "weights": numbers(draw, rows, width), "bias": numbers(draw, 1, width)[0],
            }  # fmt: skip
        else:
            of, rule = draw.choice(ofs), draw.choice(["softmax", "softmax", "hardmax", "linear"])
            inner, values, heads = draw.randint(1, 2), draw.randint(1, 2), draw.randint(1, 2)
            mask: Any = draw.choice([None, "causal", *(["rows"] if n else [])])
            if mask == "rows":
                lines = n + 1 if of == "all" else 1
                mask = [[int(draw.random() < 0.6) for _ in range(n)] for _ in range(lines)]
                mask = [row if any(row) else [1] * n for row in mask]
            unit = draw.choice(["ln 2", "ln 2", "1"]) if rule == "softmax" else None
            block = {
                "kind": "attention", "of": of, "rule": rule, "logit_unit": unit,
                "heads": [
                    {
                        "key": numbers(draw, tokens, inner, whole),
                        "query": numbers(draw, wide, inner, whole),
                        "value": numbers(draw, tokens, values),
                    }
                    for _ in range(heads)
                ],
                "output": numbers(draw, heads * values, width),
                "mask": mask, "residual": residual,
            }  # fmt: skip
        blocks.append(block)
        wide = width
        tokens = width if of == "all" else tokens
    return blocks


def certificate(seed: int, exact: bool = True) -> Certificate:
    """A true certificate of the claim "network"; if not exact, its labels are slightly off. Raises
    Irrational."""
    blocks, data, tokens = network(seed)
    rows = outputs(blocks, data, exact)
    data["labels"] = [[str(x) for x in row] for row in rows]
    dims = {
        "examples": len(rows), "context": max(map(len, data["contexts"])),
        "width": len(data["queries"][0]), "labels": len(rows[0]),
    }  # fmt: skip
    return sealed(
        NOTHING
        | {
            "claim": "network", "construction": "random", "dims": dims,
            "data": data, "network": blocks, "tokens": tokens,
            "produced_by": {"version": "0", "command": "none", "seed": seed},
        }
    )  # fmt: skip


def rational(count: int, first: int = 0, exact: bool = True) -> list[Certificate]:
    """`count` true certificates for rational networks (if not exact, any with moderate logits);
    seeds are tried from `first` upwards."""
    certificates = []
    while len(certificates) < count:
        with suppress(Irrational):
            certificates.append(certificate(first, exact))
        first += 1
    return certificates


def nearly(certificate: Certificate, within: str = "1/1000000") -> Certificate:
    """The "outputs-within" claim about the same network."""
    return sealed(certificate | {"claim": "outputs-within", "within": within})


def margin(outputs: list[Vector], labels: list[Vector]) -> Fraction:
    """The least value, over all examples and other labels, of half the difference between the
    squared distances of the output from that label and from its own."""

    def square(x: Vector, y: Vector) -> Fraction:
        return sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), Fraction(0))

    pairs = zip(outputs, labels, strict=True)
    return min((square(x, z) - square(x, y)) / 2 for x, y in pairs for z in labels if z != y)


def nearest(certificate: Certificate, margin: Any) -> Certificate:
    """The "nearest" claim about the same network."""
    return sealed(certificate | {"claim": "nearest", "nearest": {"margin": str(margin)}})


def behind(certificate: Certificate, seed: int) -> Certificate:
    """The same claim with two blocks before the layer; their input is chosen so that their outputs
    are the layer's data. The first adds a mean of the tokens to the query, and the second maps each
    vector x to 2 x + b; for odd seeds, another block before them drops a coordinate.
    """
    draw = random.Random(seed)
    data, d = certificate["data"], certificate["dims"]["width"]
    plain = {
        "kind": "attention", "of": "query", "rule": "softmax",
        "logit_unit": draw.choice(["1", "ln 2"]),
        "heads": [{"key": numbers(draw, d, 1), "query": [["0"]] * d, "value": numbers(draw, d, 2)}],
        "output": numbers(draw, 2, d), "mask": draw.choice([None, "causal"]), "residual": True,
    }  # fmt: skip
    one = [[str(int(i == j)) for j in range(d)] for i in range(d)]
    bias = numbers(draw, 1, d)[0]
    double = {
        "kind": "feed-forward", "of": "all", "activation": "identity",
        "weights": one, "bias": bias, "residual": True,
    }  # fmt: skip

    def half(rows: Any) -> list[Vector]:
        return [
            [(Fraction(x) - Fraction(b)) / 2 for x, b in zip(r, bias, strict=True)] for r in rows
        ]

    contexts = [half(context) for context in data["contexts"]]
    queries = []
    for t, query in enumerate(half(data["queries"])):
        tokens = contexts[t if len(contexts) > 1 else 0]
        more = attended(plain, query, tokens, [1] * len(tokens))
        queries.append([x - y for x, y in zip(query, more, strict=True)])
    blocks = [plain, double, *certificate["network"]]
    if seed % 2:
        contexts = [[[*row, draw.randint(-3, 3)] for row in context] for context in contexts]
        queries = [[*row, draw.randint(-3, 3)] for row in queries]
        narrow = {"weights": [*one, ["0"] * d], "bias": ["0"] * d, "residual": False}
        blocks = [double | narrow, *blocks]
    data = data | {"contexts": contexts, "queries": queries}
    data = {key: as_text(rows) for key, rows in data.items()}
    return sealed(certificate | {"network": blocks, "data": data})


def as_text(rows: Any) -> Any:
    return [as_text(x) for x in rows] if isinstance(rows, list) else str(rows)


# Mutants.

_PARTS = ["network"] * 6 + ["data"] * 3 + ["dims", "tokens", "claim", "format"]
_PARTS += ["saturation", "within", "origin", "near"]
_LEAVES: list[Any] = [
    "0", "1", "-1", "1/2", "2", "3/7", "-0", "1/0", "1/01", "", "x", "1" + "0" * 30,
    "1/1" + "0" * 30, "16777217", "-16777216", "ln 2", "query", "all", "row", "softmax", "hardmax",
    "linear", "identity", "relu", "threshold", "causal", "attention", "feed-forward",
    "normalization", 0, 1, 2, True, False, None, [], {}, [[1]], [[0]], [[1, 0]], [[1], [1]],
    [[True]], [["1"]], ["1"],
]  # fmt: skip


def places(part: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield place
    steps = part if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else []
    for step in steps:
        yield from places(part[step], (*place, step))


def at(part: Any, place: tuple[Any, ...]) -> Any:
    for step in place:
        part = part[step]
    return part


def mutant(certificate: Certificate, draw: random.Random, changes: int = 1) -> Certificate:
    """A copy with random changes: a part is replaced, repeated, removed, shuffled or halved."""
    certificate = copy.deepcopy(certificate)
    for _ in range(changes):
        name = draw.choice(_PARTS)
        spots = [
            place for place in places(certificate) if place and place[0] in (*_PARTS, "groups")
        ]
        *path, step = draw.choice([place for place in spots if place[0] == name] or spots)
        parent, other = at(certificate, tuple(path)), at(certificate, draw.choice(spots))
        kind, listed = draw.random(), isinstance(parent, list)
        if kind < 0.5:
            alike = [x for x in _LEAVES if type(x) is type(parent[step])]
            leaves = alike if alike and draw.random() < 0.7 else _LEAVES
            parent[step] = copy.deepcopy(draw.choice(leaves))
        elif kind < 0.6:
            parent[step] = copy.deepcopy(other)
        elif kind < 0.7 and listed:
            parent.append(copy.deepcopy(draw.choice(parent)))
        elif kind < 0.8 and listed:
            draw.shuffle(parent)
        elif kind < 0.9:
            del parent[step]
        elif isinstance(parent[step], str) and "/" not in parent[step]:
            parent[step] += "/2"
    return certificate
