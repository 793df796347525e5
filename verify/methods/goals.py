"""What a finished network is claimed to do, and how that is decided."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from attncert.constructions.errors import InputError
from attncert.constructions.network.arithmetic import Inexact
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.methods.states import Unreached, Views
from attncert.verify.network.claims import memorizes, memorizes_in_balls, unknown
from attncert.verify.network.within import Bounds, require_width, rounded_up


class Concluded(NamedTuple):
    """claims: the conclusion stands last. exact, bounds: of the certificate, as `certified` has
    them."""

    claims: list[Claim]
    exact: bool = True
    bounds: Bounds = MappingProxyType({})


class Goal(Protocol):
    def concluded(self, views: Views, built: Any) -> Concluded: ...


@dataclass(frozen=True)
class Exact:
    """The outputs equal the labels. Arithmetic: exact, or balls behind an irrational softmax; then
    the certificate is of outputs within the least distance that is certified. Source:
    docs/constructions.md.

    >>> Exact()
    Exact()
    """

    def concluded(self, views: Views, built: Any) -> Concluded:
        """Undecided if balls do not tell, or a block cannot be applied."""
        start, data = time.perf_counter(), views.data
        try:
            outputs = views.at(None).states(views.network.depth).queries
            require_width(outputs, data)
        except (Unreached, InputError) as reason:
            return Concluded([unknown(data, str(reason))])
        except Inexact as irrational:
            claim = memorizes_in_balls(data, views.network, irrational)
            enclosed = claim.level is Level.ENCLOSED
            bounds = {"within": Fraction(rounded_up("0"))} if enclosed else {}
            return Concluded([claim], not enclosed, bounds)
        return Concluded([memorizes(data, outputs).timed(time.perf_counter() - start)])


@dataclass(frozen=True)
class Measured:
    """A conclusion of the construction's own about what it built, with the least error that balls
    show."""

    claims: Callable[[Any], list[Claim]]

    def concluded(self, views: Views, built: Any) -> Concluded:
        known = self.claims(built)
        return Concluded(known, False, {"within": Fraction(known[-1].numbers["within"])})
