"""One run over a token sequence gives the states at all its positions.

An example of a sequence is a position in it: its context is the sequence up to there, and its query
is the last token. If token i sees only the first i tokens, its state does not depend on later ones.
So after causal blocks that act on all tokens, the tokens of an example are the first ones of the
longest example of its sequence, and its query is the last of them: each sequence is evaluated once.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.sequences import Sequences
from attncert.constructions.network.blocks import Attention, Block, FeedForward, Normalization
from attncert.constructions.network.composed import Gated, Group
from attncert.constructions.network.positional import Positions
from attncert.constructions.network.states import States

_ALONE = (FeedForward, Normalization, Gated, Positions)  # blocks in which no vector sees another


@dataclass(frozen=True)
class Along:
    """The longest context of each sequence, and its examples as pairs (place, example)."""

    runs: tuple[States, ...]
    members: tuple[tuple[tuple[int, int], ...], ...]

    @classmethod
    def of(cls, data: Dataset, states: States) -> Along | None:
        """The runs; None if the data are not sequences, or no sequence has several examples."""
        if not isinstance(data.origin, Sequences):
            return None
        members = defaultdict[int, list[tuple[int, int]]](list)
        for t, (sequence, place) in enumerate(data.origin.examples):
            members[sequence].append((place, t))
        if len(members) == data.T:
            return None
        longest = (data.context(max(some)[1]) for some in members.values())
        contexts = map(states.arithmetic.matrix, longest)
        runs = tuple(States((X,), X, states.arithmetic) for X in contexts)
        return cls(runs, tuple(map(tuple, members.values())))

    def after(self, block: Block) -> Along | None:
        """The runs after a block; None if the block is not causal or does not act on all tokens."""
        if not _is_causal(block):
            return None
        return Along(tuple(map(block.after, self.runs)), self.members)

    @property
    def states(self) -> States:
        matrix, last = self.runs[0].arithmetic.matrix, dict[int, Any]()
        for run, members in zip(self.runs, self.members, strict=True):
            rows = run.contexts[0].tolist()
            last |= {t: rows[: place + 1] for place, t in members}
        contexts = [last[t] for t in range(len(last))]
        queries = matrix([rows[-1] for rows in contexts])
        return States(tuple(map(matrix, contexts)), queries, self.runs[0].arithmetic)


def _is_causal(block: Block) -> bool:
    """Whether a token and query that are equal and see the same tokens stay equal in the block."""
    if block.of != "all" or getattr(block, "query_place", "last") != "last":
        return False
    if isinstance(block, Group):
        return all(map(_is_causal, block.blocks))
    return block.mask == "causal" if isinstance(block, Attention) else isinstance(block, _ALONE)
