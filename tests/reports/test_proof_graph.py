"""The proof graph shows the trace, from the hypotheses to the answer."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import proof_fixtures as fixtures
from support.proof_fixtures import rendered

from attncert.reports.prove import layout
from attncert.reports.prove.graph import graph
from attncert.reports.prove.view import MOST_BOXES, argued, diagram, weakest
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.trace import ProofTrace

SVG = "{http://www.w3.org/2000/svg}"
Edges = set[tuple[str, str]]


@st.composite
def traces(draw: st.DrawFn) -> ProofTrace:
    """Random proofs of up to 40 claims, some about heads, some with `uses`; premises come first."""
    ids: list[str] = []
    claims = []
    for k in range(draw(st.integers(1, 40))):
        head = draw(st.integers(0, 6))
        others = ("rank", "hypothesis.A1", "theorem", f"claim{k}.part")
        name = f"head.{head}.step{k}" if head else draw(st.sampled_from(others))
        if name in ids:
            continue
        premises = draw(st.lists(st.sampled_from(ids), max_size=4, unique=True)) if ids else []
        uses = {"A1": "all of it"} if draw(st.booleans()) else {}
        ids.append(name)
        claims.append(
            Claim(name, "s", draw(st.sampled_from(Level)), rests_on=tuple(premises), uses=uses)
        )
    return ProofTrace(claims)


def closure(edges: Edges) -> Edges:
    """Warshall's algorithm, independent of networkx."""
    reach = set(edges)
    for k in sorted({node for edge in edges for node in edge}):
        into = [a for a, b in reach if b == k]
        out = [b for a, b in reach if a == k]
        reach |= {(a, b) for a in into for b in out}
    return reach


def drawn(svg: bytes) -> tuple[dict[str, str], Edges, Edges]:
    """Boxes (number: name for screen readers), and solid and dashed edges, read from the file."""
    root = ElementTree.fromstring(svg)
    boxes = {a.attrib["data-box"]: a.attrib["aria-label"] for a in root.iter(f"{SVG}a")}
    edges = [path.attrib for path in root.iter(f"{SVG}path") if "data-from" in path.attrib]
    solid = {(e["data-from"], e["data-to"]) for e in edges if "stroke-dasharray" not in e}
    dashed = {(e["data-from"], e["data-to"]) for e in edges} - solid
    assert {node for edge in solid | dashed for node in edge} <= set(boxes)
    return boxes, solid, dashed


@settings(max_examples=50, deadline=None)
@given(traces())
def test_the_graph_shows_the_trace(trace: ProofTrace) -> None:
    """Every claim is in one box or isolated, a box has the weakest standing inside, and paths among
    boxes agree: solid paths with `rests_on`, all paths with the written proof."""
    view = diagram(trace)
    boxes, solid, dashed = drawn(graph(trace, trace.order[-1]))
    assert len(boxes) == len(view.boxes) <= MOST_BOXES
    held = [claim_id for box in view.boxes for claim_id in box.claims]
    assert sorted([*held, *view.apart]) == sorted(trace.order)
    for k, box in enumerate(view.boxes):
        standing = weakest(trace, [trace[i] for i in box.claims])
        assert box.standing is standing and f": {standing.value}, step" in boxes[str(k)]
    place = {i: str(k) for k, box in enumerate(view.boxes) for i in box.claims}

    def between(edges: Iterable[tuple[str, str]]) -> Edges:
        return {(place[a], place[b]) for a, b in edges if place.get(a) != place.get(b)}

    rests = between((p, c.id) for c in trace for p in c.rests_on)
    edges = argued(trace)  # standings do not depend on these
    assert len(edges) == len(set(edges)) and all(a not in trace[b].rests_on for a, b in edges)
    every = rests | between(edges)
    assert closure(solid) == closure(rests)
    assert closure(solid | dashed) == closure(every)
    assert not solid & dashed


def test_heads_that_stand_alike_share_a_box() -> None:
    claims = [Claim("hypothesis.A2", "s", Level.PROVED)]
    for h in range(1, 9):
        level = Level.NUMERICAL if h == 5 else Level.PROVED
        claims += [
            Claim(f"head.{h}.{step}", "s", level, rests_on=("hypothesis.A2",))
            for step in ("duals", "steering", "weights", "rank")
        ]
    labels = {b.label for b in diagram(ProofTrace(claims)).boxes}
    assert labels == {"hypothesis: A2", "heads 1–4, 6–8", "head 5"}


@pytest.mark.parametrize(
    "kind",
    [
        "small",
        "full-rank",
        "refused-context",
        "hostile",
        pytest.param("large", marks=pytest.mark.slow),
    ],
)
def test_every_box_links_to_its_step_and_the_answer_is_marked(kind: str) -> None:
    proof, files = rendered(kind)
    svg, markdown = files["figures/graph.svg"].decode(), files["report.md"].decode()
    targets = re.findall(r'<a href="\.\./report\.html#([a-z0-9-]+)" class="box"', svg)
    assert len(targets) == len(diagram(proof.trace).boxes) == svg.count("<a ")
    assert all(f'<a id="{target}"></a>' in markdown for target in targets)
    listed = next(x for x in markdown.splitlines() if x.startswith("Steps of the boxes: "))
    assert re.findall(r"\]\(#([a-z0-9-]+)\)", listed) == targets
    assert len(re.findall(r'aria-label="[^"]*, the answer"', svg)) == 1
    assert len(svg) < 40_000 and float(re.findall(r'width="([\d.]+)"', svg)[0]) <= 1000


def test_hostile_ids_stay_inside_the_drawing() -> None:
    trace = ProofTrace([
        Claim(fixtures.HOSTILE, "s", Level.PROVED),
        Claim("end", "s", Level.SAMPLED, rests_on=(fixtures.HOSTILE,)),
    ])  # fmt: skip
    svg = graph(trace, "end")
    boxes, solid, dashed = drawn(svg)
    assert len(boxes) == 2 and solid == {("0", "1")} and not dashed
    tags = {part.tag.removeprefix(SVG) for part in ElementTree.fromstring(svg).iter()}
    assert tags == {"svg", "rect", "defs", "marker", "path", "text", "a"}


@settings(max_examples=50, deadline=None)
@given(traces())
def test_boxes_do_not_overlap(trace: ProofTrace) -> None:
    """Boxes in a row have gaps; arrows run downwards and pass between boxes."""
    view = diagram(trace)
    edges = (*view.rests, *view.argued)
    places, routes = layout.layered(len(view.boxes), edges)
    rows = {y: sorted(x for x, other in places if other == y) for _, y in places}
    assert len(places) == len(view.boxes) and all(
        len(xs) <= layout.MOST_WIDE for xs in rows.values()
    )
    assert all(b - a >= 1 - 1e-3 for xs in rows.values() for a, b in pairwise(xs))
    for (a, b), route in zip(edges, routes, strict=True):
        assert (route[0], route[-1]) == (places[a], places[b])
        for x, y in route[1:-1]:
            assert min((abs(x - other) for other in rows.get(y, ())), default=1) > 0.5
