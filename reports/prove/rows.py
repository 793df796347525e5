"""The rows of the report's tables (sentences as in `reports.words.text`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from flint import fmpq_mat

from attncert.constructions.layer import Layer
from attncert.reports.prove.records import not_proved, worst_earlier
from attncert.reports.prove.view import bundle, by_head, causes, title, weakest
from attncert.reports.words.levels import WORDING
from attncert.reports.words.numbers import (
    BEYOND,
    indices,
    notation,
    power_of_two,
    size,
    tokens,
    whole,
    words,
)
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.ids import ClaimId, head_and_step, hypothesis_name, promised
from attncert.verify.claims.proof import Proof, Setup
from attncert.verify.claims.words import counted

NONE = "–"
FIRST_HEADS, LAST_HEADS = 20, 4  # the first and last heads have a row in the table
MOST_USERS = 6  # limit on the kinds of steps named with a hypothesis

Row = tuple[str, ...]


def hypotheses(proof: Answer, built: bool) -> list[Row]:
    """Name, statement, requirement, result, level, and the steps that use the hypothesis."""
    return [
        (
            title(name),
            claim.statement,
            notation(claim.numbers.get("asked", "as stated")),
            _finding(claim),
            level_words(proof, claim),
            _where_used(proof, claim) or ("nowhere" if built else NONE),
        )
        for claim in proof.trace
        if (name := hypothesis_name(claim.id))
    ]


def rested_on(proof: Answer) -> str:
    """The hypotheses that the conclusion rests on."""
    below = proof.trace.ancestors(proof.conclusion)
    return "; ".join(
        title(name) for i in proof.trace.order if i in below and (name := hypothesis_name(i))
    )


def promises(proof: Answer) -> list[Row]:
    """What the formula of a theorem promises, what was built, and how that is known."""
    return [
        (
            words(what),
            f"{'places' if what == 'examples' else 'at most'} {whole(claim.numbers['promised'])}",
            whole(claim.numbers["built"]),
            level_words(proof, claim),
        )
        for claim in proof.trace
        if (what := promised(claim.id))
    ]


def construction(proof: Proof, s: Setup) -> list[Row]:
    data, theorem = proof.data, proof.construction.layer
    option = f" (--construction {notation(proof.question.construction)})"
    contexts = "one, shared by all examples" if data.shared else "one for each example"
    labels = f"$m = {data.m}$ {'number' if data.m == 1 else 'numbers'} each"
    rows: list[Row] = [
        ("construction", f"{proof.construction.heading}{option}"),
        ("examples $T$", whole(data.T)),
        ("contexts", f"{contexts}: {tokens(data)} rows of width $d = {data.d}$"),
        ("labels", labels if data.labelled else "none are given"),
        ("heads $H$", notation(s.heads)),
        ("head width $d_h$", notation(s.head_width)),
        ("value width $d_v$", notation(s.value_width)),
    ]
    if theorem and theorem.r:
        rows.append((f"capacity {theorem.capacity}", notation(s.capacity)))
    rows.append(("parameters $H(2d\\,d_h + d\\,d_v + d_v m)$", notation(s.parameters)))
    if s.regrouped:
        rows.append(
            ("order of the examples", "the given order did not work; another one was found")
        )
    busy = sum(1 for group in proof.groups if group)
    if proof.heads and s.heads is not None and busy < s.heads:
        rows.append(("heads that place examples", f"{busy:,}; the others place none"))
    if proof.layer:
        rows += _sizes(proof, proof.layer)
    return rows


def _sizes(proof: Proof, layer: Layer) -> list[Row]:
    inner = [m for h in layer.heads for m in (h.key, h.query)]
    outer = [m for h in layer.heads for m in (h.value, layer.output) if m is not None]
    bits = {
        "largest logit range": max((h.z_bits or 0 for h in proof.heads), default=0),
        "largest number in $W_K$, $W_Q / \\ln 2$": _longest(inner),
        "largest number in $W_V$, $W_O$": _longest(outer),
    }
    return [(what, f"{size(x)} {'bit' if x == 1 else 'bits'}") for what, x in bits.items() if x]


def _longest(matrices: Iterable[fmpq_mat]) -> int:
    different = {id(m): m for m in matrices}.values()  # idle heads share their matrices
    return max((int(x.height_bits()) for m in different for x in m.entries()), default=0)


HEAD_COLUMNS = (
    "head", "group", "$c$", "rate $\\rho$", "$B$", "worst $1-p_{\\max}$, earlier examples",
    "logit range", "standing",
)  # fmt: skip


def heads(proof: Proof) -> tuple[Row, list[Row]]:
    """The columns that have entries, and a row for each head, or for the first and last of many."""
    standing = {h: weakest(proof.trace, cs).value for h, cs in by_head(proof.trace).items()}
    table: list[Row] = []
    for k, (head, worst) in enumerate(zip(proof.heads, worst_earlier(proof.heads), strict=True), 1):
        if FIRST_HEADS < k <= len(proof.heads) - LAST_HEADS:
            continue
        table.append((
            str(k), indices(head.group, 4), _or_none(whole, head.c), _or_none(whole, head.rate),
            _or_none(size, head.bits), _off_peak(worst), _or_none(size, head.z_bits),
            standing.get(k, NONE),
        ))  # fmt: skip
    filled = [j for j in range(len(HEAD_COLUMNS)) if any(row[j] != NONE for row in table)]
    columns, *rows = (tuple(row[j] for j in filled) for row in (HEAD_COLUMNS, *table))
    return columns, rows


def gaps(proof: Answer) -> list[Row]:
    """Everything that is not proved; a gap shared by the same step of several heads is one row."""
    lines: dict[tuple[object, ...], list[Claim]] = {}
    for c in not_proved(proof):
        head = head_and_step(c.id)
        same = (head[1], c.level, proof.trace.standing(c.id)) if head else (c.id,)
        lines.setdefault(same, []).append(c)
    return [
        (
            "; ".join(name for name, _ in bundle(c.id for c in claims)),
            claims[0].statement if len(claims) == 1 else f"for the first: {claims[0].statement}",
            level_words(proof, claims[0]),
            _gap(proof, claims[0]),
        )
        for claims in lines.values()
    ]


def level_words(proof: Answer, claim: Claim) -> str:
    """The level, and the standing if what the claim rests on lowers it."""
    standing = proof.trace.standing(claim.id)
    if standing is claim.level:
        return claim.level.value
    return f"{claim.level.value} on its own; {standing.value} with what it rests on"


def held_down(proof: Answer, claim: Claim) -> str:
    """The reason why the standing is below the level: a clause, or nothing."""
    names = causes(proof.trace, claim)
    if not names:
        return ""
    standing = proof.trace.standing(claim.id)
    if standing.holds:
        verb = f"{'is' if len(names) == 1 else 'are'} {standing.value}"
    else:
        verb = "does not hold" if len(names) == 1 else "do not hold"
    return f"it rests on {_names_of(names)}, which {verb}"


def _names_of(claim_ids: Iterable[ClaimId], limit: int = 4) -> str:
    return _first([name for name, _ in bundle(claim_ids)], limit)


def _first(parts: list[str], limit: int) -> str:
    more = len(parts) - limit
    return "; ".join(parts[:limit]) + (f"; and {counted(more, 'other')}" if more > 0 else "")


def _gap(proof: Answer, claim: Claim) -> str:
    why = held_down(proof, claim)
    if not claim.level < Level.PROVED:
        return f"its own check passed, but {why}"
    how = claim.source if claim.level is Level.ARGUED and claim.source else claim.arithmetic
    own = f"{WORDING[claim.level].gap} ({how})" if how else WORDING[claim.level].gap
    return f"{own}; {why}" if why else own


def _finding(claim: Claim) -> str:
    if "found" in claim.numbers:
        return notation(claim.numbers["found"])
    rest = {k: v for k, v in claim.numbers.items() if k != "asked"}
    return notation(rest) if rest else NONE


def _where_used(proof: Answer, claim: Claim) -> str:
    """The steps that name the claim in `uses`, by strength, then the others that rest on it."""
    short = hypothesis_name(claim.id) or ""
    by_strength: dict[str, list[ClaimId]] = {}
    for other in proof.trace:
        strength = other.uses.get(short) or other.uses.get(claim.id)
        if strength:
            by_strength.setdefault(strength, []).append(other.id)
    named = {i for ids in by_strength.values() for i in ids}
    others = [i for i in proof.trace.graph.successors(claim.id) if i not in named]
    parts = [f"{_names_of(ids)} ({how})" for how, ids in by_strength.items()]
    return _first([*parts, _names_of(others)] if others else parts, MOST_USERS)


def _off_peak(log2: float | None) -> str:
    """1 - p_max from its logarithm."""
    if log2 is None or math.isnan(log2):
        return NONE
    if -math.inf < log2 < -BEYOND:
        return f"below $2^{{-10^{{{len(str(BEYOND)) - 1}}}}}$"
    return power_of_two(log2)


def _or_none(written: Callable[[int], str], x: int | None) -> str:
    return NONE if x is None else written(x)
