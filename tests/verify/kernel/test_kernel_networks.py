"""The extracted checker and the checker in Python on networks: true ones, and thousands of mutants;
claims about a layer after other blocks."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from support import labelling_cases, near_cases, networks
from support.requires import needed, verified_status
from support.small_certificates import (
    CASES,
    Certificate,
    changed,
    layer_certificate,
    sealed,
    steered,
    written,
)

from attncert.verify.checker import check_file
from attncert.verify.coq import instance

COUNTS = pytest.mark.parametrize("count", [60, pytest.param(4000, marks=pytest.mark.slow)])
LAYERS = [
    *(CASES[name]() for name in ("interpolation", "full-rank, shared", "full-rank, lengths")),
    *(CASES[name]() for name in ("interpolation, padded", "interpolation, lengths")),
    sealed(steered("interpolation") | {"origin": None}),
    sealed(steered("full-rank", own=True) | {"origin": None}),
    near_cases.case("shared"),
    labelling_cases.case("pair"),
]


@pytest.fixture(autouse=True)
def executable() -> None:
    needed()


def both(certificate: Certificate, folder: Path) -> tuple[str, str]:
    path = written(certificate, folder)
    return check_file(path).status, verified_status(path)


@COUNTS
def test_true_networks_hold(count: int, tmp_path: Path) -> None:
    """And not with one label that is off by 2^-90."""
    for certificate in networks.rational(count // 2, 20_000):
        assert both(certificate, tmp_path) == ("holds", "holds")
        label = Fraction(certificate["data"]["labels"][-1][-1]) + Fraction(1, 2**90)
        last = [len(certificate["data"]["labels"]) - 1, len(certificate["data"]["labels"][0]) - 1]
        path = f"data.labels.{last[0]}.{last[1]}"
        assert verified_status(written(changed(certificate, path, str(label)), tmp_path)) == "wrong"


@COUNTS
def test_one_verdict_on_mutants(count: int, tmp_path: Path) -> None:
    draw, seen = random.Random(count), Counter[str]()
    certificates = networks.rational(100, 30_000)
    for _ in range(count):
        base = draw.choice(certificates)
        mutant = sealed(networks.mutant(base, draw, changes=draw.choice([1, 1, 2])))
        path = written(mutant, tmp_path)
        verdict = check_file(path)
        if verdict.claim in (None, "network"):  # else not read by both
            assert verified_status(path) == verdict.status, (verdict, mutant)
            seen[verdict.status] += 1
    assert set(seen) >= {"holds", "wrong", "unusable"}


def within(certificate: Certificate, draw: random.Random) -> Certificate:
    """The claim with one label moved: well inside the bound, to it but for 2^-k, or outside."""
    bound = Fraction(draw.randint(1, 9), 10 ** draw.choice([0, 1, 3, 9, 20, 40]))
    labels = [list(row) for row in certificate["data"]["labels"]]
    nearly = 1 + Fraction(draw.choice([-1, 1]), 2 ** draw.randint(90, 140))
    factor = draw.choice([0, Fraction(1, 2), nearly, 2])
    row = draw.choice(labels)
    row[0] = str(Fraction(row[0]) + draw.choice([-1, 1]) * factor * bound)
    data = certificate["data"] | {"labels": labels}
    return networks.nearly(certificate | {"data": data}, str(bound))


@pytest.mark.parametrize("count", [60, pytest.param(10_000, marks=pytest.mark.slow)])
def test_outputs_within(count: int, tmp_path: Path) -> None:
    """One verdict on true ones, on labels at the bound, and on mutants. Close to the bound one
    checker's balls may be too wide to decide, while another's are not."""
    draw, seen, open_ = random.Random(count), Counter[str](), 0
    certificates = networks.rational(min(count, 400), 40_000, exact=False)
    for k in range(count):
        file = within(draw.choice(certificates), draw)
        if k % 2:
            file = sealed(networks.mutant(file, draw, changes=draw.choice([1, 1, 2])))
        path = written(file, tmp_path)
        verdict = check_file(path)
        if verdict.claim in (None, "outputs-within"):
            verified = verified_status(path)
            if "over limit" in {verified, verdict.status}:
                open_ += 1
                continue
            assert verified == verdict.status, (verdict, file)
            seen[verdict.status] += 1
    assert set(seen) >= {"holds", "wrong", "unusable"}
    assert open_ <= count // 100


@COUNTS
def test_layers_behind_blocks(count: int, tmp_path: Path) -> None:
    """They hold. Mutants hold for both or for none; which defect of several is named may differ."""
    draw, seen = random.Random(count), Counter[str]()
    certificates = [networks.behind(x, seed) for seed in range(4) for x in LAYERS]
    for certificate in certificates:
        assert both(certificate, tmp_path) == ("holds", "holds")
    for _ in range(count):
        mutant = sealed(networks.mutant(draw.choice(certificates), draw))
        statuses = both(mutant, tmp_path)
        assert ("holds" in statuses) == (statuses == ("holds", "holds")), mutant
        seen.update(statuses)
    assert set(seen) >= {"holds", "wrong", "unusable"}


def test_data_in_front_of_the_blocks_are_what_is_judged(tmp_path: Path) -> None:
    """With the data of the layer itself the claim is false: two blocks more stand before it."""
    alone = layer_certificate("interpolation")
    front = networks.behind(alone, 2)
    assert both(sealed(front | {"data": alone["data"]}), tmp_path) == ("wrong", "wrong")
    assert both(sealed(front | {"network": alone["network"]}), tmp_path) == ("wrong", "wrong")


def test_as_a_theorem_a_layer_behind_blocks_is_refused_in_one_line(tmp_path: Path) -> None:
    path = written(networks.behind(layer_certificate("interpolation"), 1), tmp_path)
    verdict, theorem = instance.instance(path)
    assert (verdict.status, theorem) == ("unusable", None)
    assert verdict.message == "--kernel reads no layer after other blocks"
