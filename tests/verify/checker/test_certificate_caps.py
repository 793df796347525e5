"""No certificate is written that the checker cannot read: every kind, at and above each cap."""

from __future__ import annotations

import time
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq, fmpq_mat
from support.exact_data import family
from support.shares import share
from support.small_certificates import CASES as CERTIFICATES

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.digits import digits
from attncert.constructions.layer import Head, Layer
from attncert.reports.answers import report
from attncert.verify import checker
from attncert.verify.certificates import certificate
from attncert.verify.certificates.certificate import TooLarge, canonical_bytes, sealed
from attncert.verify.checker import limits, reading
from attncert.verify.claims.evidence import Level
from attncert.verify.kruskal.kruskal import kruskal
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.limits.capacity.capacity import capacity
from attncert.verify.prove.prove import prove
from attncert.verify.questions.prove import Prove

CAPS = ("MAX_FILE_BYTES", "MAX_ITEMS", "MAX_DIGITS")
LIMITS = ("LIMIT_SECONDS", "LIMIT_MIB")
LONG = Dataset.of([["1/1700003", 0], [0, 1]], [[1, 2]], [1])  # its readout: 511,752 digits
SMALL = family(3, 2, 3, seed=1)


def verdict(body: Any, folder: Path) -> str:
    path = folder / "certificate.json"
    path.write_bytes(canonical_bytes(body))
    return checker.check_file(str(path)).status


@pytest.mark.parametrize("name", (*CAPS, *LIMITS))
def test_writer_and_checker_agree_on_the_caps(name: str) -> None:
    assert getattr(certificate, name) == getattr(limits if name in LIMITS else reading, name)


# Caps that `prove` reaches.


def test_a_readout_with_too_many_digits_gives_way_to_the_rank(tmp_path: Path) -> None:
    """With a context of denominator 1,700,003, the rank is proved, and the file holds."""
    proof = prove(LONG, Prove("generic"))
    assert proof.standing is Level.PROVED and proof.certificate is not None
    assert proof.certificate["claim"] == proof.setup.claim == "full-rank"
    assert "the checker reads 500,000" in proof.trace["readout"].statement
    assert verdict(proof.certificate, tmp_path) == "holds"


def test_asked_for_by_name_the_verdict_says_that_there_is_no_certificate() -> None:
    proof = prove(LONG, Prove("generic", claim="interpolation"))
    assert proof.standing is Level.PROVED and proof.certificate is None
    said = proof.trace["memorization"].statement
    assert said.endswith(
        "There is no certificate: a number has 511,752 digits, and the checker reads 500,000."
    )
    files = report(proof).files
    assert "certificate.json" not in files
    assert b"nothing was built" not in files["report.md"]


@pytest.mark.parametrize("cap", CAPS)
@pytest.mark.parametrize("construction", share(["generic", "paper", "width-one"], 3))
def test_whatever_the_caps_no_certificate_is_above_them(
    cap: str, construction: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the caps of writer and checker are lowered, the certificates that `prove` writes hold."""
    seen = set()
    for settings in (Prove(construction), Prove(construction, claim="interpolation")):
        for value in (10**9, 1500, 200, 8, 1):
            for module in (certificate, reading):
                monkeypatch.setattr(module, cap, value)
            proof = prove(SMALL, settings)
            assert proof.standing is Level.PROVED
            uncertified = "There is no certificate" in proof.trace["memorization"].statement
            assert uncertified == (proof.certificate is None)
            if proof.certificate is not None:
                assert verdict(proof.certificate, tmp_path) == "holds"
                seen.add(proof.certificate["claim"])
            else:
                seen.add("none")
    assert "interpolation" in seen and len(seen) > 1


PRICED = {
    "small": (SMALL, Prove()),
    "steered": (family(5, 3, 4, seed=2), Prove(saturate=1)),
    "width one": (family(9, 3, 4, seed=3), Prove("width-one")),
    "generic": (family(9, 4, 5, seed=4), Prove("generic")),
    "digits": (digits().take(13), Prove()),
    "long logits": (Dataset.of([["1/997", 0], [0, 1]], [[1, 2]], [1]), Prove("generic")),
}


@pytest.mark.parametrize("name", PRICED)
def test_the_writer_knows_what_checking_costs(name: str, tmp_path: Path) -> None:
    """Checking takes little more time and memory than the writer estimates."""
    data, settings = PRICED[name]
    proof = prove(data, replace(settings, claim="interpolation"))
    assert proof.certificate is not None and proof.layer is not None
    path = tmp_path / "certificate.json"
    path.write_bytes(canonical_bytes(proof.certificate))
    seconds, mib = certificate.cost_of_checking(data, proof.layer)
    start = time.process_time()
    assert checker.check_file(str(path)).status == "holds"
    assert time.process_time() - start < 5 * max(seconds, 0.5)
    tracemalloc.start()
    checker.check_file(str(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20 * 5 * max(mib, 1.0)


@pytest.mark.parametrize("limit", LIMITS)
def test_above_a_limit_of_the_checker_the_rank_is_the_answer_unless_it_is_asked_for(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attncert.verify.prove.stages." + limit, 0.0)
    proof = prove(SMALL, Prove())
    assert proof.setup.claim == "full-rank" and proof.certificate is not None
    asked = prove(SMALL, Prove(claim="interpolation"))
    assert asked.certificate is not None and asked.certificate["claim"] == "interpolation"
    assert "attncert check --limit-seconds and --limit-mib raise" in asked.statement


def test_labels_out_of_reach_are_refuted_without_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    data = Dataset.of([[1, 0], [0, 1]], [[1, 2]] * 2, [1, 2])
    assert prove(data, Prove()).certificate is not None
    monkeypatch.setattr(certificate, "MAX_FILE_BYTES", 100)
    proof = prove(data, Prove())
    assert (proof.standing, proof.certificate) == (Level.REFUTED, None)
    assert capacity(SMALL).certificate is None, "and capacity writes none either"


def test_dependent_vectors_without_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = Vectors.of([[1, 0], [0, 1], [2, 0]])
    assert kruskal(vectors).certificate is not None
    monkeypatch.setattr(certificate, "MAX_ITEMS", 20)
    answer = kruskal(vectors)
    assert answer.certificate is None and answer.uncertified.startswith("the file has")
    shown = report(answer).files["report.md"].decode()
    assert "There is no `certificate.json`: the file has" in shown
    assert "check certificate.json" not in shown


# The writer itself, at the caps.


@pytest.mark.parametrize("name", CERTIFICATES)
@pytest.mark.parametrize("cap", ["MAX_FILE_BYTES", "MAX_ITEMS"])
def test_the_writer_counts_what_the_checker_counts(
    name: str, cap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is sealed and read if both caps equal its size, but not with lower caps."""
    made = CERTIFICATES[name]()
    body = {key: value for key, value in made.items() if key != "digest"}
    text = canonical_bytes(made)
    size = len(text) if cap == "MAX_FILE_BYTES" else sum(map(text.count, (b",", b"[", b"{")))
    monkeypatch.setattr(certificate, cap, size)
    monkeypatch.setattr(reading, cap, size)
    assert verdict(sealed(body), tmp_path) == "holds"
    monkeypatch.setattr(certificate, cap, size - 1)
    monkeypatch.setattr(reading, cap, size - 1)
    with pytest.raises(TooLarge):
        sealed(body)
    assert verdict(made, tmp_path) == "unusable"


def _layer(entry: fmpq) -> Layer:
    one = fmpq_mat(1, 1, [fmpq(1)])
    return Layer((Head(one, one, fmpq_mat(1, 1, [entry])),), one)


ONE = Dataset.of([[1]], [[1]], [1])


def _interpolation(x: int) -> Any:
    return certificate.certificate(
        ONE, _layer(fmpq(x)), [(0,)], construction="", produced_by={}, value_width=1
    )


def test_what_is_far_too_long_is_refused_before_it_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(certificate, "MAX_FILE_BYTES", 1000)
    monkeypatch.setattr(certificate, "strings", lambda matrix: pytest.fail("written out"))
    with pytest.raises(TooLarge, match=r"its numbers have about 3,0\d\d digits"):
        _interpolation(10**3000)
