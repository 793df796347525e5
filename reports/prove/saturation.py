"""Saturation in the report: the line beside the verdict, and the figure against c."""

from __future__ import annotations

from collections.abc import Sequence

from attncert.reports.prove.records import worst_earlier
from attncert.reports.words.drawing import Figure
from attncert.reports.words.numbers import BEYOND, power_of_two
from attncert.verify.claims import ids
from attncert.verify.claims.proof import HeadSummary, Proof, Steered
from attncert.verify.claims.words import counted

MOST_CURVES = 12
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")
_STYLES = ("-", "--")


def verdict(proof: Proof) -> str:
    """How far the layer saturates where `--saturate` asks for it, in one sentence; else "".

    Of the heads with a term c·u vᵀ and their earlier examples: the largest share of attention
    outside the largest weight.
    """
    bits = proof.saturation
    if bits is None or not proof.heads:
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
    return (
        f"Worst saturation: $1-p_{{\\max}}$ is about {power_of_two(worst)} for an earlier example "
        f"of head {head} (float64), and no more for any other; "
        f"below $2^{{-{bits}}}$, as asked ({level}: saturation.asked)."
    )


def figure(heads: Sequence[HeadSummary]) -> Figure | None:
    """-log2 of the worst 1 - p against c, one curve for each head; the head's own c is marked.

    None where no head steers, or all contexts are one token.
    """
    drawn = steering(heads)
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
    drawn = steering(proof.heads)
    step = -(-len(drawn) // MOST_CURVES)
    some = "" if step < 2 else f"; every {step}th of {counted(len(drawn), 'head')}"
    return f"The worst earlier example of each head, as $c$ grows{some} (float64)"


def steering(heads: Sequence[HeadSummary]) -> list[tuple[int, Steered]]:
    """Heads with a term c·u vᵀ and a curve: number, and saturation against c."""
    steering = [(h, head.steered) for h, head in enumerate(heads, start=1) if head.steered]
    return [(h, s) for h, s in steering if s.curve and _drawable(s)]


def _drawable(steered: Steered) -> bool:
    c, bits = steered.curve[-1]
    return max(c, -bits) < BEYOND
