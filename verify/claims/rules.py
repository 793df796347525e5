"""What every finished proof must look like, whoever made its claims.

`prove` writes the claims, `ProofTrace` derives the standings; neither is believed here. Which
premises a claim must name, how strong it can be at most, and every number that is simple counting
are written down once more, from the mathematics and not from the code that is checked.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from flint import fmpz

from attncert.constructions.numerals import fraction
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.proof import Outline, Proof
from attncert.verify.claims.trace import ProofTrace, TraceError

RANKS_EACH_HEAD = 200  # examples up to which every head's rank must be there
ORDER = 20_000  # 2 must have a larger order modulo every prime that a rank was taken modulo

# Step, and what it rests on where the trace has it; steps of the same head without "hypothesis.".
_STEPS = {
    "duals": ("hypothesis.partition",),
    "steering": ("hypothesis.A2",),
    "curve": ("hypothesis.A2",),
    "selector": ("hypothesis.partition",),
    "separator": ("hypothesis.A2",),
    "weights": ("duals", "steering", "coefficients", "selector"),
    "saturation": ("selector", "separator"),
    "independence": ("saturation", "hypothesis.A2"),
    "logits": ("integral",),
}
_HYPOTHESES = ("context-size", "value-width", "A2", "A1", "capacity")
_WHOLE = {
    "universal": ("rank", "reduction"),
    "interpolation.agreement": tuple(
        f"interpolation.{route}" for route in ("rational", "symbolic", "multiprecision")
    ),
}
_ALWAYS = ("hypothesis.value-width", "groups", "parameters", "rank", "reduction", "readout",
           "universal", "memorization")  # fmt: skip

# What a trace must look like, by construction, written apart from the constructions themselves. Of
# one that is not listed its own outline is asked, which then is all that its author promises.
_STEERS = ("selector", "separator", "saturation")
_OUTLINES = {
    "paper": Outline(
        ("duals", "steering", "weights", "integral"), _STEERS, _HYPOTHESES, partition=True
    ),
    "width-one": Outline(
        ("coefficients", "weights", "integral"), _STEERS, _HYPOTHESES, True, short_heads=True
    ),
    "generic": Outline(
        ("small", "integral", "logits"),
        hypotheses=_HYPOTHESES,
        whole=("almost-all",),
        rests_on={"almost-all": ("rank",)},
    ),
}
_STRENGTHS: dict[str, Callable[[int, int], int]] = {
    "paper": min,
    "width-one": lambda n, _: n,
    "generic": lambda n, _: n,
}

# How strong a claim can be at most: by its id, or by words in what it says computed it.
_AT_MOST = {
    "reduction": Level.ARGUED,
    "almost-all": Level.ARGUED,
    "interpolation.multiprecision": Level.NUMERICAL,
    "enclosure.error": Level.ENCLOSED,
}
_WORDS = {
    "random": Level.SAMPLED,
    "floating point": Level.NUMERICAL,
    "ball arithmetic": Level.ENCLOSED,
}
_HEAD = re.compile(r"head\.([0-9]+)\.(.+)")


def require_rules(proof: Proof) -> None:
    """Raises TraceError where the finished proof breaks a rule: then something here is wrong."""
    for claim in trace_claims(proof):
        if not claim.level.holds:
            found = (claim.witness or {})["violations"]
            raise TraceError(f"{claim.id}: {found[0]}")


def trace_claims(proof: Proof) -> list[Claim]:
    """Seven claims about the proof's claims: each is proved, or refuted with every violation.

    Arithmetic: comparison of words and integers. A proof that refuses (no layer) is asked only for
    standings, levels and edges.
    """
    rules = {
        "complete": ("Every claim that the construction calls for is there.", _missing(proof)),
        "edges": ("Every claim names what it rests on.", _lost_edges(proof)),
        "levels": ("No claim is stronger than what computed it.", _too_strong(proof)),
        "standing": ("Every standing is that of the weakest ancestor.", _standings(proof.trace)),
        "numbers": ("Every number that is counting, counted again.", _miscounted(proof)),
        "primes": ("Ranks are modulo primes in which 2 has a large order.", _primes(proof.trace)),
        "witnesses": (
            "What is refuted has a witness, and the witness shows it.",
            _witnesses(proof),
        ),
    }
    return [
        Claim(
            f"trace.{name}",
            statement,
            Level.REFUTED if found else Level.PROVED,
            witness={"violations": found} if found else None,
            arithmetic="comparison of words and integers",
            source="ours; verify/claims/rules.py",
        )
        for name, (statement, violations) in rules.items()
        for found in [list(violations)]
    ]


def _missing(proof: Proof) -> Iterator[str]:
    if proof.layer is None:
        return
    trace, outline = proof.trace, _outline(proof)
    always = [*_ALWAYS, *(f"hypothesis.{name}" for name in outline.hypotheses), *outline.whole]
    always += ["hypothesis.partition"] if outline.partition else []
    always += ["theorem"] if proof.settings.voice.theorem else []
    yield from (f"{name} is missing" for name in always if name not in trace)
    rank = ("rank",) if proof.data.T <= RANKS_EACH_HEAD else ()
    for h in range(1, len(proof.groups) + 1):
        wanted = [*outline.first, *rank]
        may_lack = outline.short_heads and not any(f"head.{h}.{s}" in trace for s in outline.later)
        if h > 1 and outline.later and not may_lack:
            steers = outline.later == _STEERS and rank
            wanted += [*outline.later, *(("independence",) if steers else ())]
        yield from (f"head.{h}.{s} is missing" for s in wanted if f"head.{h}.{s}" not in trace)


def _outline(proof: Proof) -> Outline:
    return _OUTLINES.get(proof.settings.construction, proof.settings.outline)


def _lost_edges(proof: Proof) -> Iterator[str]:
    trace = proof.trace
    for claim in trace:
        lost = [p for p in _premises(claim, proof) if p in trace and p not in claim.rests_on]
        if lost:
            yield f"{claim.id} does not name {', '.join(lost)}"
        if claim.id == "memorization" and claim.level.holds and not claim.rests_on:
            yield "memorization rests on nothing"


def _premises(claim: Claim, proof: Proof) -> Sequence[str]:
    trace, outline = proof.trace, _outline(proof)
    ours = proof.settings.construction in _OUTLINES
    written = _STEPS if ours else {"logits": ("integral",), **outline.rests_on}
    step = _HEAD.fullmatch(claim.id)
    if step:
        names = written.get(step[2], ())
        return [p if p.startswith("hypothesis.") else f"head.{step[1]}.{p}" for p in names]
    if claim.id == "theorem":
        return [f"hypothesis.{name}" for name in outline.hypotheses]
    if claim.id in outline.whole:
        return outline.rests_on.get(claim.id, ())
    if claim.id == "memorization" and claim.level.holds:
        exact = ("interpolation.rational", "interpolation.symbolic")
        routes = [p for p in exact if p in trace and trace[p].level is Level.PROVED]
        return routes or ["rank"]
    premises = _WHOLE.get(claim.id, ())
    if claim.id == "interpolation.agreement":
        return [p for p in premises if p in trace and trace[p].level.holds]
    return premises


def _too_strong(proof: Proof) -> Iterator[str]:
    for claim in proof.trace:
        most = [_AT_MOST.get(claim.id, Level.PROVED)]
        most += [level for word, level in _WORDS.items() if word in claim.arithmetic]
        if claim.id.startswith("hypothesis.A1") and claim.level is Level.PROVED:
            k = min(_strength(claim.id, proof), proof.data.T)
            most += [] if _of_all(claim, k, proof.data.T, proof.data.d) else [Level.SAMPLED]
        if claim.level.holds and min(most) < claim.level:
            yield f"{claim.id} is {claim.level.value}, at most {min(most).value}"


def _of_all(claim: Claim, k: int, T: int, d: int) -> bool:
    """Whether the numbers amount to every k of T vectors: all subsets of k, counted again; or a
    method that shows it of every j, k <= j <= min(T, d) (more than d are dependent), within what
    that method can show.

    Hashing compares pairs. The rank shows it of all T alone. A relation that has at most w of its
    coefficients outside a basis is listed, so any other has at least w + 1 outside each of b bases,
    vectors that are counted once, unless only w vectors are outside and there is no other.
    """
    told = claim.numbers
    if f"all {math.comb(T, k):,} subsets" in str(told.get("found")):
        return True
    j = told.get("every", 0)
    w, listed = told.get("coefficients outside", 0), told.get("lightest", 0)
    shows = {
        "parallel": j <= 2,
        "rank": j == T,
        "exhaustive": told.get("sets") == math.comb(T, j),
        "information sets": j < listed and (j < (w + 1) * told.get("bases", 0) or T - d <= w),
    }
    return k <= j <= min(T, d) and shows.get(str(told.get("method")), False)


def _standings(trace: ProofTrace) -> Iterator[str]:
    for claim in trace:
        above, todo = {claim.id}, [claim.id]
        while todo:
            new = set(trace[todo.pop()].rests_on) - above
            above |= new
            todo += sorted(new)
        levels = [trace[name].level for name in above - {claim.id}]
        if not claim.level.holds:
            right = claim.level
        elif not all(level.holds for level in levels):
            right = Level.UNDECIDED
        else:
            right = min([claim.level, *levels])
        if trace.standing(claim.id) is not right:
            yield f"{claim.id} stands as {trace.standing(claim.id).value}, not {right.value}"


def _miscounted(proof: Proof) -> Iterator[str]:
    if proof.layer is None:
        return
    data, layer, settings = proof.data, proof.layer, proof.settings
    heads, d_v = len(layer.heads), settings.value_width
    r = _strength("hypothesis.A1-at-r", proof)
    counted = settings.construction in _STRENGTHS  # groups of r, r - 1, r - 1, ...
    places = r + sum(r - 1 for _ in range(heads - 1)) if counted else settings.capacity or 0
    sizes = {"asked": f"T at most {places} (H = {heads}, r = {r})"} if counted else {}
    weights = sum(_entries(head.key) + _entries(head.query) for head in layer.heads)
    weights += heads * (data.d * d_v + d_v * data.m)
    right: dict[str, dict[str, Any]] = {
        "hypothesis.context-size": {"level": data.n <= data.d},
        "hypothesis.value-width": {"level": d_v >= data.m},
        "hypothesis.capacity": {
            "level": places >= data.T,
            **sizes,
        },
        "parameters": {"parameters": weights},
        "groups": {"groups": len(proof.groups), "examples": data.T},
        "rank": {"T": data.T, "rank": data.T, "columns": heads * data.d},
        **{
            name: {"asked": f"every {min(_strength(name, proof), data.T)} of {data.T} queries "
                            "independent"}
            for name in ("hypothesis.A1", "hypothesis.A1-at-r")
        },
    }  # fmt: skip
    placed = 0
    for h, group in enumerate(proof.groups, start=1):
        placed += len(group)
        right[f"head.{h}.rank"] = {"rank": placed, "rows": placed}
    for name, numbers in right.items():
        if name not in proof.trace:
            continue
        claim = proof.trace[name]
        for key, value in numbers.items():
            found = claim.level.holds if key == "level" else claim.numbers.get(key)
            if (claim.level.holds or key == "level") and found != value:
                yield f"{name}: {key} is {found}, not {value}"


def _primes(trace: ProofTrace) -> Iterator[str]:
    named = {
        int(digits)
        for claim in trace
        if claim.level.holds
        for digits in re.findall(r"\bmod ([0-9]+)", claim.arithmetic)
    }
    for p in sorted(named):
        if not fmpz(p).is_prime():
            yield f"{p} is no prime"
        power = 1
        for k in range(1, min(ORDER, p - 2) + 1):
            power = power * 2 % p
            if power == 1:
                yield f"2 has order {k} modulo {p}"
                break


def _witnesses(proof: Proof) -> Iterator[str]:
    """Dependent rows, of a context or among the queries, are added up in fractions."""
    data = proof.data
    for claim in proof.trace:
        if claim.level is not Level.REFUTED:
            continue
        if not claim.witness:
            yield f"{claim.id} is refuted without a witness"
            continue
        if claim.id == "hypothesis.A2":
            rows = data.contexts[claim.witness["context"]].fractions()
        elif claim.id in ("hypothesis.A1", "hypothesis.A1-at-r"):
            queries, examples = data.queries.fractions(), claim.witness["examples"]
            rows = [queries[t] for t in examples]
            if not 0 < len(rows) == len(set(examples)) <= _strength(claim.id, proof):
                yield f"{claim.id}: {examples} are not so many distinct examples"
        else:
            continue
        factors = [fraction(x) for x in claim.witness["coefficients"]]
        sums = [sum(map(operator.mul, factors, column)) for column in zip(*rows, strict=True)]
        if len(factors) != len(rows) or not any(factors) or any(sums):
            yield f"{claim.id}: the coefficients give no relation"


def _strength(name: str, proof: Proof) -> int:
    """n for A1; r for A1 at strength r."""
    setup, n = proof.settings, proof.data.n
    if name == "hypothesis.A1":
        return n
    of = _STRENGTHS.get(setup.construction)
    return setup.r if of is None else of(n, setup.head_width)


def _entries(matrix: Any) -> int:
    return int(matrix.nrows()) * int(matrix.ncols())
