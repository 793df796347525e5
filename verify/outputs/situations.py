"""Whether the correct next symbol has the largest output in all situations of a domain.

A *lead* is the output of the correct symbol minus the largest other output. An open position of a
situation is enclosed in a box, the hull of its symbols, and the lead is bounded from below: in
float64 for many situations at once (batches.py), then in Arb for those that float64 does not
decide. If a situation is still undecided, but the input that it names has a lead above 0, the
symbols of an open position are repeatedly split into halves, which together cover the situation.

The situations are divided into shards (verify/sharding). The record of a shard does not depend on
the machine that computes it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq_mat

from attncert.constructions.arrays import FloatArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.data.sequences import Sequences
from attncert.constructions.data.transducer import Situation, Transducer, Word
from attncert.constructions.errors import InputError
from attncert.constructions.network.arithmetic import BALLS, Inexact
from attncert.constructions.network.blocks import Attention, Block, FeedForward
from attncert.constructions.network.composed import Group
from attncert.constructions.network.file import as_json, of_json
from attncert.constructions.network.network import Network, readout
from attncert.constructions.network.states import States, beside
from attncert.verify.outputs.batches import Balls, leads, less_others, outputs
from attncert.verify.outputs.within import balls, exact_outputs
from attncert.verify.sharding.shards import Plan, Record, Shard

MOST_OPEN = 100  # after this number of undecided situations, no more are tried
_BATCH = 4096  # situations in a shard
_HALVED, _ROUNDS = 3, 4  # at how many places the symbols are halved, and how often
_MOST_BOXES = 1024  # maximum number of boxes for one situation
_BITS = (128, 1024)

Box = list[tuple[int, ...]]  # for each place, the symbols that may occur there


@dataclass(frozen=True)
class Cases:
    """A network and the situations of a domain, with `width` letters fixed (None for all letters).

    embedding, positions: from the token sequences. Arithmetic: balls. Source: ours, above.
    """

    domain: Transducer
    width: int | None
    network: Network
    embedding: ExactArray
    positions: ExactArray | None

    @classmethod
    def of(cls, domain: Transducer, width: int | None, network: Network, data: Dataset) -> Cases:
        """Raises InputError if the data are not sequences of the domain's symbols, or do not have
        one label for each symbol."""
        origin, most = data.origin, max(map(max, domain.symbols))
        if not isinstance(origin, Sequences):
            raise InputError("data", "token sequences, with the embedding of symbols", "others")
        V, places = len(origin.embedding), len(domain.symbols)
        if not most < V == data.m:
            must = f"of {most + 1} symbols or more, with an output for each"
            raise InputError("embedding", must, f"of {V} symbols and {data.m} outputs")
        if origin.positions is not None and len(origin.positions) < places:
            must = f"given for the {places} places of a prompt with its answer"
            raise InputError("positions", must, len(origin.positions))
        return cls(domain, width, network, origin.embedding, origin.positions)

    def __reduce__(self) -> Any:
        """Support for worker processes, since FLINT matrices cannot be pickled."""
        parts = self.domain, self.width, as_json(self.network), self.embedding, self.positions
        return _unpickled, parts

    def keys(self, *, halved: bool) -> dict[str, Any]:
        """The keys that describe the domain in a certificate. Only states that can be reached are
        included. halved: whether the symbols of open positions are halved."""
        domain = self.domain
        states = dict.fromkeys(state for reached in domain.reached for state in reached)
        number = {state: k for k, state in enumerate(states)}
        steps = dict.fromkeys(
            (state, letter)
            for reached, letters in zip(domain.reached, domain.letters, strict=False)
            for state in reached
            for letter in letters
        )
        rows = ((*pair, *domain.step[pair]) for pair in steps)
        return {
            "letters": [[list(letter) for letter in letters] for letters in domain.letters],
            "places": [list(places) for places in domain.places],
            "start": number[domain.start],
            "step": [[number[a], list(x), number[b], symbol] for a, x, b, symbol in rows],
            "width": self.width,
            "halves": self._places if halved else [[] for _ in domain.letters],
        }

    # In shards.

    @property
    def shards(self) -> list[Shard]:
        """All situations, in the order of the answer's symbols."""
        counts = (self.domain.count(i, self.width) for i in range(len(self.domain.letters)))
        plans = (Plan(str(i), 0, count, _BATCH) for i, count in enumerate(counts))
        return [shard for plan in plans for shard in plan.shards()]

    def situations(self, shard: Shard) -> list[Situation]:
        return list(self.domain.situations(int(shard.kind), self.width, shard.start, shard.stop))

    def fits(self, shard: Shard, record: Any) -> bool:
        """Whether a record has the form that `judged` returns."""
        if not isinstance(record, dict) or record.keys() != {"least", "halved", "wrong", "open"}:
            return False
        least, halved, wrong, open_ = record.values()
        numbers = [*([] if wrong is None else [wrong]), *(open_ if type(open_) is list else [-1])]
        if type(least) is list and len(least) == 2:
            numbers.append(least[0])
        elif least is not None:
            return False
        bounded = wrong is not None or bool(open_)
        if least is not None:
            bounded = type(least[1]) is float and 0 < least[1] < math.inf
        inside = all(type(t) is int and 0 <= t < shard.count for t in numbers)
        return bounded and inside and type(halved) is bool

    # Bounds on leads.

    def lows(self, situations: Sequence[Situation]) -> FloatArray:
        """Lower bounds on the leads, valid for all symbols at the open positions."""
        place, symbols = situations[0].place, len(self._tables[0][0]) - 1
        chosen = np.full((len(situations), self.domain.prompt + place), symbols)
        for row, situation in zip(chosen, situations, strict=True):
            row[list(situation.known)] = list(situation.known.values())
        right = np.array([situation.right for situation in situations])
        columns = [Balls(*(x[rows] for x in self._tables[i])) for i, rows in enumerate(chosen.T)]
        parts = (np.stack(part, axis=1) for part in zip(*columns, strict=True))
        blocks, last = self._readout
        return leads(outputs(blocks, Balls(*parts)), last, right)

    def low(self, situation: Situation) -> arb:
        """A lower bound on the lead in one situation, computed by Arb."""
        return self._low(self._box(situation), situation.right)

    def halved(self, situation: Situation) -> arb:
        """The same bound, with symbols split into halves where the leads depend on them most."""
        places, found = self._places[situation.place], list[arb]()
        boxes = [(self._box(situation), places)]
        for _ in range(_MOST_BOXES):
            box, left = boxes.pop()
            low = self._low(box, situation.right)
            if low > 0:
                found.append(low)
            elif left:
                first, middle = left[0], len(box[left[0]]) // 2
                halves = filter(None, (box[first][:middle], box[first][middle:]))
                boxes += [([*box[:first], x, *box[first + 1 :]], left[1:]) for x in halves]
            else:
                return low
            if not boxes:
                return least_of(found)
        return arb("-inf")

    def _box(self, situation: Situation) -> Box:
        fixed, n = situation.known, self.domain.prompt + situation.place
        return [(fixed[i],) if i in fixed else self.domain.symbols[i] for i in range(n)]

    def _low(self, box: Box, right: int) -> arb:
        blocks, last = self._readout
        with ctx.workprec(_BITS[0]):
            try:
                states = self._states(box)
                for block in (*blocks, less_others(last, right)):
                    states = block.after(states)
            except Inexact:
                return arb("-inf")
            return least_of(states.queries.entries())

    def _states(self, box: Box) -> States:
        rows, hulls = list[Any](), self._hulls
        for i, symbols in enumerate(box):
            if (i, symbols) not in hulls:
                hulls[i, symbols] = _hull(self._vectors[i], symbols)
            rows.append(hulls[i, symbols])
        return States((arb_mat(rows),), arb_mat([rows[-1]]), BALLS)

    @cached_property
    def _hulls(self) -> dict[tuple[int, tuple[int, ...]], list[arb]]:
        return {}

    def lead(self, situation: Situation) -> tuple[arb, Word]:
        """The smallest lead over the inputs that the situation names, and the input that has it."""
        leads = [(self._lead_of(word, situation), word) for word in situation.words]
        return min(leads, key=lambda pair: pair[0].mid())

    def _lead_of(self, word: Word, situation: Situation) -> arb:
        place = self.domain.prompt - 1 + situation.place
        rows = (self.domain.sequence(word),)
        spelled = Sequences(self.embedding, self.positions, rows, ((0, place),))
        one = spelled.dataset([[0] * len(self.embedding)], "one")
        exact = exact_outputs(self.network, one)
        for bits in _BITS:
            with ctx.workprec(bits):
                row = arb_mat(exact) if exact is not None else balls(self.network, one)
                own, *others = row.entries()[situation.right :] + row.entries()[: situation.right]
                lead = least_of([own - x for x in others])
            if lead > 0 or lead <= 0:
                break
        return lead

    # Values that all situations share.

    @cached_property
    def _parts(self) -> tuple[Sequence[Block], Sequence[Block], Sequence[Block], FeedForward]:
        """The leading blocks of the network that act on each token separately, and those that lead
        the group after them, if there is one. Then the other blocks, and a readout."""
        *blocks, last = self.network.blocks
        if not (isinstance(last, FeedForward) and last == readout(last.weights, last.bias)):
            m = len(self.embedding)
            blocks = [*blocks, last]
            last = readout(fmpq_mat([[int(i == j) for j in range(m)] for i in range(m)]))
        first, rest = _alone(blocks)
        if rest and isinstance(group := rest[0], Group):
            inner, others = _alone(group.blocks)
            if inner and others:
                sizes = [int(x.matrices[-1].ncols()) for x in first]
                width = [self.embedding.shape[1], *sizes][-1]
                begun = _Begun(tuple(others), group.of, group.residual, width)
                return first, inner, [begun, *rest[1:]], last
        return first, [], rest, last

    @property
    def _readout(self) -> tuple[Sequence[Block], FeedForward]:
        return self._parts[2:]

    @cached_property
    def _vectors(self) -> list[arb_mat]:
        """The vectors of all symbols at each place, after the blocks that act on each token
        separately: their hull is smaller than the image of a hull."""
        symbols, places = self.embedding.matrix().tolist(), len(self.domain.symbols) - 1
        shifts = self.positions.matrix().tolist()[:places] if self.positions else None
        first, inner, *_ = self._parts
        with ctx.workprec(_BITS[0]):
            made = []
            for row in symbols:
                X = arb_mat([row] * places)
                X = X + arb_mat(shifts) if shifts else X
                before = _tokens(first, X)
                made.append(beside([before, _tokens(inner, before)], BALLS) if inner else before)
            return [arb_mat([X.tolist()[i] for X in made]) for i in range(places)]

    @cached_property
    def _places(self) -> list[list[int]]:
        """For each symbol of the answer, the places whose symbols are halved: those where allowing
        only the first symbol raises the bound for one situation most, in decreasing order."""
        found = []
        for place in range(len(self.domain.letters)):
            situation = next(self.domain.situations(place, self.width))
            box = self._box(situation)
            bounds = {
                i: self._low([*box[:i], symbols[:1], *box[i + 1 :]], situation.right)
                for i, symbols in enumerate(box)
                if len(symbols) > 1
            }
            ranked = sorted(bounds, key=lambda i: -float(bounds[i].lower()))
            found.append(ranked[:_HALVED] * _ROUNDS)
        return found

    @cached_property
    def _tables(self) -> list[Balls]:
        """The vectors of all symbols at each place, then the hull of the symbols that may
        occur there."""
        with ctx.workprec(_BITS[0]):
            pairs = zip(self._vectors, self.domain.symbols, strict=False)
            return [Balls.of([*x.tolist(), _hull(x, symbols)]) for x, symbols in pairs]


def judged(shard: Shard, cases: Cases) -> Record:
    """Judge the situations of a shard, numbered from its start. least: the number of the situation
    with the least lead above 0 and a lower bound on this lead, or None. halved: whether symbols
    were halved. wrong: the number of a situation with an input whose lead is at most 0, or None.
    open: the numbers of up to MOST_OPEN undecided situations; no symbols are halved after the first
    of these."""
    some, open_, halved = cases.situations(shard), list[int](), False
    lows = cases.lows(some)
    for t in np.flatnonzero(~(lows > 0)).tolist():
        low = arb(0) if cases.width is None else cases.low(some[t])
        if not low > 0:
            lead, _ = cases.lead(some[t])
            if lead <= 0:
                return {"least": None, "halved": halved, "wrong": t, "open": []}
            low = lead
            if cases.width is not None:
                halved, low = True, arb("-inf") if open_ else cases.halved(some[t])
        lows[t] = np.nextafter(float(low.lower()), -np.inf) if low > 0 else np.inf
        open_ += [] if low > 0 else [t]
        if len(open_) == MOST_OPEN:
            return {"least": None, "halved": halved, "wrong": None, "open": open_}
    t = int(lows.argmin())
    least = None if np.isinf(lows[t]) else [t, float(lows[t])]
    return {"least": least, "halved": halved, "wrong": None, "open": open_}


def least_of(numbers: Sequence[arb]) -> arb:
    """A ball that contains the smallest of the numbers."""
    if not all(x.is_finite() for x in numbers):
        return arb(0, "inf")
    return min(x.lower() for x in numbers).union(min(x.upper() for x in numbers))


def _hull(vectors: arb_mat, symbols: tuple[int, ...]) -> list[arb]:
    """Balls that contain the rows of these symbols."""
    rows = [[vectors[i, j] for j in range(vectors.ncols())] for i in symbols]
    return [reduce(arb.union, column) for column in zip(*rows, strict=True)]


def _alone(blocks: Sequence[Block]) -> tuple[Sequence[Block], Sequence[Block]]:
    """The leading blocks that act on each token separately, and the other blocks."""
    count = 0
    while count < len(blocks) and _is_alone(blocks[count]):
        count += 1
    return blocks[:count], blocks[count:]


def _is_alone(block: Block) -> bool:
    alone = block.of == "all" and all(x.of == "all" for x in block.leaves)
    nextly = any(getattr(x, "query_place", "last") == "next" for x in block.leaves)
    return alone and not nextly and not any(isinstance(x, Attention) for x in block.leaves)


def _tokens(blocks: Sequence[Block], X: arb_mat) -> arb_mat:
    """The tokens after the blocks."""
    states = States((X,), X, BALLS)
    for block in blocks:
        states = block.after(states)
    return states.contexts[0]


@dataclass(frozen=True)
class _Begun(Group):
    """The rest of a group after its leading blocks. Each row that it reads is a vector before these
    blocks, of this width, followed by the vector after them."""

    width: int = 0

    def after(self, states: States) -> States:
        on = states.arithmetic

        def part(some: slice) -> States:
            *contexts, queries = (
                on.matrix([row[some] for row in X.tolist()])
                for X in (*states.contexts, states.queries)
            )
            return States(tuple(contexts), queries, on)

        inner = part(slice(self.width, None))
        for block in self.blocks:
            inner = block.after(inner)
        return self.joined(inner, part(slice(self.width)))


def _unpickled(
    domain: Transducer, width: int | None, blocks: Any, embedding: ExactArray, positions: Any
) -> Cases:
    return Cases(domain, width, of_json(blocks), embedding, positions)
