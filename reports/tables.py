r"""tables.tex: the report's tables for a paper (booktabs; \input it, or copy what is wanted)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reports import rows
from reports.text import latex, one_line
from verify.proof import Proof


def tables(proof: Proof) -> str:
    r"""The construction in numbers, its heads and its hypotheses, each as a `table`.

    Needs \usepackage{booktabs,amsmath,amssymb,tabularx}.
    """
    name = latex(one_line(proof.data.name))
    out = [
        "% \\usepackage{booktabs,amsmath,amssymb,tabularx}",
        _table("construction", f"The construction in numbers ({name}).", "lX", ("", ""),
               rows.construction(proof)),
    ]  # fmt: skip
    if proof.heads:
        columns = rows.HEAD_COLUMNS
        shown = rows.heads(proof)
        part = "" if len(shown) == len(proof.heads) else f" {len(shown)} of {len(proof.heads)} heads."
        out.append(
            _table("heads", f"The heads ({name}).{part}", "r" * (len(columns) - 1) + "X", columns,
                   shown)
        )  # fmt: skip
    hypotheses = [
        (f"{h.name}: {h.statement}", h.asked, h.found, h.level, h.used)
        for h in rows.hypotheses(proof)
    ]
    if hypotheses:
        columns = ("hypothesis", "asked", "found", "level", "where used")
        out.append(_table("hypotheses", f"The hypotheses ({name}).", "XXXXX", columns, hypotheses))
    return "\n\n".join(out) + "\n"


def _table(
    label: str, caption: str, spec: str, header: Sequence[str], body: Iterable[Sequence[str]]
) -> str:
    lines = [
        r"\begin{table}", r"  \centering\small", f"  \\caption{{{caption}}}",
        f"  \\label{{tab:attncert-{label}}}", f"  \\begin{{tabularx}}{{\\linewidth}}{{{spec}}}",
        r"    \toprule",
    ]  # fmt: skip
    if any(header):
        lines += [f"    {_row(header)}", r"    \midrule"]
    lines += [f"    {_row(row)}" for row in body]
    return "\n".join([*lines, r"    \bottomrule", r"  \end{tabularx}", r"\end{table}"])


def _row(cells: Sequence[str]) -> str:
    return " & ".join(latex(cell) for cell in cells) + r" \\"
