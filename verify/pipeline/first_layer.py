"""Token mixing before the layer that is built: what the run is about is said, and checked.

With --mix the data of the run are what the first layer of constructions/mixing.py makes of the
given ones. All that follows is about a second layer on these; the claim "mixing" says that they are
what the first layer gives, and `first_layer.json` writes it down for verify/checker/first_layer.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.keys import Key
from attncert.constructions.mixing import mixed
from attncert.verify.certificate import canonical_bytes, sealed
from attncert.verify.checker.first_layer import FORMAT
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim
from attncert.verify.pipeline.run import Run
from attncert.verify.steps.shared import timed

_WORDS = (
    " The layer is the second of two: its data are what a first attention layer with a skip "
    "connection makes of the given ones. There every token, and the query, becomes itself plus the "
    "mean of its context."
)


def behind_first(run: Run) -> Run:
    """With the data as the second layer sees them, where a first one is asked for."""
    return replace(run, data=mixed(run.data), before=run.data) if run.question.mix else run


def claims(run: Run) -> list[Claim]:
    return [] if run.before is None else [timed(partial(mixing_claim, run.before, run.data))]


def of_mixed(run: Run, claims: list[Claim]) -> list[Claim]:
    """The same, where the answer says that it is about a second layer, and rests on the first."""
    if run.before is None:
        return claims
    words = _WORDS + _equal_still(run.before, run.data)
    return [
        replace(
            claim,
            statement=claim.statement + words,
            rests_on=claim.rests_on + ((ids.MIXING,) if claim.level.holds else ()),
        )
        if claim.id == ids.MEMORIZATION
        else claim
        for claim in claims
    ]


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
