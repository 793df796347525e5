r"""A report's page as one HTML file, made from its Markdown: the same text, with nothing to load.

Mathematics is MathML, figures are embedded, and the proof graph is part of the page, so that its
boxes are links. Only the HTML tags that our templates write and plain MathML are kept, links lead
into the page or to a file in its folder, and the browser is told to load nothing.

>>> b'<msup><mi>x</mi><mn>2</mn></msup>' in html_page(b"# A page\n\n$x^2$\n", {})
True
"""

from __future__ import annotations

import base64
import functools
import hashlib
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape, unescape
from typing import Any

from latex2mathml.converter import convert_to_element
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.anchors.index import slugify, unique_slug
from mdit_py_plugins.dollarmath import dollarmath_plugin

from attncert.reports.report import HTML_MARK, HTML_PAGE, figure_file
from attncert.reports.words.templating import TEMPLATES
from attncert.reports.words.text import MARK, plain

GRAPH = figure_file("graph")
_TAGS = re.compile(
    r"<details>(<summary>[^<>]*</summary>)?|</details>|</?span>|</?code>|<a id=\"[a-z0-9-]+\">|</a>"
)
_LINK = re.compile(r"#[\w-]+|[\w-]+(/[\w-]+)*\.[a-z0-9]+")
_MATHML = frozenset([
    "math", "mrow", "mi", "mo", "mn", "mtext", "mspace", "msup", "msub", "msubsup", "munder",
    "mover", "munderover", "mfrac", "msqrt", "mroot", "mtable", "mtr", "mtd", "mstyle", "mpadded",
    "mphantom",
])  # fmt: skip
_ATTRIBUTES = frozenset([
    "display", "stretchy", "fence", "separator", "accent", "accentunder", "minsize", "maxsize",
    "width", "mathvariant", "linethickness", "columnalign", "columnspacing", "rowspacing",
    "displaystyle", "scriptlevel", "lspace", "rspace", "movablelimits", "largeop", "symmetric",
])  # fmt: skip
_LONG = 60  # cells with more characters are kept wide
_LINE = 36  # how many characters of a formula fit on one line of a phone
_Tokens = Sequence[Token]


def html_page(markdown: bytes, files: Mapping[str, bytes]) -> bytes:
    """The page as a single file, with the figures of the report embedded. The same Markdown and
    figures give the same bytes."""
    parser = _parser()
    environment: dict[str, Any] = {"files": files, "headings": [], "slugs": set(), "tables": 0}
    tokens = parser.parse(markdown.decode().replace(MARK, "", 1), environment)
    body = parser.renderer.render(tokens, parser.options, environment)
    title = next((t for level, t, _ in environment["headings"] if level == "h1"), "Report")
    style = (TEMPLATES / "page.css").read_text("utf-8")
    allowed = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src '{_hash(style)}'"
    )
    lines = [
        f'{HTML_MARK}\n<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{allowed}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{escape(title)}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        _contents(environment["headings"]),
        f"<main>\n{body}</main>",
        "</body>",
        "</html>",
    ]
    return ("\n".join(lines) + "\n").encode()


def mathml(latex: str, block: bool = False) -> str:
    r"""The formula as MathML, or its LaTeX source as code if it cannot be read.

    >>> mathml(r"\text{<b>}") == mathml(r"\text{&lt;b&gt;}") and "<b>" not in mathml(r"\text{<b>}")
    True
    >>> mathml(r"\frac{")
    '<code>\\frac{</code>'
    """
    return _mathml(" ".join(latex.split()), block)


@functools.lru_cache(maxsize=4096)
def _mathml(latex: str, block: bool) -> str:
    words = re.sub(r"\\mathrm\{([A-Za-z]{2,})\}", r"\\operatorname{\1}", latex)
    try:
        element = convert_to_element(words, display="block" if block else "inline")
    except Exception:  # the converter's errors have no common base class
        return f"<code>{escape(latex)}</code>"
    if any(part.tag not in _MATHML for part in element.iter()):
        return f"<code>{escape(latex)}</code>"
    element.attrib.pop("xmlns", None)  # implied in HTML
    for part in element.iter():
        part.text = unescape(part.text) if part.text else part.text
        for name in set(part.attrib) - _ATTRIBUTES:
            del part.attrib[name]
        if part.tag in ("mi", "mo") and len(part.text or "") > 1 and str(part.text).isalpha():
            part.tag = "mo"  # a thin space follows the name of a function
            part.attrib |= {"lspace": "0em", "rspace": "0.17em"}
    return ElementTree.tostring(element, encoding="unicode", short_empty_elements=False)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _contents(headings: list[tuple[str, str, str]]) -> str:
    items = [
        f'<li><a href="#{slug}">{escape(text)}</a></li>'
        for level, text, slug in headings
        if level == "h2"
    ]
    listed = "\n".join(items)
    return f'<nav aria-label="Contents">\n<ul>\n{listed}\n</ul>\n</nav>' if items else ""


# --- The Markdown of our pages -------------------------------------------------------------------


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    parser.use(dollarmath_plugin).disable("math_block")
    for name, rule in _RULES.items():
        parser.add_render_rule(name, lambda self, x, k, options, env, rule=rule: rule(x, k, env))
    return parser


def _math(tokens: _Tokens, k: int, env: Any) -> str:
    """$...$ and $`...`$. MathML is not broken into lines, so a long formula scrolls."""
    shown = mathml(tokens[k].content.strip("`"))
    if len(_plain(tokens[k : k + 1])) <= _LINE:
        return shown
    return f'<span class="formula" tabindex="0">{shown}</span>'


def _fence(tokens: _Tokens, k: int, env: Any) -> str:
    text = tokens[k].content
    if tokens[k].info == "math":
        return f'<div class="formula" tabindex="0">{mathml(text, block=True)}</div>\n'
    return f'<pre tabindex="0"><code>{escape(text)}</code></pre>\n'


def _html(tokens: _Tokens, k: int, env: Any) -> str:
    text = tokens[k].content
    return text if _TAGS.fullmatch(text.strip()) else escape(text)


def _heading_open(tokens: _Tokens, k: int, env: Any) -> str:
    text = _plain(tokens[k + 1].children or [])
    slug = unique_slug(slugify(text) or "part", env["slugs"])
    env["headings"].append((tokens[k].tag, text, slug))
    return f'<{tokens[k].tag} id="{slug}">'


def _image(tokens: _Tokens, k: int, env: Any) -> str:
    name, alt = str(tokens[k].attrs.get("src", "")), escape(_plain(tokens[k].children or []))
    svg = env["files"].get(name)
    if svg is None:
        return f"<em>{alt}</em>"
    if name == GRAPH:
        drawn = svg.decode().replace(f'href="../{HTML_PAGE}#', 'href="#').strip()
        return f'<span class="graph" role="region" aria-label="{alt}" tabindex="0">{drawn}</span>'
    inside = base64.b64encode(svg).decode()
    return f'<img alt="{alt}" src="data:image/svg+xml;base64,{inside}">'


def _link_open(tokens: _Tokens, k: int, env: Any) -> str:
    target = str(tokens[k].attrs.get("href", ""))
    return f'<a href="{escape(target)}">' if _LINK.fullmatch(target) else "<a>"


def _table_open(tokens: _Tokens, k: int, env: Any) -> str:
    env["tables"] += 1
    under = env["headings"][-1][1] if env["headings"] else ""
    name = escape(f"Table {env['tables']}: {under}")
    return f'<div class="table" role="region" aria-label="{name}" tabindex="0">\n<table>\n'


def _cell_open(tokens: _Tokens, k: int, env: Any) -> str:
    if "right" in str(tokens[k].attrs.get("style", "")):
        return '<td class="number">'
    return '<td class="long">' if len(tokens[k + 1].content) > _LONG else "<td>"


_RULES: dict[str, Callable[[_Tokens, int, Any], str]] = {
    "math_inline": _math, "fence": _fence, "html_block": _html, "html_inline": _html,
    "heading_open": _heading_open, "image": _image, "link_open": _link_open,
    "table_open": _table_open, "table_close": lambda *_: "</table>\n</div>\n",
    "td_open": _cell_open, "th_open": lambda *_: '<th scope="col">',
}  # fmt: skip


def _plain(tokens: _Tokens) -> str:
    return "".join(_texts(tokens))


def _texts(tokens: _Tokens) -> Iterator[str]:
    for token in tokens:
        if token.type == "math_inline":
            yield plain(f"${token.content.strip('`')}$")
        elif token.type in ("text", "code_inline", "text_special"):
            yield token.content
        elif token.children:
            yield from _texts(token.children)
