"""Claims about the outputs of a finished network, and how each is decided."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from flint import fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.network.arithmetic import Inexact
from attncert.constructions.network.network import Network
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.outputs.error import (
    Limit,
    at_least,
    at_most,
    bounds_to_certify,
    judged_errors,
    measured,
    nearest,
    spread,
    statement_of,
)
from attncert.verify.outputs.within import Bounds, certified_error, require_width
from attncert.verify.statements.states import Unreached, Views


class Concluded(NamedTuple):
    """The claims, the last of which is the conclusion. exact, bounds: passed to `certified`."""

    claims: list[Claim]
    exact: bool = True
    bounds: Bounds = MappingProxyType({})


class Goal(Protocol):
    """A claim of a construction about its outputs."""

    def concluded(self, views: Views) -> Concluded: ...


@dataclass(frozen=True)
class Exact:
    """The outputs equal the labels. Arithmetic: exact, or balls after an irrational softmax. With
    balls, the certificate states the smallest certifiable distance from the labels. Source:
    docs/constructions.md.

    >>> Exact()
    Exact()
    """

    def concluded(self, views: Views) -> Concluded:
        """The claims, undecided if balls are too wide or a block cannot be applied."""
        concluded = _limited(views, at_most(Fraction(0)))
        every = counted(views.data.T, "example", "these")
        statement = f"The network outputs exactly the label, for each of {every}."
        claim = replace(concluded.claims[-1], id=ids.MEMORIZATION, statement=statement, numbers={})
        return concluded._replace(claims=[claim])


@dataclass(frozen=True)
class Within:
    """No output differs from its label by more than the bound, in any entry.

    bound: an integer, a Fraction, or a string such as "1/10". Arithmetic: exact, or balls after an
    irrational softmax. Raises InputError for any other bound. Source:
    docs/constructions.md.

    >>> Within("1/10")
    Within(bound=Fraction(1, 10))
    """

    bound: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound", _number("bound", self.bound))

    def concluded(self, views: Views) -> Concluded:
        """The claims, undecided if balls are too wide or a block cannot be applied."""
        return _limited(views, at_most(self.bound))


@dataclass(frozen=True)
class Nearest:
    """Each output is nearer to its own label than to any other, by at least the margin if one is
    given. For one-hot labels this says that the argmax is right, and the margin is the difference
    between the entry at the label and the largest other entry.

    The margin may have the same types as the bound of `Within`, with the same arithmetic and
    errors. The claim is vacuous if all labels are equal. Source: verify/outputs/nearest.py.

    >>> Nearest(), Nearest(margin="1/2")
    (Nearest(margin=None), Nearest(margin=Fraction(1, 2)))
    """

    margin: Any = None

    def __post_init__(self) -> None:
        if self.margin is not None:
            object.__setattr__(self, "margin", _number("margin", self.margin))

    def concluded(self, views: Views) -> Concluded:
        """The claims, undecided if balls are too wide or a block cannot be applied."""
        return _limited(views, nearest() if self.margin is None else at_least(self.margin))


@dataclass(frozen=True)
class Measured:
    """No output differs from its label by more than the largest error, which is enclosed in balls
    and rounded up."""

    def concluded(self, views: Views) -> Concluded:
        """The claims; undecided if balls do not enclose the error."""
        error, unbounded = judged_errors(views.network, views.data, at_most(Fraction(0)))
        high = error.numbers["error"][1]
        if high == "inf":
            return Concluded([error, unbounded])
        return limited(views.network, views.data, at_most(Fraction(certified_error(high))))


def _number(name: str, value: Any) -> Fraction:
    try:
        number = Fraction(value) if isinstance(value, int | str | Fraction) else Fraction(-1)
    except (ValueError, ZeroDivisionError):
        number = Fraction(-1)
    if number < 0:
        raise InputError(name, 'a number of at least 0, such as "1/10"', value)
    return number


def _limited(views: Views, limit: Limit) -> Concluded:
    """The error and whether it is within the limit, or undecided if a block cannot be applied."""
    data = views.data
    if limit.bound is None and not spread(data):
        none = {"reason": "all labels are equal, so there is no other label to compare with"}
        return Concluded([replace(statement_of(limit, data), level=Level.VACUOUS, witness=none)])
    exact = None
    try:
        with suppress(Inexact):
            exact = views.at(None).states(views.network.depth).queries
            require_width(exact, data)
        return limited(views.network, data, limit, exact)
    except (Unreached, InputError) as reason:
        return Concluded([replace(statement_of(limit, data), witness={"reason": str(reason)})])


def limited(
    network: Network, data: Dataset, limit: Limit, exact: fmpq_mat | None = None
) -> Concluded:
    """The error and whether it is within the limit. exact: the outputs, if they are rational.
    Raises InputError if the shapes do not agree."""
    error, memorizes = judged_errors(network, data, limit, exact)
    bounds = bounds_to_certify(limit, error, memorizes) if memorizes.level.holds else {}
    known = [error, measured(error, memorizes, spread(data))]
    return Concluded(known, error.level is Level.PROVED, bounds)


def all_concluded(goals: Sequence[Goal], views: Views) -> Concluded:
    """The claims of all goals. The claim of the first goal is the conclusion and comes last; the
    claims of the other goals have ids of their own."""
    first = goals[0].concluded(views)
    known, bounds = {claim.id: claim for claim in first.claims[:-1]}, first.bounds
    for goal in goals[1:]:
        concluded = goal.concluded(views)
        *below, claim = concluded.claims
        if "margin" in bounds and "domain" in concluded.bounds:
            margin = min(bounds["margin"], concluded.bounds["margin"])
            bounds = {**concluded.bounds, "margin": margin}
        known |= {claim.id: claim for claim in below if claim.id not in known}
        own = ids.claimed(type(goal).__name__.lower())
        known[own] = replace(claim, id=own)
    return first._replace(claims=[*known.values(), first.claims[-1]], bounds=bounds)
