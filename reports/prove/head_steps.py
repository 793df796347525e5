"""The steps of all heads in one table: each step stated once, heads that stand alike in one row.

What a step claims is the same for every head that has it; what differs are a few numbers and,
seldom, a standing. So a step's sentence, evidence and premises are written once; a table says how
every head stands; another, folded away, has the numbers. A step that is not proved by itself, or
has a witness, is left to be written out in full as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attncert.reports.prove.rows import NONE
from attncert.reports.prove.view import bundle, by_head
from attncert.reports.words.claims import evidence
from attncert.reports.words.numbers import indices, notation, words
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.ids import ClaimId, head_and_step
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.claims.words import counted

MOST_WRITTEN = 24  # steps of heads that are written out
FIRST_HEADS, LAST_HEADS = 20, 4  # rows of the table of numbers, where there are more


@dataclass(frozen=True)
class HeadStep:
    """One step, stated for all heads. heads: those that have it, in words; premises: (words,
    anchor).

    uses: (hypothesis, strength and heads).
    """

    anchor: str
    name: str
    heads: str
    statement: str
    evidence: str
    uses: tuple[tuple[str, str], ...]
    premises: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class HeadSteps:
    """numbers: of the claims about heads, among all. columns, rows: steps and standings, (heads,
    cell, ...). alike: numbers that all heads share. number_columns, number_rows: the others, (head,
    cell, ...). written: claims to write out."""

    numbers: str
    steps: tuple[HeadStep, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    alike: tuple[tuple[str, str], ...]
    number_columns: tuple[str, ...]
    number_rows: tuple[tuple[str, ...], ...]
    all_numbers: bool
    written: tuple[Claim, ...]


def head_steps(proof: Answer) -> HeadSteps | None:
    """None where no claim is about a head."""
    heads = {h: claims for h, claims in by_head(proof.trace) if h is not None}
    if not heads:
        return None
    of = {h: {_step(claim): claim for claim in claims} for h, claims in heads.items()}
    names = _in_order([list(steps) for steps in of.values()])
    anchors = _step_anchors(names)
    places = {i: f"step-{k}" for k, i in enumerate(proof.trace.order, start=1)}
    alike, columns, rows, complete = _numbers(of, names)
    weak = [c for claims in heads.values() for c in claims
            if c.level is not Level.PROVED or c.witness]  # fmt: skip
    order = enumerate(proof.trace.order, start=1)
    return HeadSteps(
        numbers=indices(k for k, claim_id in order if head_and_step(claim_id)),
        steps=tuple(_step_of_heads(name, of, anchors, places) for name in names),
        columns=tuple(words(name) for name in names),
        rows=_standings(proof, of, names),
        alike=alike,
        number_columns=columns,
        number_rows=rows,
        all_numbers=complete,
        written=tuple(weak[:MOST_WRITTEN]),
    )


def anchors(trace: ProofTrace) -> dict[ClaimId, str]:
    """Where on the page each claim is told: "step-3"; of heads, where their step is: "heads-2"."""
    heads = [[_step(c) for c in claims] for head, claims in by_head(trace) if head is not None]
    of = _step_anchors(_in_order(heads)) if heads else {}
    return {
        claim_id: of[head[1]] if (head := head_and_step(claim_id)) else f"step-{k}"
        for k, claim_id in enumerate(trace.order, start=1)
    }


def _step_anchors(names: Sequence[str]) -> dict[str, str]:
    return {name: f"heads-{k}" for k, name in enumerate(names, start=1)}


def _step(claim: Claim) -> str:
    return (head_and_step(claim.id) or (0, claim.id))[1]


def _in_order(lists: Sequence[list[str]]) -> list[str]:
    """All steps: the longest list's order, each other step before the one that it precedes."""
    out = list(lists[max(range(len(lists)), key=lambda k: len(lists[k]))])
    for names in lists:
        for k, name in enumerate(names):
            if name not in out:
                after = next((n for n in names[k + 1 :] if n in out), None)
                out.insert(len(out) if after is None else out.index(after), name)
    return out


def _step_of_heads(
    name: str, of: dict[int, dict[str, Claim]], anchors: dict[str, str], places: dict[ClaimId, str]
) -> HeadStep:
    having = {h: steps[name] for h, steps in of.items() if name in steps}
    first = next(iter(having.values()))
    differs = len({claim.statement for claim in having.values()}) > 1
    uses: dict[tuple[str, str], list[int]] = {}
    for h, claim in having.items():
        for hypothesis, strength in claim.uses.items():
            uses.setdefault((hypothesis, strength), []).append(h)
    hows: dict[str, list[int]] = {}
    for h, claim in having.items():
        hows.setdefault(evidence(claim), []).append(h)
    return HeadStep(
        anchor=anchors[name],
        name=name,
        heads="" if len(having) == len(of) else f"{_heads(list(having))} only",
        statement=f"for the first of them: {first.statement}" if differs else first.statement,
        evidence="; ".join(
            how if len(hows) == 1 else f"{how} ({_heads(hs)})" for how, hs in hows.items()
        ),
        uses=tuple(
            (hypothesis, strength if len(hs) == len(having) else f"{strength} ({_heads(hs)})")
            for (hypothesis, strength), hs in uses.items()
        ),
        premises=_premises(having, anchors, places),
    )


def _premises(
    having: dict[int, Claim], anchors: dict[str, str], places: dict[ClaimId, str]
) -> tuple[tuple[str, str], ...]:
    """Steps of the same head by name, with their anchors; then everything else."""
    same: dict[str, None] = {}
    others: dict[str, str] = {}
    for h, claim in having.items():
        for premise in claim.rests_on:
            head = head_and_step(premise)
            if head and head[0] == h:
                same[head[1]] = None
            elif head:
                others[f"{words(head[1])} of another head"] = anchors.get(head[1], "")
            else:
                others[bundle([premise])[0][0]] = places[premise]
    own = [(f"{words(name)} of the same head", anchors.get(name, "")) for name in same]
    return (*own, *others.items())


def _standings(
    proof: Answer, of: dict[int, dict[str, Claim]], names: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    """One row for all heads whose steps stand alike."""
    alike: dict[tuple[str, ...], list[int]] = {}
    for h, steps in of.items():
        cells = (
            proof.trace.standing(steps[name].id).value if name in steps else NONE for name in names
        )
        alike.setdefault(tuple(cells), []).append(h)
    return tuple((indices(hs, 1000), *cells) for cells, hs in alike.items())


def _numbers(
    of: dict[int, dict[str, Claim]], names: Sequence[str]
) -> tuple[
    tuple[tuple[str, str], ...], tuple[str, ...], tuple[tuple[str, ...], ...], bool
]:  # fmt: skip
    keys = {
        (name, key): None
        for name in names
        for steps in of.values()
        if name in steps
        for key in steps[name].numbers
    }
    numbers = {
        (name, key): [
            notation(steps[name].numbers[key])
            if name in steps and key in steps[name].numbers
            else NONE
            for steps in of.values()
        ]
        for name, key in keys
    }
    alike = {
        k: cells for k, cells in numbers.items() if len(of) > 1 and len({*cells} - {NONE}) <= 1
    }
    varying = {k: cells for k, cells in numbers.items() if k not in alike}
    complete = len(of) <= FIRST_HEADS + LAST_HEADS
    chosen = [k for k in range(len(of)) if complete or k < FIRST_HEADS or k >= len(of) - LAST_HEADS]
    heads = list(of)
    return (
        tuple((_called(k), next(c for c in cells if c != NONE)) for k, cells in alike.items()),
        tuple(map(_called, varying)),
        tuple((str(heads[k]), *(cells[k] for cells in varying.values())) for k in chosen)
        if varying
        else (),
        complete,
    )


def _called(key: tuple[str, str]) -> str:
    return f"{words(key[0])}: {words(key[1])}"


def _heads(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"head {numbers[0]}"
    return f"heads {indices(numbers, 4)}" if len(numbers) < 1000 else counted(len(numbers), "head")
