"""A gallery page on universal capacity, certified and promised, as a function of H, n and d_h.

For a setting (H, n, d_h, one shared context or distinct ones), random integer examples are drawn,
as many as any weights can memorize: min(H d, H a + b) for these contexts (docs/tightness.md,
section 2). Small random integer heads of width d_h are drawn until rank Z = T is certified on them,
modulo a prime. The paper's construction and width-one are also certified on as many of these
examples as they promise, and all constructions on the same T = H(n-1) + 1 examples, with their
numbers of parameters.

python docs/make_gallery.py capacity
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from figures import BLUE, GREEN, ORANGE, RED, WIDTH, style, to_svg
from matplotlib.figure import Figure
from support.exact_data import family

from attncert.constructions import generic, paper, width_one
from attncert.constructions.construction import places
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.law import spans
from attncert.constructions.layer import Layer, parameter_count
from attncert.reports.words.jsonable import readable_json
from attncert.reports.words.templating import page
from attncert.verify.limits.tightness.relations.probes import random_layer
from attncert.verify.statements.steps.conclusions import full_rank

Row = dict[str, Any]

TEMPLATES = Path(__file__).parent / "templates"
BASE = {"heads": 6, "context": 8, "head_width": 4}
D = 16
AXES = {
    "heads": (1, 2, 3, 4, 6, 8, 10, 12),
    "context": (1, 2, 3, 4, 6, 8, 10, 12),
    "head_width": (1, 2, 3, 4, 5, 6, 8, 10, 12),
}
SYMBOLS = {"heads": "H", "context": "n", "head_width": "d_h"}
ENTRIES = (3, 9, 30) * 4  # bounds on the entries of the random weights, tried in turn
_LINES = (
    ("columns", "#777777", "--", "$Hd$"),
    ("dana", ORANGE, ":", "$Hd_h+d$ (Dana, another setting)"),
    ("width_one", GREEN, "-", "$H(n-1)+1$ (ours)"),
    ("paper", RED, "-", r"$H(\min(n,d_h)-1)+1$ (the paper)"),
)


def render() -> dict[str, bytes]:
    """File contents by name. Deterministic."""
    sweeps = {axis: list(along(axis, values)) for axis, values in AXES.items()}
    equal = [
        {"contexts": name, "T": places(H, BASE["context"]), "H": H,
         "built": same_examples(H, BASE["context"], D, shared)}
        for name, shared in (("shared", True), ("distinct", False))
        for H in AXES["heads"]
    ]  # fmt: skip
    values = {"sweeps": sweeps, "equal": equal}
    context = {"symbols": SYMBOLS, "base": BASE, "d": D, "bounds": bounds(**BASE, d=D), **values}
    with style():
        figures = {
            f"figures/capacity-{axis.replace('_', '-')}.svg": to_svg(draw(axis, rows))
            for axis, rows in sweeps.items()
        }
    report = page("capacity.md.j2", context, TEMPLATES)
    return {"report.md": report, "capacity.json": readable_json(values), **figures}


def along(axis: str, values: tuple[int, ...]) -> Iterator[Row]:
    for shared in (True, False):
        for value in values:
            yield certify(**BASE | {axis: value}, d=D, shared=shared)


def certify(heads: int, context: int, head_width: int, d: int, shared: bool) -> Row:
    """What is certified in one setting, on T examples (the most any weights allow) and on fewer.

    >>> row = certify(3, 3, 1, 5, shared=False)
    >>> row["T"], row["certified"], row["width_one"], row["paper"], row["width_one_built"]
    (15, True, 7, 1, True)
    """
    promised = bounds(heads, context, head_width, d)
    more = 1 + (promised["width_one"] if shared else heads * d)
    data = family(more, context, d, shared=shared)
    T = min(spans(data).features(heads), heads * d)
    rng = np.random.default_rng(0)
    layers = (random_layer(data, heads, head_width, entries, rng) for entries in ENTRIES)
    papers, narrow = data.take(promised["paper"]), data.take(promised["width_one"])
    return {
        "heads": heads, "context": context, "head_width": head_width, "d": d, "shared": shared,
        "T": T,
        "certified": any(certified(data.take(T), layer) for layer in layers),
        **promised,
        "paper_built": certified(
            papers, paper.build(papers, heads=heads, head_width=head_width).layer),
        "width_one_built": certified(
            narrow, width_one.build(narrow, heads=heads, short_heads=False).layer),
    }  # fmt: skip


def bounds(heads: int, context: int, head_width: int, d: int) -> dict[str, int]:
    """The numbers that theorems promise; "columns" is the bound for all weights.

    >>> bounds(20, 32, 8, 64)
    {'paper': 141, 'width_one': 621, 'columns': 1280, 'dana': 224}
    """
    return {
        "paper": places(heads, min(context, head_width)),
        "width_one": places(heads, context),
        "columns": heads * d,
        "dana": heads * head_width + d,
    }


def same_examples(heads: int, n: int, d: int, shared: bool) -> dict[str, Row]:
    """Every construction on T = H(n-1) + 1 examples: heads, parameters (m = d_v = 1), rank.

    fewest: the fewest heads of width one that the bounds for all weights allow; no theorem
    promises them.
    """
    data = family(places(heads, n), n, d, shared=shared)
    few = next(h for h in range(1, heads + 1) if min(spans(data).features(h), h * d) >= data.T)
    builds = {
        "paper": (heads, n, partial(paper.build, head_width=n)),
        "width one": (heads, 1, width_one.build),
        "generic": (heads, 1, generic.build),
        "fewest": (few, 1, generic.build),
    }
    return {
        name: {
            "heads": H,
            "parameters": parameter_count(d, 1, H, width, 1),
            "certified": certified(data, build(data, heads=H).layer),
        }
        for name, (H, width, build) in builds.items()
    }


def certified(data: Dataset, layer: Layer) -> bool:
    return full_rank(data, layer).level.holds


def draw(axis: str, rows: list[Row]) -> Figure:
    """Plot examples against H, n or d_h: one shared context on the left, distinct ones on the
    right."""
    figure = Figure(figsize=(WIDTH, 3.7), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for panel, shared in zip(panels, (True, False), strict=True):
        some = [row for row in rows if row["shared"] == shared]
        x = [row[axis] for row in some]
        for name, color, line, label in _LINES:
            panel.plot(x, [row[name] for row in some], line, color=color, linewidth=1.2,
                       label=label)  # fmt: skip
        exact = [row for row in some if row["certified"]]
        panel.plot([row[axis] for row in exact], [row["T"] for row in exact], "o", color=BLUE,
                   fillstyle="none", label="certified; no weights exceed it")  # fmt: skip
        for name, color in (("paper", RED), ("width_one", GREEN)):
            built = [row for row in some if row[f"{name}_built"]]
            panel.plot([row[axis] for row in built], [row[name] for row in built], ".", color=color,
                       label="built and certified")  # fmt: skip
        panel.set(title="one shared context" if shared else "distinct contexts",
                  xlabel=f"${SYMBOLS[axis]}$", xticks=x)  # fmt: skip
        panel.grid(axis="y", color="#dddddd", linewidth=0.6)
        panel.set_axisbelow(True)
    panels[0].set_ylabel("examples $T$")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3,
                  frameon=False, fontsize=8)  # fmt: skip
    return figure
