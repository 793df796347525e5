"""`attncert tightness` and the gallery's cases: claims, certificates, exit statuses."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest
from support.tightness_cases import found

import attncert
from attncert.constructions.data import generators
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.reports.tightness.page import one_line, render
from attncert.verify.certificate import canonical_bytes
from attncert.verify.checker import check_file
from attncert.verify.claims.evidence import Level
from attncert.verify.tightness import studies
from attncert.verify.tightness.studies import Study, cases, study

EYE = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
UNIVERSAL = {
    "given-labels-3": Level.REFUTED, "given-labels-4": Level.REFUTED,
    "given-labels-6": Level.REFUTED, "explored": Level.UNDECIDED, "permuted": Level.PROVED,
    "permuted-above": Level.REFUTED, "distinct": Level.PROVED, "shifted": Level.REFUTED,
    "signed-pairs": Level.REFUTED, "label-rank": Level.UNDECIDED,
}  # fmt: skip


@functools.cache
def gallery() -> tuple[Study, ...]:
    return tuple(cases(explored=30))


def test_every_case_says_what_it_is_there_to_say() -> None:
    assert {case.name: case.universal for case in gallery()} == UNIVERSAL
    by_name = {case.name: found(case.claims) for case in gallery()}
    for T in (3, 4, 6):  # the bound on universal memorization is 2, and the labels are met exactly
        claims = by_name[f"given-labels-{T}"]
        assert claims["given.universal"].numbers == {"largest rank of Z": 2, "T": T}
        assert (
            claims["given.output"].level is claims["interpolation.rational"].level is Level.PROVED
        )
    assert by_name["permuted"]["tightness.bound"].numbers["bound"] == 9  # 4·2 + 1
    assert by_name["permuted"]["tightness.attained"].numbers["rank"] == 9
    assert by_name["distinct"]["tightness.attained"].numbers["rank"] == 32  # H(n-1) + 1 = 13
    shifted = by_name["shifted"]["tightness.bound"].numbers
    assert shifted["bound"] < shifted["H a + 1"]
    assert by_name["explored"]["explore.distinct-queries"].numbers["failures"] == 0
    assert by_name["label-rank"]["labels.rank"].level is Level.REFUTED


@pytest.mark.parametrize("name", [k for k in UNIVERSAL if k in (
    "given-labels-3", "given-labels-4", "given-labels-6", "permuted", "distinct")])  # fmt: skip
def test_certificates_check(name: str, tmp_path: Path) -> None:
    case = next(case for case in gallery() if case.name == name)
    assert case.certificate is not None
    file = tmp_path / "certificate.json"
    file.write_bytes(canonical_bytes(case.certificate))
    assert check_file(str(file)).status == "holds"


def test_the_page_holds_every_claim_and_certificate() -> None:
    files = render(gallery(), "Tightness")
    report = files["report.md"].decode()
    for case in gallery():
        assert f"## {case.title.split(':')[0]}" in report
        assert all(f"| `{claim.id}` |" in report for claim in case.claims)
        assert (case.certificate is not None) == (f"certificates/{case.name}.json" in files)
    record = json.loads(files["tightness.json"])
    assert {s["name"]: s["universal"] for s in record["studies"]} == {
        k: v.value for k, v in UNIVERSAL.items()
    }
    assert files == render(gallery(), "Tightness")


@pytest.mark.parametrize(
    ("data", "heads", "universal"),
    [
        (generators.family(7, 3, 4, shared=True, seed=1), 3, Level.PROVED),
        (generators.family(7, 3, 4, shared=True, seed=1), 2, Level.REFUTED),
        (generators.random(8, 4, 5, seed=1), 2, Level.PROVED),
        (generators.random(11, 4, 5, seed=1), 2, Level.REFUTED),
        (generators.signed_pairs(), 9, Level.REFUTED),
    ],
)
def test_any_data_set(data: Dataset, heads: int, universal: Level, tmp_path: Path) -> None:
    made = study(data, heads)
    assert made.universal is universal
    found(made.claims)
    assert (made.certificate is not None) == (universal is Level.PROVED)
    if made.certificate is not None:
        (tmp_path / "c.json").write_bytes(canonical_bytes(made.certificate))
        assert check_file(str(tmp_path / "c.json")).status == "holds"


def test_large_data_get_the_bounds_without_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studies, "MOST_FEATURES", 0)
    monkeypatch.setattr("attncert.verify.tightness.relations.rows.MOST_ROWS", -1)
    made = study(generators.family(7, 3, 4, shared=True, seed=1), 2)
    assert made.universal is Level.REFUTED and made.certificate is None
    ids = {claim.id for claim in made.claims}
    assert "tightness.bound" in ids and not ids & {"tightness.attained", "rows.relations"}


def test_senseless_heads() -> None:
    with pytest.raises(InputError, match=r"^--heads: must be a whole number from 1"):
        study(generators.signed_pairs(), 0)


def test_the_sentence_keeps_the_given_labels_apart() -> None:
    equal = study(Dataset.of(EYE, [[1, 2, 3], [1, 2, 3]], [1, 2]), 2)
    assert one_line(equal) == (
        "Universal memorization: no keys and queries serve every labelling. Given labels: "
        "impossible (rows.labels)."
    )


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "data.json"
    data.write_text(json.dumps({"contexts": EYE, "queries": EYE, "labels": [1, 2, 3]}))
    out = str(tmp_path / "out")
    assert attncert.main(["tightness", str(data), "--heads", "1", "--out", out]) == 0
    assert capsys.readouterr().out.startswith("Universal memorization: some keys and queries")
    assert attncert.main(["check", f"{out}/certificate.json"]) == 0
    capsys.readouterr()
    more = {"contexts": EYE, "queries": [*EYE, [1, 1, 1]], "labels": [1, 2, 3, 4]}
    data.write_text(json.dumps(more))
    words = ["tightness", str(data), "--heads", "1", "--out", out, "--json"]
    assert attncert.main(words) == 1
    assert json.loads(capsys.readouterr().out)["universal"] == "refuted"
    assert attncert.main(["tightness", str(data), "--seed", "-1", "--out", out]) == 2
    assert capsys.readouterr().err.count("\n") == 1
