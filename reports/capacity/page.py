"""The capacity report: certified numbers beside every bound, and effective constants.

From the records of verify/capacity/sweeps.py and verify/capacity/constants.py to Markdown, JSON and
figures. What is proved (ranks), argued (bounds on all weights) and numerical (conditions, a-priori
bounds) stands in separate columns that say so. No times: equal settings give equal bytes.
"""

from __future__ import annotations

import math

from attncert.reports.capacity.figures import SYMBOLS, capacity_figures, constants_figures
from attncert.reports.report import CAPACITY, Report, figure_file
from attncert.reports.words.jsonable import readable_json
from attncert.reports.words.numbers import count, real, size
from attncert.reports.words.templating import page
from attncert.verify.capacity.constants import CONSTRUCTIONS, Constants, Growth
from attncert.verify.capacity.published_bounds import BOUNDS, Kind
from attncert.verify.capacity.sweeps import AXES, Capacity, Point

__all__ = ["holds", "one_line", "render", "report"]

Row = tuple[str, ...]

CAPACITY_COLUMNS = (
    "contexts", "certified $T$ (proved)", "no weights exceed (argued)", "they meet",
    "$H(\\min(n,d_h)-1)+1$", "the paper's, built", "$H(n-1)+1$", "width one, built", "$Hd$",
)  # fmt: skip
CONSTANT_COLUMNS = (
    "construction", "$T$", "rank", "$c$ certified", "$c$ built", "$c$ a priori", "$B$ certified",
    "$B$ a priori", "longest logit range", "bits", "condition", "parameters",
)  # fmt: skip
COST_COLUMNS = (
    "$T$", "contexts", "construction", "$H$", "$d_h$", "parameters", "ratio", "rank",
)  # fmt: skip
_DASH = "–"


def report(capacity: Capacity, constants: Growth | None = None) -> Report:
    kept = holds(capacity, constants)
    points = [point.as_dict() for point in capacity.points.values()]
    summary = {"holds": kept, "points": points}
    files, status = render(capacity, constants), 0 if kept else 1
    return Report(CAPACITY, files, summary, (one_line(capacity),), status)


def holds(capacity: Capacity, constants: Growth | None = None) -> bool:
    """Every promised rank was certified."""
    ranks = constants.found.values() if constants else ()
    return not capacity.unbuilt and all(c.certified for c in ranks)


def render(capacity: Capacity | None = None, constants: Growth | None = None) -> dict[str, bytes]:
    """File contents by name; pure. At least one of the two."""
    figures: dict[str, bytes] = {}
    data: dict[str, object] = {}
    if capacity is not None:
        figures |= capacity_figures(capacity)
        data["capacity"] = [point.as_dict() for point in capacity.points.values()]
        data["same_examples"] = [cost.as_dict() for cost in capacity.costs]
    if constants is not None:
        figures |= constants_figures(constants)
        data["constants"] = [found.as_dict() for found in constants.found.values()]
    return {
        "report.md": markdown_page(capacity, constants),
        "capacity.json": readable_json(data),
        **{figure_file(name): svg for name, svg in figures.items()},
    }


def markdown_page(capacity: Capacity | None = None, constants: Growth | None = None) -> bytes:
    """report.md, for which no figure is drawn."""
    return page("capacity.md.j2", _context(capacity, constants))


def one_line(found: Capacity) -> str:
    """The sweep in one sentence, for a terminal.

    >>> from attncert.verify.capacity.sweeps import Setting, SweepSettings, sweep
    >>> base = Setting(heads=1, context=2, head_width=1, width=2, shared=False)
    >>> print(one_line(sweep(SweepSettings(base, (1,), (2,), (1,)))))
    2 settings: largest T certified (proved); it meets the bound from above (argued) in 2 of them
    """
    total = len(found.points)
    return (
        f"{count(total, 'setting')}: largest T certified (proved); it meets the bound from above "
        f"(argued) in {total - len(found.open)} of them"
    )


def capacity_rows(points: list[Point], axis: str) -> list[Row]:
    """One row per setting along an axis; cells in the form of `reports.words.text`."""
    return [
        (
            size(getattr(p.setting, axis)),
            "shared" if p.setting.shared else "distinct",
            size(p.certified),
            size(p.upper),
            "yes" if p.met else "no",
            size(p.setting.paper),
            _built(p, "paper"),
            size(p.setting.width_one),
            _built(p, "width-one"),
            size(p.setting.heads * p.setting.width),
        )
        for p in points
    ]


def parameter_rows(capacity: Capacity) -> list[Row]:
    """T and parameters of both constructions as d_h grows, and parameters for each example."""
    rows = []
    for point in capacity.along("head_width", False):
        cells = [size(point.setting.head_width)]
        for name in ("paper", "width-one"):
            built = next((b for b in point.built if b.construction == name), None)
            if built is None:
                cells += [_DASH] * 3
                continue
            each = real(built.parameters / built.examples)
            cells += [size(built.examples), size(built.parameters), each]
        rows.append(tuple(cells))
    return rows


def cost_rows(capacity: Capacity) -> list[Row]:
    """Heads and parameters of every construction for the same examples."""
    return [
        (
            size(c.examples),
            "shared" if c.shared else "distinct",
            c.construction,
            size(c.heads),
            size(c.head_width),
            size(c.parameters),
            f"{c.ratio:.2f}",
            "certified" if c.certified else "not found",
        )
        for c in capacity.costs
    ]


def bound_rows(capacity: Capacity) -> list[Row]:
    """Every published bound, with its value in the base setting where it has one."""
    base, rows = capacity.settings.base, list[Row]()
    for bound in BOUNDS:
        value = bound.in_setting(base)
        shown = _DASH if value is None else size(value)
        shown += "" if bound.same_setting or bound.kind is Kind.ORDER else " (not comparable)"
        same = "this one" if bound.same_setting else "another"
        rows.append((bound.name, f"${bound.formula}$", bound.kind.value, shown, same,
                     bound.assumes, bound.source))  # fmt: skip
    return rows


def constant_rows(found: list[Constants], axis: str) -> list[Row]:
    """One row per construction and size."""
    return [
        (
            size(getattr(c, axis)),
            c.construction,
            size(c.examples),
            "certified" if c.certified else "not certified",
            *(_number(c.worst(k)) for k in ("c", "built_c", "apriori_c", "bits", "apriori_bits")),
            size(c.logit_range),
            size(c.bits),
            real(c.condition) if math.isfinite(c.condition) else "over $10^{12}$",
            size(c.parameters),
        )
        for c in found
    ]


def _context(capacity: Capacity | None, constants: Growth | None) -> dict[str, object]:
    context: dict[str, object] = {
        "capacity": capacity,
        "constants": constants,
        "symbols": SYMBOLS,
        "one_line": one_line,
    }
    if capacity is not None:
        context |= {
            "sweeps": [
                (axis, [r for shared in (True, False)
                        for r in capacity_rows(capacity.along(axis, shared), axis)])
                for axis in AXES
            ],
            "capacity_columns": CAPACITY_COLUMNS,
            "bounds": bound_rows(capacity),
            "costs": cost_rows(capacity),
            "cost_columns": COST_COLUMNS,
            "parameters": parameter_rows(capacity) if capacity.settings.build else [],
        }  # fmt: skip
    if constants is not None:
        context |= {
            "growths": [
                (axis, constant_rows([c for i in range(len(constants.settings.sizes[axis]))
                                      for name in CONSTRUCTIONS
                                      for c in constants.along(axis, name)[i : i + 1]], axis))
                for axis in ("heads", "context")
            ],
            "constant_columns": CONSTANT_COLUMNS,
            "without_saturation": _without_saturation(constants),
        }  # fmt: skip
    return context


def _without_saturation(constants: Growth) -> list[tuple[str, int, int]]:
    """Construction, heads with a selector, those of them certified at c = 0."""
    out = []
    for name in CONSTRUCTIONS:
        heads = [h for (n, _, _), c in constants.found.items() if n == name for h in c.selectors]
        if heads:
            out.append((name, len(heads), sum(h.c == 0 for h in heads)))
    return out


def _built(point: Point, construction: str) -> str:
    found = next((b for b in point.built if b.construction == construction), None)
    if found is None:
        return _DASH
    return size(found.rank) if found.rank == found.examples else f"{size(found.rank)} only"


def _number(x: int | None) -> str:
    if x is None:
        return _DASH
    return size(x) if x >= 0 else f"-{size(-x)}"
