"""The extracted checker and the checker in Python on interpolation-near: files ever nearer to where
the claim ceases to hold, and mutants."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from support import networks
from support.near_cases import CASES, case
from support.requires import needed, verified_status
from support.small_certificates import Certificate, changed, rounded, sealed, written

from attncert.verify.checker import check_file

STEPS = 100  # from a first change of some radii to 2^-90 of one
PLAIN = [case(name) for name in CASES]
FILES = PLAIN + [rounded(file) for file in PLAIN]


def both(file: Certificate, folder: Path) -> tuple[str, str]:
    path = written(file, folder)
    verdict = check_file(path)
    assert verdict.claim in (None, "interpolation-near")
    return verdict.status, verified_status(path)


def edge(file: Certificate, draw: random.Random, folder: Path) -> Iterator[tuple[str, str]]:
    """Verdicts as one number is brought, by halves, to where the checker in Python turns."""
    part = draw.choice(["data", "network", "near"])
    place = draw.choice([x for x in networks.places(file[part], (part,)) if numeral(file, x)])
    true, radius = (Fraction(x) for x in (networks.at(file, place), file["near"]["radius"]))
    size = abs(true) if part == "near" else radius
    false = true + draw.choice([-1, 1]) * size * 2 ** draw.randint(0, 8)
    for _ in range(STEPS):
        middle = (true + false) / 2
        path = ".".join(map(str, place))
        statuses = both(changed(file, path, str(middle)), folder)
        yield statuses
        true, false = (middle, false) if statuses[0] == "holds" else (true, middle)


def numeral(file: Certificate, place: tuple[str | int, ...]) -> bool:
    """Whether a number stands there that is not 0, and not the unit."""
    leaf = networks.at(file, place)
    return isinstance(leaf, str) and leaf.strip("-/0123456789") == "" and leaf not in ("0", "1")


@pytest.mark.parametrize("count", [600, pytest.param(10_000, marks=pytest.mark.slow)])
def test_one_verdict(count: int, tmp_path: Path) -> None:
    """On files at the edge, and on mutants; half of the files each."""
    needed()
    draw, near, other = random.Random(count), Counter[str](), Counter[str]()
    for _ in range(count // 2 // STEPS):
        for python, coq in edge(draw.choice(PLAIN), draw, tmp_path):
            assert python == coq
            near.update([python])
    for _ in range(count // 2):
        file = networks.mutant(draw.choice(FILES), draw, draw.choice([1, 1, 2]))
        python, coq = both(sealed(file), tmp_path)
        assert python == coq, file
        other.update([python])
    assert set(near) >= {"holds", "wrong"} and set(other) >= {"holds", "wrong", "unusable"}
