"""Exact arrays: no input is rounded, and no arithmetic overflows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import fmpq, fmpz
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.strategies import floats, integers, numbers

from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.errors import InputError

rows = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.lists(numbers, min_size=width, max_size=width), min_size=1)
)


def exactly(values: Any) -> Any:
    """The oracle: every entry as a Fraction, without arrays."""
    return [exactly(x) for x in values] if isinstance(values, list) else Fraction(values)


def entries(fractions: Any) -> list[Fraction]:
    return [x for row in fractions for x in row]


@settings(deadline=None)
@given(rows)
def test_mixed_numbers_are_exact(values: list[list[Any]]) -> None:
    array = ExactArray.of(values)
    expected = exactly(values)
    assert array.fractions() == expected
    assert array.strings() == [[str(x) for x in row] for row in expected]
    assert [Fraction(int(x.p), int(x.q)) for x in array.matrix().entries()] == entries(expected)
    assert array.numerators.dtype in (np.int64, object)
    bottom = array.denominator
    assert [int(x) for x in array.integer_matrix().entries()] == [
        x * bottom for x in entries(expected)
    ]
    assert array.bits() == max(
        *(abs(x * bottom).numerator.bit_length() for x in entries(expected)), bottom.bit_length()
    )


@settings(deadline=None)
@given(st.lists(floats, min_size=1))
@example([2.0**63, 1.0])  # 64 bits: too wide for int64
@example([-(2.0**63), 1.0])
@example([2.0**62, 0.5, 0.0])
def test_floats_are_the_dyadic_numbers_they_store(values: list[float]) -> None:
    array = ExactArray.of(np.array(values))
    assert array.fractions() == [Fraction(x) for x in values]
    assert array.denominator == max(Fraction(x).denominator for x in values)  # powers of two
    assert ExactArray.of(values).strings() == array.strings()
    assert array.floats().tolist() == values  # and back, with -0.0 as 0.0


@settings(deadline=None)
@given(st.lists(integers, min_size=1), st.integers(1, 2**70))
def test_floats_are_correctly_rounded(values: list[int], denominator: int) -> None:
    array = ExactArray.of([Fraction(x, denominator) for x in values])
    assert array.floats().tolist() == [x / denominator for x in values]


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", ">u2"])
def test_integers_of_every_width(dtype: str) -> None:
    info = np.iinfo(np.dtype(dtype))
    values = np.array([[info.min, info.max], [0, 1]], dtype=dtype)
    array = ExactArray.of(values)
    assert array.fractions() == [[info.min, info.max], [0, 1]]
    assert (-array.numerators).tolist() == [[-info.min, -info.max], [0, -1]]  # room to negate
    assert array.bits() == max(abs(int(info.min)), int(info.max)).bit_length()


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "u1", "u2"])
def test_large_arrays_stay_narrow_but_compute_wide(dtype: str) -> None:
    info = np.iinfo(np.dtype(dtype))
    values = np.resize(np.array([info.min, info.max], dtype=dtype), (1024, 1024))
    array = ExactArray.of(values)
    assert array.stored.dtype.itemsize < 8
    assert array.numerators.dtype == np.int64
    assert (array[:1].numerators ** 2).max() == max(int(info.min) ** 2, int(info.max) ** 2)
    assert array.bits() == max(abs(int(info.min)), int(info.max)).bit_length()
    assert array[:2, :2].strings() == [[str(info.min), str(info.max)]] * 2
    assert array[:1].floats()[0, :2].tolist() == [info.min, info.max]


def test_other_exact_types_and_nested_arrays() -> None:
    narrow = np.array([1, 2], dtype=np.uint8)
    values = [[fmpz(2**70), fmpq(-1, 3)], narrow, (np.float32(0.1), np.int16(2))]
    assert ExactArray.of(values).fractions() == [
        [2**70, Fraction(-1, 3)],
        [1, 2],
        [Fraction(float(np.float32(0.1))), 2],
    ]
    assert ExactArray.of(np.array([Fraction(1, 3), 2**80, "1/6"], dtype=object)).strings() == [
        "1/3",
        str(2**80),
        "1/6",
    ]
    assert ExactArray.of(np.array(0.5)).strings() == "1/2"
    assert ExactArray.of([2**80, 1])[1].strings() == "1"


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ([[1], [1, 2]], "x[1]: must be a list of 1, like x[0], not a list of 2"),
        ([[1], 2], "x[1]: must be a list of 1, like x[0], not a number"),
        ([1, [2]], "x[1]: must be a number, like x[0], not a list of 1"),
        ([[[1, 2]], [[1]]], "x[1][0]: must be a list of 2, like x[0][0], not a list of 1"),
    ],
)
def test_ragged_lists_are_located(values: Any, line: str) -> None:
    with pytest.raises(InputError) as refusal:
        ExactArray.of(values, "x")
    assert str(refusal.value) == line


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (True, "true"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (np.float64("inf"), "inf"),
        (1 + 2j, "a complex"),
        (np.longdouble(1), "a longdouble"),
        (np.True_, "a bool"),
        ({}, "an object"),
        ("", "''"),
        ("1e5", "'1e5'"),
        ("1_0", "'1_0'"),
        (" 1", "' 1'"),
        ("1\n", r"'1\n'"),
        ("+1", "'+1'"),
        ("1/0", "'1/0'"),
        ("1/-2", "'1/-2'"),
        ("0.5", "'0.5'"),
        ("١", "'١'"),
        ("nan", "'nan'"),
    ],
)
def test_what_is_no_number_is_located(value: Any, shown: str) -> None:
    with pytest.raises(InputError) as refusal:
        ExactArray.of([[1, "1/2"], [0.5, value]], "x")
    must = 'an integer, a finite float or a string "p/q"'
    assert str(refusal.value) == f"x[1][1]: must be {must}, not {shown}"


@pytest.mark.parametrize("text", ["9" * 4300, "-" + "9" * 4300, "1/" + "9" * 4300])
def test_the_longest_strings_are_read(text: str) -> None:
    top, _, bottom = text.partition("/")
    want = fmpq(fmpz(top), fmpz(bottom or "1"))
    assert ExactArray.of([[text]]).matrix()[0, 0] == want
    for longer in (text + "9", text + "9" * 10_000):
        with pytest.raises(InputError, match=r"^x\[0\]: must be a number of at most 4300 digits, "):
            ExactArray.of([longer], "x")


@pytest.mark.parametrize("dtype", ["?", "c8", "c16", "U3", "S3", "M8[s]", "g", "V4"])
def test_arrays_of_other_types_are_refused(dtype: str) -> None:
    with pytest.raises(
        InputError, match=r"^x: must be integers, or floats of at most 64 bits, not "
    ):
        ExactArray.of(np.zeros((2, 2), dtype=dtype), "x")


def test_a_common_denominator_too_long_is_refused_before_it_is_made() -> None:
    values = [Fraction(1, 10**4200 + k) for k in range(200)]
    with pytest.raises(InputError, match=r"^x: must be numbers with a common denominator of at mo"):
        ExactArray.of(values, "x")


def test_numerators_too_large_for_memory_are_refused_before_they_are_made() -> None:
    values = [Fraction(1, 3**165_000)] + [1] * 200_000
    with pytest.raises(InputError, match=r"^x: must be numbers that fit 4 GiB .*, not 200001 inte"):
        ExactArray.of(values, "x")
