"""docs/gallery/hypotheses: every hypothesis of Theorem 1 weakened, and Remark 1, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from attncert.reports.report import Table
from attncert.reports.words.claims import lines
from attncert.reports.words.jsonable import readable_json
from attncert.reports.words.templating import page
from attncert.verify.claims.evidence import Level
from hypotheses.figure import MEANINGS, UNEXPECTED, files
from hypotheses.kruskal import Remark
from hypotheses.search import Exploration, Minimal
from hypotheses.steps import STEPS
from hypotheses.study import Study, claims, study

__all__ = ["matrix", "render"]

TEMPLATES = Path(__file__).parents[1] / "templates"


def render() -> dict[str, bytes]:
    """report.md, minimal-data.json and the figure. Deterministic; this takes about two minutes."""
    studied = study()
    steps = matrix(studied.explored)
    context = {
        "drawn": sum(e.drawn for e in studied.explored),
        "lines": lines(claims(studied)),
        "matrix": steps,
        "meanings": MEANINGS,
        "tables": list(study_tables(studied)),
    }
    return {
        "report.md": page("hypotheses.md.j2", context, TEMPLATES),
        "minimal-data.json": readable_json(numbers(studied)),
        **files(steps),
    }


def study_tables(study: Study) -> Iterator[Table]:
    yield _weakened(study.explored)
    yield _minimal(study.explored)
    yield _remarks(study.remarks)


def matrix(explored: Sequence[Exploration]) -> Table:
    """The table of marks, with their meanings below; a cell is empty if the step did not fail."""
    return Table(
        "Weakened hypothesis against step",
        ("weakened", *(step.title for step in STEPS)),
        tuple(
            (f"{e.weakening.hypothesis}: {e.weakening.title}", *(_cell(e, s.id) for s in STEPS))
            for e in explored
        ),
    )


def _cell(explored: Exploration, step: str) -> str:
    if step in explored.unexpected | explored.unmet:
        return UNEXPECTED
    return explored.broken[step].mark if step in explored.broken else ""


def _weakened(explored: Sequence[Exploration]) -> Table:
    rows = []
    for e in explored:
        failed = "; ".join(
            f"{step} {b.verdicts.total()} ({_counts(b.verdicts)})" for step, b in e.broken.items()
        )
        row = (e.weakening.hypothesis, e.weakening.title, str(e.drawn), failed or "none")
        rows.append((*row, e.weakening.why))
    columns = ("hypothesis", "weakened to", "instances", "steps that failed (memorization)", "why")
    return Table("What fails, and how often", columns, tuple(rows))


def _counts(verdicts: Any) -> str:
    names = {Level.PROVED: "memorized", Level.REFUTED: "impossible", Level.UNDECIDED: "undecided"}
    return ", ".join(f"{names[level]} {verdicts[level]}" for level in names if verdicts[level])


def _minimal(explored: Sequence[Exploration]) -> Table:
    rows = [
        (f"{e.weakening.hypothesis}: {e.weakening.title}", step, *_shown(minimal))
        for e in explored
        for step, broken in e.broken.items()
        for minimal in broken.minimal.values()
    ]
    columns = ("weakened", "step", "sizes", "contexts", "queries", "why it fails",
               "memorization")  # fmt: skip
    note = (
        "Minimal: with one fewer head, example, context, row or column, or an entry nearer to "
        "zero, the step succeeds or a second hypothesis is weakened too (in the second line for a "
        "step, or the verdict on memorization changes)."
    )
    return Table("Minimal data", columns, tuple(rows), note)


def _shown(minimal: Minimal) -> tuple[str, ...]:
    x, claim = minimal.instance, minimal.memorization
    shared = "shared " if len(x.contexts) == 1 else ""
    contexts = x.contexts[0].tolist() if shared else x.contexts.tolist()
    sizes = f"$H={x.heads}, d_h={x.width}$" + (f", $d_v={x.values}, m={x.m}$" if x.m > 1 else "")
    why = "; ".join(f"{key}: {_words(x)}" for key, x in minimal.witness.items())
    if claim.level is Level.REFUTED:
        reason = claim.numbers.get("because", "the labels' rank exceeds $H d_v$")
        verdict = f"impossible: {reason}"
    elif claim.level is Level.PROVED:
        verdict = f"holds: rank {claim.numbers.get('rank', claim.numbers.get('rank Y'))}"
    else:
        verdict = "undecided"
    return sizes, f"{shared}{contexts}", str(x.queries.tolist()), why, verdict


def _words(x: Any) -> str:
    return ", ".join(map(str, x)) if isinstance(x, list) else str(x)


def _remarks(remarks: tuple[Remark, ...]) -> Table:
    columns = ("queries", "$n$", "$d_h$", "$H$", "Kruskal rank $\\kappa$ (all subsets)",
               "$T=H(\\min(n,d_h,\\kappa)-1)+1$", "A1", "memorization",
               "one more: the construction", "one more: some weights")  # fmt: skip
    rows = tuple(
        (r.sizes.kind, *map(str, (r.sizes.n, r.sizes.width, r.sizes.heads, r.kruskal)),
         str(r.sizes.capacity), r.a1.value, r.memorization.value,
         *(level.value for level in r.one_more))
        for r in remarks
    )  # fmt: skip
    note = (
        "$T=H(\\min(n,d_h,\\kappa)-1)+1$ examples are memorized although A1 is false. Queries in "
        "one subspace of dimension $\\kappa$ admit no larger groups, so the construction stops "
        "there; other weights need not. If only one set is dependent, the construction may go "
        "further."
    )
    return Table("Remark 1: Kruskal rank below n", columns, rows, note)


def numbers(study: Study) -> dict[str, Any]:
    """The minimal data and the verdicts on Remark 1, as JSON."""
    return {
        "minimal data": [
            {"weakening": e.weakening.id, "step": step, "memorization": level.value}
            | m.instance.as_dict()
            for e in study.explored
            for step, broken in e.broken.items()
            for level, m in broken.minimal.items()
        ],
        "Remark 1": [r.holds for r in study.remarks],
    }
