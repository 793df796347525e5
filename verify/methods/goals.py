"""What a finished network is claimed to do, and how that is decided."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

from attncert.constructions.errors import InputError
from attncert.constructions.network.arithmetic import Inexact
from attncert.verify.claims.evidence import Claim
from attncert.verify.methods.states import Unreached, Views
from attncert.verify.network.claims import memorizes


class Concluded(NamedTuple):
    """claims: the conclusion stands last. within: for a certificate of outputs near the labels."""

    claims: list[Claim]
    within: Fraction | None = None


class Goal(Protocol):
    def concluded(self, views: Views, built: Any) -> Concluded: ...


@dataclass(frozen=True)
class Exact:
    """The outputs equal the labels. Arithmetic: exact. Source: docs/constructions.md.

    >>> Exact()
    Exact()
    """

    def concluded(self, views: Views, built: Any) -> Concluded:
        """Undecided if a softmax is irrational, or a block cannot be applied."""
        start, data = time.perf_counter(), views.data
        try:
            outputs = views.at(None).states(views.network.depth).queries
        except Inexact as reason:
            return Concluded([memorizes(data, reason)])
        if outputs.ncols() != data.m:
            must = f"of {data.m} outputs, as the labels have"
            return Concluded(
                [memorizes(data, Unreached(str(InputError("network", must, outputs.ncols()))))]
            )
        return Concluded([memorizes(data, outputs).timed(time.perf_counter() - start)])


@dataclass(frozen=True)
class Measured:
    """A conclusion of the construction's own about what it built, with the least error that balls
    show; within: reads that off the conclusion."""

    claims: Callable[[Any], list[Claim]]

    def concluded(self, views: Views, built: Any) -> Concluded:
        known = self.claims(built)
        return Concluded(known, Fraction(known[-1].numbers["within"]))
