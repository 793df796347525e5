"""What each hypothesis is for, as a section of the audit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attncert.constructions import paper, width_one
from attncert.constructions.data.generators import family
from attncert.verify.audit.hypotheses.kruskal import KINDS, Kappa, Remark, remarks
from attncert.verify.audit.hypotheses.search import Explored, Minimal, explore
from attncert.verify.audit.hypotheses.steps import STEPS
from attncert.verify.audit.hypotheses.strength import Used, used
from attncert.verify.audit.hypotheses.weakenings import WEAKENINGS
from attncert.verify.audit.records import AuditSection, Finding, Matrix, Scope, Standing, Table
from attncert.verify.claims.evidence import Level

__all__ = ["report", "section"]

DRAWS, QUICK_DRAWS = 100, 12
KAPPAS = tuple(
    Kappa(n, kappa, d, heads, width, kind)
    for n, kappa, d, heads, width in (
        (3, 2, 3, 3, 3), (3, 2, 3, 3, 2), (4, 2, 4, 3, 4), (4, 3, 5, 3, 4), (4, 3, 5, 3, 3),
        (4, 3, 5, 4, 2),
    )
    for kind in KINDS
)  # fmt: skip
_MEANINGS = {
    "memorized": "the step fails on some instances; on all of those memorization still holds "
    "(a full rank was certified): sufficient, not seen to be necessary",
    "both": "the step fails; memorization holds on some of the failing instances and is "
    "impossible, for all weights, on others",
    "impossible": "the step fails, and memorization is impossible on every failing instance drawn",
    "undecided": "the step fails; memorization was decided on none of the failing instances",
    "≠": "not as expected",
}


def section(scope: Scope) -> AuditSection:
    """Every weakening (quick: fewer draws), the strengths used, and Remark 1."""
    draws = QUICK_DRAWS if scope.quick else DRAWS
    explored = []
    for done, weakening in enumerate(WEAKENINGS):
        scope.progress("hypotheses", done, len(WEAKENINGS) + 1)
        explored.append(explore(weakening, draws, scope.seed))
    scope.progress("hypotheses", len(WEAKENINGS), len(WEAKENINGS) + 1)
    found = tuple(remarks(KAPPAS[:4] if scope.quick else KAPPAS, scope.seed))
    return report(explored, strengths(scope.seed), found)


def strengths(seed: int) -> dict[str, tuple[Used, ...]]:
    """Of both constructions on random data: the paper's with r = 3 < n = 4; width one, r = n."""
    data = family(7, 4, 5, seed=seed)
    built = {
        "paper": paper.build(data, head_width=3, heads=3, interior=False, seed=seed),
        "width-one": width_one.build(data, heads=2, saturated=True, seed=seed),
    }
    return {name: used(data, construction, data.m) for name, construction in built.items()}


def report(
    explored: Iterable[Explored], counted: dict[str, tuple[Used, ...]], found: tuple[Remark, ...]
) -> AuditSection:
    """The section from what was found."""
    every = list(explored)
    return AuditSection(
        "hypotheses",
        "What each hypothesis is for",
        text=(
            "Each hypothesis is weakened to just below what the proof uses; the others are kept. "
            "Every step is then decided on small data without assuming anything: which steps fail, "
            "on which smallest data, and whether other weights still memorize those data or none "
            "can. Memorized means that a full rank was certified; impossible, that no weights of "
            "any width have one. That a step did not fail on the instances drawn does not prove "
            "it; the table below argues why it cannot fail. Saturation, the finite c, "
            "interpolation and the count need nothing more from the data: they rest on the steps "
            "listed.",
        ),
        matrices=(_matrix(every),),
        tables=(_weakened(every), _minimal(every), *_strengths(counted), _remarks(found)),
        findings=(*_unexpected(every), *_too_strong(counted), *_remark_fails(found)),
        numbers=_numbers(every, counted, found),
    )


def _matrix(explored: list[Explored]) -> Matrix:
    return Matrix(
        "audit-steps",
        "Weakened hypothesis against step",
        "weakened",
        tuple(step.title for step in STEPS),
        tuple(
            (f"{e.weakening.hypothesis}: {e.weakening.title}", tuple(_cell(e, s.id) for s in STEPS))
            for e in explored
        ),
        _MEANINGS,
        bad=frozenset("≠"),
    )


def _cell(found: Explored, step: str) -> str:
    if step in found.unexpected | found.unmet:
        return "≠"
    return found.broken[step].mark if step in found.broken else ""


def _weakened(explored: list[Explored]) -> Table:
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


def _minimal(explored: list[Explored]) -> Table:
    rows = [
        (f"{e.weakening.hypothesis}: {e.weakening.title}", step, *_shown(minimal))
        for e in explored
        for step, broken in e.broken.items()
        for minimal in broken.minimal.values()
    ]
    columns = ("weakened", "step", "sizes", "contexts", "queries", "why it fails",
               "the construction", "memorization")  # fmt: skip
    note = (
        "Minimal: with one head, example, context, row or column fewer, or an entry nearer to "
        "zero, the step succeeds or a second hypothesis is weakened too (second lines for one "
        "step: or the verdict on memorization changes). The construction: the paper's, in any "
        "order of the examples, with rank T certified."
    )
    return Table("Minimal data", columns, tuple(rows), note)


def _shown(minimal: Minimal) -> tuple[str, ...]:
    x, claim = minimal.instance, minimal.memorization
    shared = "shared " if len(x.contexts) == 1 else ""
    contexts = x.contexts[0].tolist() if shared else x.contexts.tolist()
    sizes = f"$H={x.heads}, d_h={x.width}$" + (f", $d_v={x.values}, m={x.m}$" if x.m > 1 else "")
    why = "; ".join(f"{key}: {_words(value)}" for key, value in minimal.witness.items())
    if claim.level is Level.REFUTED:
        reason = claim.numbers.get("because", "the labels' rank exceeds $H d_v$")
        verdict = f"impossible: {reason}"
    elif claim.level is Level.PROVED:
        verdict = f"holds: rank {claim.numbers.get('rank', claim.numbers.get('rank Y'))}"
    else:
        verdict = "undecided"
    built = "built, in another order" if minimal.served else "refused"
    return sizes, f"{shared}{contexts}", str(x.queries.tolist()), why, built, verdict


def _words(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _strengths(counted: dict[str, tuple[Used, ...]]) -> Iterable[Table]:
    columns = ("hypothesis", "step", "what is counted", "the theorem allows", "used at most")
    for name, records in counted.items():
        rows = tuple((u.hypothesis, u.step, u.what, str(u.asked), str(u.used)) for u in records)
        note = "Counted in what was built, over all heads; 0: the step did not occur."
        yield Table(f"Strength used: {name}", columns, rows, note)


def _remarks(found: tuple[Remark, ...]) -> Table:
    columns = ("queries", "$n$", "$d_h$", "$H$", "Kruskal rank $\\kappa$ (all subsets)",
               "$T=H(\\min(n,d_h,\\kappa)-1)+1$", "A1", "memorization",
               "one more: the construction", "one more: some weights")  # fmt: skip
    rows = tuple(
        (r.asked.kind, *map(str, (r.asked.n, r.asked.width, r.asked.heads, r.kruskal)),
         str(r.asked.capacity), r.a1.value, r.memorization.value,
         *(level.value for level in r.one_more))
        for r in found
    )  # fmt: skip
    note = (
        "$T=H(\\min(n,d_h,\\kappa)-1)+1$ examples are memorized although A1 is false. Queries in "
        "one subspace of dimension $\\kappa$ admit no larger groups, so the construction stops "
        "there; other weights need not. Where only one set is dependent, the construction may go "
        "on."
    )
    return Table("Remark 1: Kruskal rank below n", columns, rows, note)


def _unexpected(explored: list[Explored]) -> Iterable[Finding]:
    for e in explored:
        for step in sorted(e.unexpected):
            first = next(iter(e.broken[step].minimal.values()))
            yield Finding(
                f"With {e.weakening.hypothesis} weakened ({e.weakening.title}) the step {step} "
                "fails, which it should not.",
                Standing.AGAINST,
                first.instance.as_dict() | first.witness,
            )
        for step in sorted(e.unmet):
            yield Finding(
                f"With {e.weakening.hypothesis} weakened ({e.weakening.title}) the step {step} "
                f"failed on none of {e.drawn} instances.",
                Standing.UNDECIDED,
            )


def _too_strong(counted: dict[str, tuple[Used, ...]]) -> Iterable[Finding]:
    for name, records in counted.items():
        for u in records:
            if u.used > u.asked:
                yield Finding(
                    f"{name}: {u.hypothesis} is used at strength {u.used} in {u.step}, which is "
                    f"more than the {u.asked} of the theorem.",
                    Standing.AGAINST,
                )


def _remark_fails(found: tuple[Remark, ...]) -> Iterable[Finding]:
    for r in found:
        if not r.holds:
            yield Finding(
                f"Remark 1 at $n={r.asked.n}$, $\\kappa={r.asked.kappa}$, $H={r.asked.heads}$ "
                f"({r.asked.kind}) is not as expected.",
                Standing.AGAINST,
                {"kruskal": r.kruskal, "A1": r.a1.value, "memorization": r.memorization.value},
            )


def _numbers(
    explored: list[Explored], counted: dict[str, tuple[Used, ...]], found: tuple[Remark, ...]
) -> dict[str, Any]:
    return {
        "instances": sum(e.drawn for e in explored),
        "minimal data": [
            {"weakening": e.weakening.id, "step": step, "memorization": level.value}
            | m.instance.as_dict()
            for e in explored
            for step, broken in e.broken.items()
            for level, m in broken.minimal.items()
        ],
        "strengths": {
            name: [[u.hypothesis, u.step, u.asked, u.used] for u in records]
            for name, records in counted.items()
        },
        "Remark 1": [r.holds for r in found],
    }
