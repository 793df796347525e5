"""Compares tables of logits kept as outer products with the same tables written out."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import fmpq_mat
from hypothesis import given
from hypothesis import strategies as st
from support import exact_data

from attncert.constructions.data.conversion import objects
from attncert.constructions.layer import Head
from attncert.verify.features import features
from attncert.verify.features.tables import Outer, dense, leads, log2_off_peak, ranges

_NUMBERS = st.one_of(st.integers(-3, 3), st.integers(-2000, 2000), st.integers(-(2**80), 2**80))


@st.composite
def outers(draw: st.DrawFn) -> tuple[Outer, list[int]]:
    """An outer product for zero to four examples with up to four rows each, and the examples'
    targets."""
    count, n = draw(st.integers(0, 4)), draw(st.integers(1, 4))
    contexts = draw(st.sampled_from([1, count]))
    by = draw(st.lists(_NUMBERS, min_size=count, max_size=count))
    rows = draw(st.lists(_NUMBERS, min_size=contexts * n, max_size=contexts * n))
    targets = draw(st.lists(st.integers(0, n - 1), min_size=count, max_size=count))
    return Outer(objects(by, (count,)), objects(rows, (contexts, n))), targets


@given(outers())
def test_they_say_what_the_table_does(drawn: tuple[Outer, list[int]]) -> None:
    outer, targets = drawn
    table = dense(outer)
    assert table.tolist() == [
        [b * x for x in outer.rows[t % len(outer.rows)]] for t, b in enumerate(outer.by)
    ]
    assert ranges(outer).tolist() == ranges(table).tolist()
    assert leads(outer, targets) == leads(table, targets)
    assert log2_off_peak(outer).tolist() == log2_off_peak(table).tolist()
    some = list(range(len(outer)))[::-2]
    assert dense(outer[some]).tolist() == table[some].tolist()


def test_a_logit_that_is_not_whole_is_named() -> None:
    data = exact_data.family(3, 2, 2, queries="moment-curve", shared=True, seed=1)
    with pytest.raises(features.NotIntegral) as caught:
        features.logit_table(Head(fmpq_mat(2, 1, [1, 0]) / 977, fmpq_mat(2, 1, [1, 0])), data)
    t, i = caught.value.example, caught.value.row
    logit = data.contexts.fractions()[0][i][0] * data.queries.fractions()[t][0] / 977
    assert Fraction(caught.value.value) == logit and logit.denominator == 977
