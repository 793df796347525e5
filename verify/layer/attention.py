"""A third-party layer on a data set, in any convention, evaluated in balls or exactly.

    logits    unit · scale · E K Qᵀ e,    unit = 1 or ln 2,    scale = 1, 1/√d_h or 1/√d
    weights   softmax over the rows of E (one query token, n context rows)
    features  Eᵀ weights, head by head

What a query sees is its context: a mask is applied to the data before (`mask.visible_rows`).

E K Qᵀ e is computed once, exactly: floats are dyadic rationals. Where unit · scale is ln 2 times a
rational number and all logits are whole multiples of ln 2, the weights are powers of two over their
sum, and everything is exact; else balls (Arb) carry every rounding along.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat, fmpz, nmod_mat

from attncert.constructions.arrays import IntArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.layer import Layer
from attncert.constructions.weights.stored import StoredLayer
from attncert.verify.features import contexts_mod, mix_mod, softmax_mod, usable_primes
from attncert.verify.interpolation.enclosure import softmax

MOST_WEIGHTS = 200_000  # T·H·n softmax weights: the limit on work
_EXACT_BITS = 300_000  # of all exponents together, up to which weights are written as rationals


@dataclass(frozen=True)
class Attention:
    """A complete layer on data whose widths it has. biased: the last entry of every token is a 1
    that was appended, and no part of d. Raises InputError where T·H·n is above MOST_WEIGHTS."""

    data: Dataset
    layer: Layer
    unit: str = "e"
    scale: str = "none"
    biased: bool = False
    _outputs: dict[int, arb_mat] = field(default_factory=dict, init=False, repr=False)  # by bits

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
        """Stored weights on data. unit, scale: None: as the weights say."""
        unit, scale = unit or weights.unit, scale or weights.scale
        return cls(weights.on(data), weights.layer, unit, scale, weights.biased)

    @cached_property
    def products(self) -> list[list[list[fmpq]]]:
        """E K Qᵀ e: H lists of T lists, exact."""
        data = self.data
        tables: list[list[list[fmpq]]] = [[] for _ in self.layer.heads]
        directions = [
            data.query_matrix * head.query * head.key.transpose() for head in self.layer.heads
        ]
        by_head = [table.tolist() for table in directions]
        for t in range(data.T):
            queries = fmpq_mat([table[t] for table in by_head]).transpose()  # all heads: d×H
            logits = (data.context(t) * queries).transpose().tolist()
            for table, row in zip(tables, logits, strict=True):
                table.append(row)
        return tables

    def on(self, examples: Sequence[int]) -> Attention:
        """The same layer on these examples alone."""
        return replace(self, data=self.data.take(examples))

    def of_heads(self, heads: Sequence[int]) -> Attention:
        """These heads alone."""
        values, output = self.layer.readout
        width, rows = values[0].ncols(), output.tolist()
        below = fmpq_mat([row for h in heads for row in rows[h * width : (h + 1) * width]])
        return replace(self, layer=Layer(tuple(self.layer.heads[h] for h in heads), below))

    def rescaled(self, scale: str) -> Attention:
        """The same layer with another scale."""
        other = replace(self, scale=scale)
        other.__dict__["products"] = self.products  # without any scale: the same
        return other

    @property
    def _square(self) -> int:
        """The logits are divided by its root."""
        wide = self.data.d - self.biased
        return {"none": 1, "sqrt-d": self.layer.head_width, "sqrt-model": wide}[self.scale]

    @cached_property
    def exponents(self) -> list[list[list[int]]] | None:
        """The logits in units of ln 2, where all are integers; else None."""
        root = math.isqrt(self._square)
        if self.unit != "ln2" or root**2 != self._square:
            return None
        scaled = [[[x / root for x in row] for row in table] for table in self.products]
        if any(x.q != 1 for table in scaled for row in table for x in row):
            return None
        return [[[int(x.p) for x in row] for row in table] for table in scaled]

    # Balls, at the working precision of FLINT's context.

    @property
    def factor(self) -> arb:
        """unit · scale."""
        factor = arb.const_log2() if self.unit == "ln2" else arb(1)
        return factor / arb(self._square).sqrt()

    def weights(self) -> list[list[list[arb]]]:
        """H lists of T lists of softmax weights, enclosed."""
        factor = self.factor
        return [
            [softmax([arb(x) * factor for x in row]) for row in table] for table in self.products
        ]

    def features(self, weights: Sequence[Sequence[Sequence[arb]]] | None = None) -> arb_mat:
        """Z, T×(H·d), enclosed."""
        weights = self.weights() if weights is None else weights
        rows: list[list[arb]] = []
        for t in range(self.data.T):
            mixed = arb_mat([list(table[t]) for table in weights]) * arb_mat(self.data.context(t))
            rows.append(mixed.entries())  # H×d, head by head
        return arb_mat(rows)

    def contributions(self, features: arb_mat | None = None) -> list[arb_mat]:
        """What each head adds to the outputs, H matrices T×m, enclosed: Z_h V_h O_h."""
        features = self.features() if features is None else features
        values, output = self.layer.readout
        table, rows, d, width = features.tolist(), output.tolist(), self.data.d, values[0].ncols()
        return [
            arb_mat([row[h * d : (h + 1) * d] for row in table])
            * arb_mat(v)
            * arb_mat(fmpq_mat(rows[h * width : (h + 1) * width]))
            for h, v in enumerate(values)
        ]

    def outputs(self) -> arb_mat:
        """A(E, e) of all examples, T×m, enclosed."""
        if ctx.prec not in self._outputs:
            first, *others = self.contributions()
            self._outputs[ctx.prec] = sum(others, first)
        return self._outputs[ctx.prec]

    # Exactly, where the exponents are integers.

    def exact_features(self) -> fmpq_mat | None:
        """Z over ℚ; None where a logit is no whole multiple of ln 2, or numbers get too long."""
        table = self.exponents
        if table is None or sum(max(r) - min(r) for head in table for r in head) > _EXACT_BITS:
            return None
        rows: list[fmpq] = []
        for t in range(self.data.T):
            context = self.data.context(t)
            for head in table:
                powers = [fmpz(1) << (k - min(head[t])) for k in head[t]]
                below = sum(powers, fmpz(0))
                rows += (fmpq_mat([powers]) * context / below).entries()
        return fmpq_mat(self.data.T, len(table) * self.data.d, rows)

    def residues(self) -> nmod_mat | None:
        """Z modulo a prime that divides no denominator; None where the logits are not integers."""
        table = self.exponents
        if table is not None:
            for p in usable_primes(self.data):
                with suppress(ZeroDivisionError):  # a sum that is 0 modulo p
                    contexts = contexts_mod(self.data, p)
                    z = np.hstack([mix_mod(self._mod(head, p), contexts, p) for head in table])
                    return nmod_mat(*z.shape, z.ravel().tolist(), p)
        return None

    def _mod(self, exponents: list[list[int]], p: int) -> IntArray:
        """Softmax weights of one head mod p, (T, n): 0 behind the last token."""
        weights = np.zeros((self.data.T, self.data.n), dtype=np.int64)
        for t, row in enumerate(exponents):
            weights[t, : len(row)] = softmax_mod(np.array([row], dtype=object), p)[0]
        return weights
