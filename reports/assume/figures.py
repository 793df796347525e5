"""Figures of the report on the assumptions: fractions against k, spectra, float32 ranks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np
from matplotlib.axes import Axes

from attncert.reports.prove.figures import BLUE, GREEN, ORANGE, RED, WIDTH
from attncert.reports.words.drawing import Figure, Picture, style
from attncert.reports.words.numbers import BEYOND
from attncert.verify.assume.assume import Assumed
from attncert.verify.assume.spectra import EPSILON, Spectrum
from attncert.verify.claims.words import counted

_BARS = 40


def draw(answer: Assumed) -> dict[str, Picture]:
    """fractions, spectra, ranks: those for which there is something."""
    with style():
        figures = {
            "fractions": _fractions(answer),
            "spectra": _spectra(answer),
            "ranks": _ranks(answer),
        }
    return {name: figure for name, figure in figures.items() if figure is not None}


def _fractions(answer: Assumed) -> Figure | None:
    sweep, tests = answer.sweep, answer.tests
    if not tests and sweep is None:
        return None

    drawn = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    axes = drawn.subplots()
    if sweep is not None:
        ks = list(range(1, sweep.k + 1))
        share = [sweep.independent(k) / sweep.drawn for k in ks]
        axes.plot(ks, share, color=BLUE, label=f"exact, {sweep.drawn} permutations")
    if tests:
        axes.plot([t.k for t in tests], [t.full / t.subsets for t in tests], "o", color=RED,
                  label="float32 rank full")  # fmt: skip
    axes.axvline(answer.data.tokens, color="#777777", linestyle=":", label="$n$")
    axes.set_xlabel("$k$, queries in a set")
    axes.set_ylabel("independent, of the sets drawn")
    axes.set_ylim(-0.04, 1.06)
    axes.legend(frameon=False)
    return drawn


def _spectra(answer: Assumed) -> Figure | None:
    sets: list[tuple[str, Sequence[Spectrum]]] = [("contexts", answer.contexts)]
    sets += [(counted(k, "query"), spectra) for k, spectra in answer.subsets.items()]
    sets = [(name, spectra) for name, spectra in sets if spectra and spectra[0].singular[0] > 0]
    if not sets:
        return None

    drawn = Figure(figsize=(WIDTH, 3.4), layout="constrained")
    panels = drawn.subplots(1, len(sets), sharey=True, squeeze=False)[0]
    for panel, (name, spectra) in zip(panels, sets, strict=True):
        _panel(panel, spectra)
        panel.set_title(name)
    panels[0].set_ylabel("singular value")
    if labelled := [panel for panel in panels if panel.get_lines()]:
        labelled[-1].legend(frameon=False, fontsize=7.5)
    return drawn


def _panel(axes: Axes, spectra: Sequence[Spectrum]) -> None:
    """All spectra as a band between least and largest, the median in it; a word where Matplotlib's
    ticks would leave the floats."""
    floor = 1e-3 * min(min(s.tolerance, s.rounding) or s.singular[0] * 1e-12 for s in spectra)
    by_index = [[max(x, floor) for x in column if x is not None]
                for column in zip_longest(*(s.singular for s in spectra))]  # fmt: skip
    if not 1 / BEYOND < min(map(min, by_index)) <= max(map(max, by_index)) < BEYOND:
        axes.text(0.5, 0.5, "beyond $10^{\\pm 200}$", ha="center",
                  transform=axes.transAxes)  # fmt: skip
        return
    at = np.arange(1, len(by_index) + 1)
    axes.fill_between(at, [*map(min, by_index)], [*map(max, by_index)], color=BLUE, alpha=0.25,
                      linewidth=0)  # fmt: skip
    axes.plot(at, [*map(np.median, by_index)], color=BLUE, linewidth=1.2,
              label="median of the sets")  # fmt: skip
    first = spectra[0]
    axes.axhline(first.tolerance, color=RED, linewidth=1, label="float32 tolerance")
    if first.rounding:
        axes.axhline(first.rounding, color=GREEN, linewidth=1, linestyle="--",
                     label="rounding, at most")  # fmt: skip
    axes.axhline(EPSILON * first.singular[0], color=ORANGE, linewidth=1, linestyle=":",
                 label=f"ε = {EPSILON:g} of the largest")  # fmt: skip
    axes.set_yscale("log")
    axes.set_xlabel("index")


def _ranks(answer: Assumed) -> Figure | None:
    sizes = {answer.k, answer.most}
    tests = [test for test in answer.tests if test.k in sizes]
    if not tests:
        return None

    drawn = Figure(figsize=(WIDTH, 2.8), layout="constrained")
    panels = drawn.subplots(1, len(tests), squeeze=False)[0]
    for panel, test in zip(panels, tests, strict=True):
        ranks = np.repeat(list(test.ranks), list(test.ranks.values()))
        low, high = int(ranks.min()), test.k
        step = max(1, -(-(high - low + 1) // _BARS))
        edges = np.arange(low, high + step + 1, step) - 0.5
        panel.hist(ranks, bins=edges, color=RED, alpha=0.8)
        panel.axvline(min(test.k, answer.rank), color=BLUE, linestyle="--")
        panel.set_title(f"float32 ranks of {test.subsets:,} sets of {test.k:,}")
        panel.set_xlabel("rank (dashed: the largest possible)")
    panels[0].set_ylabel("sets")
    return drawn
