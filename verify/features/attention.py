"""A third-party layer in any convention, on a data set, as a network with one attention block.

    logits    unit · scale · E K Qᵀ e,    unit = 1 or ln 2,    scale = 1, 1/√d_h or 1/√d
    weights   softmax over the rows of E (one query token, n context rows)
    features  Eᵀ weights, head by head

Each query sees its whole context; a mask is applied to the data beforehand (`mask.visible_rows`).
Floats are dyadic rationals. If unit · scale is ln 2 times a rational number and all logits are
integer multiples of ln 2, everything is exact; otherwise balls (Arb) enclose all rounding errors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

from flint import arb, arb_mat, ctx

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.layer import Layer, logit_ranges
from attncert.constructions.network import blocks
from attncert.constructions.network.arithmetic import BALLS, factor
from attncert.constructions.network.network import Network
from attncert.constructions.network.positional import GeneralAttention
from attncert.constructions.network.states import States
from attncert.constructions.weights.stored import StoredLayer
from attncert.verify.features import features

MOST_WEIGHTS = 200_000  # a limit on T·H·n, the number of softmax weights
_EXACT_BITS = 300_000  # above this many bits of exponents in total, weights are balls


@dataclass(frozen=True)
class Attention:
    """A complete layer on data with matching widths. biased: whether each token's last entry is
    an appended 1, which is not counted in d. Raises InputError if T·H·n is above MOST_WEIGHTS."""

    data: Dataset
    layer: Layer
    unit: str = "e"
    scale: str = "none"
    biased: bool = False

    def __post_init__(self) -> None:
        data = self.data
        count = data.T * len(self.layer.heads) * data.n
        if count > MOST_WEIGHTS:
            raise InputError("layer", f"one of at most {MOST_WEIGHTS} softmax weights", count)

    @classmethod
    def of(
        cls,
        weights: StoredLayer,
        data: Dataset,
        unit: str | None = None,
        scale: str | None = None,
    ) -> Attention:
        """The layer with these weights on data. unit, scale: by default, those of the weights."""
        unit, scale = unit or weights.unit, scale or weights.scale
        return cls(weights.on(data), weights.layer, unit, scale, weights.biased)

    @cached_property
    def block(self) -> blocks.Attention:
        """The layer as a block. A rational scale is multiplied into the query weights."""
        square, (_, output), heads = self._square, self.layer.readout, self.layer.heads
        if (root := math.isqrt(square)) ** 2 == square:
            heads = tuple(replace(head, query=head.query / root) for head in heads)
            return blocks.Attention(heads, output, unit=self._unit)
        return GeneralAttention(heads, output, unit=self._unit, root=square)

    @property
    def _unit(self) -> str:
        return "ln 2" if self.unit == "ln2" else "1"

    @property
    def _square(self) -> int:
        """The logits are divided by the square root of this number."""
        wide = self.data.d - self.biased
        return {"none": 1, "sqrt-d": self.layer.head_width, "sqrt-model": wide}[self.scale]

    @property
    def network(self) -> Network:
        return Network((self.block,))

    @property
    def factor(self) -> arb:
        """unit · scale, enclosed in a ball."""
        return factor(self._unit) / arb(self._square).sqrt()

    @property
    def states(self) -> States:
        """The data as balls, at the working precision of FLINT's context."""
        return States.of(self.data, BALLS)

    def outputs(self) -> arb_mat:
        """The outputs A(E, e) of all examples, T×m, enclosed in balls."""
        return self.network.enclosures(self.data, ctx.prec)

    # Exact values, if the logits are integer multiples of ln 2.

    @cached_property
    def exponents(self) -> int | None:
        """The total number of bits of all powers of two; None if the logits are not integers."""
        if self._unit != "ln 2" or isinstance(self.block, GeneralAttention):
            return None
        try:
            return sum(sum(logit_ranges(head, self.data)) for head in self.block.heads)
        except ValueError:
            return None

    @property
    def short(self) -> bool:
        """Whether the logits are integers and the weights short enough to be written out."""
        return self.exponents is not None and self.exponents <= _EXACT_BITS

    def full_rank_modulo(self) -> int | None:
        """A prime modulo which Z has rank T; None if none was found or the logits are not
        integers."""
        if self._unit != "ln 2" or isinstance(self.block, GeneralAttention):
            return None
        rank, prime = features.rank_of(self.data, Layer(self.block.heads))
        return prime if rank == self.data.T else None
