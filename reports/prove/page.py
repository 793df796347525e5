"""The report of `attncert prove`: the parts of its page.

The words are in `templates/`, the rows of its tables in `reports.prove.rows`.
"""

from __future__ import annotations

from functools import partial

from attncert.reports.prove import blocks, rows
from attncert.reports.prove.figures import draw, graph_of
from attncert.reports.prove.heat_map import caption
from attncert.reports.prove.records import exhibits
from attncert.reports.prove.sections import files, sections
from attncert.reports.report import PageParts
from attncert.reports.words.numbers import indices
from attncert.reports.words.text import plain
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.proof import Proof, Setup
from attncert.verify.claims.words import counted

KNOWN = (
    ids.PLACED_MAXIMUM, ids.PLACED_MEMORIZES, ids.TIGHTNESS_BOUND, ids.TIGHTNESS_UNIVERSAL,
    ids.ROWS_RELATIONS, ids.ROWS_UNIVERSAL, ids.ROWS_LABELS, ids.LABELS_RANK,
    ids.UNIVERSAL_ENOUGH, ids.GIVEN_LABELS,
)  # fmt: skip


def page_parts(proof: Proof) -> PageParts:
    """The sections of every proof, and those for a layer or for blocks."""
    if proof.setup is None:
        own = blocks.context(proof)
        shown = blocks.exhibits(proof, own["blocks"])
    else:
        own, shown = _of_layer(proof, proof.setup), exhibits(proof, proof.setup)
    return PageParts(
        "proof.md.j2",
        sections(proof) | own,
        shown,
        partial(graph_of if proof.setup is None else draw, proof),
        partial(files, proof),
        _instead(proof) + blocks.idle(proof),
    )


def _instead(proof: Proof) -> tuple[str, ...]:
    """Why the answer is a rank although --claim is auto, and what an exact readout costs."""
    asked = getattr(proof.question, "claim", "") != "auto"
    if asked or ids.READOUT not in proof.trace:
        return ()
    return (plain(proof.trace[ids.READOUT].statement),)


def _of_layer(proof: Proof, setup: Setup) -> dict[str, object]:
    head_columns, head_rows = rows.heads(proof)
    return {
        "setup": setup,
        "heads_words": counted(setup.heads, "head") if setup.heads else "",
        "still_known": _still_known(proof),
        "left_out": _left_out(proof),
        "construction": rows.construction(proof, setup),
        "instead_of_a1": _instead_of_a1(proof),
        "head_columns": head_columns,
        "head_rows": head_rows,
        "saturation_line": _saturation(proof),
        "saturation_caption": caption(len(proof.heads), len(proof.heads[0].log2_off_peak))
        if proof.heads
        else "",
        "run": [("random seed", proof.question.seed), ("device", setup.device)],
        "modulo": setup.claim == "full-rank",
    }


def _saturation(proof: Proof) -> str:
    """The saturation requested by `--saturate`, and whether it holds; "" if it was not given."""
    asked = proof.trace.get(ids.SATURATION_ASKED)
    if asked is None:
        return ""
    return f"Saturation, {proof.trace.standing(asked.id).value}: {asked.statement}"


def _still_known(proof: Proof) -> list[tuple[str, str, str]]:
    """If nothing was built: which examples can be placed, and which limits hold for all weights."""
    if proof.layer is not None:
        return []
    trace = proof.trace
    return [(i, trace.standing(i).value, trace[i].statement) for i in KNOWN if i in trace]


def _left_out(proof: Proof) -> str:
    if ids.PLACED_MAXIMUM not in proof.trace:
        return ""
    left_out = (proof.trace[ids.PLACED_MAXIMUM].witness or {}).get("left out", [])
    return indices(left_out) if left_out else ""


def _instead_of_a1(proof: Proof) -> bool:
    """Whether the answer holds although Assumption 1 is false."""
    trace = proof.trace
    return proof.standing.holds and ids.A1 in trace and trace[ids.A1].level is Level.REFUTED
