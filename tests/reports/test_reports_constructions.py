"""Reports of real proofs use the words of their own construction and of no other."""

from __future__ import annotations

import json
from pathlib import Path

from attncert.constructions.data import generators
from attncert.constructions.data.loading import load
from attncert.reports.answers import write_report
from attncert.verify.prove.prove import prove
from attncert.verify.questions.prove import Prove

SHARED = generators.family(7, 3, 4, shared=True, queries="moment-curve", seed=1)


def test_the_data_in_the_certificate_give_the_same_report_again(tmp_path: Path) -> None:
    """The commands in "How to reproduce" write the same files again, except for the name in the
    title."""
    write_report(prove(SHARED, Prove(construction="width-one")), tmp_path / "first")
    certificate = json.loads((tmp_path / "first" / "certificate.json").read_text())
    (tmp_path / f"{SHARED.name}.json").write_text(json.dumps(certificate["data"]))
    again = prove(load(str(tmp_path / f"{SHARED.name}.json")), Prove(construction="width-one"))
    write_report(again, tmp_path / "second")
    assert again.data.name == SHARED.name
    for file in sorted((tmp_path / "first").rglob("*.*")):
        name = file.relative_to(tmp_path / "first")
        if name.name != "timings.json" and file.is_file():
            assert file.read_bytes() == (tmp_path / "second" / name).read_bytes(), name
