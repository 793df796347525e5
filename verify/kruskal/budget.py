"""How long a search may go on: by the clock, or by work counted in advance.

Work is counted in *nominal seconds*: the cost models of the methods, whose constants were measured
on two cores of a server. A search that ends by the clock may end elsewhere next time; one that
ends by work ends at the same place everywhere.
"""

from __future__ import annotations

import math
import time

from attncert.verify.questions.question import written

SHARE = 0.2
"""Of what is left of a budget, for each of the two searches for witnesses."""

SURE = 1.25
"""Times the price: what a search should have, since some data cost more than others."""

_MOST = 10**7  # seconds: the command line takes no longer budget


class Budget:
    """seconds: by the clock, or None. work: nominal seconds, or None. reserved: the fraction
    of the seconds that is not for the search, 0 <= reserved < 1.

    >>> budget = Budget(work=2.0)
    >>> budget.affords(1.5), budget.charge(1.5), budget.affords(1.0), budget.over, budget.timed
    (True, None, False, False, False)
    """

    def __init__(
        self, seconds: float | None = None, work: float | None = None, reserved: float = 0.0
    ) -> None:
        self._start = time.monotonic()
        self._seconds, self._work, self._reserved = seconds, work, reserved
        self._charged = 0.0

    @property
    def timed(self) -> bool:
        """Whether the clock limits it."""
        return self._seconds is not None

    @property
    def remaining(self) -> float:
        """Seconds left: the smaller of what the clock and the work leave; never negative."""
        clock = work = math.inf
        if self._seconds is not None:
            clock = self._start + self._seconds * (1 - self._reserved) - time.monotonic()
        if self._work is not None:
            work = self._work - self._charged
        return max(0.0, min(clock, work))

    @property
    def over(self) -> bool:
        return self.remaining <= 0

    def affords(self, nominal: float) -> bool:
        """Whether what is left is enough for work of so many nominal seconds."""
        return nominal <= self.remaining

    def charge(self, nominal: float) -> None:
        """Count work done."""
        self._charged += nominal

    @property
    def charged(self) -> float:
        """Nominal seconds counted so far."""
        return self._charged

    def share(self, fraction: float) -> Budget:
        """A budget for a part of the work; the caller charges here what that part charged."""
        limit = max(self.remaining * fraction, 1e-9)
        return Budget(
            limit if self._seconds is not None else None, limit if self._work is not None else None
        )

    def shortage(
        self, size: int, price: float, remaining: float, begun: bool = False, cores: int = 2
    ) -> str:
        """Why all sets of `size` vectors, at `price` seconds, were not looked at; what would do.

        remaining: seconds when that search was weighed. begun: whether it was then begun.

        >>> print(Budget(20.0, reserved=0.25).shortage(4, 5.7, remaining=4.9))
        The limit stopped the search: all sets of 4 vectors take about 5.7 s on two free cores, \
and 4.9 s were left (of 20 s, 5 s are kept for sampling, 10 s went to quicker searches). A limit \
of 26 s should suffice.
        >>> print(Budget(0.2).shortage(9, 1e12, remaining=0.1))
        The limit stopped the search: all sets of 9 vectors take about 1e+12 s on two free \
cores, and 0.1 s were left (of 0.2 s, 0.1 s went to quicker searches). No limit would suffice.
        """
        limit = self._seconds or self._work or math.inf
        reserved = self._reserved * limit
        spent = max(0.0, limit - reserved - remaining)
        how = f"and {remaining:.2g} s were left"
        if begun:  # the estimate was too low here
            how = f"and did not finish in the {remaining:.2g} s left"
        where = [f"{reserved:.2g} s are kept for sampling"] if reserved else []
        where.append(f"{spent:.2g} s went to quicker searches")
        # What was spent is spent again, and each search for witnesses takes its share of the rest.
        needed = max(price, remaining) * 2 if begun else price
        enough = (spent + needed / (1 - SHARE) ** 2) / (1 - self._reserved)
        advice = "No limit would suffice"
        if enough <= _MOST:
            step = 10.0 ** (math.floor(math.log10(enough)) - 1)
            advice = f"A limit of {written(math.ceil(enough / step) * step)} s should suffice"
        free = {1: "one free core", 2: "two free cores"}.get(cores, f"{cores} free cores")
        about = f"about {price:.2g}" if math.isfinite(price) else "over 1e308"
        return (
            f"The limit stopped the search: all sets of {size} vectors take {about} s "
            f"on {free}, {how} (of {written(limit)} s, {', '.join(where)}). {advice}."
        )
