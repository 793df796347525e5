"""The work that a search may do, counted in advance, so that it ends at the same place everywhere.

Work is counted in *nominal seconds*, by the cost models of the methods, whose constants were
measured on two cores of a server.
"""

from __future__ import annotations

import math

CORES = 2


class Budget:
    """work: nominal seconds."""

    def __init__(self, work: float = math.inf) -> None:
        self.work, self.charged = work, 0.0

    @property
    def remaining(self) -> float:
        return max(0.0, self.work - self.charged)

    def charge(self, nominal: float) -> None:
        self.charged += nominal
