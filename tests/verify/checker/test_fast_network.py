"""Networks by the fast check: the verdict of the checker, on true and on false claims."""

from __future__ import annotations

import random
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support import networks
from support.small_certificates import Certificate, changed, sealed, written

from attncert.verify import checker
from attncert.verify.fast import check as fast


def numbers_of(part: Any, path: str = "") -> list[str]:
    """The paths of all numbers below."""
    if isinstance(part, str):
        return [path]
    if not isinstance(part, list | dict):
        return []
    places = part.items() if isinstance(part, dict) else enumerate(part)
    return [x for key, y in places for x in numbers_of(y, f"{path}.{key}")]


def at(part: Any, path: str) -> Any:
    for key in path.split("."):
        part = part[int(key) if isinstance(part, list) else key]
    return part


def planted(certificate: Certificate, seed: int) -> Certificate:
    """One number of the blocks, the data or the labels is another one."""
    draw = random.Random(seed)
    words = ("kind", "of", "rule", "logit_unit", "activation", "mask")
    paths = [
        x
        for key in ("network", "data")
        for x in numbers_of(certificate[key], key)
        if x.rpartition(".")[2] not in words
    ]
    path = draw.choice(paths)
    number = Fraction(at(certificate, path)) + draw.choice([-1, 1, Fraction(1, 2**70)])
    return changed(certificate, path, str(number))


@pytest.mark.parametrize(
    ("count", "first"), [(60, 0), pytest.param(1500, 20_000, marks=pytest.mark.slow)]
)
def test_the_fast_check_agrees_with_the_checker(count: int, first: int, tmp_path: Path) -> None:
    refused = 0
    for seed, exact in enumerate(networks.rational(count, first)):
        for plain in (exact, networks.nearly(exact)):
            for certificate in (plain, planted(plain, seed)):
                path = written(certificate, tmp_path)
                slow, quick = checker.check_file(path), fast.check_file(path)
                refused += slow.status == "wrong"
                if "decided in balls" in slow.message or "not rational" in slow.message:
                    assert quick.status in ("holds", "wrong")  # FLINT sees exact ties in balls
                    continue
                assert quick == slow._replace(message=f"fast check: {slow.message}")
    assert refused > count / 2


def test_what_is_no_number_of_this_network_is_unusable(tmp_path: Path) -> None:
    for certificate in networks.rational(30):
        wide = {**certificate, "dims": {**certificate["dims"], "labels": 4}}
        wide["data"] = wide["data"] | {"labels": [["0"] * 4 for _ in wide["data"]["labels"]]}
        for claim in (sealed(wide), networks.nearly(wide)):
            path = written(claim, tmp_path)
            verdict = checker.check_file(path)
            if "decided in balls" not in verdict.message:
                assert fast.check_file(path).status == verdict.status == "unusable"


SQUARE: dict[str, Any] = {
    "kind": "attention", "of": "all", "rule": "linear", "logit_unit": None, "output": [["1"]],
    "heads": [{"key": [["1"]], "query": [["1"]], "value": [["1"]]}], "mask": None,
    "residual": False,
}  # fmt: skip


@pytest.mark.parametrize("steep", [True, False])
def test_long_numbers_are_over_limit_at_once(steep: bool, tmp_path: Path) -> None:
    """A softmax of 2^(2^30); or cubes of cubes, block after block."""
    certificate = networks.rational(1)[0] | {"tokens": None, "network": [SQUARE] * 40}
    certificate["dims"] = {"examples": 1, "context": 1 + steep, "width": 1, "labels": 1}
    contexts = [[[str(2**30)], ["0"]] if steep else [["3"]]]
    certificate["data"] = {"contexts": contexts, "queries": [["1"]], "labels": [["3"]]}
    if steep:
        certificate["network"] = [SQUARE | {"rule": "softmax", "logit_unit": "ln 2"}]
    begin = time.process_time()
    verdict = fast.check_file(written(sealed(certificate), tmp_path))
    assert verdict.status == "over limit", verdict
    verdict = fast.check_file(written(networks.nearly(certificate), tmp_path))
    assert verdict.status == "wrong", verdict
    assert time.process_time() - begin < 10
