"""An oracle for traces: rules that every finished proof obeys.

The premises of each claim, its strongest level, and the numbers that only need counting are stated
here a second time, from the mathematics and not from the code. conftest.py checks these rules for
every proof that a test makes.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attncert.constructions.numerals import fraction
from attncert.verify.certificates.coq.theorems import in_coq
from attncert.verify.claims import ids, words
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.ids import ClaimId, of_head
from attncert.verify.claims.proof import Proof
from attncert.verify.claims.trace import TraceError


@dataclass(frozen=True)
class Outline:
    """The claims of every trace of one construction. first: steps of every head that places
    examples; later: steps of all these heads but the first. short_heads: some heads lack the
    later steps."""

    first: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    hypotheses: tuple[str, ...] = ()
    partition: bool = False
    short_heads: bool = False


# The strongest level of a claim, by its id or by words in its arithmetic.
_AT_MOST = {ids.ALMOST_ALL: Level.ARGUED, ids.MULTIPRECISION: Level.ENCLOSED}
_WORDS = {
    "random": Level.SAMPLED,
    "floating point": Level.NUMERICAL,
    "ball arithmetic": Level.ENCLOSED,
}
RANKS_EACH_HEAD = 200  # up to this many examples, a rank is computed for each head

# Each step, and the hypotheses and steps of the same head on which it rests, if the trace has them.
_STEPS: Mapping[str, tuple[str, ...]] = {
    "duals": (ids.PARTITION,),
    "steering": (ids.A2,),
    "curve": (ids.A2,),
    "selector": (ids.PARTITION,),
    "separator": (ids.A2,),
    "weights": ("duals", "steering", "coefficients", "selector"),
    "saturation": ("selector", "separator"),
    "independence": ("saturation", ids.A2, "affine-dimensions"),
    "logits": ("integral",),
}
_HYPOTHESES = ("context-size", "value-width", "A2", "A1", "capacity")
_WHOLE = {
    ids.UNIVERSAL: (ids.RANK, ids.COLUMNS, ids.REDUCTION),
    ids.AGREEMENT: (ids.RATIONAL, ids.SYMBOLIC, ids.MULTIPRECISION),
}
_ALWAYS = (ids.VALUE_WIDTH, ids.PARAMETERS, ids.RANK, ids.REDUCTION, ids.UNIVERSAL,
           ids.MEMORIZATION)  # fmt: skip

# The outline of each construction, written independently of the constructions.
_STEERS = ("selector", "separator", "saturation")
_OUTLINES = {
    "paper": Outline(
        ("duals", "steering", "weights", "integral"), _STEERS, _HYPOTHESES, partition=True
    ),
    "width-one": Outline(
        ("coefficients", "weights", "integral"), _STEERS, _HYPOTHESES, True, short_heads=True
    ),
    "affine": Outline(
        ("affine-dimensions", "coefficients", "curve", "weights", "integral"),
        _STEERS,
        ("value-width", "dimensions", "partition", "capacity"),
        partition=True,
    ),
    "generic": Outline(
        ("small", "integral", "logits"),
        hypotheses=_HYPOTHESES,
    ),
}
_STRENGTHS: dict[str, Callable[[int, int], int]] = {
    "paper": min,
    "width-one": lambda n, _: n,
    "generic": lambda n, _: n,
}


def broken(proof: Proof) -> dict[str, list[str]]:
    """The violations of each rule that the proof breaks. Without a layer, only levels, edges and
    witnesses are checked."""
    rules = {
        "complete": _missing(proof),
        "edges": _lost_edges(proof),
        "levels": _too_strong(proof),
        "numbers": _miscounted(proof),
        "witnesses": _witnesses(proof),
    }
    violations = {name: list(found) for name, found in rules.items()}
    return {name: found for name, found in violations.items() if found}


def require_all_rules(proof: Proof) -> None:
    """Raises TraceError for a proof that breaks a rule."""
    for name, violations in broken(proof).items():
        raise TraceError(f"trace.{name}: {violations[0]}")


def _missing(proof: Proof) -> Iterator[str]:
    if proof.layer is None:
        return
    trace, outline = proof.trace, _outline(proof)
    always = [*_ALWAYS, *proof.data.origin.premises]
    always += [] if ids.RATIONAL in trace else [ids.READOUT]  # the equality, or why there is none
    always += [ids.COLUMNS] if proof.setup.value_width < proof.data.m else []
    always += [ids.SATURATION_ASKED] if proof.saturation else []
    always += [ids.THEOREM] if proof.construction.theorem else []
    always += [ids.GROUPS] if outline.first else []
    always += [ids.ALMOST_ALL] if proof.setup.construction == "generic" else []
    always += [ids.hypothesis(name) for name in outline.hypotheses]
    always += [ids.PARTITION] if outline.partition else []
    ranks = proof.data.T <= RANKS_EACH_HEAD
    for h in range(1, len(proof.groups) + 1):
        steered = h > 1 and any(of_head(h, step) in trace for step in _STEERS)
        later = outline.later if h > 1 and (steered or not outline.short_heads) else ()
        limit = ["independence"] if steered and outline.later == _STEERS and ranks else []
        rank = ["rank"] if ranks and outline.first else []
        always += [of_head(h, step) for step in (*outline.first, *later, *limit, *rank)]
    yield from (f"{name} is missing" for name in always if name not in trace)


def _outline(proof: Proof) -> Outline:
    """The outline of the construction, which is empty for a third-party one."""
    return _OUTLINES.get(proof.setup.construction, Outline())


def _lost_edges(proof: Proof) -> Iterator[str]:
    trace = proof.trace
    for claim in trace:
        lost = [p for p in _premises(claim, proof) if p in trace and p not in claim.rests_on]
        if lost:
            yield f"{claim.id} does not name {', '.join(lost)}"
        if claim.id == ids.MEMORIZATION and claim.level.holds and not claim.rests_on:
            yield "memorization rests on nothing"


def _premises(claim: Claim, proof: Proof) -> Sequence[str]:
    trace, outline = proof.trace, _outline(proof)
    if (of := ids.head_and_step(claim.id)) and outline.first:
        own = ((of_head(of[0], x), ClaimId(x)) for x in _STEPS.get(of[1], ()))
        return [first if first in trace else other for first, other in own]
    if claim.id == ids.ALMOST_ALL:
        return [ids.RANK]
    if claim.id == ids.THEOREM:
        return [*map(ids.hypothesis, outline.hypotheses)]
    if claim.id == ids.SATURATION_ASKED:
        return _of_saturation(len(proof.groups)) if claim.level.holds else ()
    if claim.id == ids.MEMORIZATION and claim.level.holds:
        exact = (ids.RATIONAL, ids.SYMBOLIC)
        routes = [p for p in exact if p in trace and trace[p].level is Level.PROVED]
        return [*(routes or [ids.RANK, ids.REDUCTION]), *proof.data.origin.premises]
    premises = _WHOLE.get(claim.id, ())
    if claim.id == ids.AGREEMENT:
        return [p for p in premises if p in trace and trace[p].level.holds]
    return premises


def _of_saturation(heads: int) -> Sequence[str]:
    """A head's formula gives the factor of c; its step on saturation gives the row."""
    return [of_head(h, step) for h in range(2, heads + 1) for step in ("weights", "saturation")]


def _too_strong(proof: Proof) -> Iterator[str]:
    for claim in proof.trace:
        by_words = [level for word, level in _WORDS.items() if word in claim.arithmetic]
        theorem = Level.KERNEL if _names_theorems(claim.arithmetic) else Level.PROVED
        most = min([*by_words, theorem, _AT_MOST.get(claim.id, Level.KERNEL)])
        if claim.level.holds and most < claim.level:
            yield f"{claim.id} is {claim.level.value}, at most {most.value}"
        if claim.id.startswith(ids.A1) and claim.level is Level.PROVED:
            k = min(_strength(claim.id, proof), proof.data.T)
            if not _of_all(claim, k, proof.data.T, proof.data.d):
                yield f"{claim.id} is proved, at most sampled"


def _names_theorems(text: str) -> bool:
    """Whether this is the evidence from Coq theorems, with their files and hashes."""
    named = re.findall(r"theorem (\w+) of \S+/(\w+)\.v", text)
    return bool(named) and text == in_coq(*(f"{module}.{name}" for name, module in named))


def _of_all(claim: Claim, k: int, T: int, d: int) -> bool:
    """Whether the numbers cover every k of T vectors: all subsets of size k, counted again, or a
    method that covers every j, k <= j <= min(T, d), within its limits (more than d vectors are
    dependent).

    A rank covers only the set of all T vectors.
    """
    told = claim.numbers
    if f"{words.counted(math.comb(T, k), 'subset', 'all')} " in str(told.get("found")):
        return True
    j = told.get("every", 0)
    shows = {"rank": j == T, "exhaustive": told.get("sets") == math.comb(T, j)}
    return k <= j <= min(T, d) and shows.get(str(told.get("method")), False)


def _miscounted(proof: Proof) -> Iterator[str]:
    if proof.layer is None:
        return
    data, layer, setup = proof.data, proof.layer, proof.setup
    heads, d_v = len(layer.heads), setup.value_width
    r = _strength(ids.A1_AT_R, proof)
    counted = setup.construction in _STRENGTHS  # groups of r, r - 1, r - 1, ...
    places = r + sum(r - 1 for _ in range(heads - 1)) if counted else setup.capacity or 0
    sizes = {"asked": f"T at most {places} (H = {heads}, r = {r})"} if counted else {}
    weights = sum(_entries(head.key) + _entries(head.query) for head in layer.heads)
    weights += heads * (data.d * d_v + d_v * data.m)
    right: dict[ClaimId, dict[str, Any]] = {
        ids.CONTEXT_SIZE: {"level": data.n <= data.d},
        ids.VALUE_WIDTH: {"level": d_v >= data.m},
        ids.CAPACITY: {
            "level": places >= data.T,
            **sizes,
        },
        ids.PARAMETERS: {"parameters": weights},
        ids.GROUPS: {"groups": len(proof.groups), "examples": data.T},
        ids.COLUMNS: {"T": data.T, "rank": data.T, "most in a head": max(map(len, proof.groups))},
        ids.RANK: {"T": data.T, "rank": data.T, "columns": heads * data.d},
        **{
            name: {"asked": f"every {min(_strength(name, proof), data.T)} of {data.T} queries "
                            "independent"}
            for name in (ids.A1, ids.A1_AT_R)
        },
    }  # fmt: skip
    placed = pairs = 0
    asked = proof.saturation
    for h, group in enumerate(proof.groups, start=1):
        pairs += placed
        placed += len(group)
        right[of_head(h, "rank")] = {"rank": placed, "rows": placed}
    right[ids.SATURATION_ASKED] = {"bits": asked, "pairs": pairs} if asked else {}
    for name, numbers in right.items():
        if name not in proof.trace:
            continue
        claim = proof.trace[name]
        for key, value in numbers.items():
            found = claim.level.holds if key == "level" else claim.numbers.get(key)
            if (claim.level.holds or key == "level") and found != value:
                yield f"{name}: {key} is {found}, not {value}"


def _witnesses(proof: Proof) -> Iterator[str]:
    """Relations between rows of a context or between queries are added up in fractions."""
    data = proof.data
    for claim in proof.trace:
        if claim.level is not Level.REFUTED:
            continue
        if not claim.witness:
            yield f"{claim.id} is refuted without a witness"
            continue
        if claim.id == ids.A2:
            rows = data.rows(claim.witness["context"]).fractions()
        elif claim.id in (ids.A1, ids.A1_AT_R):
            queries, examples = data.queries.fractions(), claim.witness["examples"]
            rows = [queries[t] for t in examples]
            if not 0 < len(rows) == len(set(examples)) <= _strength(claim.id, proof):
                yield f"{claim.id}: {examples} are not that many distinct examples"
        else:
            continue
        factors = [fraction(x) for x in claim.witness["coefficients"]]
        sums = [sum(map(operator.mul, factors, column)) for column in zip(*rows, strict=True)]
        if len(factors) != len(rows) or not any(factors) or any(sums):
            yield f"{claim.id}: the coefficients give no relation"


def _strength(name: str, proof: Proof) -> int:
    """The strength of A1: n, or r if the claim is A1 at strength r."""
    setup, n = proof.setup, proof.data.n
    if name == ids.A1:
        return n
    of = _STRENGTHS.get(setup.construction)
    return setup.r if of is None else of(n, setup.head_width)


def _entries(matrix: Any) -> int:
    return int(matrix.nrows()) * int(matrix.ncols())
