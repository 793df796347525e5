"""Data that are all inputs of a domain: each of its contexts with each of its queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from attncert.constructions.data.dataset import Dataset, Origin
from attncert.constructions.errors import InputError
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, timed
from attncert.verify.claims.words import counted


def whole_domain(data: Dataset) -> Dataset:
    """The data, known as all inputs of their domain. Raises InputError where they are not.

    >>> from attncert.constructions.data.dataset import Dataset
    >>> data = whole_domain(Dataset.of([[0]], [[1], [2]], [3, 4]))
    >>> data.origin.keys["queries"]
    [['1'], ['2']]
    """
    pairs = _pairs(data)
    contexts, queries = ({repr(pair[k]): pair[k] for pair in pairs} for k in (0, 1))
    origin = Domain(tuple(contexts.values()), tuple(queries.values()))
    if not origin.fits(data):
        must = "every context with every query, each pair once"
        raise InputError("data", must, counted(data.T, "example"))
    return data.of_origin(origin)


@dataclass(frozen=True)
class Domain(Origin):
    """contexts, queries: in numerals, as in a certificate."""

    contexts: tuple[Any, ...]
    queries: tuple[Any, ...]

    premises = (ids.DOMAIN,)

    @property
    def keys(self) -> Mapping[str, Any]:
        return {"kind": "domain", "contexts": [*self.contexts], "queries": [*self.queries]}

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"contexts_of_the_domain": len(self.contexts), "queries": len(self.queries)}

    def claims(self, data: Dataset) -> list[Claim]:
        return [timed(partial(self._claim, data))]

    def words(self, data: Dataset) -> str:
        return " These are all inputs of the domain."

    def fits(self, data: Dataset) -> bool:
        """Whether the examples are all pairs, each once."""
        whole = sorted(map(repr, product(self.contexts, self.queries)))
        once = len(set(whole)) == len(whole)
        return once and sorted(map(repr, _pairs(data))) == whole

    def _claim(self, data: Dataset) -> Claim:
        return Claim.checked(
            ids.DOMAIN,
            f"The examples are all inputs of a domain: {counted(len(self.contexts), 'context')}, "
            f"each with {counted(len(self.queries), 'query')}; each pair once.",
            self.fits(data),
            {"reason": "the examples are others"},
            numbers={"contexts": len(self.contexts), "queries": len(self.queries)},
            arithmetic="comparison of fractions",
            source="docs/certificate.md, origin",
        )


def _pairs(data: Dataset) -> list[tuple[Any, Any]]:
    contexts = [data.rows(t).strings() for t in range(len(data.contexts))]
    return [(contexts[0 if data.shared else t], x) for t, x in enumerate(data.queries.strings())]
