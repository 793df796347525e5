"""Planted defects: each is caught by the check of its own step, and every check is needed.

The records are those that `attncert audit` prints (verify/audit/defects/); what is tested beside
them is that the test can fail: a blinded check, an unneeded one and a false alarm are reported.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache, partial
from unittest.mock import patch

import pytest
from support.paths import ROOT

from attncert.verify.audit.defects import certificates, spoil, traces
from attncert.verify.audit.defects.defect import Defect, Family, Result, column, examine
from attncert.verify.audit.defects.runs import RUNS, paper, run
from attncert.verify.audit.defects.section import FAMILIES, planted_defects, section
from attncert.verify.audit.defects.steps.shared import claims, fired
from attncert.verify.audit.records import Scope, Standing
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.methods import registry
from attncert.verify.steps import shared

NAMES = [family.name for family in FAMILIES]


@cache
def result(name: str) -> Result:
    return examine(FAMILIES[NAMES.index(name)])


@pytest.mark.parametrize("name", NAMES)
def test_every_defect_is_caught_by_the_check_of_its_own_step(name: str) -> None:
    assert result(name).missed == ()
    assert {column(row.defect.check) for row in result(name).rows} <= set(
        result(name).family.checks
    )


@pytest.mark.parametrize("name", NAMES)
def test_nothing_fires_on_a_correct_run(name: str) -> None:
    assert result(name).false_alarms == {}


@pytest.mark.parametrize("name", NAMES)
def test_every_check_is_needed_or_implied(name: str) -> None:
    assert result(name).unneeded == ()
    assert not result(name).needed & set(result(name).family.implied)


@pytest.mark.parametrize("name", NAMES)
def test_columns_are_all_that_fires_and_names_are_unique(name: str) -> None:
    family = result(name).family
    assert {c for row in result(name).rows for c in row.columns} == set(family.checks)
    names = [defect.name for defect in family.defects]
    assert len(set(names)) == len(names) and len(set(family.checks)) == len(family.checks)


def test_the_documentation_counts_them_right() -> None:
    page = (ROOT / "docs" / "robustness.md").read_text()
    defects = sum(len(result(name).rows) for name in NAMES)
    assert f"{defects} deliberate errors are planted" in page
    rows = [f"| {len(family.defects)} | {len(family.checks)} |\n" for family in FAMILIES]
    places = [page.index(row) for row in rows]
    assert places == sorted(places)


def test_there_are_enough_for_every_construction() -> None:
    count = {name: len(result(name).rows) for name in NAMES}
    assert sum(count.values()) >= 170 and count["paper"] >= 40 and count["width-one"] >= 28
    assert all(count[method.name] >= 12 for method in registry._OURS)


# Errors in heads: refuted with a witness, and not before the head that was spoilt.

HEAD_DEFECTS = {
    f"{family.name}: {defect.name}": defect
    for family in FAMILIES
    if family.name in RUNS
    for defect in family.defects
}


@pytest.mark.parametrize("defect", HEAD_DEFECTS.values(), ids=HEAD_DEFECTS)
def test_what_fires_has_its_level_and_a_witness(defect: Defect) -> None:
    found: list[Claim] = [c for c in claims(defect.plant()) if not c.level.holds]
    assert found
    for claim in found:
        undecided = claim.id.endswith((".rank", ".independence"))
        assert claim.level is (Level.UNDECIDED if undecided else Level.REFUTED)
        assert claim.witness
        json.dumps(claim.as_dict(), allow_nan=False)


@pytest.mark.parametrize(("name", "least"), [("paper", 20), ("width-one", 20), ("generic", 6)])
def test_no_earlier_head_is_blamed(name: str, least: int) -> None:
    """Where the record or the weights of one head were spoilt, and not the data of all."""
    right = [run(name, kind).data for kind in RUNS[name]]
    seen = 0
    for defect in result(name).family.defects:
        spoilt = defect.plant()
        if defect.check != "groups" and any(spoilt.data is data for data in right):
            own = int(defect.check.split(".")[1])
            heads = {int(x.split(".")[1]) for x in result(name).family.fired(spoilt) - {"groups"}}
            assert min(heads) == own, defect.name
            seen += 1
    assert seen >= least


def test_the_same_matrix_in_other_factors_is_no_defect() -> None:
    """Key times 2, query by 2: the same M."""
    right = paper("interior")
    found = right.construction.layer.heads[1]
    same = spoil.weights(right, key=found.key * 2, query=found.query / 2)
    assert fired(same) == frozenset()


def test_rebuilt_leaves_everything_else_alone() -> None:
    right = paper("interior")
    same = spoil.rebuilt(right)
    assert same.construction.layer.heads[1].key == right.construction.layer.heads[1].key
    assert fired(same) == frozenset()


# The test of the verifier can fail.


def blinded(step: str) -> Family:
    """The paper's family, with one check that finds everything right."""
    family = FAMILIES[NAMES.index("paper")]
    seen = {c for c in family.checks if c != step}
    return replace(
        family,
        fired=lambda run: frozenset(x for x in family.fired(run) if column(x) in seen),
        correct={},
    )


@pytest.mark.parametrize("step", result("paper").family.checks)
def test_without_a_check_a_defect_passes_unseen(step: str) -> None:
    """Each check, removed in turn, lets a defect through; and its own defects are reported."""
    found = examine(blinded(step))
    assert any(not row.columns for row in found.rows)
    own = {row.defect.name for row in result("paper").rows if column(row.defect.check) == step}
    assert set(found.missed) == own
    report = planted_defects([found])
    assert report.standing is Standing.AGAINST
    assert any(f"the check {step} is" not in finding.statement for finding in report.findings)


def test_a_broken_check_is_found_by_the_section() -> None:
    """The separator's check no longer looks at the bottom of Eu."""
    right = shared.separator

    def blind(data: object, head: object, number: int) -> Claim:
        claim = right(data, head, number)  # type: ignore[arg-type]
        return replace(claim, level=Level.PROVED)

    with patch("attncert.verify.steps.shared.separator", blind):
        found = examine(FAMILIES[NAMES.index("paper")])
    assert len(found.missed) == 3 and all("Eu" in name for name in found.missed)
    assert "separator" in found.unneeded


def test_a_false_alarm_is_found() -> None:
    family = FAMILIES[NAMES.index("trace")]
    found = examine(replace(family, correct={"spoilt": family.defects[0].plant}))
    assert found.false_alarms == {"spoilt": {"trace.once"}}
    assert planted_defects([found]).standing is Standing.AGAINST


def test_an_unneeded_check_is_found() -> None:
    family = FAMILIES[NAMES.index("certificate")]
    few = [defect for defect in family.defects if defect.check == "digest"]
    found = examine(replace(family, defects=tuple(few), correct={}))
    assert "digest" not in found.unneeded and "prime" in found.unneeded
    assert planted_defects([found]).standing is Standing.AGAINST


def test_the_section_says_what_was_found() -> None:
    calls: list[str] = []
    found = section(Scope(progress=lambda stage, done, of: calls.append(stage)))
    assert found.standing is Standing.OK and found.findings == ()
    assert found.numbers["planted"] == found.numbers["caught by its own check"] >= 170
    assert len(found.matrices) == len(FAMILIES) == len(set(calls))
    marks = {mark for matrix in found.matrices for _, row in matrix.rows for mark in row}
    assert marks == {"own", "also", ""}
    assert all(row[3] != "0" or row[4] not in ("", "nothing known") for row in found.tables[0].rows)


# The certificates: the same by hand.


@pytest.mark.parametrize("name", ["interpolation", "full-rank", "dependent-set"])
def test_an_intact_certificate_holds_and_a_changed_one_does_not(name: str) -> None:
    assert certificates.fired(certificates.true(name)) == frozenset()
    stale = certificates.stale(name, "produced_by.seed", 77)
    assert certificates.fired(stale) == {"digest"}


def test_traces_keep_the_rules_for_every_kind_of_run() -> None:
    for name in traces.RUNS:
        assert traces.fired(traces.told(name)) == frozenset()


@pytest.mark.parametrize(
    "raised", [partial(traces.level, "rank", Level.UNDECIDED), partial(traces.twice, "groups")]
)
def test_a_weaker_claim_is_no_violation_but_a_second_one_is(raised: partial[traces.Told]) -> None:
    expected = {"trace.once"} if raised.func is traces.twice else set()
    assert traces.fired(raised()) == expected
