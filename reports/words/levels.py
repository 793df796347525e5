"""How each evidence level is worded and coloured: one table for report, terminal and figures.

No entry calls unproved evidence proved; a test checks every entry.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from attncert.verify.claims.evidence import Level


@dataclass(frozen=True)
class Wording:
    """The words before the statement in the verdict, the line in the legend, what is missing for a
    proof, a pale and a dark colour of one hue."""

    opener: str
    meaning: str
    gap: str
    fill: str
    edge: str


def legend(levels: Iterable[Level]) -> list[tuple[str, str]]:
    """The name and meaning of each of these levels, from the strongest evidence down."""
    present = set(levels)
    return [(x.value, WORDING[x].meaning) for x in Level if x in present]


WORDING: dict[Level, Wording] = {
    Level.KERNEL: Wording(
        "Proved in Coq.",
        "a theorem proved in Coq and checked by its kernel; the claim names the theorem, its file "
        "and the hash of that file",
        "",
        "#e0d6f6",
        "#5a3ea6",
    ),
    Level.PROVED: Wording(
        "Proved.",
        "exact arithmetic over $\\mathbb{Q}$, or a certificate modulo a prime that lifts to it",
        "",
        "#cfeee3",
        "#00795a",
    ),
    Level.ENCLOSED: Wording(
        "Enclosed in rigorous intervals.",
        "ball arithmetic with outward rounding: the true value lies in the stated interval",
        "the bounds are rigorous, but they do not show equality",
        "#d6ecfa",
        "#2a7fb0",
    ),
    Level.ARGUED: Wording(
        "Argued in writing.",
        "a written proof, named with the claim, that no machine has checked",
        "the argument was read by people, not checked by machine",
        "#d3dff5",
        "#1b4f9c",
    ),
    Level.SAMPLED: Wording(
        "Sampled only.",
        "tried on examples drawn at random or chosen; for random subsets the 95 % bound on the "
        "failing fraction is stated",
        "what was not tried may fail",
        "#fbe3b8",
        "#a86c00",
    ),
    Level.NUMERICAL: Wording(
        "Numerical only.",
        "floating point with the stated tolerance",
        "rounding errors are not bounded",
        "#faf5bd",
        "#857a00",
    ),
    Level.ASSUMED: Wording(
        "Assumed:",
        "taken from the paper or the user",
        "nothing was checked",
        "#e6e6e6",
        "#666666",
    ),
    Level.REFUTED: Wording(
        "Refuted:",
        "the statement is false, as the witness and what the claim rests on show",
        "it is false: see the witness and what the claim rests on",
        "#f8cfb8",
        "#b34700",
    ),
    Level.UNDECIDED: Wording(
        "Undecided:",
        "tried and not decided, or resting on something that does not hold",
        "it was tried and not decided",
        "#f3d5e7",
        "#9c4a80",
    ),
    Level.VACUOUS: Wording(
        "Vacuous.",
        "nothing was compared, so the statement supports nothing",
        "nothing was compared",
        "#f4f4f4",
        "#777777",
    ),
    Level.NOT_APPLICABLE: Wording(
        "Not applicable.",
        "the hypotheses exclude this input",
        "the hypotheses exclude this input",
        "#ffffff",
        "#444444",
    ),
}
