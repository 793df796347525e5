"""Docstrings as Markdown: examples become code, and a line `name: ...` begins a paragraph."""

from __future__ import annotations

import ast
import re
from typing import Any

import griffe

FIELD = re.compile(r"^([A-Za-z_][\w.]*(?:, [\w.]+)*):(?=\s)")
CODE = re.compile(r"(`[^`]*`)")
PAGE = re.compile(r"\bdocs/[\w-]+\.md\b")


class Docstrings(griffe.Extension):
    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Show only the default of a question's option, `option(default, rule, help)`."""
        if str(attr.value).startswith("option("):
            call: Any = ast.parse(str(attr.value), mode="eval").body
            attr.value = ast.unparse(call.args[0])

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            paragraphs = re.split(r"\n\s*\n", obj.docstring.value)
            obj.docstring.value = "\n\n".join(map(markdown, paragraphs))


def markdown(paragraph: str) -> str:
    r"""
    >>> markdown(">>> 1 + 1\n2")
    '```pycon\n>>> 1 + 1\n2\n```'
    >>> markdown("What.\nlabels:  (T, m),\n         or <none>")
    'What.\n\n**labels**: (T, m),\nor &lt;none>'
    >>> markdown("Source: docs/networks.md.")
    '**Source**: [docs/networks.md](docs/networks.md).'
    """
    if paragraph.startswith(">>>"):
        return f"```pycon\n{paragraph}\n```"
    lines = [FIELD.sub(r"\n**\1**:", line) for line in paragraph.splitlines()]
    text = "\n".join(re.sub(r"(?<=\S) {2,}", " ", line.lstrip(" ")) for line in lines)
    parts = CODE.split(text.strip())
    return "".join(x if x.startswith("`") else linked(x.replace("<", "&lt;")) for x in parts)


def linked(text: str) -> str:
    """The text, with links to the pages that it names."""
    return PAGE.sub(r"[\g<0>](\g<0>)", text)
