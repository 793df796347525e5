"""The readout by lifting gives the same numbers as FLINT's solution after clearing denominators."""

from __future__ import annotations

from math import gcd
from random import Random

import numpy as np
import pytest
from gmpy2 import invert, mpz
from hypothesis import given, settings
from hypothesis import strategies as st

from attncert.constructions import paper, width_one
from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data import generators
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.digits import digits
from attncert.constructions.readout import lifting
from attncert.constructions.readout.lifting import common_denominator, join_digits
from attncert.constructions.readout.solve import pivot_system, predicted_bits, readout, solve


@settings(max_examples=60)
@given(st.integers(1, 3), st.integers(60, 3000), st.integers(0, 200), st.integers(0, 9999))
def test_a_planted_denominator_is_found(k: int, bits: int, spare: int, seed: int) -> None:
    """Numerators are random and as long as the denominator, as in random combinations."""
    draw = Random(seed)
    below, *numerators = (draw.getrandbits(bits) + 1 for _ in range(k + 1))
    common = gcd(below, *numerators)
    below, numerators = below // common, [x // common for x in numerators]
    modulus = mpz(lifting.PRIME) ** (((k + 1) * bits // k + 32 + spare) // 27 + 1)
    if below % lifting.PRIME == 0:
        return
    values = [-x * invert(mpz(below), modulus) % modulus for x in numerators]
    assert common_denominator(values, modulus, 30) == below


def test_no_short_fraction_is_found_where_there_is_none() -> None:
    rng = np.random.default_rng(0)
    modulus = mpz(lifting.PRIME) ** 400
    for _ in range(20):
        pair = rng.integers(0, lifting.PRIME, (2, 400)).tolist()
        values = [join_digits(x, lifting.PRIME) for x in pair]
        assert common_denominator(values[:1], modulus, 64) is None
        assert common_denominator(values, modulus, 64) is None


CASES: dict[str, tuple[Dataset, BuiltLayer]] = {}


def case(name: str) -> tuple[Dataset, BuiltLayer]:
    if name not in CASES:
        if name == "digits":
            data = digits().take(49)
            CASES[name] = data, width_one.build(data)
        elif name == "digits, paper":  # logits of thousands of bits
            data = digits().take(13)
            CASES[name] = data, paper.build(data)
        else:
            data = generators.random(
                T=9, n=3, d=5, shared=name == "shared", denominator=2, bound=5, seed=3
            )
            CASES[name] = data, width_one.build(data, short_heads=False)
    return CASES[name]


@pytest.mark.parametrize("name", ["digits", "digits, paper", "shared", "distinct"])
def test_lifting_is_flints_solve(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data, built = case(name)
    calls = []

    def spied(*arguments: object, **options: object) -> object:
        calls.append(lifting.lifted(*arguments, **options))  # type: ignore[arg-type]
        return calls[-1]

    monkeypatch.setattr(
        "attncert.constructions.readout.solve.lifting_is_shorter", lambda bits, T: True
    )
    monkeypatch.setattr("attncert.constructions.readout.solve.lifted", spied)
    assert readout(built, data, data.label_matrix) == solve(
        pivot_system(built, data), data.label_matrix
    )
    assert calls and calls[0] is not None


@pytest.mark.parametrize("guess", [0, 10**5])
def test_a_bad_guess_of_the_bits_only_costs_time(guess: int) -> None:
    data, built = case("digits")
    right = [int(y) for y in data.labels.numerators[:, 0]]
    found = lifting.lifted(built, data, right, guess)
    assert found == solve(pivot_system(built, data), data.label_matrix).entries()


def test_a_wrong_digit_is_noticed() -> None:
    """Numerators as long as the modulus are not a solution: they are too large for the proof.

    (A wrong early digit gives another short rational, which verify/outputs/readout.py would
    refute.)
    """
    data, built = case("digits")
    right = [int(y) for y in data.labels.numerators[:, 0]]
    start = lifting._start(built, data, right)
    assert start is not None
    system, beyond = start
    weights = np.arange(1, 2 * data.T + 1).reshape(data.T, 2)
    table = np.zeros((2 * predicted_bits(built, data) // 27 + 40, data.T), dtype=np.uint32)
    assert lifting._lift(table, system)
    denominator = lifting._denominator(table, weights)
    assert denominator is not None
    assert lifting._numerators(table, denominator, beyond) is not None
    table[len(table) // 3, 5] ^= 1
    assert lifting._numerators(table, denominator, beyond) is None
    assert lifting._denominator(table, weights) is None


def test_where_it_does_not_apply_flint_solves(monkeypatch: pytest.MonkeyPatch) -> None:
    data, built = case("shared")
    large = Dataset(data.contexts, data.queries, generators.random(9, 1, 1, bound=2**55).labels)
    assert lifting.lifted(built, large, [2**60] * 9, 100) is None
    monkeypatch.setattr(
        "attncert.constructions.readout.solve.lifting_is_shorter", lambda bits, T: True
    )
    assert readout(built, large, large.label_matrix) == solve(
        pivot_system(built, large), large.label_matrix
    )
