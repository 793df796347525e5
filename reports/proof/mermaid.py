"""The proof graph in Mermaid, which GitHub draws from the report's own text."""

from __future__ import annotations

from attncert.constructions.foreign import printable
from attncert.reports.proof.view import Diagram
from attncert.reports.words.levels import WORDING
from attncert.verify.claims.evidence import Level


def flowchart(view: Diagram) -> str:
    """Boxes from premises (top) to conclusions, coloured by standing, with a legend.

    Ids are ours (`n0`, `n1`, ...), labels are quoted plain text: nothing that a claim says can
    change the diagram's syntax.
    """
    present = [level for level in Level if any(b.standing is level for b in view.boxes)]
    lines = ["flowchart TD"]
    for k, box in enumerate(view.boxes):
        label = f"{escape(box.label)}<br/>{box.standing.value}"
        lines.append(f'    n{k}["{label}"]:::{_name(box.standing)}')
    lines += [f"    n{a} --> n{b}" for a, b in view.edges]
    lines.append('    subgraph legend["standing"]')
    lines.append("        direction LR")
    lines += [f'        {_name(x)}_key["{x.value}"]:::{_name(x)}' for x in present]
    lines.append("    end")
    for level in present:
        w = WORDING[level]
        dash = "" if level.holds else ",stroke-dasharray:4 3"
        lines.append(
            f"    classDef {_name(level)} fill:{w.fill},stroke:{w.edge},color:#111111{dash}"
        )
    return "\n".join(lines)


def escape(label: str) -> str:
    """Plain text for a quoted Mermaid label.

    >>> escape('a "b" <c> #1; `d`')
    'a #34;b#34; #60;c#62; #35;1#59; #96;d#96;'
    """
    text = printable(label)
    text = text if len(text) <= 60 else text[:59] + "…"
    safe = " .,:-–…_()'=/"
    return "".join(c if c.isalnum() or c in safe else f"#{ord(c)};" for c in text)


def _name(level: Level) -> str:
    return level.value.replace(" ", "_")
