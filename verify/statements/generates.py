"""The claim that a network generates the right answer to every prompt of a domain.

The outputs are a number for each symbol. The network runs on its own outputs: the symbol with the
largest output is the next input, and so on.

Proof by cases. Suppose that in each situation of the domain (constructions/data/transducer.py), and
for all symbols that its open places may hold, the output of the right symbol is the largest. Then
every answer is right, by induction over its symbols: if those before symbol i are right, the
sequence is a prompt with the beginning of its answer; it is in a situation, so that the next symbol
is right, too. An open place holds the hull of its symbols, a box, and outputs are enclosed in
balls. ∎
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import islice
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq_mat

from attncert.constructions.arrays import FloatArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.sequences import Sequences
from attncert.constructions.data.transducer import Situation, Transducer, Word
from attncert.constructions.errors import InputError, whole
from attncert.constructions.network.arithmetic import BALLS, Inexact
from attncert.constructions.network.blocks import Block, FeedForward
from attncert.constructions.network.network import Network, readout
from attncert.constructions.network.states import States
from attncert.constructions.progress import Progress
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.outputs.batches import Balls, leads, less_others, outputs
from attncert.verify.outputs.error import outward
from attncert.verify.outputs.within import balls, exact_outputs
from attncert.verify.statements.goals import Concluded
from attncert.verify.statements.states import Views

_BATCH = 4096  # situations at a time
_MOST_OPEN = 100  # undecided situations after which no more are tried
_BITS = (128, 1024)
_SOURCE = "ours: induction over the answer (verify/statements/generates.py)"


@dataclass(frozen=True)
class Generates:
    """After every prompt of the domain the network, run on its own outputs, generates the right
    answer.

    domain: a `Transducer`; its symbols are rows of the embedding of the data, which are token
    sequences. width: of the situations, in letters; None: every input is tried. rests_on: steps of
    the construction that say why these answers are right. No certificate holds this claim, so it is
    not the first of a construction. Arithmetic: balls. Raises InputError for other widths, and if
    the data are not sequences, or the network does not have one output for each symbol. Source: at
    the head of verify/statements/generates.py.

    >>> from attncert import additions
    >>> Generates(additions(10), width=2).domain.inputs == 10**20
    True
    """

    domain: Transducer
    width: int | None = None
    rests_on: Sequence[str] = ()

    certified = False

    def __post_init__(self) -> None:
        if self.width is not None and not (whole(self.width) and self.width > 0):
            raise InputError("width", "a whole number above 0, or None", self.width)

    def concluded(self, views: Views) -> Concluded:
        """The claims; undecided if balls leave a situation open."""
        start = time.perf_counter()
        cases = _Cases(self.domain, self.width, views.network, views.data)
        local = cases.claim(partial(views.progress, "situations"))
        local = local.timed(time.perf_counter() - start)
        statement = (
            f"After each of all {self.domain.inputs:,} prompts the network, run on its own "
            "outputs, generates the right answer; the certificate does not hold this claim."
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
        return Concluded([local, every])


@dataclass(frozen=True)
class _Cases:
    """A network on the situations of a domain. A *lead* is the output of the right symbol minus
    the largest other one."""

    domain: Transducer
    width: int | None
    network: Network
    data: Dataset

    def __post_init__(self) -> None:
        origin, most = self.data.origin, max(map(max, self.domain.symbols))
        if not isinstance(origin, Sequences):
            raise InputError("data", "token sequences, with the embedding of symbols", "others")
        V, places = len(origin.embedding), len(self.domain.symbols)
        if not most < V == self.data.m:
            must = f"of {most + 1} symbols or more, with an output for each"
            raise InputError("embedding", must, f"of {V} symbols and {self.data.m} outputs")
        if origin.positions is not None and len(origin.positions) < places:
            must = f"given for the {places} places of a prompt with its answer"
            raise InputError("positions", must, len(origin.positions))

    def claim(self, progress: Progress) -> Claim:
        """The claim that all leads are above 0."""
        count, open_ = 0, list[Situation]()
        least, where = np.inf, Situation(0, {}, 0, ())
        for place in range(len(self.domain.letters)):
            progress(place, len(self.domain.letters))
            situations = self.domain.situations(place, self.width)
            while some := list(islice(situations, _BATCH)):
                count += len(some)
                lows = self.lows(some)
                for t in np.flatnonzero(~(lows > 0)).tolist():
                    lead, _ = self.lead(some[t])
                    if lead <= 0:
                        return self._said(Level.REFUTED, count, self._shown(some[t]))
                    low = lead if self.width is None else self.low(some[t])
                    lows[t] = np.nextafter(float(low.lower()), -np.inf)
                    open_ += [] if low > 0 else [some[t]]
                    if len(open_) == _MOST_OPEN:
                        return self._open(count, open_)
                if lows.min() < least:
                    least, where = lows.min(), some[int(lows.argmin())]
        if open_:
            return self._open(count, open_)
        shown = self._shown(where)
        shown["lead"][0] = outward(arb(least), arb(least))[0]
        return self._said(Level.ENCLOSED, count, numbers={"least": shown})

    def lows(self, situations: Sequence[Situation]) -> FloatArray:
        """Lower bounds of the leads, for all tokens that may be there."""
        place, symbols = situations[0].place, len(self._tables[0][0]) - 1
        chosen = np.full((len(situations), self.domain.prompt + place), symbols)
        for row, situation in zip(chosen, situations, strict=True):
            row[list(situation.known)] = list(situation.known.values())
        right = np.array([situation.right for situation in situations])
        columns = [Balls(*(x[rows] for x in self._tables[i])) for i, rows in enumerate(chosen.T)]
        parts = (np.stack(part, axis=1) for part in zip(*columns, strict=True))
        blocks, last = self._readout
        found = outputs(blocks, Balls(*parts))
        return np.full(len(right), -np.inf) if found is None else leads(found, last, right)

    def low(self, situation: Situation) -> arb:
        """A lower bound of one lead, by Arb, with all blocks."""
        with ctx.workprec(_BITS[0]):
            n = self.domain.prompt + situation.place
            rows = [self._vectors[i][situation.known.get(i, -1)] for i in range(n)]
            states = States((arb_mat(rows),), arb_mat([rows[-1]]), BALLS)
            blocks, last = self._readout
            try:
                for block in (*blocks, less_others(last, situation.right)):
                    states = block.after(states)
            except Inexact:
                return arb("-inf")
            return _least(states.queries.entries())

    def lead(self, situation: Situation) -> tuple[arb, Word]:
        """The smallest lead for the inputs that the situation names, and the input."""
        leads = [(self._lead_of(word, situation), word) for word in situation.words]
        return min(leads, key=lambda pair: pair[0].mid())

    def _lead_of(self, word: Word, situation: Situation) -> arb:
        origin: Any = self.data.origin
        place = self.domain.prompt - 1 + situation.place
        rows = (self.domain.sequence(word),)
        spelled = Sequences(origin.embedding, origin.positions, rows, ((0, place),))
        one = spelled.dataset([[0] * self.data.m], "one")
        exact = exact_outputs(self.network, one)
        for bits in _BITS:
            with ctx.workprec(bits):
                row = arb_mat(exact) if exact is not None else balls(self.network, one)
                own, *others = row.entries()[situation.right :] + row.entries()[: situation.right]
                lead = _least([own - x for x in others])
            if lead > 0 or lead <= 0:
                break
        return lead

    @cached_property
    def _readout(self) -> tuple[Sequence[Block], FeedForward]:
        """The network as blocks and a readout after them."""
        *blocks, last = self.network.blocks
        if isinstance(last, FeedForward) and last == readout(last.weights, last.bias):
            return blocks, last
        m = self.data.m
        one = fmpq_mat([[int(i == j) for j in range(m)] for i in range(m)])
        return self.network.blocks, readout(one)

    @cached_property
    def _vectors(self) -> list[list[list[arb]]]:
        """The vectors of all symbols at each place, and last the hull of those that may be
        there."""
        origin: Any = self.data.origin
        symbols = origin.embedding.matrix().tolist()
        shifts = [[0] * len(symbols[0])] * len(self.domain.symbols)
        if origin.positions is not None:
            shifts = origin.positions.matrix().tolist()
        tables = []
        with ctx.workprec(_BITS[0]):
            for possible, shift in zip(self.domain.symbols, shifts, strict=False):
                rows = [[arb(x + y) for x, y in zip(row, shift, strict=True)] for row in symbols]
                columns = zip(*(rows[symbol] for symbol in possible), strict=True)
                tables.append([*rows, [reduce(arb.union, column) for column in columns]])
        return tables

    @cached_property
    def _tables(self) -> list[Balls]:
        return [Balls.of(table) for table in self._vectors]

    def _shown(self, situation: Situation) -> dict[str, Any]:
        lead, word = self.lead(situation)
        sequence = self.domain.sequence(word)
        return {
            "prompt": list(sequence[: self.domain.prompt]),
            "answer": list(sequence[self.domain.prompt :]),
            "place": situation.place,
            "lead": outward(lead.lower(), lead.upper()),
        }

    def _open(self, count: int, open_: Sequence[Situation]) -> Claim:
        reason = f"balls do not decide {len(open_)} situations; the first holds this input"
        return self._said(Level.UNDECIDED, count, {"reason": reason, **self._shown(open_[0])})

    def _said(self, level: Level, count: int, witness: Any = None, numbers: Any = None) -> Claim:
        fixed = "every symbol" if self.width is None else f"{self.width} letters"
        statement = (
            f"In each of {count:,} situations, which fix {fixed}, the output of the right next "
            "symbol is the largest."
        )
        arithmetic = "ball arithmetic: float64 with bounds of its rounding, else Arb"
        return Claim(
            ids.SITUATIONS, statement, level, numbers or {}, witness, arithmetic, source=_SOURCE
        )


def _least(numbers: Sequence[arb]) -> arb:
    """A ball that holds the least of the numbers."""
    if not all(x.is_finite() for x in numbers):
        return arb(0, "inf")
    return min(x.lower() for x in numbers).union(min(x.upper() for x in numbers))
