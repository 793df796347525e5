r"""tables.tex: the report's tables for a paper (booktabs; \input it, or copy what is wanted)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attncert.reports.prove import rows
from attncert.reports.words.text import latex, latex_verbatim
from attncert.verify.claims.proof import Proof

# As rows.HEAD_COLUMNS, short enough for a page.
HEAD_COLUMNS = (
    "head", "group", "$c$", "$c_0$", "$B$", "$B_0$", "$1-p_{\\max}$", "$(n-1)2^{-B}$", "bits",
    "cond.", "standing",
)  # fmt: skip
HYPOTHESIS_WIDTHS = (1.2, 0.6, 0.8, 0, 1.4)  # 0: as wide as its text; the others' mean is 1
HEAD_CAPTION = (
    "$c$: multiplier of the selector term; $B$: smallest logit gap over earlier examples, "
    "in bits; $c_0$, $B_0$: the same from Weyl's bound; $1-p_{\\max}$: worst over earlier "
    "examples; bits: largest logit range; cond.: of $Z$, float64."
)


def tables(proof: Proof) -> str:
    r"""The construction in numbers, its heads and its hypotheses, each as a `table`.

    Needs \usepackage{booktabs,amsmath,amssymb,array,tabularx}, and references.bib needs url.
    """
    name = latex_verbatim(proof.data.name)
    out = [
        "% \\usepackage{booktabs,amsmath,amssymb,array,tabularx,url}",
        booktabs("construction", f"The construction in numbers ({name}).", "lX", ("", ""),
               rows.construction(proof)),
    ]  # fmt: skip
    if proof.heads:
        columns, body = rows.without_empty(HEAD_COLUMNS, rows.heads(proof))
        part = "" if len(body) == len(proof.heads) else f" {len(body)} of {len(proof.heads)} heads."
        out.append(
            booktabs("heads", f"The heads ({name}).{part} {HEAD_CAPTION}",
                   "r" * (len(columns) - 1) + "X", columns, body)
        )  # fmt: skip
    hypotheses = [
        (f"{h.name}: {h.statement}", h.demand, h.finding, h.level, h.used)
        for h in rows.hypotheses(proof)
    ]
    if hypotheses:
        columns = ("hypothesis", "asked", "found", "level", "where used")
        out.append(
            booktabs("hypotheses", f"The hypotheses ({name}).", ragged(HYPOTHESIS_WIDTHS),
                   columns, hypotheses)
        )  # fmt: skip
    return "\n\n".join(out) + "\n"


def ragged(widths: Sequence[float]) -> str:
    """Columns that wrap, of these widths in units of their mean."""
    set_to = r">{{\hsize={}\hsize\raggedright\arraybackslash}}X"
    return "".join(set_to.format(width) if width else "l" for width in widths)


def booktabs(
    label: str, caption: str, spec: str, header: Sequence[str], body: Iterable[Sequence[str]]
) -> str:
    lines = [
        r"\begin{table}", r"  \centering\footnotesize\setlength{\tabcolsep}{3pt}",
        f"  \\caption{{{caption}}}",
        f"  \\label{{tab:attncert-{label}}}", f"  \\begin{{tabularx}}{{\\linewidth}}{{{spec}}}",
        r"    \toprule",
    ]  # fmt: skip
    if any(header):
        lines += [f"    {_row(header)}", r"    \midrule"]
    lines += [f"    {_row(row)}" for row in body]
    return "\n".join([*lines, r"    \bottomrule", r"  \end{tabularx}", r"\end{table}"])


def _row(cells: Sequence[str]) -> str:
    return " & ".join(latex(cell) for cell in cells) + r" \\"
