"""Saturation in the report: the line beside the verdict, the table against c, and its figure."""

from __future__ import annotations

from collections.abc import Sequence

from attncert.reports.prove.records import worst_earlier
from attncert.reports.prove.rows import maybe, shown_heads, without_empty
from attncert.reports.words.drawing import Figure
from attncert.reports.words.numbers import BEYOND, notation, power_of_two
from attncert.verify.claims import ids
from attncert.verify.claims.proof import HeadSummary, Proof, Steered
from attncert.verify.claims.words import counted

MOST_ROWS = 12  # limit rows that are written out
MOST_CURVES = 12
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")
_STYLES = ("-", "--")


def verdict(proof: Proof) -> str:
    """How far the layer saturates where `--saturate` asks for it, in one sentence; else "".

    Of the heads with a term c·u vᵀ and their earlier examples: the largest share of attention
    outside the largest weight.
    """
    target = proof.saturation
    if target is None or not proof.heads:
        return ""
    worsts = zip(proof.heads, worst_earlier(proof.heads), strict=True)
    steered = [(x, h) for h, (head, x) in enumerate(worsts, start=1)
             if head.c is not None and x is not None]  # fmt: skip
    if not steered:
        return (
            "No head has a multiplier $c$; the figure of saturation shows how far each saturates."
        )
    if proof.data.longest == 1:
        return "Every context is one token, and every weight 1: saturated without need of $c$."
    worst, head = max(steered)
    level = proof.trace.standing(ids.SATURATION_ASKED).value
    own = ", the heads' own examples too" if target.own else ""
    return (
        f"Worst saturation: $1-p_{{\\max}}$ is about {power_of_two(worst)} for an earlier example "
        f"of head {head} (float64), and no more for any other; "
        f"below $2^{{-{target.bits}}}$, as asked{own} ({level}: saturation.asked)."
    )


def remedy(proof: Proof) -> tuple[str, str, str] | None:
    """Where the rank is the answer because the data have long fractions: the command that rounds
    and interpolates, the largest change, and about how many seconds that takes."""
    if ids.READOUT not in proof.trace:
        return None
    numbers = proof.trace[ids.READOUT].numbers
    if "to interpolate rounded data" not in numbers:
        return None
    return (
        str(numbers["to interpolate rounded data"]),
        notation(numbers["largest change"]),
        notation(numbers["seconds, estimated"]),
    )


def table(proof: Proof) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Columns and rows, one for each head that steers; without what is empty for all."""
    bits = proof.saturation.bits if proof.saturation else 0
    columns = (
        "head", "rows $L_s$ of the earlier examples", "rate $\\rho$: bits for each unit of $c$",
        "least $c$: rows lead", "least $c$: rank", f"least $c$: {bits} bits",
        "$c$ chosen", "worst $1-p$ there",
    )  # fmt: skip
    chosen = shown_heads(proof.heads)
    rows = [
        (
            str(h),
            _rows(steered.rows),
            maybe(steered.rate),
            maybe(steered.least_to_lead),
            maybe(steered.least_for_rank),
            maybe(steered.least_for_bits),
            maybe(proof.heads[h - 1].c),
            power_of_two(worst) if steered.curve else "0",
        )
        for h, steered, worst in _steering(proof.heads)
        if h in chosen
    ]
    return without_empty(columns, rows)


def figure(heads: Sequence[HeadSummary]) -> Figure | None:
    """-log2 of the worst 1 - p against c, one curve for each head; the head's own c is marked.

    None where no head steers, or all contexts are one token.
    """
    drawn = [(h, s) for h, s, _ in _steering(heads) if s.curve]
    drawn = [(h, s) for h, s in drawn if max(s.curve[-1][0], -s.curve[-1][1]) < BEYOND]
    if not drawn:
        return None
    figure = Figure(figsize=(8.0, 3.4), layout="constrained")
    axes = figure.add_subplot()
    step = -(-len(drawn) // MOST_CURVES)
    for k, (h, steered) in enumerate(drawn[::step]):
        x, y = zip(*((c, -bits) for c, bits in steered.curve), strict=True)
        colour = _COLOURS[k % len(_COLOURS)]
        style = _STYLES[k // len(_COLOURS) % len(_STYLES)]
        axes.plot(x, y, color=colour, linestyle=style, linewidth=1.2, label=f"head {h}")
        chosen = heads[h - 1].c
        at = dict(steered.curve).get(chosen or 0)
        if chosen is not None and at is not None:
            axes.plot([chosen], [-at], color=colour, marker="o", markersize=5)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set(xlabel="c", ylabel=r"bits: $-\log_2(1-p)$, worst example")
    axes.set_title("Saturation against c; the dot is the c of the layer")
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def caption(proof: Proof) -> str:
    drawn = [h for h, steered, _ in _steering(proof.heads) if steered.curve]
    step = -(-len(drawn) // MOST_CURVES) if drawn else 1
    some = "" if step == 1 else f"; every {step}th of {counted(len(drawn), 'head')}"
    return f"The worst earlier example of each head, as $c$ grows{some} (float64)"


def _steering(heads: Sequence[HeadSummary]) -> list[tuple[int, Steered, float]]:
    """Heads with a term c·u vᵀ: number, saturation against c, and log2(1-p) at the head's own c."""
    steering = []
    for h, head in enumerate(heads, start=1):
        if head.steered is not None:
            at = dict(head.steered.curve).get(head.c or 0)
            steering.append((h, head.steered, float("-inf") if at is None else at))
    return steering


def _rows(rows: Sequence[int]) -> str:
    more = f", ... ({counted(len(rows), 'example')})" if len(rows) > MOST_ROWS else ""
    return ", ".join(map(str, rows[:MOST_ROWS])) + more
