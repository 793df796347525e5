"""No command answers with a file that its checker rejects."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
from flint import fmpq_mat

import attncert
from attncert import Assume, Capacity, Dataset, Fit, LayerQuestion, Network, Prove
from attncert.constructions.network.blocks import FeedForward
from attncert.reports.answers import report, verdict
from attncert.verify.certificates.certificate import sealed
from attncert.verify.checking import judged
from attncert.verify.checking.judged import judge_of
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.evidence import Level
from attncert.verify.fit import fitted
from attncert.verify.kruskal import kruskal
from attncert.verify.limits.capacity import capacity
from attncert.verify.outputs import within
from attncert.verify.prove import refusal, stages

SMALL = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
TIED = Dataset.of([[1, 0], [0, 1]], [[1, 2], [1, 2]], [0, 1])
VECTORS = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [2, 0, 0]]
EQUAL = Dataset.of([[[1, 0], [0, 1]]] * 3, [[1, 2], [2, 4], [1, 1]], [5, 3, 7])
IDENTITY = Network((FeedForward(fmpq_mat([[1]]), fmpq_mat([[0]])),))
NUMBERS = Dataset.of([[[0]]] * 2, [[0], [1]], [0, 1])


def _weight(body: Any) -> None:
    body["network"][-1]["heads"][0]["key"][0][0] = "1/3"


def _readout(body: Any) -> None:
    body["network"][-1]["output"][0][0] = "1/977"


def _coefficient(body: Any) -> None:
    body["relation"]["coefficients"][0] = "5"


def _relation(body: Any) -> None:
    body["relation"][0] = "5"


def _radius(body: Any) -> None:
    body["near"]["radius"] = "1/" + "9" * 40


def _block(body: Any) -> None:
    body["network"][-1]["weights"] = [["3"]]


# A command run on data, the module and function that write its file, and a change to the file.
CASES: dict[str, tuple[Callable[[], Any], Any, str, Callable[[Any], None]]] = {
    "interpolation": (
        lambda: attncert.prove(SMALL, Prove(claim="interpolation")), stages, "certificate", _readout
    ),
    "full-rank": (
        lambda: attncert.prove(SMALL, Prove(claim="full-rank")), stages, "certificate", _weight
    ),
    "prove, impossible": (lambda: attncert.prove(TIED), refusal, "tied_certificate", _relation),
    "fit": (lambda: attncert.fit(SMALL, Fit(heads=2)), fitted, "near_certificate", _radius),
    "capacity, universal": (
        lambda: attncert.capacity(SMALL, Capacity(heads=2)), capacity, "certificate", _weight
    ),
    "capacity, each labelling": (
        lambda: attncert.capacity(SMALL, Capacity(heads=2)),
        capacity, "labelling_certificate", _weight,
    ),
    "kruskal": (
        lambda: attncert.kruskal(VECTORS), kruskal, "dependent_set", _coefficient
    ),
    "assume": (
        lambda: attncert.assume(EQUAL, Assume(subsets=5)),
        kruskal, "dependent_set", _coefficient,
    ),
    "layer": (
        lambda: attncert.layer(IDENTITY, NUMBERS, LayerQuestion(tolerance="0")),
        within, "certificate", _block,
    ),
    "network": (
        lambda: attncert.prove(SMALL, Prove(construction="relu")), within, "certificate", _block
    ),
}  # fmt: skip


# `assume` draws thousands of samples.
NAMES = [pytest.param(x, marks=pytest.mark.slow) if x == "assume" else x for x in CASES]


@pytest.mark.parametrize("case", NAMES)
def test_a_wrong_file_is_no_answer(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every claim of the answer holds, but a file with other numbers is written."""
    ask, module, writer, changed = CASES[case]
    honest = getattr(module, writer)

    @functools.wraps(honest)
    def other(*args: Any, **options: Any) -> Any:
        body = dict(honest(*args, **options))
        del body["digest"]
        changed(body)
        return sealed(body)

    assert ask().certificate is not None
    monkeypatch.setattr(module, writer, other)
    answer: Answer = ask()
    assert (answer.standing, answer.exit_status, answer.files) == (Level.UNDECIDED, 3, ())
    assert "says" in answer.uncertified
    assert "certificate.json" not in report(answer).files
    assert case in ("layer", "network") or "about its certificate: wrong, " in verdict(answer)


@pytest.mark.parametrize(
    ("claim", "judges"),
    [
        ("full-rank", {40: "plain checker", 97: "fast check", 500: ""}),
        ("every-labelling", {10: "plain checker", 97: "fast check", 500: ""}),
        ("interpolation-near", {100: "plain checker", 464: "fast check", 465: ""}),
        ("dependent-set", {10**6: "plain checker"}),
        ("network", {1: ""}),
    ],
)
def test_large_files_have_another_judge_or_none(claim: str, judges: dict[int, str]) -> None:
    sizes = {"heads": 32, "width": 16, "labels": 1, "head_width": 1, "value_width": 1}
    answer = attncert.kruskal(VECTORS)
    files = {T: {"claim": claim, "dims": sizes | {"examples": T}} for T in judges}
    assert {T: judge_of(file, answer) for T, file in files.items()} == judges


def test_an_interpolation_that_takes_long_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    proof = attncert.prove(SMALL)
    assert judge_of(proof.certificate, proof) == "plain checker"
    monkeypatch.setattr(judged, "PLAIN_SECONDS", 1e-9)
    assert judge_of(proof.certificate, proof) == ""
