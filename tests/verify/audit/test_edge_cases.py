"""The catalogue: every case comes out as it must, and a wrong expectation does not pass."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from support import figures
from support.paths import ROOT

import attncert
from attncert.reports.proof.figures import draw
from attncert.verify.audit import sections as audit_sections
from attncert.verify.audit.edge_cases import CASES, EdgeCase, FileCase
from attncert.verify.audit.edge_cases.check import check
from attncert.verify.audit.edge_cases.records import PROVED_BY, Expect
from attncert.verify.audit.edge_cases.section import chosen, edge_cases
from attncert.verify.audit.records import Scope, Standing
from attncert.verify.claims.evidence import Level

DATA = [case for case in CASES if isinstance(case, EdgeCase)]
FILES = [case for case in CASES if isinstance(case, FileCase)]


def named(name: str) -> EdgeCase:
    return next(case for case in DATA if case.name == name)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.group}: {case.name}")
def test_the_case_is_as_expected(case: EdgeCase | FileCase) -> None:
    assert check(case).differences == ()


@pytest.mark.slow
@pytest.mark.parametrize("case", DATA, ids=lambda case: case.name)
def test_its_figures_are_drawn(case: EdgeCase) -> None:
    for expect in [expect for expect in case.expect if expect.run in PROVED_BY][:1]:
        settings = attncert.Settings(construction=expect.run, **expect.options)
        with figures.drawn():
            drawn = draw(attncert.prove(case.data(), settings))
        assert all(svg.rstrip().endswith(b"</svg>") for svg in drawn.values())


def test_there_are_enough_and_no_name_twice() -> None:
    assert len(DATA) >= 40 and len(FILES) >= 20
    assert len({case.name for case in CASES}) == len(CASES)


def test_every_expected_relation_is_true() -> None:
    """Σ c·row = 0 in plain fractions, whatever the toolkit says; none is trivial."""
    seen = 0
    for case in DATA:
        data = case.data()
        for witness in (w for expect in case.expect for w in expect.fails.values()):
            if "coefficients" not in witness:
                continue
            coefficients = [Fraction(c) for c in witness["coefficients"]]
            if "context" in witness:
                rows = data.contexts.fractions()[witness["context"]]
            else:
                queries = data.queries.fractions()
                rows = [queries[t] for t in witness["examples"]]
            assert any(coefficients)
            columns = zip(*rows, strict=True)
            pairs = [zip(coefficients, column, strict=True) for column in columns]
            assert not any(sum(c * x for c, x in pair) for pair in pairs), case.name
            seen += 1
    assert seen > 50


@pytest.mark.parametrize("case", FILES, ids=lambda case: case.name)
def test_the_command_says_the_same_of_a_file(
    case: FileCase, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / case.file
    path.write_bytes(case.content())
    status = attncert.main(["prove", str(path), "--out", str(tmp_path / "out")])
    err = capsys.readouterr().err
    assert status == (0 if case.line is None else 2)
    if case.line is not None:
        assert err.startswith("attncert: " + case.line.replace("FILE", str(path)))
        assert err.count("\n") == 1 and not (tmp_path / "out").exists()


WRONG = {
    "another standing": Expect("paper", Level.NOT_APPLICABLE),
    "a hypothesis that holds": Expect("paper", Level.PROVED, {"hypothesis.A1": {}}),
    "a claim that does not exist": Expect("paper", Level.PROVED, shows={"nothing": {}}),
    "a limit of all weights that is none": Expect(
        "paper", Level.PROVED, limits={"rows.universal": Level.REFUTED}
    ),
    "another number": Expect("paper", Level.PROVED, shows={"rank": {"rank": 17}}),
}


@pytest.mark.parametrize("expect", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_expectation_is_found(expect: Expect) -> None:
    case = named("n=d=1")
    assert check(replace(case, expect=(Expect("paper", Level.PROVED),))).as_expected
    assert not check(replace(case, expect=(expect,))).as_expected


def test_a_failure_that_is_not_in_the_table_is_found() -> None:
    case = named("zero query alone")
    without = replace(case, expect=tuple(replace(e, fails={}) for e in case.expect))
    assert any("hypothesis.A1 should hold" in d for d in check(without).differences)


def test_a_limit_that_is_not_in_the_table_is_found() -> None:
    case = named("repeated query, shared context, other label")
    without = replace(case, expect=tuple(replace(e, limits={}) for e in case.expect[:1]))
    found = check(without).differences
    assert any("rows.labels: found refuted" in d for d in found)
    assert any("given-labels: found refuted" in d for d in found)


@pytest.mark.parametrize("change", [{"examples": [0, 2]}, {"coefficients": ["1", "1"]}])
def test_another_witness_is_found(change: dict[str, object]) -> None:
    case = named("repeated query, distinct contexts")
    first = case.expect[0]
    fails = {"hypothesis.A1": {**first.fails["hypothesis.A1"], **change}}
    changed = replace(case, expect=(replace(first, fails={**first.fails, **fails}),))
    assert any("hypothesis.A1: expected" in d for d in check(changed).differences)
    assert check(replace(case, expect=(first,))).as_expected


@pytest.mark.parametrize("line", ["labels[1]: must be", None])
def test_a_wrong_line_is_found(line: str | None) -> None:
    nan = next(case for case in FILES if case.name == "NaN")
    outcome = check(replace(nan, line=line))
    assert len(outcome.differences) == 1


def test_an_accepted_file_that_should_be_refused_is_found() -> None:
    good = next(case for case in FILES if case.line is None)
    assert "accepted" in check(replace(good, line="FILE: must be")).differences[0]


def test_the_section_counts_and_shows_what_is_wrong() -> None:
    good, bad = named("n=d=1"), named("H=1, T=n")
    bad = replace(bad, expect=(Expect("paper", Level.UNDECIDED),))
    found = edge_cases([good, bad, FILES[0]], Scope())
    assert found.standing is Standing.AGAINST and found.numbers["as expected"] == 2
    (finding,) = found.findings
    assert finding.witness == {"differences": ["paper: expected undecided, found proved"]}
    (matrix,) = found.matrices
    assert [cells[0] for _, cells in matrix.rows] == ["proved", "≠"]


def test_the_quick_section_is_a_part_of_every_group() -> None:
    assert chosen(quick=False) == list(CASES)
    quick = chosen(quick=True)
    assert {case.group for case in quick} == {case.group for case in CASES}
    assert len(CASES) // 2 <= len(quick) < len(CASES)


def test_a_planted_wrong_expectation_gives_exit_status_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = replace(named("n=d=1"), expect=(Expect("width-one", Level.REFUTED),))
    sections = (lambda scope: edge_cases([named("T<n"), bad], scope),)
    monkeypatch.setattr(audit_sections, "sections", lambda scope: sections)
    out = tmp_path / "out"
    assert attncert.main(["audit", "--out", str(out), "--json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert shown["standing"] == "against" and shown["exit_status"] == 1
    assert "expected refuted, found proved" in (out / "audit.md").read_text()


def test_the_documentation_is_made_from_the_table() -> None:
    """After a change: `python docs/make_edge_cases.py`, and read the diff."""
    script = ROOT / "docs" / "make_edge_cases.py"
    spec = importlib.util.spec_from_file_location("make_edge_cases", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = (ROOT / "docs" / "edge-cases.md").read_text()
    assert page == module.page()
    assert all(case.why[:20] for case in CASES) and page.count("\n| ") == len(CASES) + 12
