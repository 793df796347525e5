"""How long a search may go on: by the clock, or by work counted in advance.

Work is counted in *nominal seconds*: the cost models of the methods, whose constants were measured
on two cores of a server. A search that ends by the clock may end elsewhere next time; one that
ends by work ends at the same place everywhere.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from attncert.verify.questions.question import written

SHARE = 0.2
"""Of what is left of a budget, for each of the two searches for witnesses."""

SURE = 1.25
"""Times the price: what a search should have, as some data cost more than others."""

_MOST = 10**7  # seconds: the command line takes no longer budget


class Budget:
    """seconds: by the clock (the default), or None. work: nominal seconds, or None.

    >>> budget = Budget(work=2.0)
    >>> budget.affords(1.5), budget.charge(1.5), budget.affords(1.0), budget.over, budget.timed
    (True, None, False, False, False)
    """

    def __init__(self, seconds: float | None = None, work: float | None = None) -> None:
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


@dataclass(frozen=True)
class Weighed:
    """left: seconds when the search of all sets of a size was weighed. begun: and begun."""

    left: float
    begun: bool = False


@dataclass(frozen=True)
class SearchLimit:
    """What a search was given, for the sentence that says why it ended.

    seconds: by the clock or nominal; of them the fraction `kept` was not for the search.
    """

    seconds: float
    kept: float = 0.0

    def fall_short(self, size: int, price: float, at: Weighed, cores: int = 2) -> str:
        """Why all sets of `size` vectors, at `price` seconds, were not looked at; what would do.

        >>> print(SearchLimit(20.0, kept=0.25).fall_short(4, 5.7, Weighed(left=4.9)))
        The limit does not go further: all sets of 4 vectors take about 5.7 s on two free cores, \
and 4.9 s were left (of 20 s, 5 s are kept for sampling, 10 s went to quicker searches). A limit \
of 26 s should suffice.
        >>> print(SearchLimit(0.2).fall_short(9, 1e12, Weighed(left=0.1)))
        The limit does not go further: all sets of 9 vectors take about 1e+12 s on two free \
cores, and 0.1 s were left (of 0.2 s, 0.1 s went to quicker searches). No limit would suffice.
        """
        kept = self.kept * self.seconds
        spent = max(0.0, self.seconds - kept - at.left)
        how = f"and {at.left:.2g} s were left"
        if at.begun:  # the estimate was too low here
            how = f"and did not finish in the {at.left:.2g} s left"
        where = [f"{kept:.2g} s are kept for sampling"] if kept else []
        where.append(f"{spent:.2g} s went to quicker searches")
        # What was spent is spent again, and each search for witnesses takes its share of the rest.
        needed = max(price, at.left) * 2 if at.begun else price
        enough = (spent + needed / (1 - SHARE) ** 2) / (1 - self.kept)
        advice = "No limit would suffice"
        if enough <= _MOST:
            step = 10.0 ** (math.floor(math.log10(enough)) - 1)
            advice = f"A limit of {written(math.ceil(enough / step) * step)} s should suffice"
        free = {1: "one free core", 2: "two free cores"}.get(cores, f"{cores} free cores")
        about = f"about {price:.2g}" if math.isfinite(price) else "over 1e308"
        return (
            f"The limit does not go further: all sets of {size} vectors take {about} s "
            f"on {free}, {how} (of {written(self.seconds)} s, {', '.join(where)}). {advice}."
        )
