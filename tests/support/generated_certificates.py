"""Certificates drawn at random, for comparing checkers: a third as it was made, the others with one
to three changes of their content or of the file's text, under digests that are fresh or stale."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

from support.small_certificates import (
    CASES,
    IMPOSSIBLE,
    Certificate,
    dependent_set_certificate,
    digested,
    impossible_certificate,
    layer_certificate,
    moved_by,
    sealed,
)

NUMBERS = ["0", "1", "-1", "2/3", "-0", "00", "6/4", "1/0", "1/01", "+1", " 1", "1.0", "7", "12/1"]
JUNK = [*NUMBERS, "", "ln 2", 0, 1, -1, 3, True, None, [], {}, [[]], ["1"], 10**30, "٣", "é\ud800"]
TEXTS = [
    ('"', '" '), (":", " :\n"), ("1", "\\u0031"), ("claim", "cl\\u0061im"), ("1", "1.0"),
    ("1", "01"), ("[", "[["), ("]", "],"), ("{", '{"digest":"",'), ("}", "}}"), ("-", "--"),
    ("0", "NaN"), ("a", "\x01"), ("e", "\\x"), ("/", "\\/"), ("true", "tru"), (",", ", ,"),
    ("s", "\\ud83d\\ude00"),
]  # fmt: skip


@cache
def sources() -> list[Certificate]:
    """Small true certificates of every claim."""
    found = [CASES[name]() for name in CASES]
    whole = CASES["impossible"]()
    before = moved_by(whole["data"]["contexts"], Fraction(1, 3))
    rounding = {"grid": "1", "largest_change": "1/3", "data": whole["data"] | {"contexts": before}}
    told = {"saturation": None, "rounding": rounding, "data_file": None}
    second = [x for x in found if x["format"] == "attncert/2"]
    second.append(sealed(whole | {"format": "attncert/2"} | told))
    found += 6 * second
    for seed in range(40):
        draw = random.Random(seed)
        claim = draw.choice(["interpolation", "full-rank"])
        T, n, m = draw.randint(1, 4), draw.randint(2, 3), draw.randint(1, 2)
        layer = layer_certificate(
            claim,
            T=T,
            n=n,
            d=draw.randint(n, 4),
            m=m,
            H=T + draw.randint(0, 1),
            d_h=draw.randint(1, 2),
            d_v=m + draw.randint(0, 1),
            shared=draw.random() < 0.3,
            rational=draw.random() < 0.5,
            seed=seed,
            spread=3,
        )
        found += [layer, dependent_set_certificate(seed, rational=draw.random() < 0.5)]
        contexts, queries, labels, relation = draw.choice(list(IMPOSSIBLE.values()))
        factor = draw.choice([1, 2, -3])
        moved = [[draw.randint(-9, 9) if c == 0 else y for y in row] for c, row in
                 zip(relation, labels, strict=True)]  # fmt: skip
        scaled = [[factor * x for x in query] for query in queries]
        found.append(impossible_certificate(contexts, scaled, moved, relation))
    return found


def containers(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from containers(item)


def change(value: Any, draw: random.Random) -> None:
    inner = draw.choice([x for x in containers(value) if x])
    keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
    key, other = draw.choice(keys), draw.choice(keys)
    match draw.randrange(7):
        case 0:
            del inner[key]
        case 1:
            inner[key], inner[other] = inner[other], inner[key]
        case 2:
            inner[key] = copy.deepcopy(inner[other])
        case 3 if isinstance(inner, list):
            inner.append(copy.deepcopy(inner[key]))
        case 4:
            inner[key] = copy.deepcopy(draw.choice(JUNK))
        case _ if isinstance(inner[key], str):
            inner[key] = draw.choice(NUMBERS)
        case _ if isinstance(inner[key], int):
            inner[key] += draw.choice([-1, 1, 2])
        case _:
            inner[key] = [inner[key]]


def generated(seed: int) -> bytes:
    """The file of this seed."""
    draw = random.Random(f"generated {seed}")
    certificate = copy.deepcopy(draw.choice(sources()))
    kind = draw.randrange(6)
    for _ in range(draw.randint(1, 3) if kind > 1 else 0):
        change(certificate, draw)
    text = json.dumps(draw.choice([sealed, sealed, sealed, digested, dict])(certificate))
    if kind == 5:
        old, new = draw.choice(TEXTS)
        at = draw.randrange(len(text))
        text = text[:at] + text[at:].replace(old, new, 1)
    return text.encode("utf-8", "surrogatepass")
