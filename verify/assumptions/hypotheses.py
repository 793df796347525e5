"""Checks of the theorems' hypotheses on the data.

A1 says that any min(n, T) queries are independent; this hypothesis of the theorem is coNP-hard to
decide in general. The proof uses only the partition condition for one grouping, which is decided in
polynomial time.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from flint import nmod_mat

from attncert.constructions.arrays import FloatArray, IntArray
from attncert.constructions.construction import places
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.exact.modular import row_reduced
from attncert.constructions.exact.primes import PRIMES_31, PRIMES_FLOAT64
from attncert.constructions.numerals import numeral
from attncert.constructions.progress import StageProgress, silent
from attncert.constructions.search.dimensions import by_dimension
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.ids import ClaimId
from attncert.verify.claims.words import counted, every
from attncert.verify.kruskal.bounds import RankBound
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.questions.kruskal import Kruskal
from attncert.verify.rank.engines.arithmetic import matmul
from attncert.verify.rank.engines.cpu import echelon, profile
from attncert.verify.rank.rational import find_relation
from attncert.verify.rank.residues import residues

EXACT = "exact over ℚ (FLINT; a rank mod p never exceeds the rank over ℚ)"
PARTITION = (
    "In this grouping each group's queries are independent and no earlier query lies in the span "
    "of a later group."
)
A1_WORK = 30.0  # nominal seconds allowed for deciding A1
_EXHAUSTIVE = 20_000  # up to this number all subsets are checked; more are sampled
_SAMPLES = 2_000
_LARGE = 2**15  # with more entries, compiled elimination mod p is faster than FLINT


def sizes(data: Dataset) -> Claim:
    """The claim n ≤ d."""
    return _compared(
        ids.CONTEXT_SIZE,
        "The context size does not exceed the width: $n \\le d$.",
        data.n <= data.d,
        {"n": data.n, "d": data.d},
        f"n at most d = {data.d}",
        f"n = {data.n}",
        "paper, Theorem 1",
    )


def token_counts(data: Dataset) -> Claim:
    """The claim that all contexts have n tokens."""
    counts = data.counts or (data.n,) * data.T
    fewest = min(counts)
    return _compared(
        ids.TOKEN_COUNTS,
        "The contexts have equally many tokens.",
        not data.ragged,
        {"examples": [counts.index(fewest), counts.index(data.n)], "tokens": [fewest, data.n]},
        "equally many",
        data.lengths,
        "paper, section 3: $E\\in\\mathbb{R}^{n\\times d}$",
    )


def value_width(data: Dataset, width: int) -> Claim:
    """The claim d_v ≥ m, which the first step of every proof about a layer needs."""
    return _compared(
        ids.VALUE_WIDTH,
        "A head's values are at least as wide as the labels: $d_v \\ge m$.",
        width >= data.m,
        {"d_v": width, "m": data.m},
        f"d_v at least m = {data.m}",
        f"d_v = {width}",
        "docs/mathematics.md, section 1",
    )


def capacity(examples: int, heads: int, r: int, formula: str, source: str) -> Claim:
    """The claim that T is at most the number of examples that the theorem places with H heads."""
    most, sizes = places(heads, r), f"H = {heads}, r = {r}"
    return _compared(
        ids.CAPACITY,
        f"The examples are within capacity: $T \\le {formula.removeprefix('$')}.",
        examples <= most,
        {"T": examples, "capacity": most},
        f"T at most {most} ({sizes})",
        f"T = {examples}",
        source,
    )


def _compared(
    claim_id: ClaimId,
    statement: str,
    holds: bool,
    witness: Mapping[str, Any],
    asked: str,
    found: str,
    source: str,
) -> Claim:
    return Claim.checked(
        claim_id,
        statement,
        holds,
        witness,
        numbers={"asked": asked, "found": found},
        arithmetic="comparison of integers",
        source=source,
    )


def independent_contexts(data: Dataset) -> Claim:
    """The claim A2: every context has rank n or, if lengths differ, a rank equal to its number of
    tokens. A refutation contains the context and the exact dependency."""
    finding = f"rank {data.lengths} in " + (
        "the shared context" if data.shared else f"all {data.T} contexts"
    )
    rank = "the number of tokens as rank" if data.ragged else f"rank {data.n}"
    witness: dict[str, Any] = {}
    for t in range(len(data.contexts)):
        rows = data.rows(t)
        if not _independent(rows):
            finding = f"rank {int(rows.integer_matrix().rank())} in context {t}"
            witness = {"context": t, "coefficients": _coefficients(rows)}
            break
    return Claim.checked(
        ids.A2,
        f"Every context has {'independent' if data.ragged else '$n$ independent'} rows "
        "(Assumption 2).",
        not witness,
        witness,
        numbers={"asked": rank, "found": finding},
        arithmetic=EXACT,
        source="paper, Assumption 2",
    )


def partition(data: Dataset, groups: Sequence[Sequence[int]]) -> Claim:
    """The partition condition for this grouping. The proof assumes nothing else about queries."""
    sizes = [len(group) for group in groups]
    further = f", the others of at most {max(sizes[1:])}" if sizes[1:] else ""
    condition = f"{counted(len(groups), 'group')}, the first of {sizes[0]}{further}"
    finding, witness = _failing_group(data, groups)
    return Claim.checked(
        ids.PARTITION,
        PARTITION,
        not witness,
        witness,
        numbers={"asked": condition, "found": finding},
        arithmetic=EXACT,
        source="ours; read off the paper's proof (steps 2 and 3)",
    )


def _failing_group(data: Dataset, groups: Sequence[Sequence[int]]) -> tuple[str, dict[str, Any]]:
    """The first group that violates the condition, as text and as a relation; {} if none does."""
    queries = data.queries
    table = residues(data.queries.stored, PRIMES_FLOAT64[0])
    earlier: list[int] = []
    for h, group in enumerate(groups, start=1):
        doubtful = _suspects(table, group, earlier)
        if doubtful is None:  # dependent mod p
            if not _independent(queries[list(group)]):
                return f"group {h} is dependent", {"group": h, **_between(group, queries)}
            doubtful = earlier
        for s in doubtful:
            if not _independent(queries[more := [*group, s]]):
                return f"group {h} spans query {s}", {"group": h, **_between(more, queries)}
        earlier += group
    return "all independent, no span meets an earlier query", {}


def grouping(data: Dataset, heads: int | None, seed: int) -> Claim:
    """The claim that some grouping meets the conditions P' and D."""
    statement = (
        "The examples can be divided into groups that meet the partition condition and, in some "
        "order of each, the dimension condition."
    )
    condition = "groups" if heads is None else f"at most {counted(heads, 'group')}"
    level, witness = Level.PROVED, None
    try:
        sizes = [str(len(group)) for group in by_dimension(data, heads, seed)]
        finding = f"{counted(len(sizes), 'group')} of {', '.join(sizes)}"
    except HypothesisFails as failure:
        level = Level.REFUTED if failure.decided else Level.UNDECIDED
        finding, witness = failure.reason, {**failure.witness, "reason": failure.reason}
    return Claim(
        ids.DIMENSION_CONDITION,
        statement,
        level,
        numbers={"asked": condition, "found": finding},
        witness=witness,
        arithmetic=EXACT,
        source="ours, docs/width-one.md, section 8",
    )


def kruskal_at_least(
    data: Dataset,
    strength: int,
    claim_id: ClaimId,
    seed: int,
    progress: StageProgress = silent,
) -> Claim:
    """The claim that any `strength` queries (or all, if there are fewer) are independent: A1 at
    this strength.

    Up to 20,000 subsets are checked one by one. For more subsets, the methods of `verify/kruskal/`
    try to decide the claim within `A1_WORK` nominal seconds. If they fail, 2,000 random subsets are
    sampled. If all are independent, at most a fraction 1 - 0.05^(1/2000) of all subsets is
    dependent, with 95 % confidence (Clopper and Pearson). This says nothing about the Kruskal rank
    itself, and the claim names the command that would decide it.
    """
    k = min(strength, data.T)
    if math.comb(data.T, k) <= _EXHAUSTIVE:
        return _by_all_subsets(data, k, claim_id)
    from attncert.verify.kruskal.interval import decide_within  # compiled code

    vectors = Vectors.of(data)
    bound = decide_within(vectors, k, A1_WORK, seed, lambda x, *of: progress(f"A1: {x}", *of))
    if bound is None:
        return _by_samples(vectors, data, k, claim_id, seed)
    return _by_bound(data, k, claim_id, bound)


def _by_all_subsets(data: Dataset, k: int, claim_id: ClaimId) -> Claim:
    subsets = itertools.combinations(range(data.T), k)
    for tried, subset in enumerate(subsets, start=1):
        if not _independent(data.queries[list(subset)]):
            return _dependent(data, k, claim_id, subset, tried)
    finding = f"{counted(math.comb(data.T, k), 'subset', 'all')} independent"
    return _a1(data, k, claim_id, Level.PROVED, EXACT + ", all subsets", finding)


def _by_bound(data: Dataset, k: int, claim_id: ClaimId, bound: RankBound) -> Claim:
    numbers: dict[str, Any] = {"method": bound.method}
    if bound.dependency is not None:
        examples = bound.dependency.indices
        finding, witness = f"{len(examples)} dependent queries", _between(examples, data.queries)
        return _a1(data, k, claim_id, Level.REFUTED, EXACT, finding, numbers, witness)
    how = EXACT if bound.level is Level.PROVED else "ball arithmetic"
    numbers |= {"every": bound.value, **bound.numbers}
    arithmetic, finding = f"{how}; {bound.method}", bound.statement.removesuffix(".")
    finding = finding[0].lower() + finding[1:]
    return _a1(data, k, claim_id, bound.level, arithmetic, finding, numbers)


def _by_samples(vectors: Vectors, data: Dataset, k: int, claim_id: ClaimId, seed: int) -> Claim:
    from attncert.verify.kruskal.shards.jobs import sampling_job  # compiled code

    job = sampling_job(vectors, k, _SAMPLES, seed=seed)
    records, _ = job.run(enough=lambda record: record["circuit"] is not None)
    samples = job.work.summary(vectors, job.plan, records.values())
    if samples.witness is not None:
        return _dependent(data, k, claim_id, samples.witness.indices, samples.drawn)
    fraction = f"{samples.failing_at_most:.2g}"
    claim = _a1(
        data, k, claim_id, Level.SAMPLED, EXACT + ", random subsets",
        f"{samples.independent:,} random subsets independent; at most a fraction {fraction} of all "
        "subsets is dependent (95 %)",
        _to_decide(vectors, k),
    )  # fmt: skip
    return replace(
        claim,
        statement=f"{every(k, data.T, 'query')}: {samples.independent} random subsets "
        f"of {k} were all independent. With 95 % confidence, at most a fraction {fraction} of "
        "the subsets is dependent; this does not bound the Kruskal rank.",
    )


def _dependent(
    data: Dataset, k: int, claim_id: ClaimId, subset: Sequence[int], tried: int
) -> Claim:
    finding = f"a dependent set, {counted(tried, 'subset')} tried"
    witness = _between(subset, data.queries)
    return _a1(data, k, claim_id, Level.REFUTED, EXACT, finding, witness=witness)


def _a1(
    data: Dataset,
    k: int,
    claim_id: ClaimId,
    level: Level,
    arithmetic: str,
    finding: str,
    numbers: Mapping[str, Any] | None = None,
    witness: Mapping[str, Any] | None = None,
) -> Claim:
    asked = f"every {k} of {data.T} queries independent"
    return Claim(
        claim_id,
        f"{every(k, data.T, 'query')} (Assumption 1).",
        level,
        {"asked": asked, "found": finding, **(numbers or {})},
        witness,
        arithmetic=arithmetic,
        source=f"paper, Assumption 1, at strength {k}",
    )


def _to_decide(vectors: Vectors, k: int) -> dict[str, Any]:
    """The command that would decide the claim, with the work it needs, if there is one."""
    from attncert.verify.kruskal.interval import work_needed

    needed = work_needed(vectors, k)
    if math.isinf(needed):
        return {}
    command = Kruskal(k=k, work=needed, examples=vectors.N).line()
    return {"to decide it": command, "nominal seconds": needed}


def _suspects(queries: FloatArray, group: Sequence[int], earlier: list[int]) -> list[int] | None:
    """Earlier queries that may lie in the span of the group; None if the group is dependent mod p.

    queries: balanced residues mod p, (T, d). If the group is independent mod p, then v ⊥ group and
    v·e_s ≠ 0 mod p prove that e_s is outside the span of the group over ℚ, so only the other e_s
    are suspects. If the group is dependent mod p, e_s may be a combination with p in a denominator,
    and v proves nothing. The entries of v outside the group's pivot columns are chosen; the other
    entries follow.
    """
    p, width = PRIMES_FLOAT64[0], queries.shape[1]
    pivots, rows = _echelon(queries[list(group)], p)
    if len(pivots) < len(group):
        return None
    if not earlier:
        return []
    free = np.setdiff1d(np.arange(width), pivots)
    j = np.arange(width)[:, None]
    v = residues((j + 1) * (j + 7), p)
    v[pivots] = -matmul(rows[:, free], v[free], p)
    products = matmul(queries[earlier], v, p)[:, 0]
    return np.array(earlier)[products == 0].tolist()


def _echelon(rows: FloatArray, p: int) -> tuple[IntArray, FloatArray]:
    """The pivot columns (r,) and the reduced rows (r, width), balanced mod p. Large tables use
    compiled code."""
    if rows.size >= _LARGE:
        return echelon(rows, p)
    form, pivots = row_reduced(np.mod(rows, p), p)
    table = np.array([int(x) for x in form.entries()]).reshape(rows.shape)[: len(pivots)]
    return np.array(pivots, dtype=np.int64), residues(table, p)


def _independent(rows: ExactArray) -> bool:
    """Whether the rows are independent. Independence mod p in some columns suffices; if there are
    many columns, every (width/count)-th column is tried first."""
    p, (count, width) = PRIMES_31[0], rows.shape
    steps = (max(1, width // count), 1) if count * width >= _LARGE else ()
    for step in steps:
        some = residues(rows.stored[:, ::step], PRIMES_FLOAT64[0])
        if profile(some, PRIMES_FLOAT64[0])[0].all():
            return True
    if nmod_mat(count, width, np.mod(rows.numerators, p).ravel().tolist(), p).rank() == count:
        return True
    return int(rows.integer_matrix().rank()) == count


def _between(examples: Sequence[int], queries: ExactArray) -> dict[str, Any]:
    pairs = zip(examples, _coefficients(queries[list(examples)]), strict=True)
    terms = [(t, c) for t, c in pairs if c != "0"]
    return {"examples": [t for t, _ in terms], "coefficients": [c for _, c in terms]}


def _coefficients(rows: ExactArray) -> list[str]:
    """Integers c ≠ 0 with c·rows = 0; all zero if the rows are independent."""
    relation = find_relation(rows.numerators)
    coefficients = (
        dict(zip(relation.indices, relation.coefficients, strict=True)) if relation else {}
    )
    return [numeral(coefficients.get(i, 0)) for i in range(len(rows))]
