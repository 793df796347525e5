"""Data that were rounded to a grid, and the claim that they were rounded correctly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from attncert.constructions.data.dataset import Dataset, Origin
from attncert.constructions.data.rounding import rounded
from attncert.constructions.numerals import numeral, rounded_up
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, timed


def on_grid(data: Dataset, grid: Fraction) -> Dataset:
    """The data rounded to multiples of `grid`, with this origin."""
    short, change = rounded(data, grid)
    return short.of_origin(Rounded(grid, data, change))


@dataclass(frozen=True)
class Rounded(Origin):
    """The origin of rounded data. grid: the step, above 0. original: the data before rounding.
    largest_change: the largest change of a number."""

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
            f" The data are the given ones, contexts and queries rounded to multiples of "
            f"{self.grid} (ties to even): no number changed by more than {self._most}."
        )

    @property
    def _most(self) -> str:
        return rounded_up(self.largest_change, 5)

    def _claim(self, data: Dataset) -> Claim:
        """The claim that every number of `data` is the nearest multiple of the grid (in a tie, the
        even multiple) and that labels are unchanged. It compares fractions."""
        wrong, changes = self._compared(data)
        return Claim.checked(
            ids.ROUNDING,
            f"Contexts and queries are the given ones rounded to multiples of {self.grid}, ties to "
            f"even multiples; no number changed by more than {self._most}, and the labels are as "
            "given.",
            not wrong,
            {"reason": wrong},
            numbers={
                "grid": str(self.grid),
                "largest change": numeral(self.largest_change),
                "numbers": len(changes),
            },
            arithmetic="comparison of fractions",
            source="ours; constructions/data/rounding.py",
        )

    def _compared(self, data: Dataset) -> tuple[str, list[Fraction]]:
        """The first part that is not rounded correctly ("" if there is none), and the change of
        each number."""
        wrong, changes = "", list[Fraction]()
        for name in ("contexts", "queries"):
            old, new = getattr(self.original, name), getattr(data, name)
            if old.shape != new.shape:
                wrong = wrong or f"the shape of {name} changed"
                continue
            numbers = zip(old.stored.ravel().tolist(), new.stored.ravel().tolist(), strict=True)
            for place, (p, q) in enumerate(numbers):
                x, y = Fraction(int(p), old.denominator), Fraction(int(q), new.denominator)
                steps, change = y / self.grid, abs(x - y)
                tie = 2 * change == self.grid
                if steps.denominator > 1 or 2 * change > self.grid or (tie and steps.numerator % 2):
                    wrong = wrong or f"number {place} of the {name}"
                changes.append(change)
        labels = [
            None if of.stated is None else of.stated.strings() for of in (data, self.original)
        ]
        if labels[0] != labels[1]:
            wrong = wrong or "the labels were changed"
        largest = max(changes, default=Fraction(0))
        if largest != self.largest_change:
            wrong = wrong or f"the largest change is {largest}"
        return wrong, changes
