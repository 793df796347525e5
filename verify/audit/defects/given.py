"""Errors in certificates about given labels: "interpolation-near" and "every-labelling".

As in `certificates.py`: the check that fired is switched off, and the file is checked again. Only
the checks of these claims themselves stand here; digests, keys and numbers are read by functions
that are tested there.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from typing import Any

from attncert.constructions.data.generators import random
from attncert.verify.audit.defects.certificates import (
    Certificate,
    fired,
    plus_one,
    sealed,
    spoilt,
    written,
)
from attncert.verify.audit.defects.defect import Defect, Family
from attncert.verify.labelling.certificate import labelling_certificate
from attncert.verify.labelling.labelled import LabellingSettings, label_all
from attncert.verify.near.certificate import near_certificate
from attncert.verify.near.fitted import FitSettings, fit_data

_NEAR = {
    "logit unit": "logit_unit must be",
    "radius": "near.radius must be above 0",
    "unknowns": "near.unknowns must be",
    "contraction": "kappa is not below 1",
    "inside": "is above the radius",
}
_LABELLING = {
    "logit unit": "logit_unit must be",
    "groups": "groups must hold",
    "prime": "rank.prime is not an odd prime",
    "rank value": "rank.value is not",
    "whole logits": "a logit / ln 2 is not an integer",
    "zero": "must add up to 0",
    "denominators": "is 0 mod p",
    "rank": "depend on earlier ones",
}


@cache
def _true(name: str) -> Certificate:
    if name == "near":
        fitted = fit_data(random(T=5, n=3, d=3, seed=1), FitSettings(2))
        assert fitted.near is not None
        return near_certificate(fitted.near, construction="fit", produced_by={})
    settings = LabellingSettings(construction="pairs" if name == "pairs" else "groups")
    data = random(T=7, n=3, d=3, seed=1)
    found = label_all(data, settings)
    assert found.zero is not None and found.rank is not None
    prime = found.rank.prime
    return labelling_certificate(data, found.zero, prime, construction=name, produced_by={})


def _edited(name: str, *places: tuple[str, Callable[[Any], Any]]) -> bytes:
    return spoilt(_true(name), *places)


def _to(name: str, place: str, value: Any) -> bytes:
    return _edited(name, (place, lambda _: value))


def _one_more(text: str) -> str:
    """One added to a fraction: to the numerator alone it is lost within the radius."""
    return str(Fraction(text) + 1)


def _true_file(name: str) -> bytes:
    return written(_true(name))


def _two_tokens(change: Callable[[Certificate], None]) -> bytes:
    """One example of two tokens with the logits 1 and 0; a pair with the values 1, 1 and -1, -1."""
    weights = {"key": [["1"], ["0"]], "query": [["1"], ["0"]]}
    file: Certificate = {
        "format": "attncert/1", "claim": "every-labelling", "construction": "by hand",
        "dims": {"examples": 1, "context": 2, "width": 2, "labels": 1, "heads": 2,
                 "head_width": 1, "value_width": 1},
        "data": {"contexts": [[["1", "0"], ["0", "1"]]], "queries": [["1", "0"]],
                 "labels": [["0"]]},
        "layer": {"logit_unit": "ln 2", "output": [["1"], ["1"]],
                  "heads": [weights | {"value": [["1"], ["1"]]},
                            weights | {"value": [["-1"], ["-1"]]}]},
        "groups": [[0]], "rank": {"prime": "11863067", "value": 1}, "produced_by": {},
    }  # fmt: skip
    change(file)
    return written(sealed(file))


def _prime_of_a_sum(file: Certificate) -> None:
    """2 + 1 is 0 modulo 3."""
    file["rank"]["prime"] = "3"


def _half_logits(file: Certificate) -> None:
    for head in file["layer"]["heads"]:
        head["key"][0][0] = "1/2"


def _nothing(file: Certificate) -> None: ...


_NEAR_DEFECTS = (
    Defect("logits in units of ln 2", "logit unit",
           partial(_to, "near", "layer.logit_unit", "ln 2")),
    Defect("a radius of 0", "radius", partial(_to, "near", "near.radius", "0")),
    Defect("an unknown beyond the weights", "unknowns",
           partial(_to, "near", "near.unknowns.4", 10**4)),
    Defect("an unknown twice", "unknowns",
           partial(_edited, "near", ("near.unknowns", lambda k: [k[1], *k[1:]]))),
    Defect("a radius in which the derivatives vary too much", "contraction",
           partial(_to, "near", "near.radius", "100")),
    Defect("the inverse of another matrix", "contraction",
           partial(_edited, "near", ("near.inverse", lambda A: A[::-1]))),
    Defect("a radius below Newton's first step", "inside",
           partial(_to, "near", "near.radius", "1/1" + "0" * 30)),
    *(
        Defect(f"{what} changed, digests computed afresh", "inside",
               partial(_edited, "near", (place, _one_more)))
        for what, place in {
            "a label": "data.labels.4.0",
            "a token": "data.contexts.0.0.0",
            "a query": "data.queries.1.0",
            "a key": "layer.heads.0.key.0.0",
            "a query weight": "layer.heads.1.query.0.0",
            "a value": "layer.heads.0.value.0.0",
            "an output": "layer.output.1.0",
        }.items()
    ),
)  # fmt: skip

_LABELLING_DEFECTS = (
    Defect("logits in another unit", "logit unit",
           partial(_to, "groups", "layer.logit_unit", "1")),
    Defect("an example in two groups", "groups",
           partial(_edited, "pairs", ("groups", lambda groups: [*groups, [0]]))),
    Defect("composite prime", "prime", partial(_to, "groups", "rank.prime", "11863069")),
    Defect("a prime above 2^62", "prime", partial(_to, "groups", "rank.prime", str(2**89 - 1))),
    Defect("rank claimed one too low", "rank value", partial(_to, "groups", "rank.value", 6)),
    Defect("rank claimed one too high", "rank value", partial(_to, "pairs", "rank.value", 8)),
    Defect("logits not whole", "whole logits", partial(_two_tokens, _half_logits)),
    Defect("a value of one head of a pair changed", "zero",
           partial(_edited, "pairs", ("layer.heads.0.value.0.0", plus_one))),
    Defect("an output of one head of a set changed", "zero",
           partial(_edited, "groups", ("layer.output.0.0", plus_one))),
    Defect("a key of one head of a set changed", "zero",
           partial(_edited, "groups", ("layer.heads.1.key.0.0", plus_one))),
    Defect("a query of one head of a pair changed", "zero",
           partial(_edited, "pairs", ("layer.heads.1.query.0.0", plus_one))),
    Defect("a prime that divides a softmax sum", "denominators",
           partial(_two_tokens, _prime_of_a_sum)),
    Defect("an example repeated", "rank",
           partial(_edited, "groups", ("data.queries", lambda rows: [*rows[:-1], rows[0]]),
                   ("data.contexts", lambda rows: [*rows[:-1], rows[0]]))),
    Defect("all outputs 0", "rank",
           partial(_edited, "pairs", ("layer.output", lambda rows: [["0"] for _ in rows]))),
)  # fmt: skip

NEAR = Family(
    name="near",
    title="Certificates of weights near by, by the checker",
    checks=tuple(_NEAR),
    fired=partial(fired, messages=_NEAR),
    correct={"near": partial(_true_file, "near")},
    defects=_NEAR_DEFECTS,
    implied={
        "contraction": "a box that the map does not leave is contracted, but where kappa is 1 and "
        "the first step 0; it says which of the two is amiss"
    },
)

LABELLING = Family(
    name="labelling",
    title="Certificates of every labelling, by the checker",
    checks=tuple(_LABELLING),
    fired=partial(fired, messages=_LABELLING),
    correct={
        "groups": partial(_true_file, "groups"),
        "pairs": partial(_true_file, "pairs"),
        "two tokens": partial(_two_tokens, _nothing),
    },
    defects=_LABELLING_DEFECTS,
)
