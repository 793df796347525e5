"""Is this set of vectors independent? Decided, always, with evidence either way.

Rank k modulo a prime proves independence. A deficit is only a reason to look: a second prime,
then exact integers, and the verdict "dependent" is given with a relation that anyone can check.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.verify.rank.modular import modular_rank
from attncert.verify.rank.rational import Relation, find_relation
from attncert.verify.rank.residues import as_table


@dataclass(frozen=True)
class Decision:
    """independent: the proved answer. Evidence: `prime`, modulo which the vectors have full rank
    (0 where exact elimination over Q proved it instead), or `relation`, a witness of dependence."""

    independent: bool
    prime: int
    relation: Relation | None


def decide(table: Any) -> Decision:
    """Decide whether the rows of a table are independent over Q.

    >>> decide([[0.5, 1.0], [1.0, 3.0]])
    Decision(independent=True, prime=11863067, relation=None)
    >>> decide([[1, 2], [0, 1], [2, 4]]).relation
    Relation(indices=(0, 2), coefficients=(2, -1))
    """
    array = as_table(table)
    for p in PRIMES_FLOAT64[:2]:
        if modular_rank(array, p).full_row_rank:
            return Decision(True, p, None)
    relation = find_relation(array)
    return Decision(relation is None, 0, relation)
