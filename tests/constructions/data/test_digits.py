"""The main job on real data, at the sizes that the documentation quotes."""

from __future__ import annotations

from pathlib import Path

import pytest

from attncert.constructions.data.digits import digits
from attncert.reports.answers import write_report
from attncert.verify import checker
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.proof import Proof
from attncert.verify.fast import check as fast
from attncert.verify.prove import prove
from attncert.verify.questions.prove import Prove


def written(proof: Proof, folder: Path) -> str:
    write_report(proof, folder)
    return str(folder / "certificate.json")


@pytest.mark.slow
def test_forty_nine_by_the_paper_exactly(tmp_path: Path) -> None:
    proof = prove(digits().take(49), Prove(heads=16, head_width=4))
    assert proof.setup.claim == "interpolation" and proof.standing is Level.PROVED
    assert not proof.trace.failures()
    assert checker.check_file(written(proof, tmp_path / "out")).status == "holds"


@pytest.mark.slow
def test_ninety_seven_by_the_paper_as_far_as_it_goes(tmp_path: Path) -> None:
    proof = prove(digits().take(97), Prove(heads=32, head_width=4))
    assert proof.setup.claim == "full-rank" and proof.standing is Level.PROVED
    assert "bits each" in proof.trace["readout"].statement
    assert proof.trace["enclosure.error"].level is Level.ENCLOSED
    assert float(proof.trace["enclosure.error"].numbers["error"][1]) < 1e-9
    assert checker.check_file(written(proof, tmp_path / "out")).status == "holds"


@pytest.mark.slow
def test_ninety_seven_by_heads_of_width_one_exactly(tmp_path: Path) -> None:
    proof = prove(digits().take(97), Prove(construction="width-one", heads=32))
    assert proof.setup.claim == "interpolation" and proof.standing is Level.PROVED
    assert not proof.trace.failures()
    assert checker.check_file(written(proof, tmp_path / "out")).status == "holds"


@pytest.mark.slow
def test_every_digit_by_heads_of_width_one(tmp_path: Path) -> None:
    data = digits()
    proof = prove(data, Prove(construction="width-one"))
    assert data.T == 1782 and proof.standing is Level.PROVED
    assert proof.setup.claim == "full-rank"
    assert fast.check_file(written(proof, tmp_path / "out")).status == "holds"
