"""Exact third-party weights, with what their format says about how they are used.

A layer with biases (PyTorch's and most others) computes, for one query e and tokens x_i,

    logits_i = scale · (Kᵀx_i + b_K)·(Qᵀe + b_Q)
    output = Σ_h O_hᵀ Σ_i p_i (V_hᵀx_i + b_V,h) + b_O.

Append a 1 to every token and to the query. Then Q with the row b_Qᵀ below it, and V with the row
b_Vᵀ, are matrices without a bias that do the same, since Σ_i p_i = 1. The term b_K·(Qᵀe + b_Q) is
the same for all i and cancels in softmax, so the row below K is 0. The bias b_O is subtracted from
the labels, which changes no error. So a layer with biases on (E, e, y) is, exactly, a layer without
biases on ([E 1], [e 1], y - b_O), and every result about such layers applies (ours).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import fmpq_mat

from attncert.constructions.brief import in_brief
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.errors import InputError
from attncert.constructions.foreign import safe_name
from attncert.constructions.layer import Layer
from attncert.constructions.network.blocks import Block, FeedForward

_MOST_PREFIX = 200  # the longest prefix, in characters


@dataclass(frozen=True)
class StoredLayer:
    """A layer that takes [x 1] and [e 1] if it is `biased`. Its logits have the unit "e" or "ln2"
    and the scale "none", "sqrt-d" (divided by √d_h) or "sqrt-model" (by √d). Without a type of
    model, plain attention is assumed."""

    layer: Layer
    dtype: str
    name: str = "layer"
    unit: str = "e"
    scale: str = "none"
    biased: bool = False
    offset: fmpq_mat | None = None
    format: str = "attncert"
    prefix: str = ""
    type: str = ""

    def __repr__(self) -> str:
        return in_brief(
            self, self.name, layer=self.layer, dtype=self.dtype, format=self.format, unit=self.unit
        )

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", safe_name(self.name, "layer"))
        object.__setattr__(self, "prefix", safe_name(self.prefix, "", _MOST_PREFIX))

    def on(self, data: Dataset) -> Dataset:
        """The data for `layer`, with biases ([E 1], [e 1], y - b_O). Raises InputError for other
        widths."""
        self._require_widths(data)
        if not self.biased:
            return data
        stated = data.stated
        if stated is not None and self.offset is not None:
            shift = fmpq_mat(data.T, 1, [1] * data.T) * self.offset
            stated = ExactArray.of_matrix(data.label_matrix - shift)
        return replace(
            data, contexts=_with_ones(data.contexts), queries=_with_ones(data.queries),
            stated=stated,
        )  # fmt: skip

    def with_biases(self, block: Block) -> list[Block]:
        """This layer's block, after one that appends the 1 and before one that adds b_O."""
        blocks = [block]
        if self.biased:
            d = int(self.layer.heads[0].key.nrows()) - 1
            appended = fmpq_mat([[int(i == j) for j in range(d + 1)] for i in range(d)])
            one = fmpq_mat(1, d + 1, [0] * d + [1])
            blocks.insert(0, FeedForward(appended, one, of="all"))
        if self.offset is not None:
            m = int(self.offset.ncols())
            same = fmpq_mat([[int(i == j) for j in range(m)] for i in range(m)])
            blocks.append(FeedForward(same, self.offset, block.of))
        return blocks

    def _require_widths(self, data: Dataset) -> None:
        """Raise InputError, in terms of the data, if a width differs."""
        ones = int(self.biased)
        for h, head in enumerate(self.layer.heads):
            for part in ("query", "key", "value"):
                matrix = getattr(head, part)
                if matrix.nrows() != data.d + ones:
                    must = f"of d = {data.d} rows, the width of the data's tokens and queries"
                    raise InputError(
                        f"layer: {part} of head {h + 1}", must, int(matrix.nrows()) - ones
                    )
        output = self.layer.output
        if output is not None and output.ncols() != data.m:
            must = f"of m = {data.m} columns, the width of the data's labels"
            raise InputError("layer: output", must, int(output.ncols()))


def kinds(arrays: Mapping[str, Any]) -> str:
    """The dtypes of these arrays, in words."""
    return ", ".join(
        sorted({str(x.dtype) if isinstance(x, np.ndarray) else "rational" for x in arrays.values()})
    )


def _with_ones(array: ExactArray) -> ExactArray:
    """The array with a 1 appended along the last axis."""
    ones = np.full((*array.shape[:-1], 1), array.denominator, dtype=object)
    if array.denominator < 2**62:
        ones = ones.astype(np.int64)
    return ExactArray(np.concatenate([array.numerators, ones], axis=-1), array.denominator)
