"""Compares token-sequence data with prefixes that the test writes out with its own code."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from typing import Any

import pytest

from attncert import Dataset, Layer, of_sequences
from attncert.constructions.data.loading import parse_json
from attncert.constructions.errors import InputError
from attncert.constructions.layer import features

SYMBOLS = {"a": [1, 0, 2], "b": [-1, 1, 1], "c": [0, "1/2", -1], "^": [2, 1, 0]}
TEXTS = ["abba", "cab", "bbbca"]
SHIFTS = [[i, 1 - i, "1/3"] for i in range(7)]


def row(x: str, place: int, positions: Any) -> tuple[Fraction, ...]:
    shift = positions[place] if positions else [0, 0, 0]
    return tuple(Fraction(a) + Fraction(b) for a, b in zip(SYMBOLS[x], shift, strict=True))


def prefixes(first: str, positions: Any) -> list[list[tuple[Fraction, ...]]]:
    """One example for each position that has a next token."""
    whole = [first + text for text in TEXTS]
    return [
        [row(x, i, positions) for i, x in enumerate(text[: place + 1])]
        for text in whole
        for place in range(len(text) - 1)
    ]


def tokens(data: Dataset, t: int) -> list[tuple[Fraction, ...]]:
    return [*map(tuple, data.rows(t).fractions())]


@pytest.mark.parametrize("positions", [None, SHIFTS], ids=["symbols", "positions"])
@pytest.mark.parametrize("first", ["", "^"])
def test_examples_are_prefixes(first: str, positions: Any) -> None:
    data = of_sequences(TEXTS, SYMBOLS, positions=positions, first=first or None)
    contexts = prefixes(first, positions)
    plain = Dataset.of(contexts, [context[-1] for context in contexts])
    following = [ord(x) - ord("a") for text in TEXTS for x in (first + text)[1:]]
    assert [int(y) for (y,) in data.labels.fractions()] == following
    assert data.queries.fractions() == plain.queries.fractions()
    assert data.longest == max(map(len, contexts))
    for t, context in enumerate(contexts):
        assert tokens(data, t) == tokens(data.expanded(), t) == context
        assert data.tokens(t) == data.expanded().tokens(t) == len(context)
        assert (data.context(t).nrows(), data.kinds(t)) == (len(context), len(set(context)))
    layer = Layer.of_weights([([[6], [-6], [12]], [[12], [6], [18]])])
    own, other = (features(layer.heads[0], x) for x in (data, plain))
    assert own == other == features(layer.heads[0], data.expanded())
    assert data.expanded().order is None and data.expanded().sha256 == data.sha256
    merged = data.expanded().merged()
    assert merged.counts == data.counts and (merged.times == data.times).all()
    assert all(tokens(merged, t) == context for t, context in enumerate(contexts))


def test_the_symbols_are_stored_once() -> None:
    data = of_sequences(["a" * 500 + "b"], {"a": [1], "b": [2]})
    assert (data.T, data.n, data.contexts.shape) == (500, 1, (500, 1, 1))
    assert data.canonical()["embedding"] == [["1"], ["2"]] and data.lengths == "1 to 500"


def test_forms_that_say_the_same() -> None:
    ids = [[0, 1, 1, 0], [2, 0, 1], [1, 1, 1, 2, 0]]
    every = [[s, i] for s in range(3) for i in range(len(ids[s]) - 1)]
    rows = [SYMBOLS[x] for x in "abc"]
    forms = [
        of_sequences(TEXTS, {x: SYMBOLS[x] for x in "abc"}),
        of_sequences([list(text) for text in TEXTS], rows),
        of_sequences(ids, rows),
        of_sequences(ids, rows, examples=every),
    ]
    assert len({data.sha256 for data in forms}) == 1
    words = of_sequences([["to", "be", "to"]], {"to": [1], "be": [2]})
    assert words.labels.strings() == [["1"], ["0"]]
    assert of_sequences("aba", {"a": [1], "b": [2]}).T == 2


def test_labels() -> None:
    rows = {"a": [1], "b": [2]}
    assert of_sequences(["aab"], rows, labels="one-hot").labels.strings() == [
        ["1", "0"],
        ["0", "1"],
    ]
    assert of_sequences(["aab"], rows, labels=["1/2", 3]).labels.strings() == [["1/2"], ["3"]]
    last = of_sequences(["aab"], rows, examples=[[0, 2]], labels=[7])
    assert (last.T, last.tokens(0), last.labels.strings()) == (1, 3, [["7"]])
    assert not of_sequences(["aab"], rows, labels=None).labelled


def test_drawn_rows_are_different_and_follow_the_seed() -> None:
    """The rows are those that NumPy draws."""
    drawn = {"width": 2, "bound": 1}
    data = [of_sequences(["abcabc"], drawn | {"seed": seed}) for seed in (0, 0, 1)]
    rows = [x.canonical()["embedding"] for x in data]
    assert rows[0] == rows[1] != rows[2]
    assert all(len({tuple(row) for row in table}) == 3 for table in rows)
    assert {int(x) for table in rows for row in table for x in row} <= {-1, 0, 1}
    placed = of_sequences(["aaaa"], {"width": 1}, positions={"bound": 5, "seed": 4})
    assert len(placed.canonical()["positions"]) == 4


def test_a_file_reads_as_it_was_written() -> None:
    for positions in (None, SHIFTS):
        data = of_sequences(TEXTS, SYMBOLS, positions=positions, first="^")
        again = parse_json(json.dumps(data.canonical()).encode())
        assert again.canonical() == data.canonical() and again.sha256 == data.sha256
        same = pickle.loads(pickle.dumps(data))
        assert same.canonical() == data.canonical() and same.lengths == data.lengths


PLAIN: dict[str, Any] = {"sequences": ["ab", "ba"], "embedding": {"a": [1, 0], "b": [0, 1]}}
MANY_SYMBOLS = {"sequences": ["abcdefgh"], "embedding": {"width": 1, "bound": 1}}
IDS: dict[str, Any] = {"sequences": [[0, 1], [1, 0]], "embedding": [[1, 0], [0, 1]]}
TEXTS_REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"sequences": []}, "sequences: must be one or more texts or lists of symbols, not empty"),
    ({"sequences": 3}, "sequences: must be one or more texts or lists of symbols, not an int"),
    ({"sequences": ["ab", ""]}, "sequences[1]: must be a text or a list of one or more symbols"),
    ({"sequences": [{}]}, "sequences[0]: must be a text or a list of one or more symbols, not an"),
    ({"sequences": ["ab", [0, 1]]}, "sequences[1][0]: must be a string, like the first, not an i"),
    ({"sequences": ["ax"]}, "sequences[0][1]: must be a symbol of the embedding, not 'x'"),
    ({"sequences": ["a", "b"]}, "sequences: must be long enough for a next token, not of one sy"),
    ({"embedding": [[1], [2], [3]]}, "embedding: must be 2 rows, one for each symbol, not 3"),
    ({"embedding": {"width": 2, "depth": 3}}, "embedding: must be rows, or made of width, bound, "),
    (
        {"embedding": {}},
        "embedding.width: must be a whole number from 1 to 2,147,483,648, not None",
    ),
    (MANY_SYMBOLS, "embedding.bound: must be large enough for 8 different rows, not 1"),
    ({"embedding": {"width": 1, "seed": -1}}, "embedding.seed: must be a whole number from 0 to "),
    ({"embedding": {"a": [1, 0], "b": [0]}}, "embedding[1]: must be a list of 2, like embedding"),
    ({"embedding": {"a": [1, 0], "b": ["x", 0]}}, "embedding[1][0]: must be an integer, a fini"),
    ({"positions": [[1, 1]]}, "positions: must be 2 rows or more, one for each place, not 1"),
    ({"positions": [[1], [2]]}, "positions: must be as wide as the embedding, 2, not 1"),
    ({"positions": {"width": 2}}, "positions: must be rows, or made of bound, seed, not with 'w"),
    ({"first": "a"}, "first: must be a symbol that occurs nowhere else, not one of sequences[0]"),
    ({"first": 0}, "first: must be a symbol like 'a', not an integer"),
    ({"examples": []}, "examples: must be pairs of a sequence and a place in it, not empty"),
    ({"examples": [[0, 0], [0, 2]]}, "examples[1]: must be a sequence and a place in it, counted"),
    ({"examples": [[0, True]]}, "examples[0]: must be a sequence and a place in it, counted from"),
    ({"examples": [[0, 1]]}, "examples[0]: must be a place with a next token, unless labels are "),
    ({"labels": "last"}, "labels: must be index, one-hot, or numbers, not 'last'"),
    ({"labels": [1, 2, 3]}, "labels: must be one for each of the 2 queries, not 3 of them"),
    ({"tokens": 3}, "data: must be made of sequences, embedding, positions, first, examples, lab"),
]
IDS_REFUSED: list[tuple[dict[str, Any], str]] = [
    (
        {"sequences": [[0, 2]]},
        "sequences[0][1]: must be a row of the embedding, from 0 to 1, not 2",
    ),
    (
        {"sequences": [[-1, 0]]},
        "sequences[0][0]: must be a row of the embedding, from 0 to 1, not -1",
    ),
    ({"sequences": [[0, True]]}, "sequences[0][1]: must be the index of a row of the embedding, "),
    ({"embedding": [1, 2]}, "embedding: must be rows of numbers, none empty, not of shape (2,)"),
    ({"embedding": {"a": [1]}}, "embedding: must be a list of rows of numbers, not an object"),
]
REFUSED = [(PLAIN | change, line) for change, line in TEXTS_REFUSED]
REFUSED += [(IDS | change, line) for change, line in IDS_REFUSED]


@pytest.mark.parametrize(("file", "line"), REFUSED, ids=[line for _, line in REFUSED])
def test_what_is_refused_in_one_line(file: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError) as refusal:
        parse_json(json.dumps(file).encode())
    assert str(refusal.value).startswith(line) and "\n" not in str(refusal.value)


@pytest.mark.slow
def test_large_texts_are_refused_before_memory_is_taken() -> None:
    for file in (
        {"sequences": ["ab" * 2**20], "embedding": {"width": 1}},
        {"sequences": ["ab"], "embedding": {"width": 2**30}},
        {"sequences": ["ab" * 2**12], "embedding": {"width": 4}, "positions": {}},
    ):
        with pytest.raises(InputError):
            parse_json(json.dumps(file).encode())
