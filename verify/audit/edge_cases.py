"""Edge cases: degenerate data, and the outcome of a construction on each case.

A construction must prove memorization or name a false hypothesis, unless it is shown that all
weights fail. If all its hypotheses hold but it proves nothing, it has broken its promise. (A table
in the tests lists the expected result of each case with its witness.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import family, random, signed_pairs, step_seven_trap
from attncert.constructions.errors import InputError
from attncert.constructions.progress import StageProgress
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.prove.prove import prove
from attncert.verify.questions.prove import ClaimChoice, Prove
from attncert.verify.statements.construction import Construction

_I = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
_CONTEXTS = [[[1, 0, 0], [0, 1, 0]], [[1, 1, 0], [0, 1, 1]], [[0, 0, 1], [1, 2, 0]]]
_RANK_TWO = [[[1, 0, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 1]]]
_ORDERS = ((0, 1, 2), (1, 2, 0), (2, 0, 1), (1, 0, 2), (2, 1, 0))
_PLANE = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 2, 0], [1, 3, 0]]
_CURVE = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 2, 4]]
_THREE = [[1, 2], [3, 1], [1, 1]]
_FIVE = [1, 2, 3, 4, 5]
_TIED = [
    [[1, 0, 0], [0, 1, 0]], [[0, 1, 0], [1, 0, 0]], [[1, 0, 0], [-1, 0, 1]],
    [[0, 0, 1], [0, 1, 0]], [[0, 0, 1], [0, 1, 0]],
]  # fmt: skip

CASES: Mapping[str, Callable[[], Dataset]] = {
    # sizes
    "n=d=1": lambda: Dataset.of([[3]], [[-2]], [1]),
    "n=1, T=2, distinct contexts": lambda: Dataset.of(
        [[[2, 1]], [[1, 1]]], [[1, 3], [0, 1]], [5, 6]
    ),
    "n>d": lambda: random(3, 3, 2, seed=1),
    "T<n": lambda: family(2, 4, 5, seed=3),
    # queries
    "zero query among others": lambda: Dataset.of(
        _CONTEXTS, [[1, 2, 0], [0, 0, 0], [1, 0, 1]], [1, 2, 3]
    ),
    "repeated query, distinct contexts": lambda: Dataset.of(
        _CONTEXTS, [[1, 2, 0], [1, 2, 0], [1, 0, 1]], [1, 2, 3]
    ),
    "repeated query, shared context, other label": lambda: Dataset.of(
        _I[:2], [[1, 2, 0], [1, 2, 0], [1, 0, 1]], [1, 2, 3]
    ),
    "parallel queries, n=2": lambda: Dataset.of(
        _I[:2], [[1, 2, 0], [2, 4, 0], [1, 0, 1]], [1, 2, 3]
    ),
    "all queries on one line, n=3": lambda: Dataset.of(_I, [[k, 2 * k, 0] for k in _FIVE], _FIVE),
    "e, -e, f, -f with n=2": signed_pairs,
    "A1 false, given order fails, another grouping serves": lambda: Dataset.of(
        _I, [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]], _FIVE
    ),
    "A1 false, an earlier query in a later span": lambda: Dataset.of(
        _I, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [0, 1, 1]], _FIVE
    ),
    "all queries in a plane, n=3": lambda: Dataset.of(_I, _PLANE, _FIVE),
    "queries of very different length": lambda: Dataset.of(
        _I, [[10**12, 0, 0], [0, 1, 0], [0, 0, 10**6], [1, 1, 1]], _FIVE[:4]
    ),
    # contexts
    "a repeated row in one context": lambda: Dataset.of(
        [[[1, 2, 0], [1, 2, 0]], *_RANK_TWO], _I, [1, 2, 3]
    ),
    "a zero row in one context": lambda: Dataset.of(
        [[[1, 2, 0], [0, 0, 0]], *_RANK_TWO], _I, [1, 2, 3]
    ),
    "all rows of the shared context equal": lambda: Dataset.of(
        [[1, 2], [1, 2]], [[1, 0], [0, 1], [1, 1]], [1, 1, 2]
    ),
    "dependent rows that are affinely independent": lambda: Dataset.of(
        [[0, 0], [1, 0]], [[1, 0], [0, 1]], [1, 2]
    ),
    "permuted contexts": lambda: Dataset.of(
        [[_I[i] for i in order] for order in _ORDERS], _CURVE, _FIVE
    ),
    "step 7: two new examples, one new direction": step_seven_trap,
    "ties in Eu for later examples": lambda: Dataset.of(
        _TIED, [[0, 2, 0], [0, 1, 1], [0, 0, 1], [2, 0, 0], [1, 1, 0]], _FIVE
    ),
    # labels and numbers
    "rationals with large denominators": lambda: Dataset.of(
        [[Fraction(1, 10**40 + 1), 0], [0, Fraction(1, 10**39 + 3)]], _THREE, [1, 2, 3]
    ),
    "huge integers": lambda: Dataset.of([[10**200 + 1, 7], [3, 10**200 - 1]], _THREE, [1, 2, 3]),
    "subnormal and huge floats together": lambda: Dataset.of(
        [[5e-324, 0.0], [0.0, 1.0]], [[1e300, 0.0], [1.0, 1.0]], [1, 2]
    ),
    "queries equal only after rounding to float64": lambda: Dataset.of(
        [[1, 0], [0, 1]], [[10**20, 1], [10**20 + 1, 1]], [1, 2]
    ),
}


@dataclass(frozen=True)
class CaseVerdict:
    """The outcome of a construction on a case, in words. level: whether the promise was kept."""

    case: str
    construction: str
    words: str
    level: Level

    def __str__(self) -> str:
        return f"{self.construction} on {self.case}: {self.words}"


def run(
    methods: Sequence[Construction], quick: bool, seed: int, progress: StageProgress
) -> tuple[CaseVerdict, ...]:
    """Run each construction on every case (if quick, on every second case). Exact."""
    names, outcomes = list(CASES)[:: 2 if quick else 1], []
    for number, name in enumerate(names):
        progress("edge cases", number, len(names))
        for method in methods:
            words, level = _run_case(method, CASES[name](), seed)
            outcomes.append(CaseVerdict(name, method.name, words, level))
    return tuple(outcomes)


def claim(outcomes: Sequence[CaseVerdict]) -> Claim:
    """The claim that each construction keeps its promise on each case."""
    cases = len({outcome.case for outcome in outcomes})
    statement = (
        f"On each of {cases} degenerate data sets each construction proves memorization, or names "
        "a false hypothesis, or no weights serve all labels."
    )
    broken = [x for x in outcomes if x.level is Level.REFUTED]
    failing = broken or [x for x in outcomes if not x.level.holds]
    idle = [x for x in dict.fromkeys(x.construction for x in outcomes) if not _built(x, outcomes)]
    if idle and not failing:
        reason = f"{', '.join(idle)} built nothing on any of them, so nothing was shown"
        witness = {"reason": reason}
        return Claim(ids.EDGE_CASES, statement, Level.UNDECIDED, {"cases": cases}, witness)
    return Claim(
        ids.EDGE_CASES,
        statement,
        failing[0].level if failing else Level.PROVED,
        {"cases": cases},
        {"reason": "; ".join(map(str, failing))} if failing else None,
        arithmetic="as `prove` decides each, on small integers exactly",
        source="ours; docs/commands.md",
    )


def _built(construction: str, outcomes: Sequence[CaseVerdict]) -> bool:
    """Whether the construction proved at least one of the cases."""
    words = {x.words for x in outcomes if x.construction == construction}
    return any(level.value in words for level in Level if level.holds)


def _run_case(method: Construction, data: Dataset, seed: int) -> tuple[str, Level]:
    """The outcome in words; refuted if the construction promised more, or if a step is false."""
    claim: ClaimChoice = "full-rank" if method.layer else "auto"
    try:
        proof = prove(data, Prove(construction=method.name, claim=claim, seed=seed))
    except InputError as error:  # a third-party construction failed
        return str(error), Level.REFUTED
    if proof.proof_claim and proof.proof_claim.witness and proof.proof_standing is Level.REFUTED:
        return f"a step fails: {proof.proof_claim.witness['reason']}", Level.REFUTED
    if proof.standing.holds:
        return proof.standing.value, Level.PROVED
    if proof.standing is Level.REFUTED and proof.claim.about is not None:  # limits for all weights
        return "no weights serve all labels", Level.PROVED
    open_ = [x for x in proof.trace if ids.hypothesis_name(x.id) and not x.level.holds]
    if not open_:
        return f"{proof.standing.value}, although every hypothesis holds", Level.REFUTED
    names = ", ".join(ids.hypothesis_name(x.id) or "" for x in open_)
    undecided = proof.standing is Level.UNDECIDED
    return f"{proof.standing.value}: {names}", Level.UNDECIDED if undecided else Level.PROVED
