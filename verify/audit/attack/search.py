"""An attack on a construction: small data of every degenerate kind, searched for a failure.

Case number k of a seed is drawn from (seed, k) alone: it can be drawn again without the others, and
a search can be resumed at any k. For each case it is decided here, by exhausting the subsets,
whether A1 holds, and if not, whether the partition condition does. Then the construction must
build, and the features of the layer that it returns must have rank T: computed here from the
layer's weights alone, modulo a 62-bit safe prime, by code that the builders do not share. A failure
is shrunk to a data set from which nothing can be taken away.

That no failure is found proves nothing beyond the cases counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from attncert.constructions import paper
from attncert.constructions import width_one as of_width_one
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails, InputError
from attncert.constructions.layer import Layer
from attncert.verify.audit.attack.cases import (
    Case,
    contexts_independent,
    draw,
    partition_holds,
    queries_independent,
)

# Safe: (P - 1)/2 is prime too, and P ≡ 3 (mod 8), so 2 has order P - 1: exponents do not collide.
PRIME = 4611686018427377339

Build = Callable[[Case], Layer]
Progress = Callable[[int, int], None]
C = TypeVar("C", bound=Case)

_CONSTRUCTIONS: dict[str, Build] = {
    "rank-one": lambda case: (
        of_width_one.build(case.dataset, heads=case.heads, saturated=case.option).layer
    ),
    "paper": lambda case: (
        paper.build(
            case.dataset, head_width=case.width, heads=case.heads, interior=case.option
        ).layer
    ),
}


@dataclass(frozen=True)
class Failure:
    """A case that the construction got wrong, as drawn and shrunk, and what went wrong."""

    number: int
    reason: str
    case: Case
    smallest: Case
    smallest_reason: str

    def __str__(self) -> str:
        small = self.smallest
        T, (_, n, d) = len(small.queries), small.contexts.shape
        return "\n".join(
            [
                f"case {self.number} ({self.case.kind}): {self.reason}",
                f"smallest: {self.smallest_reason}",
                f"T={T}, n={n}, d={d}, H={small.heads}, d_h={small.width}, "
                f"option={small.option}, denominator={small.denominator}",
                f"contexts = {small.contexts.tolist()}",
                f"queries = {small.queries.tolist()}",
            ]
        )


@dataclass(frozen=True)
class AttackReport:
    """What was tried. Cases `start` to `stop - 1` of `seed` were drawn.

    built:    by kind, cases with A1 and A2 that were built and have rank T.
    partition: the same for A1 false and the partition condition true.
    outside:  cases where neither holds: what the construction did with them ("refused", "rank T").
    failures: every case that was to be built and was not, or came out with a lower rank.
    """

    construction: str
    seed: int
    start: int
    stop: int
    built: Counter[str] = field(default_factory=Counter)
    partition: Counter[str] = field(default_factory=Counter)
    outside: Counter[str] = field(default_factory=Counter)
    failures: tuple[Failure, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """JSON-able, counts by kind in alphabetical order."""
        counts = {
            name: dict(sorted(getattr(self, name).items()))
            for name in ("built", "partition", "outside")
        }
        return {
            "construction": self.construction,
            "seed": self.seed,
            "start": self.start,
            "stop": self.stop,
            "built_total": self.built.total(),
            "partition_total": self.partition.total(),
            "failures": [str(failure) for failure in self.failures],
            **counts,
        }


def attack(
    construction: str | Build,
    *,
    cases: int,
    seed: int = 0,
    start: int = 0,
    most_failures: int = 1,
    progress: Progress = lambda done, of: None,
) -> AttackReport:
    """Draw cases start, ..., start + cases - 1 and try the construction on each.

    construction: "rank-one", "paper", or a function from a case to a layer (for width one).
    Stops after `most_failures` failures; `stop` of the report says where. Raises InputError.
    """
    if isinstance(construction, str) and construction not in _CONSTRUCTIONS:
        raise InputError("construction", " or ".join(_CONSTRUCTIONS), construction)
    for argument, value, least in (("cases", cases, 1), ("seed", seed, 0), ("start", start, 0)):
        if not least <= value < 2**63:
            raise InputError(argument, f"a whole number from {least} to 2^63 - 1", value)
    build = _CONSTRUCTIONS[construction] if isinstance(construction, str) else construction
    name = construction if isinstance(construction, str) else "given function"
    built, partition, outside = Counter[str](), Counter[str](), Counter[str]()
    failures: list[Failure] = []
    number = start
    for number in range(start, start + cases):
        progress(number - start, cases)
        case = case_number(seed, number, width_one=construction != "paper")
        reason, holds = examine(case, build)
        if reason is not None and holds:
            failures.append(_shrunk(number, case, reason, build))
            if len(failures) == most_failures:
                break
        elif holds:
            (built if holds == "A1" else partition)[case.kind] += 1
        else:
            outside[reason or "rank T"] += 1
    return AttackReport(name, seed, start, number + 1, built, partition, outside, tuple(failures))


def case_number(seed: int, number: int, *, width_one: bool = True) -> Case:
    """Case `number` of this seed, by itself."""
    return draw(np.random.default_rng([seed, number]), width_one=width_one)


def examine(case: Case, build: Build) -> tuple[str | None, str]:
    """What went wrong (None: nothing), and which hypothesis holds: "A1", "partition" or "".

    An exception of the construction other than HypothesisFails is something that went wrong, too.
    """
    holds = _hypothesis(case)
    try:
        layer = build(case)
    except HypothesisFails as failure:
        return (f"refused: {failure}" if holds else "refused"), holds
    except (ArithmeticError, AssertionError, LookupError, RuntimeError, TypeError, ValueError) as e:
        return f"{type(e).__name__}: {e}", holds or "partition"
    rank = feature_rank(layer, case.dataset)
    if rank == len(case.queries):
        return None, holds
    return f"rank {rank} instead of {len(case.queries)}", holds or "partition"


def feature_rank(layer: Layer, data: Dataset, prime: int = PRIME) -> int:
    """Rank of Z mod `prime`, from the weights of the layer and the data alone. Pure Python.

    Raises ValueError where a logit is not an integer, ZeroDivisionError where a softmax sum is 0.
    """
    contexts = data.contexts.stored.tolist()
    queries = data.queries.stored.tolist()
    scale = data.contexts.denominator * data.queries.denominator
    rows: list[list[int]] = [[] for _ in queries]
    for head in layer.heads:
        keys, key_scale = _columns(head.key)
        asks, ask_scale = _columns(head.query)
        bottom = scale * key_scale * ask_scale
        for t, query in enumerate(queries):
            context = contexts[0 if data.shared else t]
            asked = [_dot(ask, query) for ask in asks]
            direction = [_dot(asked, row) for row in zip(*keys, strict=True)]
            logits = []
            for token in context:
                whole, rest = divmod(_dot(direction, token), bottom)
                if rest:
                    raise ValueError("a logit is not an integer")
                logits.append(whole)
            powers = [pow(2, k % (prime - 1), prime) for k in logits]
            inverse = pow(sum(powers), -1, prime)
            rows[t] += [
                _dot(powers, column) * inverse % prime for column in zip(*context, strict=True)
            ]
    return _rank(rows, prime)


def _hypothesis(case: Case) -> str:
    if not contexts_independent(case):
        return ""
    if queries_independent(case):
        return "A1"
    return "partition" if partition_holds(case) else ""


def _columns(matrix: Any) -> tuple[list[list[int]], int]:
    """Integer columns over one denominator."""
    whole, denominator = matrix.transpose().numer_denom()
    return [[int(x) for x in row] for row in whole.tolist()], int(denominator)


def _dot(a: Any, b: Any) -> int:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _rank(rows: list[list[int]], prime: int) -> int:
    """Rank mod prime, by elimination."""
    rows = [row[:] for row in rows]
    rank = 0
    for column in range(len(rows[0])):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        top = rows[rank]
        inverse = pow(top[column], -1, prime)
        for i in range(rank + 1, len(rows)):
            factor = rows[i][column] * inverse % prime
            if factor:
                rows[i] = [(x - factor * y) % prime for x, y in zip(rows[i], top, strict=True)]
        rank += 1
        if rank == len(rows):
            break
    return rank


def _shrunk(number: int, case: Case, reason: str, build: Build) -> Failure:
    smallest, smallest_reason = shrink(case, reason, build)
    return Failure(number, reason, case, smallest, smallest_reason)


def shrink(case: Case, reason: str, build: Build) -> tuple[Case, str]:
    """A failing case from which no step of `smaller` can be taken, and its reason.

    If A1 or the partition condition holds for the case, then also for every smaller one.
    """
    within = bool(_hypothesis(case))
    going = True
    while going:
        going = False
        for less in smaller(case):
            found, holds = examine(less, build)
            if found is not None and holds and (not within or _hypothesis(less)):
                case, reason, going = less, found, True
                break
    return case, reason


def _fits(case: Case) -> bool:
    return len(case.queries) <= case.heads * (case.r - 1) + 1


def smaller(case: C) -> Iterator[C]:
    """Fewer examples, contexts, tokens, heads, columns; smaller entries."""
    T, (count, n, d) = len(case.queries), case.contexts.shape
    for t in range(T - 1, -1, -1):
        if T > 1:
            contexts = np.delete(case.contexts, t, axis=0) if count > 1 else case.contexts
            yield replace(case, contexts=contexts, queries=np.delete(case.queries, t, axis=0))
    if count > 1:
        yield replace(case, contexts=case.contexts[:1])
    if n > 1:
        yield from (
            less
            for i in range(n - 1, -1, -1)
            if _fits(less := replace(case, contexts=np.delete(case.contexts, i, axis=1)))
        )
    if case.heads > 1 and _fits(fewer := replace(case, heads=case.heads - 1)):
        yield fewer
    for j in range(d - 1, -1, -1):
        if d > 1:
            yield replace(
                case,
                contexts=np.delete(case.contexts, j, axis=2),
                queries=np.delete(case.queries, j, axis=1),
            )
    if case.denominator > 1:
        yield replace(case, denominator=1)
    for name in ("queries", "contexts"):
        table = getattr(case, name)
        for place in zip(*np.nonzero(table), strict=True):
            value = int(table[place])
            for nearer in dict.fromkeys((0, value // abs(value), value - value // abs(value))):
                if abs(nearer) < abs(value):
                    changed = table.copy()
                    changed[place] = nearer
                    yield replace(case, **{name: changed})
