"""report.md and answer.json of hand-made proofs of every kind leave nothing out, state nothing
above its level, and turn no text from a data set or a claim into structure."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt
from support import proof_fixtures as fixtures
from support.proof_fixtures import KINDS, rendered

from attncert.reports.answers import envelope, report, verdict
from attncert.reports.prove.records import exhibits
from attncert.reports.words.levels import WORDING
from attncert.verify.claims.evidence import Claim, Level

PARSER = MarkdownIt("commonmark").enable("table")
every_kind = pytest.mark.parametrize(
    "kind", [*KINDS, pytest.param("large", marks=pytest.mark.slow)]
)


def page(kind: str) -> str:
    return rendered(kind)[1]["report.md"].decode()


def section(markdown: str, heading: str) -> str:
    """The text from a heading of level 2 to the next."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", markdown, re.M | re.S)
    assert found, f"no section {heading!r}"
    return found[1]


def table_rows(markdown: str) -> list[list[str]]:
    """The cells of all table rows except headers and rules."""
    lines = [x for x in markdown.splitlines() if x.startswith("|")]
    rows = [[c.strip() for c in x.strip("|").split(" | ")] for x in lines]
    rules = [k for k, row in enumerate(lines) if set(row) <= set("|-: ")]
    skip = {*rules, *(k - 1 for k in rules)}
    return [row for k, row in enumerate(rows) if k not in skip]


def spoken(claim_id: str) -> str:
    """The name that tables give a claim, derived independently."""
    if match := re.fullmatch(r"head\.(\d+)\.(.+)", claim_id):
        return f"{match[2]} of head {match[1]}"
    return claim_id.replace(".", ": ", 1)


# --- nothing is left out ------------------------------------------------------------------------


@every_kind
def test_every_claim_is_in_the_proof(kind: str) -> None:
    """Claims about heads appear once for all heads, and are written out if they are not proved."""
    proof, _ = rendered(kind)
    written = re.findall(r"^<a id=.*?\*\*\d+\. `([^`]+)`\*\*: ", page(kind), re.M)
    steps = re.findall(r'^<a id="heads-\d+"></a>\*\*`([^`]+)`\*\* \(heads? ', page(kind), re.M)
    of_heads = {c.id for c in proof.trace if c.id.startswith("head.")}
    weak = {i for i in of_heads if proof.trace[i].level is not Level.PROVED}
    assert len(written) == len(set(written)) and len(steps) == len(set(steps))
    assert set(written) == {c.id for c in proof.trace} - of_heads | weak
    assert set(steps) == {i.split(".", 2)[2] for i in of_heads}


def test_steps_that_are_not_proved_are_named_and_written_out() -> None:
    def change(claim: Claim) -> Claim:
        return replace(claim, level=Level.NUMERICAL) if claim.id == "head.2.separator" else claim

    proof = fixtures.changed(fixtures.paper_proof(3, 2, 2, 4), change)
    text = report(proof).files["report.md"].decode()
    for step in ("separator", "saturation"):
        assert f"**`{step}`** (heads 2, 3): numerical (head 2); proved (head 3)" in text
    assert "`head.2.separator`**: numerical" in text and "`head.3.separator`" not in text


@every_kind
def test_every_step_says_its_level_and_what_it_rests_on(kind: str) -> None:
    proof, _ = rendered(kind)
    markdown = page(kind)
    steps = re.findall(
        r"^<a id=\"step-(\d+)\"></a>\*\*\1\. `([^`]+)`\*\*: ([a-z ]+)\n(.*?)(?=^<a id|^<|^## )",
        markdown, re.M | re.S,
    )  # fmt: skip
    assert steps
    number = {claim_id: str(k) for k, claim_id in enumerate(proof.trace.order, start=1)}
    for k, claim_id, heading, body in steps:
        claim = proof.trace[claim_id]
        assert (k, heading) == (number[claim_id], proof.trace.standing(claim_id).value)
        assert f"- Evidence: {claim.level.value}" in body
        rests = re.search(r"^- Rests on: (.*)$", body, re.M)
        assert rests
        linked = set(re.findall(r"\(#step-(\d+)\)", rests[1]))
        assert linked <= {number[p] for p in claim.rests_on}
        assert bool(claim.rests_on) == (rests[1] != "no other claim")
        standing = proof.trace.standing(claim_id)
        assert (f"- Standing: {standing.value}, because" in body) == (standing is not claim.level)


@every_kind
def test_the_table_of_what_was_not_proved_is_complete(kind: str) -> None:
    """The table lists just the claims whose standing is below `proved`, with level and reason."""
    proof, _ = rendered(kind)
    rows = table_rows(section(page(kind), "What was not proved"))
    weak = {c.id: c for c in proof.trace if proof.trace.standing(c.id) < Level.PROVED}
    assert {row[0] for row in rows} == {spoken(i) for i in weak}
    by_name = {spoken(c.id): c for c in weak.values()}
    for name, _, level, why in rows:
        claim = by_name[name]
        assert level.startswith(claim.level.value)
        assert proof.trace.standing(claim.id).value in level
        assert why


# --- verdict first, never above the level -------------------------------------------------------


@every_kind
def test_the_verdict_comes_first(kind: str) -> None:
    proof, _ = rendered(kind)
    blocks = page(kind).split("\n\n")
    opener = WORDING[proof.standing].opener
    assert blocks[0].splitlines()[0] == "<!-- attncert report/1 -->"
    assert blocks[1].startswith(f"> **{opener}**")
    quoted = re.sub(r"`[^`]*`", "", blocks[1]).lower()
    assert ("prove" in quoted) == (proof.standing is Level.PROVED)
    line = verdict(proof)
    assert line.startswith(opener) and "\n" not in line
    assert ("proved" in line.lower()) == (proof.standing is Level.PROVED)


@every_kind
def test_weak_evidence_is_never_called_proved(kind: str) -> None:
    """No line about a claim whose own level is sampled or lower contains the word "proved"."""
    proof, _ = rendered(kind)
    for claim in proof.trace:
        if claim.level in (Level.KERNEL, Level.PROVED, Level.ENCLOSED):
            continue
        block = re.search(
            rf"^<a id=[^\n]*`{re.escape(claim.id)}`\*\*: .*?(?=^<|^## )", page(kind), re.M | re.S
        )
        row = [x for x in page(kind).splitlines() if x.startswith(f"| {spoken(claim.id)} |")]
        assert block and len(row) == 1
        assert "proved" not in (block[0] + row[0]).lower()


@pytest.mark.parametrize(
    ("kind", "heading", "shows"),
    [
        ("refused-context", "What fails", r"6\,E^{(1)}_{0} - E^{(1)}_{1} = 0"),
        ("refused-grouping", "What fails", r"2\,e^{(0)} + e^{(2)} = 0"),
        ("refused-capacity", "What fails", "capacity: 5"),
        ("wrong-weights", "What fails", "output minus label: 1/7"),
        ("undecided", "What is not decided", "(not all orders were tried)"),
    ],
)
def test_a_refusal_says_first_what_fails_and_shows_the_witness(
    kind: str, heading: str, shows: str
) -> None:
    proof, files = rendered(kind)
    headings = re.findall(r"^## (.*)$", page(kind), re.M)
    assert headings[0] == heading
    body = section(page(kind), heading)
    assert shows in body
    failures = proof.trace.failures(proof.conclusion)
    assert all(c.id in body for c in failures if c.id != proof.conclusion)
    assert "certificate.json" not in files
    assert "](certificate.json)" not in page(kind) and "attncert check" not in page(kind)
    assert exhibits(proof, proof.setup)["failures"]


# --- structure ----------------------------------------------------------------------------------


@every_kind
def test_links_lead_somewhere(kind: str) -> None:
    _, files = rendered(kind)
    markdown = page(kind)
    links = PARSER.parse(markdown)
    targets = [
        str(inner.attrGet("href") or inner.attrGet("src"))
        for token in links
        for inner in token.children or ()
        if inner.type in ("link_open", "image")
    ]
    anchors = re.findall(r"<a id=\"([^\"]+)\">", markdown)
    assert len(anchors) == len(set(anchors))
    assert targets
    for target in targets:
        assert target[1:] in anchors if target.startswith("#") else target in files, target
    figures = {name for name in files if name.startswith("figures/")}
    assert figures == set(re.findall(r"!\[[^\]]+\]\(([^)]+)\)", markdown))


@every_kind
def test_tables_are_rectangular(kind: str) -> None:
    """An unescaped bar in some text would add a cell."""
    blocks = re.findall(r"(?:^\|.*\|\n)+", page(kind), re.M)
    assert len(blocks) >= 4
    for block in blocks:
        assert len({row.count("|") for row in block.splitlines()}) == 1, block


def test_hostile_text_is_still_there_to_read() -> None:
    markdown = page("hostile")
    assert "<script" not in re.sub(r"````text\n.*?````", "", markdown, flags=re.S)
    assert "&lt;script&gt;" in markdown and "&#60;script&#62;" in markdown


@pytest.mark.slow
def test_a_report_of_600_heads_stays_readable() -> None:
    """GitHub shows Markdown up to about 500 kB; the rest is in answer.json."""
    proof, files = rendered("large")
    assert len(files["report.md"]) < 100_000
    answer = json.loads(files["answer.json"])
    assert len(answer["exhibits"]["heads"]) == 600 and len(answer["claims"]) == len(proof.trace)
    assert len(table_rows(section(page("large"), "The construction in numbers"))) < 50


# --- data ---------------------------------------------------------------------------------------


@every_kind
def test_answer_json_holds_the_same(kind: str) -> None:
    proof, files = rendered(kind)
    text = files["answer.json"].decode()
    answer = json.loads(text, parse_constant=lambda c: pytest.fail(f"not JSON: {c}"))
    again = json.dumps(answer, sort_keys=True, indent=1, ensure_ascii=False) + "\n"
    assert again.encode("utf-8", "backslashreplace").decode() == text
    assert [c["id"] for c in answer["claims"]] == proof.trace.order
    assert {c["id"]: c["standing"] for c in answer["claims"]} == {
        c.id: proof.trace.standing(c.id).value for c in proof.trace
    }
    assert answer["exhibits"]["not_proved"] == {
        c["id"]: c["standing"]
        for c in answer["claims"]
        if c["standing"] not in ("kernel", "proved")
    }
    assert answer["standing"] == proof.standing.value
    assert {**envelope(proof), "exhibits": answer["exhibits"]} == answer


@every_kind
def test_the_certificate_is_canonical_and_its_hash_is_in_the_report(kind: str) -> None:
    proof, files = rendered(kind)
    if proof.certificate is None:
        assert "no certificate" in page(kind)
        return
    text = files["certificate.json"].decode()
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    assert json.loads(text) == proof.certificate
    hashed = __import__("hashlib").sha256(files["certificate.json"]).hexdigest()
    assert f"`{hashed}`" in page(kind) and f"`{proof.data.sha256}`" in page(kind)
