"""Data that were rounded to a grid, and the claim that they were rounded correctly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import inf
from typing import Any

from attncert.constructions.data.dataset import Dataset, Origin
from attncert.constructions.data.rounding import rounded
from attncert.constructions.numerals import numeral, rounded_up
from attncert.verify.checker import Limits, Rejected
from attncert.verify.checker.origin import origin as judge
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, timed


def on_grid(data: Dataset, grid: Fraction) -> Dataset:
    """The data rounded to multiples of `grid`, with this origin."""
    short, change = rounded(data, grid)
    return short.of_origin(Rounded(grid, data, change))


@dataclass(frozen=True)
class Rounded(Origin):
    """The origin of rounded data. grid: the step, above 0. original: the data before rounding.
    largest_change: the largest change in any number."""

    grid: Fraction
    original: Dataset
    largest_change: Fraction

    premises = (ids.ROUNDING,)

    @property
    def keys(self) -> Mapping[str, Any]:
        return {
            "kind": "rounded",
            "grid": str(self.grid),
            "largest_change": numeral(self.largest_change),
            "data": self.original.canonical(),
        }

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            "round": str(self.grid),
            "largest_change": numeral(self.largest_change),
            "sha256_before_rounding": self.original.sha256,
        }

    def claims(self, data: Dataset) -> list[Claim]:
        return [timed(partial(self._claim, data))]

    def words(self, data: Dataset) -> str:
        return (
            f" The data are the given ones, with contexts and queries rounded to multiples of "
            f"{self.grid} (ties to even): no number changed by more than {self._most}."
        )

    @property
    def _most(self) -> str:
        return rounded_up(self.largest_change, 5)

    def _claim(self, data: Dataset) -> Claim:
        """The claim that every number of `data` is the nearest multiple of the grid (the even one
        if two are nearest) and that labels are unchanged. The checker judges this claim."""
        names = ("examples", "context", "width", "labels")
        dims = dict(zip(names, (data.T, data.longest, data.d, data.m), strict=True))
        cert = {"dims": dims, "tokens": data.token_counts, "network": None}
        wrong = ""
        try:
            judge(cert | {"data": data.canonical(), "origin": self.keys}, Limits(inf, inf))
        except Rejected as rejected:
            wrong = str(rejected.args[1])
        return Claim.checked(
            ids.ROUNDING,
            f"Contexts and queries are the given ones rounded to multiples of {self.grid} (ties to "
            f"even); no number changed by more than {self._most}, and the labels are as "
            "given.",
            not wrong,
            {"reason": wrong},
            numbers={
                "grid": str(self.grid),
                "largest change": numeral(self.largest_change),
                "numbers": data.contexts.stored.size + data.queries.stored.size,
            },
            arithmetic="integers, by the checker",
            source="ours; constructions/data/rounding.py",
        )
