"""Pages from their templates.

All text from data or claims goes through a filter (`md`, `code`), so that it cannot become
Markdown or HTML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType
from typing import Any

import jinja2
from jinja2.bccache import Bucket

from attncert.reports.report import MARK
from attncert.reports.words.numbers import indices, notation, percent, real, size, tokens, words
from attncert.reports.words.text import code, markdown, sentence
from attncert.verify.certificates.installed import repository
from attncert.verify.claims.words import counted

Filter = Callable[..., Any]
TEMPLATES = Path(__file__).parents[1] / "templates"
_FILTERS: dict[str, Filter] = {
    "md": markdown, "code": code, "sentence": sentence, "value": notation,
    "words": words, "count": counted, "size": size, "real": real, "indices": indices,
    "tokens": tokens, "percent": percent,
}  # fmt: skip

_PAGES = re.compile(r"(?<![`/\w.])(?<!\]\()docs/[a-z-]+\.md")  # in prose, not code or links


class _Compiled(jinja2.BytecodeCache):
    """Each template is compiled once in a process, and again if it has changed."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self._codes[bucket.key, bucket.checksum] = bucket.code


_compiled = _Compiled()


def page(
    template: str, context: Mapping[str, Any], folder: Path = TEMPLATES, **filters: Filter
) -> bytes:
    """The page that the template makes of these names; `mark` is the mark of a report.

    folder: the folder of the template, which may include templates of reports. filters: in addition
    to those of all pages. The page has at most one blank line between blocks, no blanks at line
    ends, and one newline at the end. An undefined name is an error.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, TEMPLATES]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        bytecode_cache=_compiled,
    )
    environment.filters |= _FILTERS | filters
    text = environment.get_template(template).render({"mark": MARK, **context})
    return linked(_tidy(text), repository()).encode()


def linked(text: str, home: str) -> str:
    """The text with links to the pages of the repository that it names, if `home` is known.

    >>> linked("(docs/width-one.md)", ""), linked("(docs/width-one.md)", "https://example.org/a")
    ('(docs/width-one.md)', '([docs/width-one.md](https://example.org/a/blob/main/docs/width-one.md))')
    """
    return _PAGES.sub(rf"[\g<0>]({home}/blob/main/\g<0>)", text) if home else text


def _tidy(text: str) -> str:
    out: list[str] = []
    for line in text.split("\n"):
        line = line.rstrip()
        if line or (out and out[-1]):
            out.append(line)
    return "\n".join(out).strip("\n") + "\n"
