"""The work that a search may do. It is counted in advance, so that a search ends at the same point
on every machine.

Work is counted in *nominal seconds* by cost models of the methods. Their constants were measured on
two cores of a server.
"""

from __future__ import annotations

import math

CORES = 2


class Budget:
    """A budget of work. work: the nominal seconds."""

    def __init__(self, work: float = math.inf) -> None:
        self.work, self.charged = work, 0.0

    @property
    def remaining(self) -> float:
        return max(0.0, self.work - self.charged)

    def charge(self, nominal: float) -> None:
        self.charged += nominal
