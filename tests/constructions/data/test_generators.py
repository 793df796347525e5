"""Random data and families: the same seed gives the same data, every promised property holds."""

from __future__ import annotations

from hypothesis import given, settings
from support.oracles import kruskal_rank, rank
from support.strategies import families

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import family, random


def test_the_streams_are_frozen() -> None:
    """A seed in an old report must still give the same data."""
    assert random(2, 1, 2, denominator=3, seed=1).canonical() == {
        "contexts": [[["-1", "0"]], [["5/3", "3"]]],
        "queries": [["-5", "-4/3"], ["7", "-1/2"]],
        "labels": [["3"], ["1"]],
    }


@settings(deadline=None, max_examples=80)
@given(families())
def test_families_are_of_their_kind(data: Dataset) -> None:
    assert all(rank(context) == data.n for context in data.contexts.fractions())
    curve = family(6, 1, data.d, queries="moment-curve").queries.fractions()
    assert kruskal_rank(curve) == min(6, data.d)
