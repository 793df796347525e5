"""Domains of inputs with their correct answers: letter-to-letter transducers, such as addition.

An input is a word of letters. A letter is a tuple of symbols at given positions in the prompt. A
finite machine reads the letters in order: in each state it reads a letter, writes a symbol and
moves on. The answer, which follows the prompt, is what the machine writes.

Local situations. Before symbol i of the answer, a *situation* fixes the last w letters up to letter
i, a state in which the machine can be before them, and what it writes as it reads them. Every other
position may hold any symbol that some input has there. There are few situations, however many
inputs there are, and each input is in one of them: before these letters the machine is in a
state that can be reached.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from typing import Any

from attncert.constructions.brief import in_brief
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.sequences import of_sequences
from attncert.constructions.errors import InputError, whole

Letter = tuple[int, ...]
Word = tuple[Letter, ...]
State = Any  # hashable


@dataclass(frozen=True)
class Situation:
    """A situation before symbol `place` of the answer: the known symbols by place, the correct next
    symbol, and one or more inputs."""

    place: int
    known: Mapping[int, int]
    right: int
    words: tuple[Word, ...]


@dataclass(frozen=True)
class Transducer:
    """A domain: all words of these letters, each with its answer.

    letters: for each step, the letters that may be read there, tuples of symbols counted from 0.
    places:  for each step, where in the prompt the symbols of its letter are. step: the next
             state and the symbol that is written, by state and letter. start: the first state.
    Arithmetic: exact. Raises InputError unless each place has one symbol and every letter has a
    step in every state in which an input reads it. Source: ours, above.

    >>> parity = Transducer([[(0,), (1,)]] * 3, [(0,), (1,), (2,)], 0,
    ...                     {(q, (x,)): (q ^ x, q ^ x) for q in (0, 1) for x in (0, 1)})
    >>> parity.inputs, parity.sequence([(1,), (0,), (1,)])
    (8, (1, 0, 1, 1, 1, 0))
    """

    letters: Sequence[Sequence[Letter]]
    places: Sequence[Sequence[int]]
    start: State
    step: Mapping[tuple[State, Letter], tuple[State, int]]

    def __post_init__(self) -> None:
        places = [place for some in self.places for place in some]
        if sorted(places) != list(range(len(places))) or len(self.places) != len(self.letters):
            raise InputError("places", "all places of the prompt, each once, by step", places)
        for some, where in zip(self.letters, self.places, strict=True):
            fits = some and all(len(letter) == len(where) for letter in some)
            if not fits or len({*some}) < len(some):
                must = "one or more, each once, with a symbol for each place"
                raise InputError("letters", must, some)
        if (least := min(map(min, self.symbols))) < 0:
            raise InputError("symbols", "counted from 0", least)

    def __repr__(self) -> str:
        return in_brief(self, inputs=self.inputs, prompt=self.prompt, answer=len(self.letters))

    @property
    def inputs(self) -> int:
        """The number of words."""
        return math.prod(map(len, self.letters))

    @property
    def prompt(self) -> int:
        """The number of symbols in a prompt."""
        return sum(map(len, self.places))

    @cached_property
    def reached(self) -> tuple[Mapping[State, Word], ...]:
        """For each step, and after the last, the reachable states, each with a word to reach it."""
        reached: list[dict[State, Word]] = [{self.start: ()}]
        for letters in self.letters:
            following = dict[State, Word]()
            for state, word in reached[-1].items():
                for letter in letters:
                    following.setdefault(self._step(state, letter, word)[0], (*word, letter))
            reached.append(following)
        return tuple(reached)

    @cached_property
    def symbols(self) -> tuple[tuple[int, ...], ...]:
        """For each place in a sequence, the symbols that some input has there."""
        found: list[set[int]] = [set() for _ in range(self.prompt + len(self.letters))]
        for i, (letters, places) in enumerate(zip(self.letters, self.places, strict=True)):
            for letter in letters:
                for place, symbol in zip(places, letter, strict=True):
                    found[place].add(symbol)
                for state in self.reached[i]:
                    found[self.prompt + i].add(self.step[state, letter][1])
        return tuple(tuple(sorted(some)) for some in found)

    def sequence(self, word: Sequence[Letter]) -> tuple[int, ...]:
        """The prompt for an input, followed by the answer."""
        made = [0] * self.prompt
        for letter, places in zip(word, self.places, strict=True):
            for place, symbol in zip(places, letter, strict=True):
                made[place] = symbol
        return (*made, *self._written(self.start, word)[1])

    def count(self, place: int, width: int | None) -> int:
        """The number of situations before symbol `place`."""
        window = self._window(place, width)
        return len(self.reached[window.start]) * math.prod(map(len, self.letters[window]))

    def situations(
        self, place: int, width: int | None, start: int = 0, stop: int | None = None
    ) -> Iterator[Situation]:
        """The situations numbered from start to stop before symbol `place` of the answer, with
        `width` letters fixed; if `width` is None, one for each input, with everything fixed."""
        window = self._window(place, width)
        first, letters = window.start, self.letters[window]
        rests = {tuple(some[k] for some in self.letters[window.stop :]) for k in (0, -1)}
        each = math.prod(map(len, letters))
        stop = self.count(place, width) if stop is None else stop
        for number, (state, before) in enumerate(self.reached[first].items()):
            low, high = (min(max(x - number * each, 0), each) for x in (start, stop))
            for read in islice(product(*letters), low, high):
                _, written = self._written(state, read)
                known = {
                    where: symbol
                    for places, letter in zip(self.places[window], read, strict=True)
                    for where, symbol in zip(places, letter, strict=True)
                }
                for i in range(first, place):
                    known[self.prompt + i] = written[i - first]
                words = tuple(before + read + rest for rest in sorted(rests))
                yield Situation(place, known, written[place - first], words)

    def dataset(
        self, words: Sequence[Sequence[Letter]], name: str = "data", **tables: Any
    ) -> Dataset:
        """The inputs as examples: each context is the correct sequence up to some position in the
        answer, and the label is the next symbol, one-hot. tables: as for `of_sequences`."""
        first = self.prompt - 1
        examples = [(s, first + i) for s in range(len(words)) for i in range(len(self.letters))]
        sequences = [list(self.sequence(word)) for word in words]
        return of_sequences(sequences, examples=examples, labels="one-hot", name=name, **tables)

    def _window(self, place: int, width: int | None) -> slice:
        """The letters that are fixed before symbol `place`."""
        if width is None:
            return slice(0, len(self.letters))
        return slice(max(0, place + 1 - width), place + 1)

    def _written(self, state: State, word: Sequence[Letter]) -> tuple[State, list[int]]:
        written = []
        for letter in word:
            state, symbol = self.step[state, letter]
            written.append(symbol)
        return state, written

    def _step(self, state: State, letter: Letter, word: Word) -> tuple[State, int]:
        if (state, letter) not in self.step:
            after = f"after {list(word)}" if word else "at the start"
            raise InputError("step", f"given for state {state!r}, reached {after}", letter)
        return self.step[state, letter]


def additions(digits: int, base: int = 10, plus: int = 0, equals: int = 0) -> Transducer:
    """All pairs of numbers with this many digits, with their sums. Least significant digits come
    first: a, the symbol `plus`, b, the symbol `equals`, then the sum with one more digit. The state
    is the carry.

    The sum: a letter (x, y) leads from carry c to c' and writes s with x + y + c = s + base·c'.
    Multiply by base^i and add over all places i: the carries cancel, and a + b is what is written.

    >>> additions(2).inputs, additions(2).sequence([(5, 6), (9, 0), (0, 0)])  # 95 + 6
    (10000, (5, 9, 0, 6, 0, 0, 1, 0, 1))

    Arithmetic: exact. Raises InputError if digits < 1 or base < 2. Source: ours, above.
    """
    for name, number, least in (("digits", digits, 1), ("base", base, 2)):
        if not whole(number) or number < least:
            raise InputError(name, f"a whole number, {least} or more", number)
    pairs: list[Letter] = list(product(range(base), repeat=2))
    step = {(c, pair): divmod(sum(pair) + c, base) for c in (0, 1) for pair in pairs}
    step |= {(c, (plus, equals)): (0, c) for c in (0, 1)}
    letters = [pairs] * digits + [[(plus, equals)]]
    return Transducer(letters, [(i, digits + 1 + i) for i in range(digits + 1)], 0, step)
