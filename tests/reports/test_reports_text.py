"""Text and numbers in reports, compared with parsers, exact arithmetic and known notation."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from attncert.constructions.foreign import printable
from attncert.reports.words import numbers, text
from attncert.reports.words.claims import readable
from attncert.reports.words.levels import WORDING
from attncert.verify.claims.evidence import Level

PARSER = MarkdownIt("commonmark").enable("table")
# Plain characters, everything that has a meaning in Markdown, HTML or LaTeX, and a few odd ones.
ANY_TEXT = st.text(alphabet="ab1 \t\n`*_[]()<>&|#~!\\-+=.{}^%$\"':/é\u202e\x00", max_size=40)


def shown(markdown: str) -> str:
    """The text that a Markdown parser shows for one paragraph; fails on any structure."""
    blocks = [t for t in PARSER.parse(markdown) if t.type not in ("paragraph_open",)]
    out = []
    for block in blocks:
        assert block.type in ("inline", "paragraph_close"), f"{markdown!r} became {block.type}"
        for token in block.children or ():
            if token.type == "html_inline":
                assert token.content in ("<span>", "</span>", "<code>", "</code>"), token.content
            else:
                assert token.type in ("text", "code_inline", "text_special"), token.type
                out.append(token.content)
    return "".join(out)


@given(ANY_TEXT.filter(lambda s: s.count("$") < 2))
@example("1. a list")
@example("- b")
@example("=== a title above")
@example("![a](b)")
@example("<!-- c -->")
@example("&amp;")
def test_prose_survives_markdown(raw: str) -> None:
    """A reader of the page sees exactly the text, whatever it is."""
    assert shown(text.markdown(raw)) == printable(raw)


@given(ANY_TEXT.filter(lambda s: s.strip()))
@example("``")
@example(" a|b ")
def test_code_survives_markdown_and_fits_a_table(raw: str) -> None:
    written = text.code(raw)
    assert shown(written) == printable(raw)
    assert "|" not in written and "\n" not in written


def test_bars_and_angles_of_mathematics_do_not_end_cells_or_open_tags() -> None:
    written = text.markdown(r"$|a| < b > \|c\|$")
    assert written.count("|") == 0 and "<" not in written and ">" not in written
    assert [written.count(sign) for sign in (r"\vert", r"\Vert", r"\lt", r"\gt")] == [2, 2, 1, 1]


@pytest.mark.parametrize(
    ("latex", "unicode"),
    [
        (r"$\operatorname{rank} Z = T$", "rank Z = T"),
        (r"$1-p_{i^*}\le (n-1)2^{-B}$", "1-p_(i^*) ≤ (n-1)2^(-B)"),
        (r"$\{x \in \mathbb{Q}\}$", "{x ∈ ℚ}"),
        (r"$\hat e_t \cdot e_s$", "êₜ · eₛ"),
        (r"$\tfrac{1}{3} E^{(1)}_{0}$", "1/3 E⁽¹⁾₀"),
        (r"$W_Q^\top$", "W_Qᵀ"),
        (r"$x\cdot\tilde z_t\le\rho$", "x·z̃ₜ ≤ ρ"),
        ("no mathematics, 5 $", "no mathematics, 5 $"),
    ],
)
def test_plain_text(latex: str, unicode: str) -> None:
    assert text.plain(latex) == unicode


# --- numbers ------------------------------------------------------------------------------------


def read_back(written: str) -> Fraction:
    """The value that a reader gets from a written number."""
    written = re.sub(r" \(.*\)$", "", written).removeprefix("about ").replace("$", "")
    if match := re.fullmatch(r"(-?)2\^\{(-?\d+)\}", written):
        return (-1 if match[1] else 1) * Fraction(2) ** int(match[2])
    if match := re.fullmatch(r"(-?[\d.]+)\\cdot 10\^\{(-?\d+)\}", written):
        return Fraction(match[1]) * Fraction(10) ** int(match[2])
    return Fraction(written.replace(",", ""))


@given(st.integers() | st.integers(-(2**3000), 2**3000))
@example(10**12 - 1)
@example(-(2**64))
@example(2**5000)
@example(9_995 * 10**40)
def test_integers_are_exact_or_right_to_three_digits(x: int) -> None:
    written = numbers.whole(x)
    if "about" in written:
        assert abs(read_back(written) / x - 1) <= Fraction(51, 10_000)
        assert f"({x.bit_length():,} bits)" in written
    else:
        assert read_back(written) == x


# --- witnesses and wording ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("witness", "line"),
    [
        ({"examples": [3, 5], "coefficients": ["2", "-1"], "group": 2, "kind": "dependent group"},
         "Between queries: $2\\,e^{(3)} - e^{(5)} = 0$."),
        ({"examples": [7], "coefficients": ["1"]}, "Between queries: $e^{(7)} = 0$."),
        ({"context": 4, "coefficients": ["-1", "0", "3/2"]},
         "In context 4: $-E^{(4)}_{0} + \\tfrac{3}{2}\\,E^{(4)}_{2} = 0$."),
        ({"context": 0, "rows": [1, 3], "coefficients": ["1", "-1"]},
         "In context 0: $E^{(0)}_{1} - E^{(0)}_{3} = 0$."),
        ({"reason": "two queries are parallel"}, "Two queries are parallel."),
    ],
)  # fmt: skip
def test_witnesses_are_equations(witness: dict[str, object], line: str) -> None:
    assert readable(witness)[0] == line


def test_no_wording_promotes_a_level() -> None:
    """Only the texts of PROVED and KERNEL contain "prove" or "proved"."""
    with_word = {
        level
        for level, w in WORDING.items()
        if any("prove" in part.lower() for part in (w.opener, w.gap))
    }
    assert with_word == {Level.KERNEL, Level.PROVED}
    assert set(WORDING) == set(Level)
    assert all(bool(WORDING[x].gap) == (x not in with_word) for x in Level)
