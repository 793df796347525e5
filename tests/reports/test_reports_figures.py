"""What figures show, and that identical runs give identical bytes (graphs: test_proof_graph)."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from support import proof_fixtures as fixtures
from support.proof_fixtures import KINDS
from support.shares import share

from attncert.reports.answers import report
from attncert.reports.prove.heat_map import COLOURS, GREY, MOST_CELLS, heat_map

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("kind", [*share(KINDS, 4), pytest.param("large", marks=pytest.mark.slow)])
def test_figures_are_svg(kind: str) -> None:
    proof, files = fixtures.rendered(kind)
    drawn = {name: content for name, content in files.items() if name.endswith(".svg")}
    names = ["graph", *(["saturation"] if proof.heads else [])]
    assert set(drawn) == {f"figures/{name}.svg" for name in names}
    for svg in drawn.values():
        assert ElementTree.fromstring(svg).tag == f"{SVG}svg"
        assert len(svg) < 400_000


def cells(svg: str) -> list[list[str]]:
    """The colours of the map, heads × examples."""
    drawn = ElementTree.fromstring(svg).find(f"{SVG}svg")
    assert drawn is not None
    _, _, columns, heads = map(int, drawn.attrib["viewBox"].split())
    shown = [[""] * columns for _ in range(heads)]
    for rect in drawn.iter(f"{SVG}rect"):
        x, y, width, height = (int(rect.attrib[k]) for k in ("x", "y", "width", "height"))
        for h in range(y, y + height) if rect.attrib["fill"] != "none" else ():
            shown[h][x : x + width] = [rect.attrib["fill"]] * width
    return shown


@pytest.mark.parametrize("high", [40.0, 9e4, float("inf")])
def test_the_colour_of_a_cell_is_its_saturation(high: float) -> None:
    """The first colour reaches up to one bit, and each later one up to twice as many as the one
    before."""
    bits = [[0.25, 0.5, 1.0, 3.5, 17.0], [float("nan"), high, 2.25, 2.5, 2.75]]
    expected = [
        [
            GREY if b != b else COLOURS[min(max(math.floor(math.log2(min(b, 1e6))) + 1, 0), 12)]
            for b in row
        ]
        for row in bits
    ]
    assert cells(heat_map(np.array(bits), "examples").decode()) == expected


def test_the_colours_are_those_of_cividis() -> None:
    cividis = mpl.colormaps["cividis_r"].resampled(len(COLOURS))
    for k, colour in enumerate(COLOURS):
        assert mpl.colors.to_rgb(colour) == pytest.approx(cividis(k)[:3], abs=0.03)


def test_large_maps_show_the_least_saturated_pair_of_each_block() -> None:
    bits = np.full((3, 2 * MOST_CELLS[1] - 1), 30.0)
    bits[1, 7] = 0.5
    drawn = cells(heat_map(bits, "examples").decode())
    bright = [(h, t) for h, row in enumerate(drawn) for t, c in enumerate(row) if c == COLOURS[0]]
    assert bright == [(1, 6), (1, 7)]


def test_groups_are_outlined_and_axes_are_labelled() -> None:
    svg = heat_map(np.full((4, 30), 9.0), "examples", [(1, 10, 25)]).decode()
    root = ElementTree.fromstring(svg)
    outline = next(x for x in root.iter(f"{SVG}rect") if x.attrib.get("fill") == "none").attrib
    assert [float(outline[k]) for k in ("x", "y", "width", "height")] == [10, 1, 15, 1]
    assert {"0", "30", "4", "2⁻⁸", "examples"} < {x.text for x in root.iter(f"{SVG}text")}


def test_numbers_beyond_floats_are_told_and_drawn() -> None:
    """For data with huge exponents, B has hundreds of digits, and 1 - p_max is smaller
    than every positive float."""
    proof = fixtures.paper_proof()
    huge = replace(
        proof.heads[1], c=10**400, bits=10**400, z_bits=10**500,
        log2_off_peak=(float("-inf"), -1e300, -0.5),
    )  # fmt: skip
    files = report(replace(proof, heads=(proof.heads[0], huge))).files
    assert "| below $2^{-10^{200}}$ |" in files["report.md"].decode()
    assert "about $1.00\\cdot 10^{500}$ bits" in files["report.md"].decode()
    assert json.loads(files["answer.json"])["exhibits"]["heads"][1]["log2_off_peak"][0] == "-inf"


# --- identical runs, identical bytes ------------------------------------------------------------

SAME = ("small", "refused-context")


@pytest.mark.slow
def test_equal_proofs_give_equal_bytes() -> None:
    proofs = [KINDS[kind]() for kind in SAME]
    here = [report(proof).files for proof in proofs]
    assert [report(proof).files for proof in proofs] == here


def test_times_and_versions_change_timings_json_alone() -> None:
    _, a = fixtures.rendered("small")
    slow = fixtures.changed(fixtures.paper_proof(), lambda claim: claim.timed(123.456))
    b = report(replace(slow, versions={"python": "9.9.9"})).files
    assert {name for name in a if a[name] != b[name]} == {"timings.json"}
    assert b"123.456" in b["timings.json"] and b"9.9.9" in b["timings.json"]
