"""The claim that a network generates the right answer to every prompt of a domain.

The network has one output for each symbol. It runs on its own outputs: the symbol with the largest
output is appended to the input, and the network is applied again.

Proof by cases. Suppose that in each situation of the domain (constructions/data/transducer.py), and
for all symbols that its open positions may hold, the right symbol has the largest output. Then
every answer is right, by induction over its symbols: if the symbols before symbol i are right, the
sequence is a prompt followed by the beginning of its answer. Some situation contains this sequence,
so symbol i is right, too. An open position holds a box, the hull of its symbols, and outputs
are enclosed in balls. ∎
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from flint import arb

from attncert.constructions.data.transducer import Transducer
from attncert.constructions.errors import InputError, whole
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.outputs.error import outward
from attncert.verify.outputs.situations import MOST_OPEN, Cases, judged
from attncert.verify.outputs.within import Bounds, certified_margin
from attncert.verify.sharding.engine import repeated, run, untrue
from attncert.verify.sharding.shards import Record, Shard
from attncert.verify.statements.goals import Concluded
from attncert.verify.statements.states import Views

_SOURCE = "ours: induction over the answer (verify/statements/generates.py)"


@dataclass(frozen=True)
class Generates:
    """Run on its own outputs, the network generates the right answer to every prompt.

    domain: a `Transducer`; its symbols are rows of the embedding of the data, which are token
    sequences. width: the width of the situations, in letters; if it is None, every input is tried.
    rests_on: steps of the construction that say why these answers are right. This cannot be the
    first claim of a construction. If it follows `Nearest`, the certificate holds both claims.
    Arithmetic: balls. Raises InputError for any other width, if the data are not sequences, or if
    the network does not have one output for each symbol. Source: the docstring of
    verify/statements/generates.py.

    >>> from attncert import additions
    >>> Generates(additions(10), width=2).domain.inputs == 10**20
    True
    """

    domain: Transducer
    width: int | None = None
    rests_on: Sequence[str] = ()

    of_domain = True

    def __post_init__(self) -> None:
        if self.width is not None and not (whole(self.width) and self.width > 0):
            raise InputError("width", "a whole number above 0, or None", self.width)

    def concluded(self, views: Views) -> Concluded:
        """The claims; undecided if ball arithmetic does not decide a situation."""
        start = time.perf_counter()
        cases = Cases.of(self.domain, self.width, views.network, views.data)
        records, known = _records(cases, views)
        local, bounds = _decided(cases, records)
        if known and local.level is not Level.REFUTED:
            local = replace(local, rests_on=tuple(claim.id for claim in known))
        local = local.timed(time.perf_counter() - start)
        statement = (
            f"For each of the {self.domain.inputs:,} prompts of the domain the network, run on its "
            f"own outputs, generates the right answer."
        )
        premises = (local.id, *(ids.ClaimId(f"step.{name}") for name in self.rests_on))
        every = Claim(
            ids.claimed("generates"),
            statement,
            local.level,
            witness=local.witness,
            arithmetic=local.arithmetic,
            rests_on=premises if local.level.holds else (),
            source=_SOURCE,
        )
        return Concluded([*known, local, every], bounds=bounds)


def _records(cases: Cases, views: Views) -> tuple[dict[Shard, Record], list[Claim]]:
    """The records of the shards. If a cluster computed them, one is computed again here, and the
    claim that all of them are correct is returned, too."""
    undecided = list[int]()

    def enough(record: Record) -> bool:
        undecided.extend(record["open"])
        return record["wrong"] is not None or len(undecided) >= MOST_OPEN

    records = run(
        cases.shards,
        judged,
        (cases,),
        threads=1,  # FLINT has one precision for the whole process
        cluster=views.cluster,
        fits=cases.fits,
        enough=enough,
        progress=lambda _, done, of: views.progress("situations", done, of),
    )
    if views.cluster is None:
        return records, []
    again, same = repeated(records, judged, (cases,))
    if not same:
        raise untrue("one that differs from what is computed here")
    statement = (
        f"Dask workers' results are correct: those of {sum(x.count for x in records):,} situations,"
        f" of which {again.count:,} were computed again here, with the same result."
    )
    claim = Claim(ids.SITUATION_RECORDS, statement, Level.ASSUMED, source=_SOURCE)
    return records, [claim]


def _decided(cases: Cases, records: Mapping[Shard, Record]) -> tuple[Claim, Bounds]:
    """The claim that all leads are above 0, and the bounds for a certificate."""
    said = partial(_said, cases, sum(shard.count for shard in records))
    shard, last = [*records.items()][-1]
    if last["wrong"] is not None:
        if not cases.lead(cases.situations(shard)[last["wrong"]])[0] <= 0:
            raise untrue("one that contradicts what is computed here")
        return said(Level.REFUTED, _shown(cases, shard, last["wrong"])), {}
    if open_ := [(shard, t) for shard, record in records.items() for t in record["open"]]:
        reason = f"balls are too wide to decide {len(open_)} situations; this input is in the first"
        return said(Level.UNDECIDED, {"reason": reason, **_shown(cases, *open_[0])}), {}
    bounds = ((record["least"], shard) for shard, record in records.items())
    (t, least), shard = min(bounds, key=lambda pair: pair[0][1])
    shown = _shown(cases, shard, t)
    shown["lead"][0] = outward(arb(least), arb(least))[0]
    claim = said(Level.ENCLOSED, numbers={"least": shown})
    keys = cases.keys(halved=any(record["halved"] for record in records.values()))
    return claim, {"margin": Fraction(certified_margin(shown["lead"][0])), "domain": keys}


def _shown(cases: Cases, shard: Shard, number: int) -> dict[str, Any]:
    """The input with the smallest lead in the situation of this number in the shard."""
    situation = cases.situations(shard)[number]
    lead, word = cases.lead(situation)
    sequence, prompt = cases.domain.sequence(word), cases.domain.prompt
    return {
        "prompt": list(sequence[:prompt]),
        "answer": list(sequence[prompt:]),
        "place": situation.place,
        "lead": outward(lead.lower(), lead.upper()),
    }


def _said(
    cases: Cases, count: int, level: Level, witness: Any = None, numbers: Any = None
) -> Claim:
    fixed = "every symbol" if cases.width is None else f"{cases.width} letters"
    statement = (
        f"In each of {count:,} situations, which fix {fixed}, the output of the right next "
        "symbol is the largest."
    )
    arithmetic = "ball arithmetic: float64 with bounds of its rounding, else Arb"
    return Claim(
        ids.SITUATIONS, statement, level, numbers or {}, witness, arithmetic, source=_SOURCE
    )
