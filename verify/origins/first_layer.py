"""Data that a first layer made of the given ones by token mixing (constructions/mixing.py).

All that is said of them is about a second layer. The claim "mixing" says that they are what the
first layer gives, and `first_layer.json` writes it down for verify/checker/first_layer.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from attncert.constructions.data.dataset import Dataset, Origin
from attncert.constructions.exact.keys import Key
from attncert.constructions.mixing import mixed
from attncert.verify.certificate import canonical_bytes, sealed
from attncert.verify.checker.first_layer import FORMAT
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim
from attncert.verify.steps.shared import timed

_WORDS = (
    " The layer is the second of two: its data are what a first attention layer with a skip "
    "connection makes of the given ones. There every token, and the query, becomes itself plus the "
    "mean of its context."
)


def behind_first(data: Dataset) -> Dataset:
    """The data as the second layer sees them."""
    return mixed(data).of_origin(Mixed(data))


@dataclass(frozen=True)
class Mixed(Origin):
    """original: the data as the first layer sees them. A file of its own says so: no keys."""

    original: Dataset

    premises = (ids.MIXING,)
    paragraph = (
        "They are what the first of two layers makes of the given data: every row of a context, "
        "and the query, becomes itself plus the mean of the rows (one head with keys and queries "
        "0, so that all rows get the same weight; values and output the identity; a skip "
        "connection). The second layer is the one below."
    )

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"sha256_before_the_first_layer": self.original.sha256}

    def claims(self, data: Dataset) -> list[Claim]:
        return [timed(partial(mixing_claim, self.original, data))]

    def words(self, data: Dataset) -> str:
        return _WORDS + _equal_still(self.original, data)


def mixing_claim(before: Dataset, after: Dataset) -> Claim:
    """The claim "mixing": `after` is what the first layer makes of `before`.

    Token by token from the definition, in fractions: with uniform attention and values that copy,
    x becomes x + (1/n) (x_1 + ... + x_n). Labels are unchanged.
    """
    wrong = "" if before.shared == after.shared else "the contexts are not as many"
    means = list[list[Fraction]]()
    for t in range(len(before.contexts)):
        old, new = before.rows(t).fractions(), after.rows(t).fractions()
        means.append([sum(column, Fraction(0)) / len(old) for column in zip(*old, strict=True)])
        if [_plus(x, means[t]) for x in old] != new:
            wrong = wrong or f"the context of example {t}"
    queries = [before.queries.fractions(), after.queries.fractions()]
    for t, (x, y) in enumerate(zip(*queries, strict=True)):
        if _plus(x, means[0 if before.shared else t]) != y:
            wrong = wrong or f"the query of example {t}"
    labels = [None if of.stated is None else of.stated.strings() for of in (before, after)]
    if labels[0] != labels[1]:
        wrong = wrong or "the labels were changed"
    distinct = [len({Key(x) for x in of.queries.stored.tolist()}) for of in (before, after)]
    return Claim.checked(
        ids.MIXING,
        "Contexts and queries are what the first layer makes of the given ones: one head with keys "
        "and queries 0, so that all rows get the same attention, values and output that copy, and "
        "a skip connection.",
        not wrong,
        {"reason": wrong},
        numbers={"different queries before": distinct[0], "different queries after": distinct[1]},
        arithmetic="comparison of fractions",
        source="paper, Proposition 4; constructions/mixing.py",
    )


def _plus(x: list[Fraction], y: list[Fraction]) -> list[Fraction]:
    return [a + b for a, b in zip(x, y, strict=True)]


def _equal_still(before: Dataset, after: Dataset) -> str:
    """Why two queries are equal after the first layer, where contexts of one mean are the reason;
    else ""."""
    if before.shared:
        return ""
    seen = dict[Key, int]()
    contexts = [before.rows(t).fractions() for t in range(before.T)]
    queries = before.queries.stored.tolist()
    for t, query in enumerate(after.queries.stored.tolist()):
        s = seen.setdefault(Key(query), t)
        if s != t and queries[s] == queries[t]:
            same = sorted(contexts[s]) == sorted(contexts[t])
            how = ", since one is a permutation of the other" if same else ""
            return (
                f" Examples {s} and {t} have the same query and contexts with the same mean{how}: "
                "uniform mixing leaves their queries equal."
            )
    return ""


def first_layer(before: Dataset, certificate: Mapping[str, Any]) -> dict[str, Any]:
    """The file first-layer.json: the given data, the weights of the first layer, and which
    certificate is about the second one. Raises TooLarge."""
    d = before.d
    zeros = [["0"]] * d
    copy = [["1" if i == j else "0" for j in range(d)] for i in range(d)]
    data = before.canonical()
    return sealed(
        {
            "format": FORMAT,
            "data": data,
            "layer": {"heads": [{"key": zeros, "query": zeros, "value": copy}], "output": copy},
            "second": certificate["digest"],
            "input_sha256": hashlib.sha256(canonical_bytes(data)).hexdigest(),
        }
    )
