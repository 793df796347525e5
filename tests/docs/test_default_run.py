"""By default a test over random examples draws a third of them; `make slow` draws all."""

from __future__ import annotations

import os

from hypothesis import given, settings
from hypothesis import strategies as st

drawn: list[int] = []


@settings(max_examples=60, deadline=None, database=None)
@given(st.integers())
def test_of_sixty(x: int) -> None:
    drawn.append(x)


def test_a_third_is_drawn_or_all() -> None:
    drawn.clear()
    test_of_sixty()
    assert len(drawn) == (60 if os.environ.get("ATTNCERT_EXAMPLES") == "all" else 20)
