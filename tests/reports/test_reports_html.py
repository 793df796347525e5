"""report.html is report.md for a browser: the same text, without injected markup, and nothing to
load."""

from __future__ import annotations

import functools
import re
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from support.file_strategies import UNICODE
from support.proof_fixtures import HOSTILE, rendered

from attncert.reports import html
from attncert.reports.html import html_page, mathml
from attncert.reports.report import HTML_MARK
from attncert.reports.words import text
from attncert.reports.words.text import MARK

VOID = {"meta", "img"}
TAGS = {
    "html", "head", "meta", "title", "style", "body", "nav", "main", "ul", "ol", "li", "a", "h1",
    "h2", "h3", "p", "blockquote", "strong", "em", "code", "pre", "div", "span", "table", "thead",
    "tbody", "tr", "th", "td", "details", "summary", "img", "br",
    "svg", "rect", "defs", "marker", "path", "text",
} | html._MATHML  # fmt: skip


class Reader(HTMLParser):
    """Tags and attributes of a page, its text, and whether every tag is closed in order."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(page.decode())
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"math", "svg", "style", "nav"} & set(self.open):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())


SEVERAL = ("small", "full-rank", "refused-context", "wrong-weights", "single")


@functools.cache
def page(kind: str) -> bytes:
    files = rendered(kind)[1]
    return html_page(files["report.md"], files)


MATHS = re.compile(r"```math\n.*?```|\$`[^`]*`\$|(?<!>)\$[^$\n]+\$", re.S)
STOCK = MarkdownIt("commonmark").enable("table")


@pytest.mark.parametrize("kind", SEVERAL)
def test_the_text_is_the_same(kind: str) -> None:
    """The text equals that of a stock renderer for report.md, with one formula for each of its
    formulas."""
    markdown = rendered(kind)[1]["report.md"].decode()
    expected = Reader(f"<main>{STOCK.render(MATHS.sub(' ', markdown))}</main>".encode()).text
    ours = Reader(page(kind))
    words = [re.findall(r"[\w.]+", told) for told in (ours.text, expected)]
    title = len(words[0]) - len(words[1])
    assert len(words[1]) > 300 and words[0][title:] == words[1]
    formulas = [tag for tag, _ in ours.tags].count("math")
    assert formulas == len(MATHS.findall(markdown)) > 5


@pytest.mark.parametrize(
    "kind", [*SEVERAL, "hostile", pytest.param("large", marks=pytest.mark.slow)]
)
def test_only_our_tags_and_nothing_to_load(kind: str) -> None:
    made = page(kind)
    assert made.startswith(HTML_MARK.encode()) and MARK in HTML_MARK
    reader = Reader(made)
    assert {tag for tag, _ in reader.tags} <= TAGS
    ids = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes in reader.tags:
        assert not any(name.startswith("on") or name == "style" for name in attributes)
        target = attributes.get("href") or ""
        assert not target.startswith("#") or target[1:] in ids
        assert ":" not in target or target.startswith("https://")
        if tag == "img":
            assert (attributes["src"] or "").startswith("data:image/svg+xml;base64,")
            assert attributes["alt"]


FOREIGN = (
    HOSTILE,
    "<script>alert(1)</script>",
    "[a](javascript:alert(1))",
    "![a](https://example.org/x.png)",
    "<img src=x onerror=alert(1)>",
    "<https://example.org>",
    r"$\text{<script>alert(1)</script>}$",
    r"$\href{javascript:alert(1)}{x}$",
    r"$\style{background:url(https://example.org)}{x}$",
    r"$\class{x}{y} \frac{$ and $&lt;script&gt;$",
    "</main></body></html>",
    "```\n</code></pre><script>",
    "--><script>",
)


@pytest.mark.parametrize("raw", FOREIGN)
@pytest.mark.parametrize("write", [text.markdown, text.code])
def test_foreign_text_stays_text(raw: str, write: object) -> None:
    """Foreign text stays text in paragraphs and cells, even if the Markdown does not escape it."""
    assert callable(write)
    for told in (write(raw), raw):
        markdown = f"# t\n\n{told}\n\n| a |\n| --- |\n| {told} |\n"
        made = html_page(markdown.encode(errors="replace"), {})
        reader = Reader(made)
        tags = [tag for tag, _ in reader.tags]
        assert set(tags) <= TAGS - {"svg"} and "img" not in tags
        assert max(map(tags.count, ("style", "html", "body", "main"))) == 1
        values = {f"{x}" for tag, attributes in reader.tags if tag != "meta"
                  for pair in attributes.items() for x in pair}  # fmt: skip
        assert not re.search("javascript:|onerror|example|<script", " ".join(values))


@settings(max_examples=50, deadline=None)
@given(st.text(UNICODE, max_size=60))
@example(r"\text{</math><script>}")
@example(r"\begin{matrix} a & b")
@example("\\" * 50 + "{" * 50)
def test_mathematics_is_mathml_or_its_source(latex: str) -> None:
    reader = Reader(mathml(latex).encode())
    assert {tag for tag, _ in reader.tags} <= html._MATHML | {"code"}
    assert all(set(attributes) <= html._ATTRIBUTES for _, attributes in reader.tags)
