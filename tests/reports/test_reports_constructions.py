"""Each construction speaks for itself: real proofs, told in their own words and in no other's."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from pathlib import Path

import pytest

from attncert.constructions.data import generators
from attncert.constructions.data.loading import load
from attncert.reports.answers import report_page, write_report
from attncert.verify.claims.proof import Proof, Voice
from attncert.verify.prove import prove
from attncert.verify.questions.prove import Prove

SHARED = generators.family(7, 3, 4, shared=True, queries="moment-curve", seed=1)
CERTIFICATE = {"paper": "mahdavi2024", "width-one": "rank-one", "generic": "generic"}


@functools.cache
def told(construction: str) -> tuple[Proof, str]:
    proof = prove(SHARED, Prove(construction=construction))
    return proof, report_page(proof).decode()


@pytest.mark.parametrize("construction", CERTIFICATE)
def test_title_theorem_and_the_certificates_name(construction: str) -> None:
    proof, report = told(construction)
    speaks = proof.setup
    assert proof.certificate is not None
    assert proof.certificate["construction"] == speaks.certificate_name == CERTIFICATE[construction]
    assert report.splitlines()[1].endswith(f", {speaks.voice.title}")
    assert f"| construction | {speaks.voice.title} (--construction {construction})" in report
    assert ("calls it mahdavi2024" in report) == (construction == "paper")


@pytest.mark.parametrize(
    ("construction", "never"),
    [
        ("width-one", ["Theorem 1", "paper, proof", "\\hat e_t"]),
        ("generic", ["Theorem 1 of", "paper, proof", "\\hat e_t", "| $c$ |", "selector |"]),
        ("paper", ["v_0", "short head", "drawn at random", "corollary 2"]),
    ],
)  # fmt: skip
def test_no_construction_speaks_for_another(construction: str, never: list[str]) -> None:
    """Hypotheses and the bibliography apart, which name the paper in every report."""
    _, report = told(construction)
    numbers = report[report.index("## The construction in numbers") :]
    body = numbers[: numbers.index("## References")]
    kept = "\n".join(
        block for block in body.split('<a id="') if not block.startswith("step-")
        or "`hypothesis." not in block.splitlines()[0]
    )  # fmt: skip
    assert [words for words in never if words in kept] == []


def test_a_construction_that_is_not_listed_is_called_by_its_name() -> None:
    proof, _ = told("generic")
    voice = Voice(title="the construction another-one")
    setup = replace(proof.setup, construction="another-one", voice=voice)
    report = report_page(replace(proof, setup=setup)).decode()
    assert "the construction another-one" in report and "without a name" not in report
    assert "generic" not in report[: report.index("## How to reproduce")].splitlines()[1]


def test_the_data_in_the_certificate_give_the_same_report_again(tmp_path: Path) -> None:
    """What "How to reproduce" says: all files again, the title's name apart."""
    proof, _ = told("width-one")
    write_report(proof, tmp_path / "first")
    certificate = json.loads((tmp_path / "first" / "certificate.json").read_text())
    (tmp_path / f"{SHARED.name}.json").write_text(json.dumps(certificate["data"]))
    again = prove(load(str(tmp_path / f"{SHARED.name}.json")), Prove(construction="width-one"))
    write_report(again, tmp_path / "second")
    assert again.data.name == SHARED.name
    for file in sorted((tmp_path / "first").rglob("*.*")):
        name = file.relative_to(tmp_path / "first")
        if name.name != "timings.json" and file.is_file():
            assert file.read_bytes() == (tmp_path / "second" / name).read_bytes(), name
