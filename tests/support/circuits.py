"""Whether a dependent set is minimal, by another way than the search for it."""

from __future__ import annotations

from attncert.verify.kruskal.dependency import Dependency
from attncert.verify.kruskal.vectors import Vectors


def is_circuit(found: Dependency, vectors: Vectors) -> bool:
    """Dependent, and every proper subset independent, exactly.

    The relation has no coefficient 0, so this is so just when it is the only one.
    """
    return found.holds(vectors) and vectors.rows(found.indices).rank() == found.size - 1
