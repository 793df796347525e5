"""Whether a dependent set is minimal, by another way than the search for it."""

from __future__ import annotations

from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.rank.rational import Relation


def is_circuit(found: Relation, vectors: Vectors) -> bool:
    """Dependent, and every proper subset independent, exactly.

    The relation has no coefficient 0, so this is so just when it is the only one.
    """
    return found.holds(vectors.array) and vectors.rows(found.indices).rank() == found.size - 1
