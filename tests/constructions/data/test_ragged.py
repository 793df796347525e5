"""Contexts of different numbers of tokens are kept as they were given."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction

import pytest
from support.oracles import repeated

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.data.rounding import rounded
from attncert.constructions.errors import InputError
from attncert.constructions.network.mixing import mean

CONTEXTS = [[[1, 0], [0, 1], [2, 1]], [[3, 1]], [[0, 1], ["1/2", 2]]]
QUERIES = [[1, 2], [0, 1], [1, 1]]
DATA = Dataset.of(CONTEXTS, QUERIES, [1, 2, 3])


def fractions(tables: list[list[list[object]]]) -> list[list[list[Fraction]]]:
    return [[[Fraction(str(x)) for x in row] for row in table] for table in tables]


def test_the_tokens_are_those_given() -> None:
    assert [DATA.rows(t).fractions() for t in range(3)] == fractions(CONTEXTS)
    assert [DATA.tokens(t) for t in range(3)] == [3, 1, 2]
    assert (DATA.T, DATA.n, DATA.lengths, DATA.ragged) == (3, 3, "1 to 3", True)
    assert DATA.present is not None
    assert DATA.present.tolist() == [[1, 1, 1], [1, 0, 0], [1, 1, 0]]


def test_what_fills_up_is_a_token_again() -> None:
    for t, table in enumerate(DATA.contexts.fractions()):
        assert table[DATA.tokens(t) :] == table[:1] * (3 - DATA.tokens(t))


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
    ours, same = (mean(DATA.d).behind(data) for data in (DATA, repeated(DATA)))
    assert ours.queries.fractions() == same.queries.fractions()
    assert ours.rows(2).fractions() == same.rows(2).fractions()[::3]


@pytest.mark.parametrize("contexts", [
    [[1, 0], [0, 1]], [[[1, 0]], [[0, 1]]], [[[1, 0], [0, 1]], [[1, 1], [2, 1]]],
])  # fmt: skip
def test_contexts_of_one_length_are_not_ragged(contexts: object) -> None:
    data = Dataset.of(contexts, QUERIES[:2])
    assert data.counts is None and data.present is None


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
