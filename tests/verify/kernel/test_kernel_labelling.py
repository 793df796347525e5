"""The extracted checker and the checker in Python on every-labelling: files whose numbers meet a
small prime, and mutants."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support import networks
from support.labelling_cases import CASES, case
from support.requires import needed, verified_status
from support.small_certificates import Certificate, rounded, sealed, written

from attncert.verify.checker import check_file

PLAIN = [case(name) for name in CASES]
FILES = PLAIN + [rounded(file) for file in PLAIN]
PRIMES = [3, 5, 7, 11, 13, 17, 19, 23, 101, 257]


def both(file: Certificate, folder: Path) -> tuple[str, str]:
    path = written(file, folder)
    verdict = check_file(path)
    assert verdict.claim in (None, "every-labelling")
    return verdict.status, verified_status(path)


def times(table: Any, factor: Fraction) -> Any:
    if isinstance(table, list):
        return [times(x, factor) for x in table]
    return str(Fraction(table) * factor)


def met(file: Certificate, draw: random.Random) -> Certificate:
    """Its prime is small; matrices are multiplied by powers of it, logits unchanged; sometimes
    one number of a head or a query changes by a multiple of it, or by 1/p."""
    p = Fraction(draw.choice(PRIMES))
    [layer], data = file["network"], file["data"]
    other = file | {"rank": file["rank"] | {"prime": str(p)}}
    factors = [p ** draw.choice([-1, 0, 0, 1]) for _ in range(5)]
    heads = [
        {
            "key": times(head["key"], factors[0] / factors[1]),
            "query": times(head["query"], 1 / factors[0] / factors[2]),
            "value": times(head["value"], factors[3]),
        }
        for head in layer["heads"]
    ]
    contexts, queries = times(data["contexts"], factors[1]), times(data["queries"], factors[2])
    other |= {"data": data | {"contexts": contexts, "queries": queries}}
    output = times(layer["output"], factors[4])
    other |= {"network": [layer | {"heads": heads, "output": output}]}
    if draw.random() < 0.3:
        part = draw.choice([heads, queries])
        place = draw.choice(list(networks.places(part, ())))
        if isinstance(leaf := networks.at(part, place), str):
            table = networks.at(part, place[:-1])
            table[place[-1]] = str(Fraction(leaf) + draw.choice([p, -p, p**2, 1 / p]))
    return sealed(other)


@pytest.mark.parametrize("count", [600, pytest.param(10_000, marks=pytest.mark.slow)])
def test_one_verdict(count: int, tmp_path: Path) -> None:
    """On files that meet a small prime, and on mutants; half of the files each."""
    needed()
    draw, small, other = random.Random(count), Counter[str](), Counter[str]()
    for _ in range(count // 2):
        file = met(draw.choice(PLAIN), draw)
        python, coq = both(file, tmp_path)
        assert python == coq, file
        small.update([python])
    for _ in range(count // 2):
        file = sealed(networks.mutant(draw.choice(FILES), draw, draw.choice([1, 1, 2])))
        python, coq = both(file, tmp_path)
        assert python == coq, file
        other.update([python])
    assert set(small) >= {"holds", "wrong"} and set(other) >= {"holds", "wrong", "unusable"}
