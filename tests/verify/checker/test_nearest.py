"""The claim "nearest": margins agree with plain fractions, and every planted defect is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support import networks
from support.networks import Vector
from support.shares import random_cases
from support.small_certificates import Certificate, changed, written

from attncert.verify.checker import check_file

HAIR = Fraction(1, 2**90)
COUNTS = pytest.mark.parametrize("count", [40, random_cases(1000)])


def status(certificate: Certificate, folder: Path) -> str:
    return check_file(written(certificate, folder)).status


def labelled(certificate: Certificate, labels: list[Vector]) -> Certificate:
    rows = [[str(x) for x in row] for row in labels]
    return certificate | {"data": certificate["data"] | {"labels": rows}}


def one_hot(output: Vector) -> Vector:
    """The one-hot vector of the argmax, or of the first one if several entries are equal."""
    top = output.index(max(output))
    return [Fraction(j == top) for j in range(len(output))]


def to_integers(output: Vector) -> Vector:
    return [Fraction(round(x)) for x in output]


def cases(
    count: int, label: Callable[[Vector], Vector], exact: bool
) -> Iterator[tuple[Certificate, list[Vector], list[Vector]]]:
    """Networks with their outputs and labels; at least two labels are different."""
    for certificate in networks.rational(count, 500, exact):
        outputs = networks.outputs(certificate["network"], certificate["data"], exact)
        labels = [label(x) for x in outputs]
        if len({tuple(y) for y in labels}) > 1:
            yield labelled(certificate, labels), outputs, labels


def logit_margin(outputs: list[Vector], labels: list[Vector]) -> Fraction:
    """The least difference between an output's entry for its own class and that for another class
    of the data."""
    classes = [y.index(1) for y in labels]
    rows = list(zip(outputs, classes, strict=True))
    return min(x[k] - x[j] for x, k in rows for j in classes if j != k)


@COUNTS
def test_one_hot_labels_ask_for_the_argmax(count: int, tmp_path: Path) -> None:
    """The margin is the difference of two outputs: the claim holds at this margin but not above it,
    and at no margin if two outputs tie."""
    held = ties = 0
    for certificate, outputs, labels in cases(count, one_hot, True):
        margin = logit_margin(outputs, labels)
        assert margin == networks.margin(outputs, labels)
        if margin == 0:
            ties += 1
            assert status(networks.nearest(certificate, HAIR), tmp_path) == "wrong"
            continue
        held += 1
        assert status(networks.nearest(certificate, margin), tmp_path) == "holds"
        assert status(networks.nearest(certificate, margin + HAIR), tmp_path) == "wrong"
        permuted = labelled(certificate, labels[1:] + labels[:1])
        if labels[0] != labels[1]:
            assert status(networks.nearest(permuted, HAIR), tmp_path) == "wrong"
    assert held > count / 8 and ties


@COUNTS
def test_margins_of_any_outputs(count: int, tmp_path: Path) -> None:
    """Outputs are irrational; labels are the nearest integers, or these divided by 3. Close to the
    margin, balls may be too wide to decide."""
    held = undecided = 0
    for k, (certificate, outputs, labels) in enumerate(cases(count, to_integers, False)):
        if k % 2:
            labels = [[x / 3 for x in y] for y in labels]
            certificate = labelled(certificate, labels)
        margin = networks.margin(outputs, labels)
        if margin > HAIR:
            less, more = (networks.nearest(certificate, margin + x) for x in (-HAIR, HAIR))
            result = check_file(written(less, tmp_path))
            if result.status == "over limit":
                assert "balls" in result.message
                undecided += 1
            else:
                assert result.status == "holds"
                held += 1
        else:
            more = networks.nearest(certificate, HAIR)
        assert status(more, tmp_path) != "holds"
    assert held > count / 8 and undecided <= count / 100


TWO = next(
    x for x, outputs, labels in cases(60, one_hot, True) if logit_margin(outputs, labels) > 0
)


@pytest.mark.parametrize(
    ("path", "leaf"),
    [
        ("nearest.margin", "0"),
        ("nearest.margin", "-1/2"),
        ("nearest.margin", 1),
        ("nearest.margin", "0.5"),
        ("nearest", "1/2"),
        ("nearest", {}),
        ("nearest", {"margin": "1/2", "example": 0}),
        ("saturation", {"bits": 1, "own": False}),
    ],
)
def test_what_is_no_margin_is_unusable(path: str, leaf: Any, tmp_path: Path) -> None:
    file = changed(networks.nearest(TWO, HAIR), path, leaf)
    assert status(file, tmp_path) == "unusable"


def test_of_one_label_nothing_is_nearest(tmp_path: Path) -> None:
    first = TWO["data"]["labels"][0]
    same = labelled(TWO, [[Fraction(x) for x in first]] * len(TWO["data"]["labels"]))
    assert status(networks.nearest(same, HAIR), tmp_path) == "unusable"
