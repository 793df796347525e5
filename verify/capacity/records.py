"""What the capacity law of a data set is asked, and what it is found to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attncert.constructions.construction import capacity
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import require_seed, require_sizes
from attncert.constructions.given.law import Spans
from attncert.verify.claims.evidence import Claim
from attncert.verify.labelling.labelled import Labelled
from attncert.verify.rank.whole_layer.jacobian_rows import JacobianRank


@dataclass(frozen=True)
class DataCapacitySettings:
    """heads: None for the fewest with N ≥ T·m. value_width: None for the labels' width."""

    heads: int | None = None
    head_width: int = 1
    value_width: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        require_sizes(self)
        require_seed(self.seed)


@dataclass(frozen=True)
class Upper:
    """rank J ≤ bound for all weights. examples: |S|, of which a, b, d' and N are taken; None for a
    bound of another kind. name: what it is called in reports."""

    name: str
    bound: int
    examples: int | None = None
    spans: Spans | None = None
    law: int | None = None


@dataclass(frozen=True)
class DataCapacity:
    """rank: of J from below. uppers: bounds, the least first. every: what is known of every
    labelling by as many heads. universal: an upper bound of rank Z, T where none is known."""

    data: Dataset
    settings: DataCapacitySettings
    heads: int
    spans: Spans
    rank: JacobianRank
    uppers: tuple[Upper, ...]
    every: Labelled
    universal: int
    claims: tuple[Claim, ...]

    @property
    def value_width(self) -> int:
        return self.settings.value_width or self.data.m

    @property
    def law(self) -> int:
        """N of all examples."""
        return self.spans.bound(self.heads, self.settings.head_width, self.value_width)

    @property
    def formulas(self) -> dict[str, int]:
        """What theorems say of H heads on data of these sizes, in examples; see the report.

        N/m and Ha + b: at most. H(n-1) + 1 and the paper's: at least, under A1 and A2; n: tokens of
        the shortest context. The paper's is about contexts of equally many.
        """
        H, a, b = self.heads, self.spans.differences, self.spans.common
        n = min(self.data.counts or (self.data.n,))
        values = {
            "N/m": self.law // self.data.m,
            "Ha+b": H * a + b,
            "H(n-1)+1": capacity(H, n, n),
        }
        if not self.data.ragged:
            values["H(min(n,d_h)-1)+1"] = capacity(H, n, self.settings.head_width)
        return values

    @property
    def decided(self) -> bool:
        """Whether the largest rank of J is known."""
        return self.rank.rank == self.uppers[0].bound

    @property
    def exit_status(self) -> int:
        """0: the largest rank is known from both sides; 3: it is not."""
        return 0 if self.decided else 3


def capacity_dict(made: DataCapacity) -> dict[str, Any]:
    """JSON-able."""
    return {
        "decided": made.decided,
        "data": {"sha256": made.data.sha256, "examples": made.data.T, "labels": made.data.m},
        "settings": vars(made.settings) | {"heads": made.heads},
        "law": vars(made.spans) | {"N": made.law},
        "formulas": made.formulas,
        "rank": {"rank": made.rank.rank, "of": made.rank.rows, "prime": made.rank.prime},
        "bounds": [
            {
                "name": upper.name,
                "bound": upper.bound,
                "examples": upper.examples,
                "spans": None if upper.spans is None else vars(upper.spans),
                "N": upper.law,
            }
            for upper in made.uppers
        ],
        "claims": [claim.as_dict() for claim in made.claims],
    }
