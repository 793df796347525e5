"""A gallery page on effective constants: how large c must be, and what it costs.

A theorem says that some c works. Three numbers say more about c, for every head with a selector
(the other heads stay as built):

- the least c ≥ 0 at which the rank is *certified* on the examples placed so far, found here by
  trying 0, 1, 2, ... (a rank that is not full mod p is not a proof that it is not full over ℚ);
- B at that c, the smallest lead of a target row over another row of its context, in bits, over all
  earlier examples: how strongly the head is in fact saturated there (negative: no lead yet);
- c and B by the a-priori bound, from the least singular value of the limit (Weyl;
  apriori.py): these are only numerical, and no claim rests on them.

For the whole layer, the page shows the largest logit range, the expected number of bits in an exact
readout, the condition number of Z (float64) and the number of parameters.

python docs/make_gallery.py constants
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from apriori import Apriori
from figures import BLUE, GREEN, RED, WIDTH, style, to_svg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from support.exact_data import family

from attncert.constructions import generic, paper, width_one
from attncert.constructions.arrays import ObjectArray
from attncert.constructions.construction import BuiltLayer, SteeringHead, places
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import parameter_count
from attncert.reports.words.jsonable import readable_json
from attncert.reports.words.templating import page
from attncert.verify.features import features
from attncert.verify.features.tables import dense, leads
from attncert.verify.statements.steps import heads as of_heads
from attncert.verify.statements.steps.conclusions import full_rank

Row = dict[str, Any]

TEMPLATES = Path(__file__).parent / "templates"
D, H, N = 8, 3, 4
SIZES = {
    "heads": tuple((heads, N) for heads in (1, 2, 3, 4, 6, 8)),
    "context": tuple((H, n) for n in (2, 3, 4, 5, 6)),
}
SYMBOLS = {"heads": "H", "context": "n"}
MOST_TRIED = 64  # at most this many values of c below the one built are tried
_MARKS = {
    "paper": (RED, "o"),
    "width-one, the proof's heads": (GREEN, "s"),
    "width-one, short heads": (BLUE, "^"),
    "generic": ("#777777", "x"),
}


def render() -> dict[str, bytes]:
    """File contents by name. Deterministic."""
    rows = {size: list(constants(*size)) for size in dict.fromkeys(sum(SIZES.values(), ()))}
    series = {axis: [row for size in sizes for row in rows[size]] for axis, sizes in SIZES.items()}
    selectors = [
        (name, [c for some in rows.values() for row in some if row["construction"] == name
                for c in row["selectors"]])
        for name in _MARKS
    ]  # fmt: skip
    context = {
        "symbols": SYMBOLS, "series": series, "d": D, "H": H, "n": N,
        "saturated": [(name, len(c), c.count(0)) for name, c in selectors if c],
    }  # fmt: skip
    with style():
        figures = {
            "figures/constants-saturation.svg": to_svg(saturation(series)),
            "figures/constants-cost.svg": to_svg(cost(series)),
        }
    report = page("constants.md.j2", context, TEMPLATES)
    return {"report.md": report, "constants.json": readable_json(series), **figures}


def constants(heads: int, n: int, d: int = D) -> Iterator[Row]:
    """One row for each construction, on the same H(n-1) + 1 examples with one shared context.

    selectors: the least certified c of each head with a selector. c, B and the other numbers: the
    largest value over these heads; None if there is no such head, or a number is unknown.
    """
    data = family(places(heads, n), n, d, shared=True)
    for name, built in zip(_MARKS, (
        paper.build(data, heads=heads),
        width_one.build(data, heads=heads, short_heads=False),
        width_one.build(data, heads=heads),
        generic.build(data, heads=heads),
    ), strict=True):  # fmt: skip
        tables = [features.logits(head, data) for head in built.layer.heads]
        ranges = [int(x) for table in tables for x in table.max(axis=1) - table.min(axis=1)]
        conditioning, steered, condition = Apriori(data), list[Row](), None
        for number, (head, table) in enumerate(zip(built.heads, tables, strict=True), start=1):
            steers = isinstance(head, SteeringHead) and head.c is not None
            if steers:
                first = conditioning.bound(head, table, of_heads.lead(data, head)) or (None, None)
                c, B = least_certified(data, built, number, tables) or (None, None)
                steered.append({"c": c, "B": B, "built_c": head.c, "apriori_c": first[0],
                                "apriori_B": first[1]})  # fmt: skip
            condition = conditioning.add(head, table)
        largest = ("c", "built_c", "apriori_c", "B", "apriori_B")
        yield {
            "construction": name, "heads": heads, "context": n, "T": data.T,
            "certified": full_rank(data, built.layer).level.holds,
            "selectors": [head["c"] for head in steered],
            **{number: most(head[number] for head in steered) for number in largest},
            "range": max(ranges), "bits": sum(ranges),
            "condition": rounded(condition),
            "parameters": parameter_count(d, 1, heads, built.layer.head_width, 1),
        }  # fmt: skip


def most(numbers: Iterable[int | None]) -> int | None:
    """The largest number; None if there is none, or one is unknown."""
    every = list(numbers)
    return None if None in every else max(every, default=None)


def rounded(condition: float | None) -> float | None:
    """The number to three digits; None above 10^12, beyond what float64 resolves."""
    return float(f"{condition:.3g}") if condition and condition < 1e12 else None


def least_certified(
    data: Dataset, built: BuiltLayer, number: int, tables: list[ObjectArray]
) -> tuple[int, int | None] | None:
    """(c, B) of head `number` (from 1, with a selector): the least c whose rank is certified.

    The rank is that of heads 1, ..., `number` on the examples they place, modulo a prime; the
    earlier heads are as built. At c', the logits of an example are those at c, minus
    (c - c')·(v·e_s)·E⁽ˢ⁾u; for the head's own group that difference is 0 because of its selector.
    tables: the logits of the layer's heads. Returns None if no c that was tried has full rank.
    """
    head = built.heads[number - 1]
    rows = [*head.earlier, *head.group]
    placed, before = data.take(rows), [table[rows] for table in tables[: number - 1]]
    lead = dense(of_heads.lead(data, replace(head, earlier=tuple(rows))))
    own = tables[number - 1][rows]
    for c in range(min(head.c, MOST_TRIED) + 1):
        table = own + (c - head.c) * lead
        logits = np.array([[int(x) for x in row] for row in table.tolist()], dtype=object)
        residues = next(features.feature_residues(placed, [*before, logits]), None)
        if residues is not None and features.residue_rank(*residues) == placed.T:
            return c, min(leads(logits[: len(head.earlier)], head.targets), default=None)
    return None


def cost(series: dict[str, list[Row]]) -> Figure:
    """Plot bits and condition number against H and against n, for every construction."""
    figure = Figure(figsize=(WIDTH, 5.6), layout="constrained")
    panels = figure.subplots(2, 2, sharex="col", sharey="row")
    for line, (number, label) in zip(
        panels, (("bits", "bits of an exact readout"), ("condition", "condition of $Z$")),
        strict=True,
    ):  # fmt: skip
        for panel, axis in zip(line, SIZES, strict=True):
            for name, (color, mark) in _MARKS.items():
                pairs = [(row[axis], row[number]) for row in series[axis]
                         if row["construction"] == name and row[number]]  # fmt: skip
                panel.plot(*zip(*pairs, strict=True), f"-{mark}", color=color, markersize=4.5,
                           linewidth=1, label=name)  # fmt: skip
            panel.set_yscale("log")
        line[0].set_ylabel(label)
    return finished(figure, panels)


def saturation(series: dict[str, list[Row]]) -> Figure:
    """Plot c and B: what the certificate needs, what was built, and what Weyl's bound requires."""
    figure = Figure(figsize=(WIDTH, 5.6), layout="constrained")
    panels = figure.subplots(2, 2, sharex="col", sharey="row")
    kinds = (
        (("c", "-", "certified"), ("built_c", "--", "built"), ("apriori_c", ":", "a priori")),
        (("B", "-", "certified"), ("apriori_B", ":", "a priori")),
    )
    for line, numbers in zip(panels, kinds, strict=True):
        for panel, axis in zip(line, SIZES, strict=True):
            for name, (color, mark) in list(_MARKS.items())[:2]:
                for number, dashes, word in numbers:
                    pairs = [
                        (row[axis], row[number])
                        for row in series[axis]
                        if row["construction"] == name and row[number] is not None
                    ]
                    panel.plot(*zip(*pairs, strict=True), dashes + mark, color=color, markersize=4,
                               linewidth=1, label=f"{name}: {word}")  # fmt: skip
            panel.set_yscale("symlog", linthresh=1)
            panel.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))
    panels[0, 0].set_ylabel("largest $c$ of a head")
    panels[1, 0].set_ylabel("largest $B$ of a head, bits")
    return finished(figure, panels)


def finished(figure: Figure, panels: Any) -> Figure:
    for panel, (axis, sizes) in zip(panels[-1], SIZES.items(), strict=True):
        fixed = f"n={N}" if axis == "heads" else f"H={H}"
        panel.set_xlabel(f"${SYMBOLS[axis]}$  (${fixed}$, $d={D}$)")
        panel.set_xticks([heads if axis == "heads" else n for heads, n in sizes])
    for panel in panels.flat:
        panel.grid(axis="y", color="#dddddd", linewidth=0.6)
        panel.set_axisbelow(True)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2,
                  frameon=False, fontsize=8)  # fmt: skip
    return figure
