"""Exact numbers of any length as text, and commands on numbers too long for Python's str."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import gmpy2
import numpy as np
import pytest
from flint import fmpq, fmpz
from hypothesis import given
from hypothesis import strategies as st
from support.shell import Shell

from attncert.constructions.layer import LAYER_BLOCK
from attncert.constructions.numerals import fraction, integer, numeral, short
from attncert.constructions.weights.load import load_weights
from attncert.reports.words.jsonable import jsonable

NINES = "9" * 4300
PRIMES = [10**1500 + k for k in (1, 3, 7, 9)]
INVERSES = [[f"1/{PRIMES[0]}", f"1/{PRIMES[1]}"], [f"1/{PRIMES[2]}", f"2/{PRIMES[3]}"]]
UNIT = [[1, 0], [0, 1]]
_DRAW = random.Random(1)
IN_A_PLANE = [[_DRAW.randrange(10**2300), _DRAW.randrange(10**2300), 0] for _ in range(3)]
COMMANDS: dict[str, tuple[list[str], Any, int]] = {
    "prove, labels that no weights give": (
        ["prove"],
        {"contexts": UNIT, "queries": [[1, 2], [1, 2]], "labels": [NINES, f"1/{NINES}"]},
        1,
    ),
    "capacity, contexts with long denominators": (
        ["capacity"],
        {"contexts": INVERSES, "queries": [[1, 2], [3, 1]], "labels": [1, 2]},
        0,
    ),
    "kruskal, vectors with long denominators": (
        ["kruskal", "--k", "2"],
        {"vectors": INVERSES},
        0,
    ),
    "kruskal, a witness with long coefficients": (
        ["kruskal", "--work", "2"],
        {"vectors": IN_A_PLANE},
        0,
    ),
    "prove, a relation of queries with long coefficients": (
        ["prove"],
        {"contexts": np.eye(3).tolist(), "queries": IN_A_PLANE, "labels": [1, 2, 3]},
        0,
    ),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_number_is_too_long_for_a_command(name: str, tmp_path: Path, shell: Shell) -> None:
    words, content, status = COMMANDS[name]
    data, out = tmp_path / "data.json", tmp_path / "out"
    data.write_text(json.dumps(content))
    printed = shell.runs(words[0], data, *words[1:], "--out", out, status=status)
    assert printed.err == "" and max(map(len, printed.out.splitlines())) < 1000
    for file in out.glob("*.json"):  # reading them back does not need long integers
        json.loads(file.read_text(), parse_int=lambda digits: int(digits[:640]))
    witness = out / "certificate.json"
    if words[0] == "kruskal" and witness.exists():
        assert max(map(len, json.loads(witness.read_text())["relation"]["coefficients"])) > 4300


@given(st.integers(), st.integers(min_value=1))
def test_a_numeral_is_what_python_writes(p: int, q: int) -> None:
    x = Fraction(p, q)
    assert numeral(x) == numeral(fmpq(p, q)) == str(x) and fraction(str(x)) == x
    assert numeral(p) == numeral(fmpz(p)) == str(p) and integer(str(p)) == p


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_the_dyadic_rational_that_it_stores(x: float) -> None:
    assert float(fraction(numeral(x))) == x


def test_no_length_is_too_long() -> None:
    x = Fraction(3**40_000, 2**70_000)
    assert fraction(numeral(x)) == x and integer(numeral(10**50_000)) == 10**50_000
    assert numeral(np.int64(-7)) == "-7" and short(gmpy2.mpz(6), gmpy2.mpz(-4)) == "-3/2"
    assert short(Fraction(10**999)) == "1.00e+999 (exact: 3319 bits)"
    assert jsonable([10**600, Fraction(1, 10**5000)]) == [10**600, "1/1" + "0" * 5000]
    assert jsonable(10**700) == "1" + "0" * 700


def test_a_layer_of_long_numbers_is_read(tmp_path: Path) -> None:
    """The numbers have more digits than Python's own limit allows, like those in readouts."""
    long = Fraction(10**100_000 + 1, 3**100_000)  # longer than a data set's denominators
    head = {"query": [["1"]], "key": [["1"]], "value": [["1/2"]]}
    block = LAYER_BLOCK | {"logit_unit": "ln 2", "heads": [head], "output": [[numeral(long)]]}
    (tmp_path / "w.json").write_text(json.dumps({"network": [block]}))
    found = load_weights(tmp_path / "w.json").layer.output[0, 0]
    assert (int(found.p), int(found.q)) == long.as_integer_ratio()
