"""Impossibility as a section of the audit: small cases of every kind, and the user's data."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from attncert.constructions.construction import fewest_heads
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import family, signed_pairs
from attncert.verify import checker
from attncert.verify.audit.records import AuditSection, Finding, Scope, Standing, Table
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.tightness.impossibility import certificate_of, impossibility, kind
from attncert.verify.tightness.relations.rows import broken_relation

__all__ = ["CASES", "Case", "section"]

_ROWS, _NONE = "holds", "-"
_WORDS = {
    Level.PROVED: "possible, proved",
    Level.ARGUED: "possible, argued",
    Level.REFUTED: "impossible",
    Level.UNDECIDED: "undecided",
}
_LARGEST = 600  # examples of the user's data up to which both verdicts are looked for


@dataclass(frozen=True)
class Case:
    """sizes: heads, head_width, value_width. given, universal: the verdicts that must come out.
    kind: of the relation that the labels break, "" where there is none."""

    name: str
    data: Callable[[], Dataset]
    sizes: tuple[int, int | None, int | None]
    given: Level
    universal: Level
    kind: str = ""


E, F = [[1, 2, 0], [3, -1, 1], [0, 2, 1]], [[2, 0, 1], [1, 1, -2], [-1, 4, 0]]
IMPOSSIBLE, POSSIBLE, OPEN = Level.REFUTED, Level.PROVED, Level.UNDECIDED

CASES = (
    Case(
        "equal inputs up to the order of tokens, two labels",
        lambda: Dataset.of([E, [E[2], E[0], E[1]]], [[1, 0, 2]] * 2, [3, 4]),
        (9, None, None), IMPOSSIBLE, IMPOSSIBLE, "equal inputs",
    ),
    Case(
        "equal inputs, one label",
        lambda: Dataset.of([[1, 0], [0, 1]], [[1, 2]] * 2, [3, 3]),
        (9, None, None), Level.ARGUED, IMPOSSIBLE,
    ),
    Case(
        "one context of equal tokens, two queries",
        lambda: Dataset.of([[1, 2], [1, 2]], [[1, 0], [0, 1]], [1, 2]),
        (9, None, None), IMPOSSIBLE, IMPOSSIBLE, "no attention",
    ),
    Case(
        "zero queries: three means on a line",
        lambda: Dataset.of(
            [[[1, 1], [3, 1]], [[2, 2], [4, 2]], [[3, 0], [5, 6]]], [[0, 0]] * 3, [1, 2, 4]
        ),
        (9, None, None), IMPOSSIBLE, IMPOSSIBLE, "no attention",
    ),
    Case(
        "n = 2, queries e, -e, f, -f",
        signed_pairs,
        (9, None, None), IMPOSSIBLE, IMPOSSIBLE, "opposite queries",
    ),
    Case(
        "two inputs, each also shifted and scaled",
        lambda: Dataset.of(
            [E, _moved(E), F, _moved(F)],
            [[2, 4, 0], [1, 2, 0], [-6, 2, 2], [-3, 1, 1]],
            [1, 0, 0, 0],
        ),
        (9, None, None), IMPOSSIBLE, IMPOSSIBLE, "equal up to shift and scale",
    ),
    Case(
        "rank Y > H d_v",
        lambda: family(4, 3, 4, m=3, bound=2, seed=1),
        (1, None, 2), IMPOSSIBLE, IMPOSSIBLE,
    ),
    Case(
        "fewer free parameters than numbers to fit",
        lambda: family(30, 4, 10, m=6, bound=2, seed=3),
        (3, 1, 2), OPEN, IMPOSSIBLE,
    ),
    Case(
        "shared context, T > H(n-1)+1",
        lambda: family(6, 3, 6, shared=True, seed=2),
        (2, None, None), OPEN, IMPOSSIBLE,
    ),
    Case(
        "nothing in the way",
        lambda: family(5, 3, 5, seed=4),
        (2, 1, None), POSSIBLE, POSSIBLE,
    ),
)  # fmt: skip


def section(scope: Scope) -> AuditSection:
    """The bundled cases, each relation put before the checker; then the user's data. Exact."""
    rows, findings = [], []
    for done, case in enumerate(CASES):
        scope.progress("impossibility", done, len(CASES))
        found = _run(case)
        good = found == (case.given, case.universal, _ROWS if case.kind else _NONE)
        rows.append((
            case.name, case.kind or _NONE, _WORDS[found[0]], _WORDS[found[1]], found[2],
            "yes" if good else "no",
        ))  # fmt: skip
        if not good:
            text = f"{case.name}: given labels {found[0].value}, universal {found[1].value}"
            findings.append(Finding(f"{text}; checker: {found[2]}", Standing.AGAINST))
    claims: tuple[Claim, ...] = ()
    if scope.data is not None and scope.data.T <= _LARGEST:
        heads = fewest_heads(scope.data.T, scope.data.n, scope.data.n) or 1
        claims = impossibility(scope.data, heads, seed=scope.seed)
        findings += map(Finding.of, claims[-2:])
    return AuditSection(
        "impossibility",
        "What no weights can do",
        text=(
            "Two questions, never mixed: whether some weights, chosen for these labels, output "
            "exactly these (*given*), and whether one choice of keys and queries serves "
            "every labelling (*universal*). Three verdicts: possible, impossible for every choice "
            "of weights, undecided. No verdict rests on a failed search.",
        ),
        tables=(
            Table(
                "Impossibility: cases of every kind",
                ("case", "relation", "given labels", "universal", "checker", "as expected"),
                tuple(rows),
                "checker: what verify/checker.py says of the certificate of the relation",
            ),
        ),
        findings=tuple(findings),
        numbers={"cases": len(CASES)},
        claims=claims,
    )


def _run(case: Case) -> tuple[Level, Level, str]:
    """Both verdicts, and the checker's on the certificate where the labels break a relation."""
    data = case.data()
    claims = {c.id: c for c in impossibility(data, *case.sizes)}
    broken = broken_relation(data)
    status = _NONE
    if broken is not None and kind(data, broken.relation) == case.kind:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "certificate.json"
            path.write_text(json.dumps(certificate_of(data, broken, {"command": "attncert audit"})))
            status = checker.check_file(str(path)).status
    return claims[ids.IMPOSSIBLE_GIVEN].level, claims[ids.IMPOSSIBLE_UNIVERSAL].level, status


def _moved(context: list[list[int]]) -> list[list[int]]:
    """Twice the context, shifted."""
    return [[2 * x + s for x, s in zip(row, (5, -1, 2), strict=True)] for row in context]
