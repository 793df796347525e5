"""How long a search may go on: by the clock, or by work counted in advance.

Work is counted in *nominal seconds*: the cost models of the methods, whose constants were measured
on two cores of a server. A search that ends by the clock may end elsewhere next time; one that
ends by work ends at the same place everywhere.
"""

from __future__ import annotations

import math
import time

from constructions.errors import InputError

__all__ = ["Budget"]


class Budget:
    """seconds: by the clock (the default), or None. work: nominal seconds, or None.

    >>> budget = Budget(work=2.0)
    >>> budget.affords(1.5), budget.charge(1.5), budget.affords(1.0), budget.over, budget.timed
    (True, None, False, False, False)
    """

    def __init__(self, seconds: float | None = None, work: float | None = None) -> None:
        for name, value in (("budget", seconds), ("work", work)):
            if value is not None and not (math.isfinite(value) and value > 0):
                raise InputError(name, "a positive number of seconds", value)
        self._start = time.monotonic()
        self._seconds, self._work = seconds, work
        self._charged = 0.0

    @property
    def timed(self) -> bool:
        """Whether the clock has a say."""
        return self._seconds is not None

    @property
    def left(self) -> float:
        """Seconds left: the smaller of what the clock and the work leave; never negative."""
        clock = math.inf if self._seconds is None else self._seconds - self.elapsed
        work = math.inf if self._work is None else self._work - self._charged
        return max(0.0, min(clock, work))

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._start

    @property
    def over(self) -> bool:
        return self.left <= 0

    def affords(self, nominal: float) -> bool:
        """Whether what is left is enough for work of so many nominal seconds."""
        return nominal <= self.left

    def charge(self, nominal: float) -> None:
        """Count work done."""
        self._charged += nominal

    @property
    def charged(self) -> float:
        """Nominal seconds counted so far."""
        return self._charged

    def share(self, fraction: float) -> Budget:
        """A budget of its own for a part of the work; what it charges is to be charged here too."""
        limit = max(self.left * fraction, 1e-9)
        if not math.isfinite(limit):
            return Budget()
        return Budget(
            limit if self._seconds is not None else None, limit if self._work is not None else None
        )
