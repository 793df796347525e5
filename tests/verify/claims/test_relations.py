"""Relations are decided as in plain Fractions; other values are refused."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq, fmpq_mat
from hypothesis import given
from hypothesis import strategies as st

from attncert.verify.claims.relations import COMPARISONS, AtLeast, NoRelation, decide

_numbers = st.fractions(-3, 3, max_denominator=3)
_pairs = st.lists(st.tuples(_numbers, _numbers), min_size=1, max_size=4)
_FORMS: tuple[Any, ...] = (
    list,
    lambda row: [fmpq(x.numerator, x.denominator) for x in row],
    lambda row: fmpq_mat([[fmpq(x.numerator, x.denominator) for x in row]]).entries(),
    lambda row: np.array(row, dtype=object),
)


@given(_pairs, st.sampled_from(sorted(COMPARISONS)), st.sampled_from(_FORMS))
def test_rational_numbers_are_decided_as_fractions_are(
    pairs: list[tuple[Fraction, Fraction]], op: str, form: Any
) -> None:
    left, right = ([pair[k] for pair in pairs] for k in (0, 1))
    true = all(COMPARISONS[op](a, b) for a, b in pairs)
    assert decide([(form(left), op, form(right))]).level.value == ("proved" if true else "refuted")


@given(_pairs, st.sampled_from(sorted(COMPARISONS)))
def test_balls_never_contradict_fractions(pairs: list[tuple[Fraction, Fraction]], op: str) -> None:
    true = all(COMPARISONS[op](a, b) for a, b in pairs)
    balls = [(arb(a.numerator) / a.denominator, op, b) for a, b in pairs]
    assert decide(balls).level.value in ("undecided", "enclosed" if true else "refuted")


def test_nan_is_unequal_to_nothing_and_large_numbers_are_compared() -> None:
    assert decide([(math.nan, "!=", 0)]).level.value == "undecided"
    assert decide([(10**400, ">", 1.5)]).level.value == "numerical"


@pytest.mark.parametrize(
    "relation",
    [
        (np.ma.array([1, 5], mask=[False, True]), "==", np.array([1, 2])),
        (AtLeast(2.5), ">=", 2),  # type: ignore[arg-type]
        (3, "mod", 1.5),
        (3, "mod", 0),
    ],
)
def test_a_masked_entry_and_a_float_in_an_exact_place_are_no_relation(relation: Any) -> None:
    with pytest.raises(NoRelation):
        decide([relation])
