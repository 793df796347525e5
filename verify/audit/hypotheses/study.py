"""What each hypothesis is for: weakenings explored, strengths used, Remark 1; and what follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from attncert.constructions import paper, width_one
from attncert.constructions.data.generators import family
from attncert.constructions.progress import StageProgress
from attncert.verify.audit.hypotheses.kruskal import KINDS, Kappa, Remark, remarks
from attncert.verify.audit.hypotheses.search import Explored, explore
from attncert.verify.audit.hypotheses.strength import Used, used
from attncert.verify.audit.hypotheses.weakenings import WEAKENINGS
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import RATIONAL, Claim, Level

__all__ = ["Study", "claims", "strengths", "study"]

DRAWS, QUICK_DRAWS = 100, 12
KAPPAS = tuple(
    Kappa(n, kappa, d, heads, width, kind)
    for n, kappa, d, heads, width in (
        (3, 2, 3, 3, 3), (3, 2, 3, 3, 2), (4, 2, 4, 3, 4), (4, 3, 5, 3, 4), (4, 3, 5, 3, 3),
        (4, 3, 5, 4, 2),
    )
    for kind in KINDS
)  # fmt: skip
_SOURCE = "ours; docs/commands.md"


@dataclass(frozen=True)
class Study:
    """explored: each weakening. strengths: by construction, used on bundled data. remarks: Remark 1
    for several sizes."""

    explored: tuple[Explored, ...] = ()
    strengths: Mapping[str, tuple[Used, ...]] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()


def study(quick: bool, seed: int, progress: StageProgress) -> Study:
    """Every weakening (quick: fewer draws), the strengths used, and Remark 1."""
    explored = []
    for number, weakening in enumerate(WEAKENINGS):
        progress("hypotheses", number, len(WEAKENINGS) + 1)
        explored.append(explore(weakening, QUICK_DRAWS if quick else DRAWS, seed))
    progress("hypotheses", len(WEAKENINGS), len(WEAKENINGS) + 1)
    sizes = KAPPAS[:4] if quick else KAPPAS
    return Study(tuple(explored), strengths(seed), tuple(remarks(sizes, seed)))


def strengths(seed: int) -> dict[str, tuple[Used, ...]]:
    """Of both constructions on random data: the paper's with r = 3 < n = 4; width one, r = n."""
    data = family(7, 4, 5, seed=seed)
    built = {
        "paper": paper.build(data, head_width=3, heads=3, interior=False, seed=seed),
        "width-one": width_one.build(data, heads=2, saturated=True, seed=seed),
    }
    return {name: used(data, construction, data.m) for name, construction in built.items()}


def claims(study: Study) -> tuple[Claim, ...]:
    """That everything came out as it must, in three sentences."""
    return _steps(study), _strength(study), _remark(study)


def _steps(study: Study) -> Claim:
    drawn = sum(e.drawn for e in study.explored)
    level, witness = Level.SAMPLED, None
    for e in study.explored:
        weakened = f"with {e.weakening.hypothesis} weakened ({e.weakening.title}) the step"
        for step in sorted(e.unexpected):
            first = next(iter(e.broken[step].minimal.values()))
            reason = {"reason": f"{weakened} {step} fails, which it should not"}
            level, witness = Level.REFUTED, first.instance.as_dict() | first.witness | reason
        for step in sorted(e.unmet) if level.holds else ():
            reason = {"reason": f"{weakened} {step} failed on none of {e.drawn} instances"}
            level, witness = Level.UNDECIDED, reason
    return Claim(
        ids.WEAKENED_STEPS,
        "Where a hypothesis is weakened to just below what the proof uses, those steps fail that "
        f"must, and no others, on {drawn:,} small data sets.",
        level,
        {"weakenings": len(study.explored), "instances": drawn},
        witness,
        arithmetic="each step decided exactly on integers; the data are drawn",
        source=_SOURCE,
    )


def _strength(study: Study) -> Claim:
    over = [
        {"construction": name, "step": u.step, "strength": u.used, "allowed": u.allowed,
         "reason": f"{name} uses {u.hypothesis} at strength {u.used} in {u.step}, "
                   f"above {u.allowed}"}
        for name, uses in study.strengths.items() for u in uses if u.used > u.allowed
    ]  # fmt: skip
    return Claim.checked(
        ids.STRENGTH,
        "On bundled data no construction uses a hypothesis more strongly than the theorem allows.",
        not over,
        lambda: over[0],
        arithmetic="counting in what was built",
        source=_SOURCE,
    )


def _remark(study: Study) -> Claim:
    failing = [r for r in study.remarks if not r.holds]
    return Claim.checked(
        ids.REMARK_1,
        r"On data of Kruskal rank exactly $\kappa<n$, where A1 is false, "
        r"$T=H(\min(n,d_h,\kappa)-1)+1$ examples are memorized: Remark 1, for "
        f"{len(study.remarks)} sizes.",
        not failing,
        lambda: _unlike(failing[0]),
        arithmetic=RATIONAL,
        source="paper, Remark 1",
    )


def _unlike(r: Remark) -> dict[str, object]:
    sizes = f"$n={r.sizes.n}$, $\\kappa={r.sizes.kappa}$, $H={r.sizes.heads}$ ({r.sizes.kind})"
    return {
        "kruskal": r.kruskal,
        "A1": r.a1.value,
        "memorization": r.memorization.value,
        "reason": f"not at {sizes}",
    }
