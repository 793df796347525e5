"""Diagrams and figures: the graph they show is the trace, and equal runs give equal bytes."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import proof_fixtures as fixtures
from support.paths import TESTS
from support.proof_fixtures import KINDS
from support.shares import share

from attncert import reports
from attncert.reports.proof import figures, layout
from attncert.reports.proof.mermaid import escape, flowchart
from attncert.reports.proof.view import MOST_BOXES, Diagram, compact, diagram, weakest
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.trace import ProofTrace

NODE = re.compile(r'    n(\d+)\["([^"\[\]`<>|{}]*)<br/>([a-z ]+)"\]:::(\w+)')
OTHER_LINES = re.compile(
    r'flowchart TD|    n\d+ --> n\d+|    subgraph legend\["standing"\]|        direction LR'
    r'|        (\w+)_key\["[a-z ]+"\]:::\1|    end'
    r"|    classDef \w+ fill:#[0-9a-f]{6},stroke:#[0-9a-f]{6},color:#[0-9a-f]{6}"
    r"(,stroke-dasharray:4 3)?"
)


@st.composite
def traces(draw: st.DrawFn) -> ProofTrace:
    """Random proofs: up to 40 claims, some of heads, premises among the earlier ones."""
    ids: list[str] = []
    claims = []
    for k in range(draw(st.integers(1, 40))):
        head = draw(st.integers(0, 6))
        ids.append(f"head.{head}.step{k}" if head else f"claim{k}.part")
        premises = draw(st.lists(st.sampled_from(ids[:-1]), max_size=4, unique=True)) if k else []
        claims.append(Claim(ids[-1], "s", draw(st.sampled_from(Level)), rests_on=tuple(premises)))
    return ProofTrace(claims)


def read_mermaid(text: str) -> tuple[dict[int, tuple[str, str]], set[tuple[int, int]]]:
    """Boxes (label, standing) and arrows; fails on a line that is none of the known forms."""
    boxes, arrows = {}, set()
    for line in text.splitlines():
        if match := NODE.fullmatch(line):
            assert match[3].replace(" ", "_") == match[4]
            boxes[int(match[1])] = (match[2], match[3])
        elif match := re.fullmatch(r"    n(\d+) --> n(\d+)", line):
            arrows.add((int(match[1]), int(match[2])))
        else:
            assert OTHER_LINES.fullmatch(line), line
    assert all(a in boxes and b in boxes and a != b for a, b in arrows)
    return boxes, arrows


def closure(edges: set[tuple[str, str]], nodes: set[str]) -> set[tuple[str, str]]:
    """By Warshall's algorithm, apart from networkx."""
    reach = set(edges)
    for k in sorted(nodes):
        into = [a for a, b in reach if b == k]
        out = [b for a, b in reach if a == k]
        reach |= {(a, b) for a in into for b in out}
    return reach


@given(traces())
def test_mermaid_shows_the_trace(trace: ProofTrace) -> None:
    """Every claim in one box, standing the weakest inside, the same paths from box to box."""
    view = diagram(trace)
    boxes, arrows = read_mermaid(flowchart(view))
    assert len(boxes) == len(view.boxes) <= MOST_BOXES
    held = [claim_id for box in view.boxes for claim_id in box.claims]
    assert sorted(held) == sorted(trace.order)
    for k, box in enumerate(view.boxes):
        assert boxes[k][1] == weakest(trace, [trace[i] for i in box.claims]).value
    place = {i: str(k) for k, box in enumerate(view.boxes) for i in box.claims}
    expected = {
        (place[p], place[c.id]) for c in trace for p in c.rests_on if place[p] != place[c.id]
    }
    nodes = set(place.values())
    drawn = {(str(a), str(b)) for a, b in arrows}
    assert closure(drawn, nodes) == closure(expected, nodes)
    assert view.reduced == (drawn != expected)


@pytest.mark.parametrize(
    ("heads", "boxes"),
    [(1, ["head 1: dual"]), (9, ["head 1", "head 2", "head 9"]), (60, ["heads 2–59", "head 60"])],
)
def test_heads_are_bundled_when_there_are_many(heads: int, boxes: list[str]) -> None:
    labels = [b.label for b in diagram(fixtures.paper_proof(heads, 2, 2, 4).trace).boxes]
    assert set(boxes) <= set(labels) and len(labels) < 30


@given(traces())
def test_the_compact_diagram_merges_only_what_stands_alike(trace: ProofTrace) -> None:
    """Blowing the merged boxes up again gives the same arrows."""
    view = diagram(trace)
    small = compact(view)
    place = {i: k for k, box in enumerate(small.boxes) for i in box.claims}
    where = [place[box.claims[0]] for box in view.boxes]
    assert all(place[i] == w for box, w in zip(view.boxes, where, strict=True) for i in box.claims)
    assert all(
        b.standing is small.boxes[w].standing for b, w in zip(view.boxes, where, strict=True)
    )
    blown_up = {
        (a, b)
        for a in range(len(where))
        for b in range(len(where))
        if (where[a], where[b]) in small.edges
    }
    assert blown_up == set(view.edges)


def test_heads_that_stand_alike_share_a_box_of_the_figure() -> None:
    claims = [Claim("hypothesis.A2", "s", Level.PROVED)]
    for h in range(1, 9):
        level = Level.NUMERICAL if h == 5 else Level.PROVED
        claims += [
            Claim(f"head.{h}.{step}", "s", level, rests_on=("hypothesis.A2",))
            for step in ("duals", "steering", "weights", "rank")
        ]
    labels = {b.label for b in compact(diagram(ProofTrace(claims))).boxes}
    assert labels == {"hypothesis: A2", "heads 1–4, 6–8", "head 5"}


def test_a_weak_head_stays_visible_among_many() -> None:
    def change(claim: Claim) -> Claim:
        weak = claim.id == "head.30.separator"
        return replace(claim, level=Level.NUMERICAL) if weak else claim

    view = diagram(fixtures.paper_proof(60, 2, 2, 4, change=change).trace)
    standing = {b.label: b.standing for b in view.boxes}
    assert standing["heads 2–29"] is Level.PROVED
    assert standing["heads 30–59"] is Level.NUMERICAL  # all later heads rest on it


def test_many_claims_outside_heads_are_bundled_by_family() -> None:
    claims = [Claim(f"family{k % 7}.member{k}", "s", Level.PROVED) for k in range(300)]
    view = diagram(ProofTrace(claims))
    assert [b.label for b in view.boxes] == [f"family{k}" for k in range(7)]


@given(st.text(max_size=80))
def test_labels_cannot_leave_their_quotes(label: str) -> None:
    written = escape(label)
    assert not set('"`<>[]{}|\n;&\\') & set(re.sub(r"#\d+;", "", written))


def test_hostile_ids_stay_inside_the_diagram() -> None:
    trace = ProofTrace([
        Claim(fixtures.HOSTILE, "s", Level.PROVED),
        Claim("end", "s", Level.SAMPLED, rests_on=(fixtures.HOSTILE,)),
    ])  # fmt: skip
    boxes, arrows = read_mermaid(flowchart(diagram(trace)))
    assert len(boxes) == 2 and arrows == {(0, 1)}


def test_the_mermaid_reader_sees_a_planted_defect() -> None:
    good = flowchart(diagram(fixtures.paper_proof().trace))
    read_mermaid(good)
    for bad in (good.replace("reduction", 're"duction'), good + "\n    n0 --> n99"):
        with pytest.raises(AssertionError):
            read_mermaid(bad)


@given(traces())
def test_boxes_of_the_figure_do_not_overlap(trace: ProofTrace) -> None:
    """Rows hold a few boxes one apart; arrows run downwards and pass between boxes."""
    view = diagram(trace)
    drawn = layout.layered(len(view.boxes), view.edges)
    assert sorted(k for row in drawn.rows for k in row) == list(range(len(view.boxes)))
    for y, row in enumerate(drawn.rows):
        xs = sorted(drawn.place[k][0] for k in row)
        assert 1 <= len(row) <= layout.MOST_WIDE
        assert all(drawn.place[k][1] == y for k in row)
        assert all(b - a >= 1 - 1e-3 for a, b in pairwise(xs))
    for (a, b), route in zip(view.edges, drawn.routes, strict=True):
        assert (route[0], route[-1]) == (drawn.place[a], drawn.place[b])
        for x, y in route[1:-1]:
            near = [abs(x - drawn.place[k][0]) for k in drawn.rows[int(y)]]
            assert min(near, default=1) > 0.5


def test_the_layout_survives_a_circle() -> None:
    """Bundling heads can close one; every arrow is still drawn."""
    drawn = layout.layered(3, [(0, 1), (1, 2), (2, 0)])
    assert len(drawn.routes) == 3 and len(drawn.rows) == 3


# --- figures ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", share(["large", *KINDS], 5))
def test_figures_are_svg_with_text_as_paths(kind: str) -> None:
    proof, files = fixtures.rendered(kind)
    drawn = {name: content for name, content in files.items() if name.endswith(".svg")}
    names = ("graph", "saturation", "own-weights", "heads") if proof.heads else ("graph",)
    assert set(drawn) == {f"figures/{name}.svg" for name in names}
    for svg in drawn.values():
        root = ElementTree.fromstring(svg)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert float(root.attrib["width"].removesuffix("pt")) <= 1100
        assert not root.findall(".//{http://www.w3.org/2000/svg}text")
        assert len(svg) < 400_000
        assert b"Matplotlib v" not in svg and b"<dc:date>" not in svg


def test_idle_heads_are_drawn_too() -> None:
    """A layer may have more heads than the data need: empty groups, at the end."""
    proof = fixtures.paper_proof()
    idle = replace(proof.heads[-1], group=(), own_weights=(), c=None, bits=None, condition=None)
    more = replace(proof, heads=(*proof.heads, idle))
    assert set(figures.draw(more)) == {"graph", "saturation", "own-weights", "heads"}
    assert "| 3 | none |" in reports.render(more)["report.md"].decode()


def test_numbers_beyond_floats_are_told_and_drawn() -> None:
    """Logits of data with huge exponents: B with hundreds of digits, 1 - p_max below any float."""
    proof = fixtures.paper_proof()
    huge = replace(
        proof.heads[1], c=10**400, bits=10**400, apriori_bits=10**350, z_bits=10**500,
        condition=float("inf"), log2_off_peak=(float("-inf"), -1e300, -0.5),
    )  # fmt: skip
    files = reports.render(replace(proof, heads=(proof.heads[0], huge)))
    assert "| below $2^{-10^{250}}$ |" in files["report.md"].decode()
    assert "about $1.00\\cdot 10^{500}$ bits" in files["report.md"].decode()
    assert json.loads(files["trace.json"])["heads"][1]["log2_off_peak"][0] == "-inf"


def test_merged_cells_show_the_least_saturated_pair() -> None:
    bits = np.full((600, 1000), 50.0)
    bits[321, 777] = 3.0
    shown = figures._least(bits)
    assert shown.shape[0] <= 240 and shown.shape[1] <= 480
    assert (shown == 3.0).sum() == 1 and (shown == 50.0).sum() == shown.size - 1
    assert np.array_equal(figures._least(bits[:5, :7]), bits[:5, :7])


@pytest.mark.parametrize(("first", "last"), [(0, 0), (1, 1), (1, 2), (0, 49), (1, 600), (0, 1800)])
def test_ticks_are_whole_and_reach_both_ends(first: int, last: int) -> None:
    ticks = figures._whole_ticks(first, last, 10)
    assert ticks == sorted(set(ticks)) and (ticks[0], ticks[-1]) == (first, last)
    assert len(ticks) <= 12


# --- equal runs, equal bytes --------------------------------------------------------------------

SAME = ("small", "refused-context")
HASHES = f"""
import hashlib, json, sys
sys.path[:0] = [{str(TESTS)!r}, {str(TESTS.parent)!r}]
from support.proof_fixtures import KINDS
from attncert.reports import render
print(json.dumps([
    [k, n, hashlib.sha256(b).hexdigest()] for k in {SAME!r} for n, b in render(KINDS[k]()).items()
]))
"""


@pytest.mark.slow
def test_equal_proofs_give_equal_bytes(tmp_path: Path) -> None:
    """Twice here, once under another user's style, once in a fresh interpreter with another hash
    seed and that user's matplotlibrc."""
    here = [
        [kind, name, hashlib.sha256(content).hexdigest()]
        for kind in SAME
        for name, content in reports.render(KINDS[kind]()).items()
    ]
    style = {"font.size": 31.0, "svg.fonttype": "none", "axes.grid": True, "lines.linewidth": 9.0}
    with mpl.rc_context(style):
        assert [
            [kind, name, hashlib.sha256(content).hexdigest()]
            for kind in SAME
            for name, content in reports.render(KINDS[kind]()).items()
        ] == here
    rc = tmp_path / "matplotlibrc"
    rc.write_text("".join(f"{key}: {x}\n" for key, x in style.items()))
    fresh = subprocess.run(
        [sys.executable, "-c", HASHES],
        env=os.environ | {"PYTHONHASHSEED": "4711", "MATPLOTLIBRC": str(rc)},
        capture_output=True, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    assert json.loads(fresh.stdout) == here


def test_times_and_versions_change_timings_json_alone() -> None:
    first = fixtures.paper_proof()
    slow = fixtures.paper_proof(change=lambda claim: claim.timed(123.456))
    a, b = reports.render(first), reports.render(replace(slow, versions={"python": "9.9.9"}))
    assert {name for name in a if a[name] != b[name]} == {"timings.json"}
    assert b"123.456" in b["timings.json"] and b"9.9.9" in b["timings.json"]


def test_a_diagram_is_only_what_it_shows() -> None:
    """Equal diagrams draw equal figures: the figure reads nothing else."""
    view = diagram(fixtures.paper_proof().trace)
    with figures.style():
        one = figures.to_svg(figures.graph(view))
        two = figures.to_svg(figures.graph(Diagram(view.boxes, view.edges, False, False)))
    assert one == two
