"""What each hypothesis is needed for: the weakenings explored, Remark 1, and what follows."""

from __future__ import annotations

from dataclasses import dataclass

from attncert.verify.claims.evidence import OVER_Q, Claim, Level
from attncert.verify.claims.ids import ClaimId
from hypotheses.kruskal import KINDS, Kappa, Remark, remarks
from hypotheses.search import Exploration, explore
from hypotheses.weakenings import WEAKENINGS

__all__ = ["Study", "claims", "study"]

DRAWS = 100
KAPPAS = tuple(
    Kappa(n, kappa, d, heads, width, kind)
    for n, kappa, d, heads, width in (
        (3, 2, 3, 3, 3), (3, 2, 3, 3, 2), (4, 2, 4, 3, 4), (4, 3, 5, 3, 4), (4, 3, 5, 3, 3),
        (4, 3, 5, 4, 2),
    )
    for kind in KINDS
)  # fmt: skip
_SOURCE = "ours; benchmarks/hypotheses"


@dataclass(frozen=True)
class Study:
    """The explored weakenings, and what was found about Remark 1 for several sizes."""

    explored: tuple[Exploration, ...] = ()
    remarks: tuple[Remark, ...] = ()


def study(seed: int = 0) -> Study:
    """Explore every weakening, and Remark 1."""
    explored = tuple(explore(weakening, DRAWS, seed) for weakening in WEAKENINGS)
    return Study(explored, tuple(remarks(KAPPAS, seed)))


def claims(study: Study) -> tuple[Claim, Claim]:
    """Two claims, which say that every case has the required outcome."""
    return _steps(study), _remark(study)


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
        ClaimId("hypotheses.steps"),
        "If a hypothesis is weakened to just below what the proof uses, the steps that must fail "
        f"do fail, and no others, on {drawn:,} small data sets.",
        level,
        {"weakenings": len(study.explored), "instances": drawn},
        witness,
        arithmetic="each step decided exactly on integers; the data are drawn",
        source=_SOURCE,
    )


def _remark(study: Study) -> Claim:
    failing = [r for r in study.remarks if not r.holds]
    return Claim.checked(
        ClaimId("hypotheses.remark-1"),
        r"On data of Kruskal rank exactly $\kappa<n$, where A1 is false, "
        r"$T=H(\min(n,d_h,\kappa)-1)+1$ examples are memorized: Remark 1, for "
        f"{len(study.remarks)} sizes.",
        not failing,
        lambda: _unlike(failing[0]),
        arithmetic=OVER_Q,
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
