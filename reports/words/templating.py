"""Pages from their templates.

All text from data or claims goes through a filter (`md`, `code`), so that it cannot become
Markdown or HTML.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from jinja2.bccache import Bucket

from attncert.reports.words.numbers import indices, notation, percent, real, size, tokens, words
from attncert.reports.words.text import MARK, code, markdown, sentence
from attncert.verify.claims.words import counted

Filter = Callable[..., Any]
TEMPLATES = Path(__file__).parents[1] / "templates"
_FILTERS: dict[str, Filter] = {
    "md": markdown, "code": code, "sentence": sentence, "value": notation,
    "words": words, "count": counted, "size": size, "real": real, "indices": indices,
    "tokens": tokens, "percent": percent,
}  # fmt: skip


def page(
    template: str, context: Mapping[str, Any], folder: Path = TEMPLATES, **filters: Filter
) -> bytes:
    """The page that the template makes from these names, with the mark of a report. The template is
    in `folder`, and may include the templates of reports. The page has at most one blank line
    between blocks. An undefined name is an error."""
    environment = _environment(folder)
    environment.filters |= filters
    text = environment.get_template(template).render({"mark": MARK, **context})
    return _tidy(text).encode()


@cache
def _environment(folder: Path) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, TEMPLATES]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        optimized=False,  # so that compiled templates do not depend on the filters
        bytecode_cache=_Compiled(str(TEMPLATES / "__pycache__")),
    )
    environment.filters |= _FILTERS
    return environment


class _Compiled(jinja2.FileSystemBytecodeCache):
    """Compiled templates beside the templates, kept only if Python may write bytecode."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                Path(self.directory).mkdir(exist_ok=True)
                super().dump_bytecode(bucket)


def _tidy(text: str) -> str:
    out: list[str] = []
    for line in text.split("\n"):
        line = line.rstrip()
        if line or (out and out[-1]):
            out.append(line)
    return "\n".join(out).strip("\n") + "\n"
