"""A construction's claims about its outputs match planted answers, and each fires on defects."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq, fmpq_mat

from attncert import (
    Attack,
    Attention,
    Construction,
    Dataset,
    Exact,
    Head,
    InputError,
    Nearest,
    Network,
    Prove,
    Within,
    attack,
    check,
    prove,
    readout,
    register,
)
from attncert.reports.answers import report, sentences_of
from attncert.verify.statements import registry

DATA = Dataset.of([[0]], [[1], [2], [3]], [1, 2, 3])


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))


def scaled(factor: str, *claims: Any) -> Any:
    """Outputs are the labels 1, 2, 3 times the factor: errors and margins are known by hand."""
    f = Fraction(factor)
    weight = fmpq_mat([[fmpq(f.numerator, f.denominator)]])
    register(
        Construction("scaled", lambda data, request: Network((readout(weight),)), claims=claims)
    )
    return prove(DATA, Prove("scaled"))


def softened(*claims: Any) -> Any:
    """The mean of tokens 0 and 2 with weights 1 and e: about 1.462."""
    head = Head(fmpq_mat([[1]]), fmpq_mat([["1/2"]]), fmpq_mat([[1]]))
    block = Attention((head,), fmpq_mat([[1]]), "query", "softmax", "1")
    register(Construction("soft", lambda data, request: Network((block,)), claims=claims))
    data = Dataset.of([[[0], [2]], [[0], [2]]], [[1], [-1]], ["3/2", "1/2"])
    return prove(data, Prove("soft"))


@pytest.mark.parametrize(
    ("factor", "claim", "status", "certified"),
    [
        ("101/100", Within("3/100"), 0, "outputs-within"),
        ("101/100", Within("29/1000"), 1, None),
        ("1", Within(0), 0, "network"),
        ("101/100", Nearest(), 0, "nearest"),
        ("101/100", Nearest("12/25"), 0, "nearest"),
        ("101/100", Nearest("481/1000"), 1, None),
        ("1", Nearest("1/2"), 0, "nearest"),
        ("5/4", Nearest(), 1, None),
    ],
)
def test_a_claim_holds_to_its_bound_and_no_further(
    factor: str, claim: Any, status: int, certified: str | None, tmp_path: Path
) -> None:
    proof = scaled(factor, claim)
    assert proof.exit_status == status
    assert (proof.certificate or {}).get("claim") == certified
    if certified:
        proof.write(tmp_path)
        path = tmp_path / "certificate.json"
        assert check(path).status == "holds"


def test_the_certificate_keeps_the_margin_that_is_claimed() -> None:
    proof = scaled("19/18", Nearest("7/18"))  # 1/2 - 1/9 has no finite decimal
    assert proof.certificate["nearest"] == {"margin": "7/18"}


def test_in_balls(tmp_path: Path) -> None:
    for claim, status in [
        (Within("1/20"), 0), (Within("1/30"), 1), (Nearest("9/20"), 0), (Nearest("1/2"), 1),
    ]:  # fmt: skip
        proof = softened(claim)
        assert proof.exit_status == status and "ball arithmetic" in proof.claim.arithmetic
        if status == 0:
            proof.write(tmp_path)
            assert check(tmp_path / "certificate.json").status == "holds"


def test_every_further_claim_is_said_and_counts() -> None:
    proof = scaled("101/100", Nearest(), Exact(), Within("1/10"))
    assert proof.holds and proof.exit_status == 1
    first, *lines = sentences_of(proof).splitlines()
    assert first.endswith("(proved), but claimed.exact is refuted.")
    assert lines[0].startswith("claimed.exact. Refuted: ") and "claimed.within. " in lines[1]
    assert "> claimed.exact. Refuted: " in report(proof).files["report.md"].decode()
    assert scaled("1", Exact(), Nearest()).exit_status == 0


def test_nearest_among_equal_labels_is_vacuous_and_no_counterexample() -> None:
    register(
        Construction(
            "same",
            lambda data, request: Network((readout(fmpq_mat([[1]])),)),
            adapt=lambda data: Dataset.of([[0]], [[1], [1]], [1, 1]),
            claims=[Nearest()],
        )
    )
    proof = prove(Dataset.of([[0]], [[1], [1]], [1, 1]), Prove("same"))
    assert (proof.exit_status, proof.standing.value) == (3, "vacuous")
    assert attack(Attack("same", cases=5)).standing.value != "refuted"


def test_claims_that_make_no_sense_are_refused() -> None:
    for bad in ("no number", "-1", 0.5, "1/0"):
        with pytest.raises(InputError, match="must be a number of at least 0"):
            Within(bad)
    with pytest.raises(InputError, match="of different kinds"):
        scaled("1", Within(1), Within(2))
