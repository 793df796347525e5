"""Sentences as GitHub Markdown and as plain text.

Claims are sentences with LaTeX between dollar signs ("rank $Z = T$ over ℚ"). All text in a report
starts in this form, and is then written as GitHub Markdown, or as plain text for terminals and
figures. Prose is escaped for its target, so a data set called `a|b<c>` cannot change the structure
of a table or smuggle in HTML.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from html.entities import html5

from attncert.constructions.foreign import printable

MARK = "<!-- attncert report/1 -->"  # the beginning of every page
_MATH = re.compile(r"\$([^$]+)\$")


def markdown(text: str) -> str:
    r"""Markdown for GitHub. Mathematics that Markdown could misread goes between $` and `$, which
    GitHub documents for this (between plain dollars it drops the backslash of \{).

    >>> print(markdown(r"rank $Z = T$ for *all* of $\{1, 2\}$"))
    rank $Z = T$ for \*all\* of $`\{1, 2\}`$
    >>> print(markdown("a|b <b>"))
    a&#124;b &lt;b&gt;
    """
    out = "".join(_math_markdown(p) if math else _prose_markdown(p) for math, p in pieces(text))
    # At the beginning of a line these would start a list, a heading or a rule.
    return re.sub(r"^(\d+)(?=[.)]( |$))", r"\1\\", re.sub(r"^(?=[-+=])", r"\\", out))


def code(text: str) -> str:
    """Code in Markdown, in back-ticks if they are safe, else with entities.

    >>> print(code("head.1.rank"), code("a`b"))
    `head.1.rank` <code>a&#96;b</code>
    """
    text = printable(text)
    if re.fullmatch(r"[\w .,:;/=+()'\-]*[\w.,:;/=+()'\-][\w .,:;/=+()'\-]*", text):
        return f"`{text}`"
    entities = "".join(c if c.isalnum() or c in " .-/" else f"&#{ord(c)};" for c in text)
    return f"<code>{entities}</code>"


def plain(text: str) -> str:
    r"""The text as Unicode without LaTeX.

    >>> print(plain(r"$A(E^{(t)}, e^{(t)}) = y^{(t)}$ for all $t \le T$, over $\mathbb{Q}$"))
    A(E⁽ᵗ⁾, e⁽ᵗ⁾) = y⁽ᵗ⁾ for all t ≤ T, over ℚ
    """
    return "".join(_math_plain(p) if math else p for math, p in pieces(text)).strip()


def sentence(text: str, capital: bool = True) -> str:
    """The text with a capital letter, unless mathematics comes first, and one full stop.

    >>> sentence("rank $Z = T$"), sentence("$H < 2$.")
    ('Rank $Z = T$.', '$H < 2$.')
    """
    text = printable(text)
    text = text[:1].upper() + text[1:] if capital else text
    return text if text.endswith((".", "?", "!")) else f"{text}."


def pieces(text: str) -> Iterator[tuple[bool, str]]:
    """The pieces in order, and whether each is mathematics; an unpaired dollar is prose."""
    text, last = printable(text), 0
    for match in _MATH.finditer(text):
        yield False, text[last : match.start()]
        yield True, match[1].strip()
        last = match.end()
    yield False, text[last:]


def _math_markdown(math: str) -> str:
    # A bar would end a table cell; \vert and \Vert give the same symbols.
    math = math.replace(r"\|", r"\Vert ").replace("|", r"\vert ")
    math = math.replace("<", r"\lt ").replace(">", r"\gt ").replace("`", "'")
    risky = re.search(r"\\[^A-Za-z]|[*~\[]|[^A-Za-z0-9]_|_[^A-Za-z0-9{]", math)
    return f"$`{math}`$" if risky else f"${math}$"


def _prose_markdown(prose: str) -> str:
    prose = re.sub(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", r"\\_", re.sub(r"\\", r"\\\\", prose))
    prose = re.sub(r"([`*\[\]~#])", r"\\\1", prose)
    prose = prose.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return prose.replace("|", "&#124;").replace("$", "<span>$</span>")


# --- LaTeX to Unicode ---------------------------------------------------------------------------
# No library does this: pylatexenc leaves scripts, unicodeit and flatlatex misread \ln, \hat, \text.

_LEFT, _RIGHT = "\ue000", "\ue001"  # private-use stand-ins for visible braces
_NAMES = """
    le leq ge geq ne lt gt ll gg approx in notin subset subseteq cup cap setminus emptyset times pm
    perp mapsto Rightarrow iff forall sum prod alpha beta gamma delta Delta kappa lambda mu rho
    sigma Theta Omega omega pi ell lceil rceil lfloor rfloor vert Vert langle rangle prime
"""  # HTML took these names from TeX
SIGNS = {f"\\{name}": html5[f"{name};"] for name in _NAMES.split()} | {
    r"\neq": "≠", r"\cdot": "·", r"\infty": "∞", r"\to": "→", r"\exists": "∃", r"\dots": "…",
    r"\ldots": "…", r"\cdots": "…", r"\top": "ᵀ", r"\varepsilon": "ε", r"\epsilon": "ε",
    r"\mid": "|", r"\lbrace": _LEFT, r"\rbrace": _RIGHT, r"\quad": " ", r"\qquad": " ",
    r"\left": "", r"\right": "", r"\big": "", r"\Big": "", r"\bigl": "", r"\bigr": "",
    r"\displaystyle": "",
}  # fmt: skip
_ACCENT = {"hat": "\N{COMBINING CIRCUMFLEX ACCENT}", "tilde": "\N{COMBINING TILDE}"}
BOARD = {"Q": "ℚ", "Z": "ℤ", "R": "ℝ", "N": "ℕ", "F": "𝔽"}
UP = dict(zip("0123456789+-=()Tᵀabcdefghijklmnoprstuvwxyz*′",
               "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵀᵀᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ*′", strict=True))  # fmt: skip
DOWN = dict(
    zip("0123456789+-=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True)
)


def _math_plain(math: str) -> str:
    math = math.replace(r"\{", _LEFT).replace(r"\}", _RIGHT)  # visible braces
    math = re.sub(r"\\[,;:! ]", " ", math).replace(r"\|", "‖").replace("{,}", ",")
    math = re.sub(r"\\mathbb\s*\{?(\w)\}?", lambda m: BOARD.get(m[1], m[1]), math)
    word = r"\\(?:mathrm|mathbf|mathcal|operatorname\*?|text|texttt)\s*\{([^{}]*)\}"
    math = re.sub(word, r"\1", math)
    math = re.sub(r"\\t?frac\{(\w+)\}\{(\w+)\}", r"\1/\2", math)
    math = re.sub(r"\\t?frac\{([^{}]*)\}\{([^{}]*)\}", r"(\1)/(\2)", math)
    math = re.sub(r"\\sqrt\{([^{}]*)\}", r"√(\1)", math)
    math = re.sub(r"\\([A-Za-z]+)", _sign, math)
    math = re.sub(r"\\(hat|tilde)\s*\{?(\w)\}?", lambda m: m[2] + _ACCENT[m[1]], math)
    math = re.sub("([≤≥≠≈∈∉⊂⊆⊥→↦⇒⇔])", r" \1 ", math)
    math = re.sub(r"([\^_])(?:\{([^{}]*)\}|(\S))", _script, math)
    math = math.replace("{", "").replace("}", "").replace("\\", "")
    math = math.replace(_LEFT, "{").replace(_RIGHT, "}")
    return unicodedata.normalize("NFC", " ".join(math.split()))


def _sign(match: re.Match[str]) -> str:
    return match[0] if match[1] in _ACCENT else SIGNS.get(match[0], match[1])


def _script(match: re.Match[str]) -> str:
    table, body = (UP if match[1] == "^" else DOWN), match[2] or match[3] or ""
    body = body.strip()
    if all(c in table for c in body):
        return "".join(table[c] for c in body)
    return f"{match[1]}{body}" if len(body) == 1 else f"{match[1]}({body})"
