"""The short paper in paper/: its head agrees with CITATION.cff, and its citations resolve."""

from __future__ import annotations

import re

from support.paths import ROOT

PAPER = (ROOT / "paper" / "paper.md").read_text("utf-8")
_, HEAD, BODY = PAPER.split("---\n", 2)
CITATION = (ROOT / "CITATION.cff").read_text("utf-8")
BIBLIOGRAPHY = (ROOT / "paper" / "paper.bib").read_text("utf-8")
SECTIONS = [
    "Summary", "Statement of need", "State of the field", "Software design",
    "Research impact statement", "AI usage disclosure", "Acknowledgements", "References",
]  # fmt: skip  # those that the journal asks for, in its order


def test_the_head_is_that_of_the_citation() -> None:
    keys = re.findall(r"^(\w+):", HEAD, re.MULTILINE)
    assert keys == ["title", "tags", "authors", "affiliations", "date", "bibliography"]
    own = CITATION.split("references:")[0]
    assert re.findall(r"- name: (.*)\n    affil", HEAD) == re.findall(r'- name: "(.*)"', own)
    assert "bibliography: paper.bib" in HEAD
    assert re.search(r"^date: \d+ \w+ 20\d\d$", HEAD, re.MULTILINE)


def test_the_sections_and_the_length_are_those_asked_for() -> None:
    assert re.findall(r"^# (.*)$", BODY, re.MULTILINE) == SECTIONS
    assert 750 < len(BODY.split()) < 1000


def test_citations_and_entries_are_the_same() -> None:
    entries = re.findall(r"^@\w+\{(\w+),", BIBLIOGRAPHY, re.MULTILINE)
    assert sorted(set(re.findall(r"@(\w+)", BODY))) == sorted(entries)
    assert BIBLIOGRAPHY.count("{") == BIBLIOGRAPHY.count("}")
