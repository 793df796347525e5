"""Is this set of vectors independent? Decided, always, with evidence either way.

Rank k modulo a prime proves independence. A deficit is only a reason to look: a second prime,
then exact integers, and the verdict "dependent" is given with a relation that anyone can check.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from attncert.constructions.errors import InputError
from attncert.verify.rank.modular import SubsetRanks, rank_mod
from attncert.verify.rank.primes import PRIMES_FLOAT64
from attncert.verify.rank.rational import Relation, find_relation
from attncert.verify.rank.residues import as_subsets, as_table


@dataclass(frozen=True)
class Decision:
    """independent: the proved answer. Evidence: `prime`, modulo which the vectors have full rank
    (0 where exact elimination over Q proved it instead), or `relation`, a witness of dependence."""

    independent: bool
    prime: int
    relation: Relation | None


def decide(table: Any, subset: Sequence[int] | None = None) -> Decision:
    """Decide whether the rows of a table, or of a subset of it, are independent over Q.

    >>> decide([[0.5, 1.0], [1.0, 3.0]])
    Decision(independent=True, prime=11863067, relation=None)
    >>> decide([[1, 2], [0, 1], [2, 4]], [0, 2]).relation
    Relation(indices=(0, 2), coefficients=(2, -1))
    """
    array = as_table(table)
    rows = list(range(len(array))) if subset is None else [int(i) for i in subset]
    if len(set(rows)) < len(rows):
        raise InputError("subset", "distinct indices", rows)
    part = array[as_subsets([rows], len(array), "subset")[0]]
    for p in PRIMES_FLOAT64[:2]:
        if rank_mod(part, p).full_row_rank:
            return Decision(True, p, None)
    relation = find_relation(array, rows)
    return Decision(relation is None, 0, relation)


def settle(
    table: Any, subsets: Any, ranks: SubsetRanks, limit: int | None = None
) -> Iterator[tuple[int, Decision]]:
    """Decide, one after the other, the subsets that `ranks` leaves undecided (at most `limit`).

    >>> from attncert.verify.rank.modular import independent_subsets
    >>> table, subsets = [[1, 2], [0, 1], [2, 4]], [[0, 1], [0, 2]]
    >>> ranks = independent_subsets(table, subsets, device="cpu")
    >>> [(i, found.relation.coefficients) for i, found in settle(table, subsets, ranks)]
    [(1, (2, -1))]
    """
    array = as_table(table)
    index = as_subsets(subsets, len(array))
    for i in ranks.undecided[:limit].tolist():
        yield i, decide(array, index[i].tolist())
