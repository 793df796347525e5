"""The extracted checker and the checker in Python give one verdict on true files of every kind, on
mutants of them, and on files ever closer to the point where a claim fails."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from support import deep_cases, labelling_cases, near_cases, networks
from support.paths import ROOT
from support.requires import needed, verified_status
from support.sequence_cases import POSITIONS, TRUE, true_file
from support.shares import random_cases
from support.small_certificates import (
    CASES,
    Certificate,
    changed,
    layer_certificate,
    on_domain,
    rounded,
    sealed,
    steered,
    written,
)

from attncert import Dataset, Prove, prove
from attncert.verify.certificates.coq import instance
from attncert.verify.checker import check_file

NEAR = [near_cases.case(name) for name in near_cases.CASES]
LABELLING = [labelling_cases.case(name) for name in labelling_cases.CASES]
LAYERS = [
    *(CASES[name]() for name in ("interpolation", "full-rank, shared", "full-rank, lengths")),
    *(CASES[name]() for name in ("interpolation, padded", "interpolation, lengths")),
    sealed(steered("interpolation") | {"origin": None}),
    sealed(steered("full-rank", own=True) | {"origin": None}),
    near_cases.case("shared"),
    labelling_cases.case("pair"),
]
STEPS = 100  # from a first change of at least a radius to less than 2^-90 of that change


def domains() -> list[Certificate]:
    """Whole domains, with shared or distinct contexts, of one length or two."""
    files = []
    for contexts in ([[["1"], ["2"]]], [[["1"]], [["1"], ["1/2"]]], [[["1", "2"]], [["3", "1/3"]]]):
        d = len(contexts[0][0])
        queries = [["0"] * d, ["1"] * d, ["-2/3"] * d]
        pairs = [(context, query) for query in queries for context in contexts]
        shared = len(contexts) == 1
        data = Dataset.of(contexts[0] if shared else [c for c, _ in pairs], [q for _, q in pairs],
                          [*range(len(pairs))])  # fmt: skip
        for construction in ("relu", "attention-relu"):
            made = prove(data, Prove(construction)).certificate
            files += [on_domain(Certificate(made))] if made else []
    return files


def nearest() -> list[Certificate]:
    """Networks whose outputs are their labels, with claims at exactly the margin."""
    files = []
    for file in networks.rational(100, 50_000):
        labels = [networks.vector(row) for row in file["data"]["labels"]]
        if any(label != labels[0] for label in labels):
            files.append(networks.nearest(file, networks.margin(labels, labels)))
    return files


FAMILIES: dict[str, Callable[[], list[Certificate]]] = {
    "networks": lambda: networks.rational(100, 30_000),
    "layers after blocks": lambda: [networks.behind(x, seed) for seed in range(4) for x in LAYERS],
    "interpolation-near": lambda: NEAR + [rounded(file) for file in NEAR],
    "every-labelling": lambda: LABELLING + [rounded(file) for file in LABELLING],
    "sequences": lambda: [true_file(claim, p) for claim in TRUE for p in (None, POSITIONS)],
    "domains": domains,
    "network-rank": lambda: deep_cases.several(deep_cases.ALL),
    "nearest": nearest,
}


@pytest.fixture(autouse=True)
def executable() -> None:
    needed()


def compared(file: Certificate, folder: Path) -> str:
    """The verdict of both checkers, unless one is over a limit. If there are several blocks, each
    checker may name a different one of several defects."""
    path = written(file, folder)
    python, coq = check_file(path).status, verified_status(path)
    blocks = file.get("network")
    several = isinstance(blocks, list) and len(blocks) > 1 and "holds" not in (python, coq)
    assert python == coq or "over limit" in (python, coq) or several, (python, coq, file)
    return python


@pytest.mark.parametrize("count", [60, random_cases(1000)])
@pytest.mark.parametrize("family", FAMILIES)
def test_true_files_hold_and_mutants_have_one_verdict(
    family: str, count: int, tmp_path: Path
) -> None:
    draw, true, seen = random.Random(count), FAMILIES[family](), Counter[str]()
    assert {compared(file, tmp_path) for file in true} == {"holds"}
    for _ in range(count):
        mutant = networks.mutant(draw.choice(true), draw, draw.choice([1, 1, 2]))
        seen.update([compared(sealed(mutant), tmp_path)])
    assert set(seen) >= {"holds", "unusable"}


def test_heads_that_do_not_cancel_prove_no_labelling(tmp_path: Path) -> None:
    file = changed(deep_cases.case(deep_cases.AT_ZERO), "network.1.output.0.0", "5/7")
    assert check_file(written(file, tmp_path)).status == "wrong"
    assert verified_status(written(file, tmp_path)) == "wrong"


def within(certificate: Certificate, draw: random.Random) -> Certificate:
    """The claim with one label moved: well inside the bound, to within 2^-k of it, or outside."""
    bound = Fraction(draw.randint(1, 9), 10 ** draw.choice([0, 1, 3, 9, 20, 40]))
    labels = [list(row) for row in certificate["data"]["labels"]]
    nearly = 1 + Fraction(draw.choice([-1, 1]), 2 ** draw.randint(90, 140))
    factor = draw.choice([0, Fraction(1, 2), nearly, 2])
    row = draw.choice(labels)
    row[0] = str(Fraction(row[0]) + draw.choice([-1, 1]) * factor * bound)
    data = certificate["data"] | {"labels": labels}
    return networks.nearly(certificate | {"data": data}, str(bound))


@pytest.mark.parametrize("count", [60, random_cases(1000)])
def test_outputs_at_the_bound(count: int, tmp_path: Path) -> None:
    """Balls leave few of them undecided: those within a relative distance of 2^-140 from the
    bound."""
    draw, seen = random.Random(count), Counter[str]()
    certificates = networks.rational(min(count, 400), 40_000, exact=False)
    for _ in range(count):
        seen.update([compared(within(draw.choice(certificates), draw), tmp_path)])
    assert set(seen) >= {"holds", "wrong"} and seen["over limit"] <= 1 + count // 50


def edge(file: Certificate, draw: random.Random, folder: Path) -> Iterator[str]:
    """Verdicts as bisection approaches a number at which the Python checker's verdict changes."""
    part = draw.choice(["data", "network", "near"])
    place = draw.choice([x for x in networks.places(file[part], (part,)) if numeral(file, x)])
    true, radius = (Fraction(x) for x in (networks.at(file, place), file["near"]["radius"]))
    size = abs(true) if part == "near" else radius
    false = true + draw.choice([-1, 1]) * size * 2 ** draw.randint(0, 8)
    for _ in range(STEPS):
        middle = (true + false) / 2
        status = compared(changed(file, ".".join(map(str, place)), str(middle)), folder)
        yield status
        true, false = (middle, false) if status == "holds" else (true, middle)


def numeral(file: Certificate, place: tuple[str | int, ...]) -> bool:
    """Whether the leaf is a number other than 0 and 1."""
    leaf = networks.at(file, place)
    return isinstance(leaf, str) and leaf.strip("-/0123456789") == "" and leaf not in ("0", "1")


@pytest.mark.parametrize("count", [3, pytest.param(50, marks=pytest.mark.slow)])
def test_files_at_the_edge_of_interpolation_near(count: int, tmp_path: Path) -> None:
    draw, seen = random.Random(count), Counter[str]()
    for _ in range(count):
        seen.update(edge(draw.choice(NEAR), draw, tmp_path))
    assert set(seen) >= {"holds", "wrong"}


def test_data_before_the_blocks_are_what_is_judged(tmp_path: Path) -> None:
    """With the data of the layer itself the claim is false: two more blocks precede it."""
    alone = layer_certificate("interpolation")
    front = networks.behind(alone, 2)
    for part in ("data", "network"):
        assert compared(sealed(front | {part: alone[part]}), tmp_path) == "wrong"


@pytest.mark.parametrize("name", ["certificate", "certificate-every-labelling"])
def test_200_characters(name: str) -> None:
    file = ROOT / "docs" / "gallery" / "next-token" / f"{name}.json"
    assert verified_status(str(file)) == "holds"


def test_a_layer_after_blocks_is_no_theorem(tmp_path: Path) -> None:
    path = written(networks.behind(layer_certificate("interpolation"), 1), tmp_path)
    verdict, theorem = instance.instance(path)
    assert (verdict.status, theorem) == ("unusable", None)
    assert verdict.message == "--kernel cannot read a layer after other blocks"
