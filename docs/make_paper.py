"""docs/paper.md as LaTeX and, if pdflatex is installed, as PDF in build/paper: `make paper`."""

from __future__ import annotations

import re
import shutil
import subprocess
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode as Node
from mdit_py_plugins.dollarmath import dollarmath_plugin

from attncert.constructions.foreign import printable
from attncert.reports.words.text import BOARD, DOWN, SIGNS, UP, pieces

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "paper.md"
BUILD = ROOT / "build" / "paper"
LONG = 28  # a column wraps if any of its cells has more characters than this
WRAPS = r">{\raggedright\arraybackslash}X"

DOCUMENT = r"""\documentclass[11pt,a4paper]{article}
\usepackage[margin=30mm]{geometry}
\usepackage{amsmath,amssymb,booktabs,array,tabularx,microtype}
\setlength{\parindent}{0pt}
\setlength{\parskip}{5pt plus 1pt}
\emergencystretch=2em
\renewcommand{\labelitemi}{$\bullet$}
\title{%(title)s}
\author{The attncert authors}
\date{}
\begin{document}
\maketitle
%(body)s
\end{document}
"""
AROUND = {
    "paragraph": ("", "\n\n"),
    "bullet_list": ("\\begin{itemize}\\setlength{\\itemsep}{0pt}\n", "\\end{itemize}\n\n"),
    "ordered_list": ("\\begin{enumerate}\\setlength{\\itemsep}{0pt}\n", "\\end{enumerate}\n\n"),
    "list_item": ("\\item ", "\n"),
    "strong": (r"\textbf{", "}"),
    "em": (r"\emph{", "}"),
}


_TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%",
    "#": r"\#", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\ensuremath{<}", ">": r"\ensuremath{>}", "|": r"\ensuremath{\vert}",
    '"': "''", "√": r"\ensuremath{\surd}", "–": "--", "−": "--",
    "ß": r"\ss{}", "ø": r"\o{}", "Ø": r"\O{}", "æ": r"\ae{}", "Æ": r"\AE{}", "ł": r"\l{}",
}  # fmt: skip
_TEX |= {sign: f"\\ensuremath{{{name}}}" for name, sign in reversed(SIGNS.items())
         if len(sign) == 1 and not sign.isascii() and sign not in "\ue000\ue001ᵀ"}  # fmt: skip
_TEX["′"] = r"\ensuremath{'}"
_TEX |= {sign: f"\\ensuremath{{\\mathbb{{{name}}}}}" for name, sign in BOARD.items()}
_TEX |= {sign: f"\\textsuperscript{{{c}}}" for c, sign in UP.items() if c not in "ᵀ*′"}
_TEX |= {sign: f"\\textsubscript{{{c}}}" for c, sign in DOWN.items()}
_ACCENTS = {"\u0300": r"\`", "\u0301": r"\'", "\u0302": r"\^", "\u0303": r"\~", "\u0308": r"\"",
            "\u030a": r"\r", "\u0327": r"\c"}  # fmt: skip


def main() -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    (BUILD / "paper.tex").write_text(document(PAGE.read_text("utf-8")), "utf-8")
    print(f"{(BUILD / 'paper.tex').relative_to(ROOT)}")
    if shutil.which("pdflatex"):
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
        subprocess.run(command, cwd=BUILD, stdout=subprocess.DEVNULL, check=True)
        print(f"{(BUILD / 'paper.pdf').relative_to(ROOT)}")


def document(markdown: str) -> str:
    """The whole page; its first heading is the title. A link becomes its text."""
    parser = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, double_inline=True)
    title, *parts = Node(parser.disable("math_block").parse(markdown)).children
    return DOCUMENT % {"title": inside(title), "body": "".join(map(written, parts)).strip()}


def written(node: Node) -> str:
    match node.type:
        case "text" | "text_special":
            return prose(node.content)
        case "softbreak":
            return "\n"
        case "code_inline":
            name = latex_verbatim(node.content).replace(r"\_", r"\_\allowbreak{}")
            return f"\\texttt{{{name}}}"
        case "math_inline":
            return latex(f"${node.content}$")
        case "math_inline_double":
            return f"\\[{node.content.strip()}\\]"
        case "heading":
            _, text = inside(node).split(". ", 1)  # LaTeX numbers them itself
            return f"\\section{{{text}}}\n\n"
        case "table":
            return table([[*row.children] for part in node.children for row in part.children])
        case "inline" | "link":
            return inside(node)
    before, after = AROUND[node.type]
    return f"{before}{inside(node)}{after}"


def prose(text: str) -> str:
    """The text, including the spaces at its ends, which separate it from mathematics."""
    before, after = (" " * text.startswith(" "), " " * text.endswith(" "))
    return f"{before}{latex_verbatim(text)}{after}" if text.strip() else text


def inside(node: Node) -> str:
    return "".join(map(written, node.children))


def table(rows: Sequence[Sequence[Node]]) -> str:
    head, *body = [" & ".join(map(inside, row)) + r" \\" for row in rows]
    columns = "".join(kinds(rows))
    lines = [r"\toprule", head, r"\midrule", *body, r"\bottomrule"]
    width = r"{\textwidth}" if WRAPS in columns else ""
    name = "tabularx" if width else "tabular"
    return (
        f"\\begin{{center}}\\small\n\\begin{{{name}}}{width}{{{columns}}}\n"
        + "\n".join(lines)
        + f"\n\\end{{{name}}}\n\\end{{center}}\n\n"
    )


def kinds(rows: Sequence[Sequence[Node]]) -> Iterator[str]:
    """The alignment of each column: numbers to the right, long text wrapped."""
    for column in zip(*rows, strict=True):
        letters = max(len(cell.children[0].content) if cell.children else 0 for cell in column)
        if "right" in str(column[0].attrs.get("style", "")):
            yield "r"
        else:
            yield WRAPS if letters > LONG else "l"


def latex(text: str) -> str:
    r"""The text as it goes into a LaTeX document (pdfLaTeX, UTF-8).

    >>> print(latex(r"50 % of $x_1$, ℚ & more"))
    50 \% of $x_1$, \ensuremath{\mathbb{Q}} \& more
    """
    return "".join(_math_latex(p) if math else _prose_latex(p) for math, p in pieces(text))


def latex_verbatim(text: str) -> str:
    r"""A name for a LaTeX document, in which dollar signs and backslashes are plain text.

    >>> print(latex_verbatim(r"$\input{x}$"))
    \$\textbackslash{}input\{x\}\$
    """
    return _prose_latex(printable(text))


def _math_latex(math: str) -> str:
    math = re.sub(r"\\lt\b", "<", re.sub(r"\\gt\b", ">", math))
    return "$" + "".join(c if c.isascii() else f"\\text{{{_letter_latex(c)}}}" for c in math) + "$"


def _prose_latex(prose: str) -> str:
    """Keep the dashes of an option from joining."""
    return "-{}-".join("".join(map(_letter_latex, part)) for part in prose.split("--"))


def _letter_latex(c: str) -> str:
    if c in _TEX or c.isascii():
        return _TEX.get(c, c)
    parts = unicodedata.normalize("NFD", c)
    if len(parts) == 2 and parts[0].isascii() and parts[1] in _ACCENTS:
        return f"{_ACCENTS[parts[1]]}{{{parts[0]}}}"
    return f"[U+{ord(c):04X}]"


if __name__ == "__main__":
    main()
