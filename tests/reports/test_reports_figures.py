"""Figures: what they show, and that equal runs give equal bytes (the graph: test_proof_graph)."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import replace

import matplotlib as mpl
import pytest
import support.figures
from support import proof_fixtures as fixtures
from support.proof_fixtures import KINDS
from support.shares import share

from attncert.reports.answers import report


@pytest.fixture(scope="module", autouse=True)
def canvas() -> Iterator[None]:
    with support.figures.drawn():
        yield


@pytest.mark.parametrize("kind", [*share(KINDS, 4), pytest.param("large", marks=pytest.mark.slow)])
def test_figures_are_svg_with_text_as_paths(kind: str) -> None:
    proof, files = fixtures.rendered(kind)
    drawn = {name: content for name, content in files.items() if name.endswith(".svg")}
    names = ["saturation"] if proof.heads else []
    assert set(drawn) == {f"figures/{name}.svg" for name in ("graph", *names)}
    for svg in (drawn[f"figures/{name}.svg"] for name in names):
        root = ElementTree.fromstring(svg)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert float(root.attrib["width"].removesuffix("pt")) <= 1100
        assert not root.findall(".//{http://www.w3.org/2000/svg}text")
        assert len(svg) < 400_000
        assert b"Matplotlib v" not in svg and b"<dc:date>" not in svg


def test_numbers_beyond_floats_are_told_and_drawn() -> None:
    """Logits of data with huge exponents: B with hundreds of digits, 1 - p_max below any float."""
    proof = fixtures.paper_proof()
    huge = replace(
        proof.heads[1], c=10**400, bits=10**400, z_bits=10**500,
        log2_off_peak=(float("-inf"), -1e300, -0.5),
    )  # fmt: skip
    files = report(replace(proof, heads=(proof.heads[0], huge))).files
    assert "| below $2^{-10^{200}}$ |" in files["report.md"].decode()
    assert "about $1.00\\cdot 10^{500}$ bits" in files["report.md"].decode()
    assert json.loads(files["answer.json"])["exhibits"]["heads"][1]["log2_off_peak"][0] == "-inf"


# --- equal runs, equal bytes --------------------------------------------------------------------

SAME = ("small", "refused-context")


@pytest.mark.slow
def test_equal_proofs_give_equal_bytes() -> None:
    """Twice, the second time under another user's style."""
    proofs = [KINDS[kind]() for kind in SAME]
    here = [report(proof).files for proof in proofs]
    style = {"font.size": 31.0, "svg.fonttype": "none", "axes.grid": True, "lines.linewidth": 9.0}
    with mpl.rc_context(style):
        assert [report(proof).files for proof in proofs] == here


def test_times_and_versions_change_timings_json_alone() -> None:
    _, a = fixtures.rendered("small")
    slow = fixtures.changed(fixtures.paper_proof(), lambda claim: claim.timed(123.456))
    b = report(replace(slow, versions={"python": "9.9.9"})).files
    assert {name for name in a if a[name] != b[name]} == {"timings.json"}
    assert b"123.456" in b["timings.json"] and b"9.9.9" in b["timings.json"]
