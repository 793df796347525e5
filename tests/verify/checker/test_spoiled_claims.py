"""Spoiled files of interpolation-near and every-labelling, with digests computed afresh: both
checkers refuse them, with the same verdict."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import pytest
from support import labelling_cases, near_cases
from support.small_certificates import Certificate, put, sealed, written

from attncert.verify import checker
from attncert.verify.checking.fast import check as fast

TRUE = {
    "near": near_cases.case("distinct"),
    "every labelling": labelling_cases.with_small_prime(labelling_cases.case("pair")),
}
Spoil = Callable[[Certificate], None]


def plus_one(text: str) -> str:
    p, _, q = text.partition("/")
    return f"{int(p) + int(q or 1)}/{q or 1}"


def minus(text: str) -> str:
    return text[1:] if text.startswith("-") else f"-{text}"


def copied(file: Certificate) -> None:
    """Two examples are equal, so no weights distinguish them."""
    for name in ("contexts", "queries"):
        file["data"][name][1] = file["data"][name][0]


def cut_heads(file: Certificate) -> None:
    """All values are 0, so the outputs are 0 and keys and queries have no effect."""
    for head in file["network"][0]["heads"]:
        head["value"] = [["0"] for _ in head["value"]]


WRONG: dict[str, dict[str, Spoil]] = {
    "near": {
        "label": put("data", "labels", 0, 0, to=plus_one),
        "token": put("data", "contexts", 0, 0, 0, to=plus_one),
        "query": put("data", "queries", 0, 0, to=plus_one),
        "key": put("network", 0, "heads", 0, "key", 0, 0, to=plus_one),
        "query weight": put("network", 0, "heads", 1, "query", 0, 0, to=plus_one),
        "value": put("network", 0, "heads", 0, "value", 0, 0, to=plus_one),
        "output": put("network", 0, "output", 0, 0, to=plus_one),
        "heads exchanged": put("network", 0, "heads", to=lambda heads: heads[::-1]),
        "radius too small": put("near", "radius", to="1/1" + "0" * 25),
        "radius too large": put("near", "radius", to="100"),
        "radius zero": put("near", "radius", to="0"),
        "radius negative": put("near", "radius", to="-1/1000000000"),
        "inverse": put("near", "inverse", 0, 0, to=lambda x: plus_one(plus_one(x))),
        "inverse zero": put("near", "inverse", to=lambda A: [["0"] * len(A)] * len(A)),
        "inverse turned": put(
            "near", "inverse", to=lambda A: [list(x) for x in zip(*A, strict=True)]
        ),
        "inverse negated": put("near", "inverse", 0, to=lambda row: [minus(x) for x in row]),
        "unknowns exchanged": put("near", "unknowns", to=lambda k: [k[1], k[0], *k[2:]]),
        "unknown twice": put("near", "unknowns", to=lambda k: [k[1], *k[1:]]),
        "unknown too few": put("near", "unknowns", to=lambda k: k[1:]),
        "unknown beyond": put("near", "unknowns", -1, to=10_000),
        "unknown negative": put("near", "unknowns", 0, to=-1),
    },
    "every labelling": {
        "value": put("network", 0, "heads", 0, "value", 0, 0, to=plus_one),
        "output": put("network", 0, "output", 0, 0, to=plus_one),
        "key of one of the pair": put("network", 0, "heads", 0, "key", 0, 0, to=plus_one),
        "query of one of the pair": put("network", 0, "heads", 1, "query", 0, 0, to=plus_one),
        "values 0": cut_heads,
        "two examples alike": copied,
        "a logit that is not an integer": put("data", "queries", 0, 0, to="1/7"),
        "rank too low": put("rank", "value", to=7),
        "rank too high": put("rank", "value", to=9),
        "prime 3": put("rank", "prime", to="3"),
        "prime composite": put("rank", "prime", to="341"),
        "prime a fraction": put("rank", "prime", to="7/2"),
        "a group too few": put("groups", 0, to=lambda g: g[1:]),
    },
}
UNUSABLE: dict[str, dict[str, Spoil]] = {
    "near": {
        "logit unit": put("network", 0, "logit_unit", to="ln 2"),
        "unknown as text": put("near", "unknowns", 0, to="3"),
        "unknown as a truth value": put("near", "unknowns", 0, to=True),
        "radius as a float": put("near", "radius", to=0.5),
        "radius in another form": put("near", "radius", to="1e-9"),
        "inverse ragged": put("near", "inverse", 0, to=lambda row: row[1:]),
        "inverse of floats": put("near", "inverse", 0, 0, to=1.5),
        "a key too few": lambda file: file["near"].pop("radius"),
    },
    "every labelling": {
        "logit unit": put("network", 0, "logit_unit", to="1"),
        "rank as text": put("rank", "value", to="8"),
        "prime as a number": put("rank", "prime", to=7),
    },
}
SPOILED = [
    pytest.param(claim, spoil, status, id=f"{claim}: {name}")
    for status, claims in (("wrong", WRONG), ("unusable", UNUSABLE))
    for claim, cases in claims.items()
    for name, spoil in cases.items()
]


@pytest.mark.parametrize(("claim", "spoil", "status"), SPOILED)
def test_both_checkers_refuse_it(claim: str, spoil: Spoil, status: str, tmp_path: Path) -> None:
    file = copy.deepcopy(TRUE[claim])
    spoil(file)
    path = written(sealed(file), tmp_path)
    assert checker.check_file(path).status == status
    small = claim == "every labelling" and file["rank"]["prime"] == "3"  # below what --fast takes
    assert fast.check_file(path).status == ("over limit" if small else status)
