"""How long a search may go on: by work, counted in advance, so that it ends at the same place
everywhere.

Work is counted in *nominal seconds*: the cost models of the methods, whose constants were measured
on two cores of a server.
"""

from __future__ import annotations

import math

from attncert.verify.questions.question import written

CORES = 2

SHARE = 0.2
"""Of what is left of a budget, for each of the two searches for witnesses."""

SURE = 1.25
"""Times the price: what a search should have, since some data cost more than others."""

MOST = 10**7
"""Nominal seconds: no command line takes more."""


class Budget:
    """work: nominal seconds.

    >>> budget = Budget(2.0)
    >>> budget.affords(1.5), budget.charge(1.5), budget.affords(1.0), budget.over
    (True, None, False, False)
    """

    def __init__(self, work: float = math.inf) -> None:
        self.work, self.charged = work, 0.0

    @property
    def remaining(self) -> float:
        """Never negative."""
        return max(0.0, self.work - self.charged)

    @property
    def over(self) -> bool:
        return self.remaining <= 0

    def affords(self, nominal: float) -> bool:
        """Whether what is left is enough for work of so many nominal seconds."""
        return nominal <= self.remaining

    def charge(self, nominal: float) -> None:
        """Count work done."""
        self.charged += nominal

    def share(self, fraction: float) -> Budget:
        """A budget for a part of the work; the caller charges here what that part charged."""
        return Budget(max(self.remaining * fraction, 1e-9))

    def shortage(self, size: int, price: float, remaining: float, begun: bool = False) -> str:
        """Why all sets of `size` vectors, at `price` seconds, were not looked at; what would do.

        remaining: seconds when that search was weighed. begun: whether it was then begun.

        >>> print(Budget(20.0).shortage(4, 5.7, remaining=4.9))
        The limit stopped the search: all sets of 4 vectors take about 5.7 s on two free cores, \
and 4.9 s were left (of 20 s, 15 s went to quicker searches). A limit of 25 s should suffice.
        >>> print(Budget(0.2).shortage(9, 1e12, remaining=0.1))
        The limit stopped the search: all sets of 9 vectors take about 1e+12 s on two free \
cores, and 0.1 s were left (of 0.2 s, 0.1 s went to quicker searches). No limit would suffice.
        """
        spent = max(0.0, self.work - remaining)
        how = f"and {remaining:.2g} s were left"
        if begun:  # the estimate was too low here
            how = f"and did not finish in the {remaining:.2g} s left"
        # What was spent is spent again, and each search for witnesses takes its share of the rest.
        needed = max(price, remaining) * 2 if begun else price
        enough = spent + needed / (1 - SHARE) ** 2
        advice = "No limit would suffice"
        if enough <= MOST:
            advice = f"A limit of {written(two_digits_up(enough))} s should suffice"
        about = f"about {price:.2g}" if math.isfinite(price) else "over 1e308"
        return (
            f"The limit stopped the search: all sets of {size} vectors take {about} s "
            f"on two free cores, {how} (of {written(self.work)} s, {spent:.2g} s went to quicker "
            f"searches). {advice}."
        )


def two_digits_up(x: float) -> float:
    """
    >>> two_digits_up(24.1), two_digits_up(0.0311)
    (25.0, 0.032)
    """
    step = 10.0 ** (math.floor(math.log10(x)) - 1)
    return math.ceil(x / step) * step
