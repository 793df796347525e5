"""Figures: what they show, and that equal runs give equal bytes (the graph: test_proof_graph)."""

from __future__ import annotations

import base64
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import LogNorm, Normalize
from PIL import Image
from support import proof_fixtures as fixtures
from support.proof_fixtures import KINDS
from support.shares import share

from attncert.constructions.arrays import FloatArray
from attncert.constructions.data.digits import digits
from attncert.reports.answers import report
from attncert.reports.prove.heat_map import MOST_CELLS, heat_map
from attncert.verify.limits.capacity.capacity import capacity
from attncert.verify.questions.fit import Capacity

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


def cells(svg: str) -> FloatArray:
    """The pixels of the embedded image, read by Pillow: rows × columns × red, green, blue."""
    image = re.search(r'href="data:image/png;base64,([^"]+)"', svg)
    assert image is not None
    content = io.BytesIO(base64.b64decode(image[1]))
    return np.array(Image.open(content).convert("RGB"), dtype=float)


@pytest.mark.parametrize(("high", "norm"), [(40, Normalize(0, 40)), (9e4, LogNorm(1, 9e4))])
def test_the_colour_of_a_cell_is_its_saturation(high: float, norm: Normalize) -> None:
    """Against Matplotlib: cividis, by the bits or, if there are many, by their logarithm."""
    bits = np.array([[1.0, 3.5, 17.0], [float("nan"), high, 2.25]])
    scale = mpl.colormaps["cividis_r"].with_extremes(bad="#bbbbbb")
    expected = 255 * scale(norm(np.ma.masked_invalid(bits)))[..., :3]
    assert np.abs(cells(heat_map(bits, "examples")._repr_svg_()) - expected).max() < 12


def test_large_maps_show_the_least_saturated_pair_of_each_block() -> None:
    bits = np.full((3, 2 * MOST_CELLS[1]), 30.0)
    bits[1, 7] = 0.5
    drawn = cells(heat_map(bits, "examples")._repr_svg_())
    assert drawn.shape == (3, MOST_CELLS[1], 3)
    darkest = (drawn == drawn[0, 0]).all(axis=2)
    assert np.argwhere(~darkest).tolist() == [[1, 3]]


def test_groups_are_outlined_and_axes_are_labelled() -> None:
    svg = heat_map(np.full((4, 30), 9.0), "examples", [(1, 10, 25)])._repr_svg_()
    root = ElementTree.fromstring(svg)
    image = root.find(f"{SVG}image")
    assert image is not None
    left, top, width, height = (float(image.attrib[k]) for k in ("x", "y", "width", "height"))
    outline = next(x for x in root.iter(f"{SVG}rect") if x.attrib.get("fill") == "none").attrib
    found = [float(outline[k]) for k in ("x", "y", "width", "height")]
    assert found == pytest.approx([left + width / 3, top + height / 4, width / 2, height / 4])
    assert {"0", "30", "4", "2⁻⁵", "examples"} < {x.text for x in root.iter(f"{SVG}text")}


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
    proofs = [KINDS[kind]() for kind in SAME]
    here = [report(proof).files for proof in proofs]
    assert [report(proof).files for proof in proofs] == here


@pytest.mark.slow
def test_figures_of_matplotlib_are_not_in_the_users_style() -> None:
    answer = capacity(digits(), Capacity(layers=2, heads=2, examples=12))
    style = {"font.size": 31.0, "svg.fonttype": "none", "axes.grid": True, "lines.linewidth": 9.0}
    here = report(answer).files
    with mpl.rc_context(style):
        assert report(answer).files == here
    assert b"Matplotlib v" not in here["figures/depth.svg"]


def test_times_and_versions_change_timings_json_alone() -> None:
    _, a = fixtures.rendered("small")
    slow = fixtures.changed(fixtures.paper_proof(), lambda claim: claim.timed(123.456))
    b = report(replace(slow, versions={"python": "9.9.9"})).files
    assert {name for name in a if a[name] != b[name]} == {"timings.json"}
    assert b"123.456" in b["timings.json"] and b"9.9.9" in b["timings.json"]
