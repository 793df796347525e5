"""The tables and the matrix of an audit: the user's data, edge cases, and the hypotheses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from attncert.reports.words.table import Table
from attncert.verify.audit.edge_cases import CaseVerdict
from attncert.verify.audit.hypotheses.kruskal import Remark
from attncert.verify.audit.hypotheses.search import Exploration, Minimal
from attncert.verify.audit.hypotheses.steps import STEPS
from attncert.verify.audit.hypotheses.strength import Use
from attncert.verify.audit.hypotheses.study import Study
from attncert.verify.audit.user_data import Examination
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level
from attncert.verify.methods.method import Method

_USED = ("hypothesis", "step", "what is counted", "the theorem allows", "used at most")
_BY_RANK = "not counted: heads certified by rank alone"
UNEXPECTED = "≠"
MEANINGS = {
    "memorized": "the step fails on some instances; on all of those memorization still holds "
    "(a full rank was certified): sufficient, not seen to be necessary",
    "both": "the step fails; memorization holds on some of the failing instances and is "
    "impossible, for all weights, on others",
    "impossible": "the step fails, and memorization is impossible on every failing instance drawn",
    "undecided": "the step fails; memorization was decided on none of the failing instances",
    UNEXPECTED: "not as expected",
}


def data_tables(examined: Examination) -> Iterator[Table]:
    """Every hypothesis and the conclusion, as each construction asks for them; what each used."""
    rows = []
    for name, proof in examined.proofs.items():
        for claim in proof.trace:
            if ids.hypothesis_name(claim.id) or claim.id in (ids.THEOREM, proof.conclusion):
                numbers = (str(claim.numbers.get(k, "")) for k in ("asked", "found"))
                level = proof.trace.standing(claim.id).value
                rows.append((name, claim.statement, *numbers, level))
    columns = ("construction", "claim", "asked", "found", "standing")
    yield Table("Hypotheses", columns, tuple(rows))
    for name, strength in examined.strengths.items():
        note = (
            "Short heads (shortest vectors, not the steps of the proof) are certified by rank "
            "alone, not counted."
        )
        counts = _used(strength.uses, _BY_RANK if strength.short else "0")
        yield Table(f"Strength used: {name}", _USED, counts, note)


def _used(uses: Iterable[Use], none: str = "0") -> tuple[tuple[str, ...], ...]:
    return tuple(
        (u.hypothesis, u.step, u.what, str(u.allowed), str(u.used) if u.used else none)
        for u in uses
    )


def cases_table(cases: Sequence[CaseVerdict], methods: Sequence[Method]) -> Table:
    """Each case against each construction."""
    words = {(x.case, x.construction): x.words for x in cases}
    rows = tuple(
        (case, *(words[case, method.name] for method in methods))
        for case in dict.fromkeys(x.case for x in cases)
    )
    return Table("Edge cases", ("case", *(m.voice.title for m in methods)), rows)


def study_tables(study: Study) -> Iterator[Table]:
    yield _weakened(study.explored)
    yield _minimal(study.explored)
    yield _remarks(study.remarks)


def matrix(explored: Sequence[Exploration]) -> Table:
    """A mark in each cell, with its meaning below; none where the step did not fail."""
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
        "Minimal: with one head, example, context, row or column fewer, or an entry nearer to "
        "zero, the step succeeds or a second hypothesis is weakened too (second lines for one "
        "step: or the verdict on memorization changes)."
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
        "there; other weights need not. Where only one set is dependent, the construction may go "
        "on."
    )
    return Table("Remark 1: Kruskal rank below n", columns, rows, note)


def numbers(study: Study) -> dict[str, Any]:
    """For answer.json."""
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
