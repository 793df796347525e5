"""The rows of the report's tables (sentences as in `reports.words.text`)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer
from attncert.reports.prove.matrices import longest
from attncert.reports.prove.records import not_proved, worst_earlier
from attncert.reports.prove.view import bundle, by_head, causes, title, weakest
from attncert.reports.words.levels import WORDING
from attncert.reports.words.numbers import (
    BEYOND,
    indices,
    notation,
    power_of_two,
    real,
    size,
    tokens,
    whole,
    words,
)
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.ids import ClaimId, head_and_step, hypothesis_name, promised
from attncert.verify.claims.proof import HeadSummary, Proof, Setup
from attncert.verify.claims.words import counted

NONE = "–"
FIRST_HEADS, LAST_HEADS = 12, 4  # rows of the heads' table where there are many
MOST_HEADS = 24
MOST_HEAD_CLAIMS = 40  # of heads that the table of unproved claims lists one by one


@dataclass(frozen=True)
class Hypothesis:
    """One line of the hypotheses' table; `level` includes the standing where it differs."""

    name: str
    statement: str
    demand: str
    finding: str
    level: str
    used: str


def hypotheses(proof: Answer, built: bool) -> list[Hypothesis]:
    return [
        Hypothesis(
            name=title(name),
            statement=c.statement,
            demand=_demand(c),
            finding=_finding(c),
            level=level_words(proof, c),
            used=_where_used(proof, c, built),
        )
        for c in proof.trace
        if (name := hypothesis_name(c.id))
    ]


def rested_on(proof: Answer) -> str:
    """The hypotheses that the conclusion rests on."""
    below = proof.trace.ancestors(proof.conclusion)
    return "; ".join(
        title(name) for i in proof.trace.order if i in below and (name := hypothesis_name(i))
    )


def promises(proof: Answer) -> list[tuple[str, str, str, str]]:
    """What a theorem promises, by its formula, beside what was built, and how that is known."""
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


def construction(proof: Proof, s: Setup) -> list[tuple[str, str]]:
    """(what, how much), the construction in numbers."""
    data, theorem = proof.data, proof.construction.layer
    contexts = "one, shared by all examples" if data.shared else "one for each example"
    rows = [
        ("construction", _construction(proof)),
        ("examples $T$", whole(data.T)),
        ("contexts", f"{contexts}: {tokens(data)} rows of width $d = {data.d}$"),
        ("labels", _labels(data)),
        ("heads $H$", notation(s.heads)),
        ("head width $d_h$", notation(s.head_width)),
        ("value width $d_v$", notation(s.value_width)),
    ]
    if s.usable_width:
        rows.append((f"usable width $r = {s.usable_width}$", whole(s.r)))
    if theorem and theorem.voice.placed:
        rows.append((theorem.voice.placed, notation(s.capacity)))
    rows += [
        ("parameters $H(2d\\,d_h + d\\,d_v + d_v m)$", notation(s.parameters)),
    ]
    if s.regrouped:
        rows.append(
            ("order of the examples", "the given order did not work; another one was found")
        )
    busy = sum(1 for group in proof.groups if group)
    if proof.heads and s.heads is not None and busy < s.heads:
        others = "are idle (zero weights)" if _idle(proof, busy) else "add none"
        rows.append(("heads that place examples", f"{busy:,}; the others {others}"))
    if proof.heads:
        z_bits = [h.z_bits for h in proof.heads if h.z_bits is not None]
        rows.append(("largest logit range", _bits(max(z_bits, default=None))))
    if proof.layer:
        rows += list(zip(("largest number in $W_K$, $W_Q / \\ln 2$",
                          "largest number in $W_V$, $W_O$"), _weight_bits(proof.layer),
                         strict=True))  # fmt: skip
    more = s.remarks
    return rows + [(words(k), notation(more[k])) for k in sorted(more)]


def _labels(data: Dataset) -> str:
    each = f"$m = {data.m}$ {'number' if data.m == 1 else 'numbers'} each"
    return each if data.labelled else "none are given"


HEAD_COLUMNS = (
    "head", "group", "$c$", "rate $\\rho$", "$B$", "worst $1-p_{\\max}$, earlier examples",
    "$(n-1)2^{-B}$", "logit range", "condition of $Z$", "standing",
)  # fmt: skip


def without_empty(
    columns: tuple[str, ...], table: Sequence[tuple[str, ...]]
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The table without columns that are empty in every row."""
    filled = [j for j in range(len(columns)) if any(row[j] != NONE for row in table)]
    return tuple(columns[j] for j in filled), [tuple(row[j] for j in filled) for row in table]


def heads(proof: Proof) -> list[tuple[str, ...]]:
    """One row per head under HEAD_COLUMNS; where there are many, the ends and the extremes."""
    standing = {h: weakest(proof.trace, cs).value for h, cs in by_head(proof.trace) if h}
    chosen = shown_heads(proof.heads)
    rows: list[tuple[str, ...]] = []
    worsts = worst_earlier(proof.heads)
    for k, (head, worst) in enumerate(zip(proof.heads, worsts, strict=True), start=1):
        if k in chosen:
            rows.append((
                str(k), indices(head.group, 4), _whole(head.c),
                _whole(head.rate), _count(head.bits),
                *_off_peak(worst, head.bits, proof.data.longest),
                _count(head.z_bits), NONE if head.condition is None else real(head.condition),
                standing.get(k, NONE),
            ))  # fmt: skip
    return rows


def shown_heads(summaries: Iterable[HeadSummary]) -> set[int]:
    """Numbers (from 1) of the heads that the table shows."""
    all_heads = list(summaries)
    H = len(all_heads)
    if H <= MOST_HEADS:
        return set(range(1, H + 1))
    keep = {*range(1, FIRST_HEADS + 1), *range(H - LAST_HEADS + 1, H + 1)}
    largest = max(range(H), key=lambda k: all_heads[k].z_bits or 0)
    steepest = max(range(H), key=lambda k: all_heads[k].condition or 0.0)
    return keep | {largest + 1, steepest + 1}


@dataclass(frozen=True)
class Gap:
    """One line of the table of what was not proved."""

    name: str
    statement: str
    level: str
    why: str


def gaps(proof: Answer) -> list[Gap]:
    """Everything that is not proved; steps of many heads that lack the same are one line."""
    claims = not_proved(proof)
    of_heads = [c for c in claims if head_and_step(c.id)]
    together = len(of_heads) > MOST_HEAD_CLAIMS
    lines: dict[tuple[Any, ...], list[Claim]] = {}
    for c in claims:
        head = head_and_step(c.id)
        same = (head[1], c.level, proof.trace.standing(c.id)) if head and together else (c.id,)
        lines.setdefault(same, []).append(c)
    return [_gap(proof, cs) for cs in lines.values()]


def to_decide(proof: Answer) -> list[tuple[str, str, str]]:
    """Of each hypothesis that was sampled where all subsets are within reach: its name, the command
    that decides it and the nominal seconds that this takes."""
    return [
        (
            title(name),
            str(claim.numbers["to decide it"]),
            notation(claim.numbers["nominal seconds"]),
        )
        for claim in proof.trace
        if (name := hypothesis_name(claim.id)) and "to decide it" in claim.numbers
    ]


def level_words(proof: Answer, claim: Claim) -> str:
    """The level, and the standing where what the claim rests on pulls it down."""
    standing = proof.trace.standing(claim.id)
    if standing is claim.level:
        return claim.level.value
    return f"{claim.level.value} on its own; {standing.value} with what it rests on"


def held_down(proof: Answer, claim: Claim) -> str:
    """Why the standing is below the level: a clause, or nothing."""
    names = causes(proof.trace, claim)
    if not names:
        return ""
    standing = proof.trace.standing(claim.id)
    if standing.holds:
        verb = f"{'is' if len(names) == 1 else 'are'} {standing.value}"
    else:
        verb = "does not hold" if len(names) == 1 else "do not hold"
    return f"it rests on {names_of(names)}, which {verb}"


def names_of(claim_ids: Iterable[ClaimId], limit: int = 4) -> str:
    parts = [name for name, _ in bundle(claim_ids)]
    more = len(parts) - limit
    return "; ".join(parts[:limit]) + (f"; and {counted(more, 'other')}" if more > 0 else "")


def _gap(proof: Answer, claims: list[Claim]) -> Gap:
    first = claims[0]
    why = held_down(proof, first)
    if not first.level < Level.PROVED:
        why = f"its own check passed, but {why}"
    else:
        own = WORDING[first.level].gap
        if first.level is Level.ARGUED and first.source:
            own += f" ({first.source})"
        elif first.arithmetic:
            own += f" ({first.arithmetic})"
        why = f"{own}; {why}" if why else own
    return Gap(
        name="; ".join(name for name, _ in bundle(c.id for c in claims)),
        statement=first.statement if len(claims) == 1 else f"for the first: {first.statement}",
        level=level_words(proof, first),
        why=why,
    )


def _construction(proof: Proof) -> str:
    option = f" (--construction {notation(proof.question.construction)})"
    return f"{proof.construction.title or proof.construction.name}{option}"


def _idle(proof: Proof, busy: int) -> bool:
    """Whether all weights of the heads after the first `busy` are zero."""
    others = proof.layer.heads[busy:] if proof.layer else ()
    return not any(x != 0 for head in others for m in (head.key, head.query) for x in m.entries())


def _demand(claim: Claim) -> str:
    return notation(claim.numbers["asked"]) if "asked" in claim.numbers else "as stated"


def _finding(claim: Claim) -> str:
    if "found" in claim.numbers:
        return notation(claim.numbers["found"])
    rest = {k: v for k, v in claim.numbers.items() if k != "asked"}
    return notation(rest) if rest else NONE


def _where_used(proof: Answer, claim: Claim, built: bool) -> str:
    """Steps that name it in `uses`, by strength, then what else rests on it directly."""
    short = hypothesis_name(claim.id) or ""
    by_strength: dict[str, list[ClaimId]] = {}
    for other in proof.trace:
        strength = other.uses.get(short) or other.uses.get(claim.id)
        if strength:
            by_strength.setdefault(strength, []).append(other.id)
    named = {i for ids in by_strength.values() for i in ids}
    parts = [f"{names_of(_heads_together(ids))} ({how})" for how, ids in by_strength.items()]
    others = [i for i in proof.trace.graph.successors(claim.id) if i not in named]
    if others:
        parts.append(names_of(others))
    text = "; ".join(parts[:6]) + (f"; and {counted(len(parts) - 6, 'other')}" if parts[6:] else "")
    if not built and not text:
        return NONE  # nothing was built that could use it
    return text or "nowhere"


def _heads_together(claim_ids: list[ClaimId]) -> list[ClaimId]:
    return sorted(claim_ids, key=lambda i: head_and_step(i) or (0, ""))


def _off_peak(worst: float | None, bits: int | None, n: int) -> tuple[str, str]:
    """1 - p_max over earlier examples and its bound (n-1)·2^-B, from their logarithms."""
    if worst is None or bits is None:
        return NONE, NONE
    if n == 1:
        return "0", "0"
    tiny = f"below $2^{{-10^{{{len(str(BEYOND)) - 1}}}}}$"
    return (
        tiny if worst < -BEYOND else power_of_two(worst),
        tiny if bits > BEYOND else _bound(math.log2(n - 1) - max(bits, 0)),
    )


def _bound(logarithm: float) -> str:
    """2 to this power; a bound of 1 or more says nothing about a share."""
    return power_of_two(logarithm) if logarithm < 0 else "none"


def _whole(x: int | None) -> str:
    return NONE if x is None else whole(x)


def _count(x: int | None) -> str:
    return NONE if x is None else size(x)


def _bits(bits: int | None) -> str:
    return NONE if bits is None else f"{size(bits)} {'bit' if bits == 1 else 'bits'}"


def _weight_bits(layer: Layer) -> tuple[str, str]:
    inner = [m for h in layer.heads for m in (h.key, h.query)]
    outer = [m for h in layer.heads for m in (h.value, layer.output) if m is not None]
    return _bits(longest(inner)), _bits(longest(outer) or None)
