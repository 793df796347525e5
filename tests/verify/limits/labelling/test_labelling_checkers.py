"""Both checkers of "every-labelling" accept true files and reject corrupted ones."""

from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.given_oracle import Head
from support.labelling_cases import CASES, Certificate, case, certificate_of, with_small_prime
from support.small_certificates import sealed, written

from attncert.verify import checker
from attncert.verify.checker import Verdict
from attncert.verify.checking.fast import check as fast

CHECKS = {"standard library": checker.check_file, "fast": fast.check_file}
SCHEMA = Path(checker.__file__).parents[1] / "schema" / "attncert-3.schema.json"
VALIDATOR = Draft202012Validator(json.loads(SCHEMA.read_text()))
both = pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
Check = Callable[[str], Verdict]


@pytest.mark.parametrize("name", CASES)
def test_true_certificates_hold(name: str, tmp_path: Path) -> None:
    verdict = checker.check_file(written(case(name), tmp_path))
    assert (verdict.status, verdict.numbers) == ("holds", case(name)["dims"])
    again = written(with_small_prime(case(name)), tmp_path)
    assert checker.check_file(again).status == "holds"
    found = fast.check_file(again)
    assert found.status == "holds" and found.message.startswith("fast check: every labelling of")
    VALIDATOR.validate(case(name))


def test_a_prime_beyond_float64_is_for_the_other_checker(tmp_path: Path) -> None:
    found = fast.check_file(written(case("pair"), tmp_path))
    assert found.status == "over limit" and "leave out --fast" in found.message


# Conditions on the zero and the prime.


def test_values_must_cancel_within_a_set_not_in_the_sum_of_all(tmp_path: Path) -> None:
    """With v and -v at two different keys, the sum is 0, but the outputs are not."""
    head = Head([[1], [2]], [[1], [0]], [[1], [1]], [[1]])
    other = Head([[2], [1]], [[0], [1]], [[-1], [-1]], [[1]])
    file = certificate_of([([[1, 0], [0, 3]], [1, 2])], [head, other])
    found = checker.check_file(written(file, tmp_path))
    assert (found.status, "add up to 0" in found.message) == ("wrong", True)


def test_the_prime_may_divide_no_softmax_sum(tmp_path: Path) -> None:
    """Logits 0 and 1 give the sum 3."""
    head = Head([[1], [0]], [[1], [0]], [[1], [1]], [[1]])
    file = certificate_of([([[1, 0], [0, 1]], [1, 0])], [head, Head(*vars(head).values())])
    file["network"][0]["heads"][1]["value"] = [["-1"], ["-1"]]
    assert checker.check_file(written(sealed(file), tmp_path)).status == "holds"
    file["rank"]["prime"] = "3"
    found = checker.check_file(written(sealed(file), tmp_path))
    assert (found.status, "softmax sum" in found.message) == ("wrong", True)


@both
@pytest.mark.parametrize("part", ["key", "query", "value", "output", "queries"])
def test_the_prime_may_divide_what_multiplies_columns(
    part: str, check: Check, tmp_path: Path
) -> None:
    """The prime divides denominators of some heads, or of all; the logits must not change."""
    file = with_small_prime(case("three and one"))
    p, heads = int(file["rank"]["prime"]), file["network"][0]["heads"]

    def multiply(inner: Any, name: str, factor: Fraction) -> None:
        inner[name] = [[str(Fraction(x) * factor) for x in row] for row in inner[name]]

    for head in heads[:3]:
        if part in ("key", "query"):
            multiply(head, part, Fraction(1, p))
            multiply(head, "query" if part == "key" else "key", Fraction(p))
        elif part == "value":
            multiply(head, part, Fraction(1, p))
    if part == "output":
        multiply(file["network"][0], part, Fraction(p))
    if part == "queries":
        multiply(file["data"], part, Fraction(1, p))
        for head in heads:
            multiply(head, "query", Fraction(p))
    assert check(written(sealed(file), tmp_path)).status == "holds"


@both
@pytest.mark.parametrize("part", ["key", "query", "value"])
def test_long_numbers_are_judged_in_time(part: str, check: Any, tmp_path: Path) -> None:
    file = with_small_prime(case("pair"))
    for head in file["network"][0]["heads"]:
        head[part][0][0] = "9" * 150_000
    start = time.process_time()
    verdict = check(written(sealed(file), tmp_path), 2.0)
    assert time.process_time() - start < 15
    assert verdict.status == ("wrong" if part == "value" else "holds")


# Forbidden contents of a file, and its cost.


@both
@pytest.mark.parametrize("told", [{"bits": 10**6, "own": True}, "anything"])
def test_no_saturation_is_stated_unchecked(told: Any, check: Check, tmp_path: Path) -> None:
    file = with_small_prime(case("pair"))
    file |= {"saturation": told}
    assert check(written(sealed(file), tmp_path)).status == "unusable"
    file["saturation"] = None
    assert check(written(sealed(file), tmp_path)).status == "holds"


def alike(T: int, n: int, d: int, heads: int = 1) -> Certificate:
    """A certificate in which the heads cancel in pairs; all examples share one context."""
    context = [[(3 * i + j) % 5 for j in range(d)] for i in range(n)]
    examples = [(context, [(t * t + j) % 7 for j in range(d)]) for t in range(T)]
    some = [[[h + 1] for _ in range(d)] for h in range(heads)]
    pairs = [Head(x, x, [[sign]] * d, [[1]]) for x in some for sign in (1, -1)]
    return with_small_prime(certificate_of(examples, pairs))


@pytest.mark.parametrize("sizes", [(60, 100, 2, 4), (180, 2, 10, 10)], ids=["tokens", "rows"])
def test_memory_of_a_block_is_counted(sizes: tuple[int, int, int, int], tmp_path: Path) -> None:
    """All weights of the block's examples, and all its rows, are held at once."""
    path = written(alike(*sizes), tmp_path)
    assert fast.check_file(path).status == "wrong"  # imports happen now, so that they do not count
    tracemalloc.start()
    fast.check_file(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    found = fast.check_file(path, 600.0, 0.7 * peak / 2**20)
    assert found.status == "over limit"


def test_the_fast_check_says_which_primes_it_cannot_use(tmp_path: Path) -> None:
    file = with_small_prime(case("pair"))
    p = file["rank"]["prime"]
    for head in file["network"][0]["heads"]:
        head["key"] = [[str(int(x) * int(p)) for x in row] for row in head["key"]]
    contexts = file["data"]["contexts"]
    file["data"]["contexts"] = [[[f"{x}/{p}" for x in row] for row in c] for c in contexts]
    found = fast.check_file(written(sealed(file), tmp_path))
    assert (found.status, "leave out --fast" in found.message) == ("over limit", True)
