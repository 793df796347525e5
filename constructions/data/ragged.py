"""Contexts with different numbers of tokens, as contexts with equally many (ours).

A context whose tokens are all repeated equally often is the same context for every head: each
softmax weight is divided among r equal tokens, and Eᵀσ(EMe) does not change, whatever M is. So with
L the least common multiple of the token counts n_t, every token of context t is repeated L/n_t
times. Nothing is masked, and all that is proved of the repeated tokens holds of the tokens given:
outputs, features, their ranks and their derivatives are the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from attncert.constructions.errors import InputError

MOST_TOKENS = 4096  # L
MOST_NUMBERS = 2**25  # in all, after the repetition


def evened(contexts: Any) -> Any:
    """The contexts, each with the same number of tokens; what is no list of T tables of rows, or
    has equally many rows in all, comes back as it is. Raises InputError where L is too large.

    >>> evened([[[1, 0]], [[0, 1], [2, 3]]])
    [[[1, 0], [1, 0]], [[0, 1], [2, 3]]]
    """
    if not _tables(contexts):
        return contexts
    counts = {len(table) for table in contexts}
    if len(counts) == 1 or 0 in counts:
        return contexts
    most = math.lcm(*counts)
    widest = max(1, max(len(row) for table in contexts for row in table))
    if most > MOST_TOKENS or len(contexts) * most * widest > MOST_NUMBERS:
        must = f"of token counts with a least common multiple of at most {MOST_TOKENS}"
        must += f", and {MOST_NUMBERS:,} numbers with every context of so many tokens"
        raise InputError("contexts", must, f"of {_words(counts)} tokens")
    return [[row for row in table for _ in range(most // len(table))] for table in contexts]


def _tables(contexts: Any) -> bool:
    """Whether this is a list of lists of rows."""
    kinds = (list, tuple, np.ndarray)
    return (
        isinstance(contexts, (list, tuple))
        and len(contexts) > 1
        and all(isinstance(table, kinds) for table in contexts)
        and all(isinstance(row, kinds) for table in contexts for row in table)
    )


def _words(counts: set[int]) -> str:
    ordered: Sequence[int] = sorted(counts)
    shown = ", ".join(map(str, ordered[:5]))
    return f"{shown}, ..." if len(ordered) > 5 else shown
