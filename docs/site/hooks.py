"""What MkDocs needs for our pages: mathematics, links to source, lists indented by two spaces."""

from __future__ import annotations

import posixpath
import re
import tomllib
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from markdown import Extension, Markdown
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor

from attncert.reports.html import mathml

ROOT = Path(__file__).parents[2]
REPOSITORY = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]
LINK = re.compile(r"(?<!!)\[((?:[^][]|\[[^][]*\])*)\]\(([^)#:\s]+)(#[^)\s]*)?\)")
WIDE = 40  # a formula with more characters may have to scroll on a phone
FENCED = re.compile(r"(^ *```.*?^ *```)", re.MULTILINE | re.DOTALL)


def on_config(config: Any) -> Any:
    config.markdown_extensions.append(AsWritten())
    return config


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Enable Markdown within <details>. A link that leaves the site leads to the repository, or
    becomes plain text if there is none."""
    folder = posixpath.dirname(page.file.src_uri)

    def elsewhere(link: re.Match[str]) -> str:
        text, target, anchor = link.groups()
        path = posixpath.normpath(posixpath.join(folder, target))
        if files.get_file_from_path(path) or not (ROOT / path).exists():
            return link[0]  # MkDocs reports a link that leads nowhere
        if path == "docs/gallery":
            return f"[{text}]({target.rstrip('/')}/README.md)"
        home = REPOSITORY.get("Repository")
        return f"[{text}]({home}/blob/main/{path}{anchor or ''})" if home else text

    text = re.sub(r"^```math\n(.*?)^```", r"$$\n\1$$", markdown, flags=re.M | re.S)
    parts = FENCED.split(text.replace("<details>", '<details markdown="1">'))
    return "".join(x if x.startswith("```") else LINK.sub(elsewhere, x) for x in parts)


class AsWritten(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        md.tab_length = 2
        md.preprocessors.register(Blocks(md), "formulas", 24)
        for name, pattern, priority in (
            ("code-formula", r"\$`([^`]+)`\$", 195),  # before code
            ("formula", r"(?<![\\$\w])\$(?!\s)((?:\\.|[^$\\])+?)(?<!\s)\$(?!\w)", 185),  # after it
        ):
            md.inlinePatterns.register(Inline(pattern, md), name, priority)


class Inline(InlineProcessor):
    def handleMatch(self, m: re.Match[str], data: str) -> tuple[Element | str, int, int]:
        latex = self.unescape(m[1])
        formula = mathml(latex)
        if len(latex) > WIDE:
            formula = f'<span class="formula">{formula}</span>'
        return self.md.htmlStash.store(formula), m.start(0), m.end(0)


class Blocks(Preprocessor):
    """Formulas between double dollar signs, put on lines of their own."""

    def run(self, lines: list[str]) -> list[str]:
        return re.sub(r"\$\$(.+?)\$\$", self.stashed, "\n".join(lines), flags=re.S).split("\n")

    def stashed(self, formula: re.Match[str]) -> str:
        block = f'<div class="formula">{mathml(formula[1], block=True)}</div>'
        return f"\n\n{self.md.htmlStash.store(block)}\n\n"
