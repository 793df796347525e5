"""Data sets: shapes, the canonical form and its hash, subsets, contexts of different lengths."""

from __future__ import annotations

import hashlib
import json
import pickle
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st
from support.oracles import repeated
from support.strategies import datasets, numbers, raw_data

from attncert.constructions.data import generators
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.digits import all_digits, digits
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.data.rounding import rounded
from attncert.constructions.errors import HypothesisFails, InputError
from attncert.constructions.network.mixing import mean

RATIONAL = Dataset.of(
    [[0.5, "-2/3"], [0, -(2**63)]], [[1, 5e-324], ["1/7", 2]], [[3, -1], ["4/6", 0]]
)


def nest(values: Any) -> Any:
    return [nest(x) for x in values] if isinstance(values, list) else str(Fraction(values))


def rows_of(matrix: fmpq_mat) -> list[list[str]]:
    return [[str(x) for x in row] for row in matrix.tolist()]


@settings(deadline=None)
@given(raw_data())
def test_every_shape_is_held_exactly(raw: dict[str, Any]) -> None:
    data = Dataset.of(**raw)
    contexts, queries, labels = raw["contexts"], raw["queries"], raw["labels"]
    flat = not isinstance(contexts[0][0], list)
    assert (data.T, data.d) == (len(queries), len(queries[0]))
    assert data.n == len(contexts if flat else contexts[0])
    assert data.shared == (flat or len(contexts) == 1)
    assert data.canonical() == {
        "contexts": nest([contexts] if flat else contexts),
        "queries": nest(queries),
        "labels": nest(labels if isinstance(labels[0], list) else [[y] for y in labels]),
    }
    for t in range(data.T):
        table = data.canonical()["contexts"][0 if data.shared else t]
        assert rows_of(data.context(t)) == table
    assert rows_of(data.query_matrix) == data.canonical()["queries"]
    assert rows_of(data.label_matrix) == data.canonical()["labels"]


@settings(deadline=None, max_examples=50)
@given(datasets(numbers))
def test_the_hash_is_that_of_the_canonical_json(data: Dataset) -> None:
    text = json.dumps(data.canonical(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    assert data.sha256 == hashlib.sha256(text.encode("ascii")).hexdigest()


def test_canonical_form_and_hashes_are_frozen() -> None:
    """Certificates hold these hashes, so they may never change. They were computed from Fractions
    alone."""
    data = Dataset.of([[0.5, "-2/4"], [0, 3]], [[1, "1/7"]], [[2.0, -0.0]])
    text = '{"contexts":[[["1/2","-1/2"],["0","3"]]],"labels":[["2","0"]],"queries":[["1","1/7"]]}'
    assert json.dumps(data.canonical(), sort_keys=True, separators=(",", ":")) == text
    assert data.sha256 == hashlib.sha256(text.encode()).hexdigest()
    pairs = "6d3070506b9e10ab9676cf5321630e448c7612b8db7aeb817ff474cde8f99180"
    assert generators.signed_pairs().sha256 == pairs
    assert RATIONAL.sha256 == "f5fa5d497ce62e2bf3262c7be887e4e832b26f5682cd2f9deeb726949b1680ed"
    assert digits().sha256 == "8376ab11d5f40f0f992a2bbd3d4cbcac651484787e60d85975ce5a023023b2ff"


@settings(deadline=None, max_examples=50)
@given(datasets(numbers), st.data())
def test_take(data: Dataset, draw: st.DataObject) -> None:
    chosen = draw.draw(st.lists(st.integers(0, data.T - 1), min_size=1, max_size=6))
    part, whole = data.take(chosen).canonical(), data.canonical()
    for key in ("queries", "labels"):
        assert part[key] == [whole[key][t] for t in chosen]
    if data.shared:
        assert part["contexts"] == whole["contexts"]
    else:
        assert part["contexts"] == [whole["contexts"][t] for t in chosen]
    count = draw.draw(st.integers(1, data.T))
    assert data.take(count).canonical() == data.take(range(count)).canonical()
    assert data.take(np.int64(count)).canonical() == data.take(np.arange(count)).canonical()


@pytest.mark.parametrize(
    ("examples", "line"),
    [
        (0, "examples: must be from 1 to 2, the number of examples, not 0"),
        (3, "examples: must be from 1 to 2, the number of examples, not 3"),
        ([], "examples: must be one or more, not none"),
        ([0, 2], "examples: must be indices from 0 to 1, not 2"),
        ([-1], "examples: must be indices from 0 to 1, not -1"),
    ],
)
def test_take_refuses(examples: Any, line: str) -> None:
    with pytest.raises(InputError) as refusal:
        RATIONAL.take(examples)
    assert str(refusal.value) == line


@pytest.mark.parametrize(
    ("contexts", "queries", "labels", "line"),
    [
        ((2, 3, 2), (2,), (2,), "queries: must be nonempty, of shape (T, d), not (2,)"),
        ((2,), (2, 2), (2,), "contexts: must be nonempty, of shape (T, n, d) or (n, d), not (2,)"),
        ((1, 1, 1, 1), (1, 1), (1,), "contexts: must be nonempty, of shape (T, n, d) or (n, d)"),
        ((2, 0, 2), (2, 2), (2,), "contexts: must be nonempty, of shape (T, n, d) or (n, d)"),
        ((3, 2), (0, 2), (0,), "queries: must be nonempty, of shape (T, d), not (0, 2)"),
        ((3, 2), (4, 0), (4,), "queries: must be nonempty, of shape (T, d), not (4, 0)"),
        ((3, 2), (4, 2), (4, 0), "labels: must be nonempty, of shape (T,) or (T, m), not (4, 0)"),
        ((3, 2), (4, 2), (), "labels: must be nonempty, of shape (T,) or (T, m), not ()"),
        ((3, 2), (4, 2), (3,), "labels: must be one for each of the 4 queries, not 3 of them"),
        ((3, 2), (4, 3), (4,), "queries: must be as wide as the contexts' rows, 2, not 3"),
        ((2, 3, 2), (4, 2), (4,), "contexts: must be one for each of the 4 queries, or one sha"),
    ],
)
def test_shapes_that_disagree(contexts: Any, queries: Any, labels: Any, line: str) -> None:
    with pytest.raises(InputError) as refusal:
        Dataset.of(np.ones(contexts), np.ones(queries), np.ones(labels))
    assert str(refusal.value).startswith(line)


def test_refusals_are_one_printable_line_and_survive_pickling() -> None:
    error = InputError("a\nfile\x1b[2J\ud800", "short", "x\n" * 500)
    line = str(error)
    assert line.startswith(r"a file\x1b[2J\ud800: must be short, not x x x ")
    assert line.isprintable() and len(line) < 300
    assert str(pickle.loads(pickle.dumps(error))) == line
    long = InputError("c", "short", 10**5000)
    assert str(long) == "c: must be short, not an integer of 16610 bits"
    fails = HypothesisFails("A2", "false", {"context": 3}, decided=False)
    copy = pickle.loads(pickle.dumps(fails))
    assert (copy.hypothesis, copy.reason, copy.witness) == ("A2", "false", {"context": 3})
    assert copy.decided is False and str(copy) == "false"


def test_digits_are_those_of_the_file_that_have_rank_four() -> None:
    every, kept = all_digits(), digits()
    ranks = np.linalg.matrix_rank(every.contexts.floats())  # computed independently; entries <= 16
    deficient = tuple(np.flatnonzero(ranks < 4).tolist())
    assert deficient == (
        *(67, 344, 672, 713, 921, 1288, 1426, 1462, 1471, 1485, 1495, 1508, 1514, 1522, 1589),
    )
    assert (every.T, kept.T, kept.n, kept.d, kept.m) == (1797, 1782, 4, 16, 1)
    whole = every.canonical()
    order = [t for t in range(every.T) if t not in deficient]
    assert kept.canonical() == {key: [whole[key][t] for t in order] for key in whole}


CONTEXTS = [[[1, 0], [0, 1], [2, 1]], [[3, 1]], [[0, 1], ["1/2", 2]]]
QUERIES = [[1, 2], [0, 1], [1, 1]]
DATA = Dataset.of(CONTEXTS, QUERIES, [1, 2, 3])


def fractions(tables: list[list[list[object]]]) -> list[list[list[Fraction]]]:
    return [[[Fraction(str(x)) for x in row] for row in table] for table in tables]


def test_the_tokens_are_those_given() -> None:
    assert [DATA.rows(t).fractions() for t in range(3)] == fractions(CONTEXTS)
    assert [DATA.tokens(t) for t in range(3)] == [3, 1, 2]
    assert (DATA.T, DATA.n, DATA.lengths, DATA.ragged) == (3, 3, "1 to 3", True)
    assert DATA.times is not None
    assert DATA.times.tolist() == [[1, 1, 1], [1, 0, 0], [1, 1, 0]]


def test_what_is_given_behind_the_tokens_is_not_kept() -> None:
    stored = DATA.contexts.stored.copy()
    stored[1, 1:] = 99
    again = replace(DATA, contexts=ExactArray(stored, DATA.contexts.denominator))
    assert again.contexts.fractions() == DATA.contexts.fractions()


def test_a_part_has_its_own_numbers() -> None:
    part = DATA.take([2, 1])
    assert part.counts == (2, 1) and part.n == 2
    assert DATA.take([0]).counts is None and DATA.take([1]).n == 1
    equal = Dataset.of([CONTEXTS[0], CONTEXTS[2], CONTEXTS[2]], QUERIES).take([1, 2])
    assert not equal.ragged and equal.context(0).nrows() == 2


def test_copies_and_files_keep_them() -> None:
    again = pickle.loads(pickle.dumps(DATA))
    assert again.counts == (3, 1, 2)
    assert DATA.canonical()["contexts"][1:] == [[["3", "1"]], [["0", "1"], ["1/2", "2"]]]
    read = Dataset.of(**DATA.canonical())
    assert read.sha256 == DATA.sha256 != repeated(DATA).sha256
    assert rounded(DATA, Fraction(1))[0].counts == (3, 1, 2)


def test_the_mean_of_a_context_is_that_of_its_tokens() -> None:
    ours, same = (mean(DATA.d).apply(data) for data in (DATA, repeated(DATA)))
    assert ours.queries.fractions() == same.queries.fractions()
    assert ours.rows(2).fractions() == same.rows(2).fractions()[::3]


def test_token_counts_must_fit() -> None:
    for counts in ((1, 1, 1), (3, 3, 3), (1, 2), (0, 1, 3), (1, 2, 2), (1, 2, 4)):
        with pytest.raises(InputError, match=r"^counts: must be 3 numbers from 1 to 3, not all eq"):
            Dataset(DATA.contexts, DATA.queries, counts=counts)


def test_too_many_numbers_are_refused_in_one_line() -> None:
    many = [[[0] * 9]] * 999 + [[[0] * 9] * 4093]
    with pytest.raises(InputError, match=r"^contexts: must be of at most 33,554,432 numbers"):
        Dataset.of(many, [[0] * 9] * 1000)


def test_counts_without_a_small_common_multiple_are_no_trouble() -> None:
    data = Dataset.of([[[1, k]] * k for k in range(1, 41)], [[1, k] for k in range(1, 41)])
    assert data.lengths == "1 to 40"


def test_rows_of_different_widths_are_still_located() -> None:
    with pytest.raises(InputError, match=r"^contexts\[1\]\[0\]: must be a list of 2"):
        Dataset.of([[[1, 0], [0, 1]], [[1], [2]], [[1, 2]]], QUERIES, [1, 2, 3])


def test_the_hash_of_many_narrow_integers_is_that_of_the_canonical_json() -> None:
    """Contexts of 2^20 entries or more are stored and written with one byte per entry."""
    contexts = np.random.default_rng(0).integers(-128, 127, (64, 128, 129), np.int8, endpoint=True)
    data = Dataset.of(contexts, np.ones((64, 129), dtype=np.int8))
    assert data.contexts.stored.dtype == np.int8
    assert data.contexts[3].strings() == [[str(x) for x in row] for row in contexts[3].tolist()]
    text = json.dumps(data.canonical(), sort_keys=True, separators=(",", ":"))
    assert data.sha256 == hashlib.sha256(text.encode()).hexdigest()
