"""Data sets that networks find hard to memorize, and the evaluation of a network in fractions."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from support import networks

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.file import as_json
from attncert.constructions.network.network import Network

POSITIONS = ("few", "wide", "fractions", "collinear", "grid", "zeros", "repeated", "floats")
LABELS = ("classes", "real", "equal", "zero", "signs", "rare")
CONTEXTS = ("shared", "own", "same queries", "permuted", "ragged")


def dataset(seed: int, most: int = 12) -> Dataset:
    """Random data of one of the kinds above, with T up to `most` and m equal to 1 or 3."""
    draw = random.Random(seed)
    T, n, d = draw.randint(1, most), draw.randint(1, 3), draw.randint(1, 3)
    m = draw.choice([1, 1, 3])
    queries = _vectors(draw, draw.choice(POSITIONS), T, d)
    kind = draw.choice(CONTEXTS)
    labels = _labels(draw, draw.choice(LABELS), T, m)
    if kind == "same queries":
        queries = [queries[0]] * T
    counts = [draw.randint(1, 3) if kind == "ragged" else n for _ in range(T)]
    contexts = [_vectors(draw, "few", count, d) for count in counts]
    if kind == "permuted":
        contexts = [draw.sample(contexts[0], n) for _ in range(T)]
    if draw.random() < 0.3:  # equal inputs have equal labels
        queries, contexts, labels = (x + x[:1] for x in (queries, contexts, labels))
    return Dataset.of(contexts[0] if kind == "shared" else contexts, queries, labels)


def _vectors(draw: random.Random, kind: str, T: int, d: int) -> list[list[Any]]:
    def vector(low: int, high: int, below: int = 1) -> list[Any]:
        return [Fraction(draw.randint(low, high), draw.randint(1, below)) for _ in range(d)]

    if kind == "collinear":
        start, step = vector(-3, 3), vector(-3, 3, 2)
        return [[a + k * b for a, b in zip(start, step, strict=True)] for k in range(T)]
    if kind == "grid":
        return [[k // 3**i % 3 for i in range(d)] for k in range(T)]
    if kind == "zeros":
        return [[0] * d for _ in range(T)]
    if kind == "repeated":
        pool = [vector(-2, 2) for _ in range(2)]
        return [draw.choice(pool) for _ in range(T)]
    if kind == "floats":
        return [[draw.gauss(0, 1) for _ in range(d)] for _ in range(T)]
    low, high, below = {"few": (-1, 1, 1), "wide": (-(10**20), 10**20, 1)}.get(kind, (-9, 9, 6))
    return [vector(low, high, below) for _ in range(T)]


def _labels(draw: random.Random, kind: str, T: int, m: int) -> list[list[Any]]:
    entries = {
        "classes": lambda: draw.randint(0, 2),
        "real": lambda: Fraction(draw.randint(-99, 99), draw.randint(1, 9)),
        "equal": lambda: Fraction(-7, 3),
        "zero": lambda: 0,
        "signs": lambda: draw.choice([-1, 1]),
        "rare": lambda: int(draw.random() < 0.1),
    }[kind]
    return [[entries() for _ in range(m)] for _ in range(T)]


def blocks(network: Network) -> list[Any]:
    """The blocks in plain fractions."""
    return [_fractions(block) for block in as_json(network)]


def _fractions(part: Any) -> Any:
    if isinstance(part, dict):
        words = ("kind", "of", "rule", "logit_unit", "activation", "mask")
        return {key: x if key in words else _fractions(x) for key, x in part.items()}
    if isinstance(part, list):
        return [_fractions(x) for x in part]
    return Fraction(part) if isinstance(part, str) else part


def wrong(blocks: Sequence[Any], data: Dataset) -> list[int]:
    """The examples whose output is not their label."""
    outputs = networks.outputs(blocks, data.canonical())
    labels = data.labels.fractions()
    return [t for t, (x, y) in enumerate(zip(outputs, labels, strict=True)) if x != list(y)]


def inputs(data: Dataset, frequencies: bool = False) -> list[Any]:
    """The features that distinguish each example: its query, and its tokens in order or their
    frequencies."""
    parts = data.canonical()
    contexts = parts["contexts"] * (data.T if data.shared else 1)
    rows = [tuple(map(tuple, context)) for context in contexts]
    if frequencies:
        counted = [Counter(row) for row in rows]
        rows = [frozenset((x, Fraction(c, len(r))) for x, c in k.items())
                for k, r in zip(counted, rows, strict=True)]  # fmt: skip
    return [(tuple(query), row) for query, row in zip(parts["queries"], rows, strict=True)]
