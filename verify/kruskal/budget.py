"""The work that a search may do, counted in advance, so that it ends at the same place everywhere.

Work is counted in *nominal seconds*: the cost models of the methods, whose constants were measured
on two cores of a server.
"""

from __future__ import annotations

import math

CORES = 2


class Budget:
    """work: nominal seconds.

    >>> budget = Budget(2.0)
    >>> budget.affords(1.5), budget.charge(1.5), budget.affords(1.0), budget.remaining
    (True, None, False, 0.5)
    """

    def __init__(self, work: float = math.inf) -> None:
        self.work, self.charged = work, 0.0

    @property
    def remaining(self) -> float:
        """Never negative."""
        return max(0.0, self.work - self.charged)

    def affords(self, nominal: float) -> bool:
        """Whether work of this many nominal seconds can be done."""
        return nominal <= self.remaining

    def charge(self, nominal: float) -> None:
        """Count work done."""
        self.charged += nominal
