"""The hypothesis of every network that memorizes: inputs that look the same have one label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from fractions import Fraction
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.inputs import firsts
from attncert.verify.methods.statements import Hypothesis


def told_apart(sees: Callable[[Dataset, int], Hashable], what: str) -> Hypothesis:
    """sees: the part of example t that a network of the construction can see; what: in words."""

    def relations(data: Dataset) -> Iterator[Any]:
        labels = data.label_matrix.tolist()
        for t, first in enumerate(firsts([sees(data, t) for t in range(data.T)])):
            yield labels[t], "==", labels[first], first, t

    return Hypothesis(
        f"Examples with the same {what} have the same label.",
        relations,
        where=("example", "and example", "entry"),
        source="docs/networks.md",
    )


def query_and_tokens(data: Dataset, t: int) -> Hashable:
    """The query and its tokens in order; without tokens if contexts differ in length, since no row
    holds them."""
    tokens = [] if data.shared or data.ragged else data.rows(t).strings()
    return repr((data.queries[t].strings(), tokens))


def query_and_frequencies(data: Dataset, t: int) -> Hashable:
    """The query, and each different token with its share of the context."""
    tokens = Counter(map(tuple, data.rows(0 if data.shared else t).strings()))
    shares = sorted((x, Fraction(count, tokens.total())) for x, count in tokens.items())
    return repr((data.queries[t].strings(), shares))


READ_IN_A_ROW = told_apart(query_and_tokens, "query, and the same tokens in the same order,")
READ_BY_ATTENTION = told_apart(
    query_and_frequencies, "query, and the same tokens in the same shares,"
)
