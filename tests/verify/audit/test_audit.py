"""The audit's frame: standings, exit statuses, the report, the command as a user runs it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest
import support.figures

from attncert.constructions.data.dataset import Dataset
from attncert.reports.audit.figures import drawn
from attncert.reports.audit.page import audit_dict, one_line, render, report
from attncert.reports.folder import write
from attncert.reports.report import MARK
from attncert.verify.audit.records import (
    AuditSection,
    Finding,
    HeatMap,
    Matrix,
    Scope,
    Section,
    Standing,
    Table,
    audit,
)

TINY = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7], "tiny")
WITNESS = {"examples": [0, 1], "coefficients": ["2", "-1"]}


@pytest.fixture(scope="module", autouse=True)
def canvas() -> Iterator[None]:
    with support.figures.drawn():
        yield


def made(*standings: Standing) -> Section:
    findings = tuple(Finding(f"finding {k} of $x<1$", s, WITNESS) for k, s in enumerate(standings))
    return lambda scope: AuditSection(
        "made",
        "A made section",
        text=("One paragraph.",),
        tables=(Table("A table", ("a", "b|c"), (("1", "2"),), note="a note"),),
        matrices=(
            Matrix("audit-steps", "A matrix", "row", ("x", "y"), (("r", ("held", "")),),
                   {"held": "it held"}),
        ),
        findings=findings,
        numbers={"seed": scope.seed},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("standings", "status"),
    [
        ((), 0),
        ((Standing.OK,), 0),
        ((Standing.OK, Standing.UNDECIDED), 3),
        ((Standing.UNDECIDED, Standing.AGAINST, Standing.OK), 1),
    ],
)
def test_the_worst_finding_decides(standings: tuple[Standing, ...], status: int) -> None:
    found = audit(Scope(), [made(), made(*standings)])
    assert found.exit_status == status
    assert audit_dict(found)["exit_status"] == status


def test_an_audit_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no sections"):
        audit(Scope(), [])


def test_the_page_shows_findings_first_and_tables_whole() -> None:
    found = audit(Scope(TINY, quick=True, seed=3), [made(Standing.OK, Standing.AGAINST)])
    files = render(found)
    page = files["audit.md"].decode()
    assert page.startswith(MARK) and "# Audit of tiny" in page and "quick run" in page
    assert page.index("finding 1") < page.index("finding 0")
    assert "Between queries: $`2\\,e^{(0)} - e^{(1)} = 0`$." in page
    assert "| a | b&#124;c |\n| --- | --- |\n| 1 | 2 |" in page
    assert "| r | held |  |" in page and "- held: it held" in page
    assert set(files) == {"audit.md", "audit.json", "figures/audit-steps.svg"}
    assert json.loads(files["audit.json"])["sections"][0]["numbers"] == {"seed": 3}
    assert (
        render(audit(Scope(TINY, quick=True, seed=3), [made(Standing.OK, Standing.AGAINST)]))
        == files
    )
    assert one_line(found).startswith("Something is not as expected") and "x<1" in one_line(found)


def test_the_folder_is_replaced_and_others_are_not(tmp_path: Path) -> None:
    for _ in range(2):
        written = report(audit(Scope(), [made()]))
        paths = write(written, tmp_path / "out")
    assert written.exit_status == 0 and {p.name for p in paths} == {
        "audit.md", "audit.html", "audit.json", "audit-steps.svg"
    }  # fmt: skip


def test_the_figure_shows_marks_and_whether_they_are_bad() -> None:
    def picture(mark: str, bad: frozenset[str] = frozenset(), label: str = "row") -> bytes:
        meanings = {"held": "it held", "missed": "it did not"}
        rows = ((label, (mark, "")),)
        made = Matrix("audit-steps", "A matrix", "", ("$x_1$", "y"), rows, meanings, bad)
        return drawn([made], [])["figures/audit-steps.svg"]

    pictures = [
        picture("held"),
        picture("missed"),
        picture("held", frozenset({"held"})),
        picture(""),
    ]
    assert len(set(pictures)) == 4 and picture("held") == pictures[0]
    assert picture("held", label="a" * 200) == picture("held", label="a" * 199)  # shortened


def test_the_heat_map_shows_bits_however_large() -> None:
    def picture(*bits: float) -> bytes:
        made = HeatMap("saturation", "Saturation", (bits, (1.0, 2.0)))
        return drawn([], [made])["figures/saturation.svg"]

    pictures = [picture(*x) for x in ((1, 2), (1, 9), (1, 1e100), (math.inf, 0))]
    assert len(set(pictures)) == 4
    assert picture(1, 1e300) == picture(1, 2), "beyond floats: as dark as it gets"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Table("t", ("a", "b"), (("1",),)),
        lambda: Matrix("audit-steps", "m", "", ("x",), (("r", ("a", "b")),), {"a": "", "b": ""}),
        lambda: Matrix("audit-steps", "m", "", ("x",), (("r", ("a",)),), {}),
    ],
)
def test_a_table_that_does_not_fit_is_refused(make: object) -> None:
    assert callable(make)
    with pytest.raises(ValueError):
        make()
