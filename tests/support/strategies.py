"""Hypothesis strategies for data sets of all shapes and kinds.

`raw_data` draws what a user writes (nested lists), `datasets` arbitrary exact data (no hypothesis
need hold), `families` data with contexts of rank n, `planted` data with one known dependency.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st
from support import exact_data

from attncert.constructions.data.dataset import Dataset

small_integers = st.integers(-5, 5)
integers = st.one_of(
    small_integers,
    st.integers(),
    st.sampled_from([0, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) + 1, -(2**63), 2**64 - 1, 10**40]),
)
floats = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),  # subnormals and the largest included
    st.sampled_from([0.0, -0.0, 5e-324, -2.5e-310, 0.1, 1.7976931348623157e308]),
)
fractions = st.one_of(
    st.fractions(max_denominator=12),
    st.builds(Fraction, st.integers(), st.integers(1, 10**30)),
)
numbers = st.one_of(small_integers, integers, floats, fractions)


@st.composite
def shapes(
    draw: st.DrawFn, max_T: int = 5, max_n: int = 3, max_d: int = 4, max_m: int = 2
) -> tuple[int, int, int, int]:
    """(T, n, d, m)."""
    T, n, d, m = (draw(st.integers(1, most)) for most in (max_T, max_n, max_d, max_m))
    return T, n, d, m


@st.composite
def raw_data(
    draw: st.DrawFn, entries: st.SearchStrategy[Any] = numbers, **limits: int
) -> dict[str, Any]:
    """{"contexts", "queries", "labels"}: contexts (T, n, d) or (n, d), labels (T,) or (T, m)."""
    T, n, d, m = draw(shapes(**limits))

    def table(*shape: int) -> Any:
        if not shape:
            return draw(entries)
        return [table(*shape[1:]) for _ in range(shape[0])]

    contexts = draw(st.sampled_from([(T, n, d), (1, n, d), (n, d)]))
    labels = draw(st.sampled_from([(T,), (T, m)]))
    return {"contexts": table(*contexts), "queries": table(T, d), "labels": table(*labels)}


def datasets(
    entries: st.SearchStrategy[Any] = small_integers, **limits: int
) -> st.SearchStrategy[Dataset]:
    """Arbitrary exact data sets: no assumption of the theorem need hold."""
    return st.builds(lambda raw: Dataset.of(**raw), raw_data(entries, **limits))


@st.composite
def families(
    draw: st.DrawFn, max_T: int = 7, max_n: int = 3, extra_d: int = 2, max_m: int = 2
) -> Dataset:
    """A member of `exact_data.family`: contexts of rank n <= d, queries of any kind."""
    n = draw(st.integers(1, max_n))
    return exact_data.family(
        draw(st.integers(1, max_T)),
        n,
        n + draw(st.integers(0, extra_d)),
        contexts=draw(st.sampled_from(["permuted", "random"])),
        queries=draw(st.sampled_from(["moment-curve", "random"])),
        m=draw(st.integers(1, max_m)),
        shared=draw(st.booleans()),
        bound=draw(st.sampled_from([2, 5, 30])),
        seed=draw(st.integers(0, 2**32 - 1)),
    )
