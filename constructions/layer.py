"""An attention layer as exact matrices.

A(E, e) = W_Oᵀ concat_h( W_V,hᵀ Eᵀ σ(E W_K,h W_Q,hᵀ e) ),  σ = softmax            (paper, section 3)

The real query weights are ln 2 times `query`: every logit is then ln 2 times the rational number
E·key·queryᵀ·e. If that number is an integer k, the softmax weight is 2^k over a sum of powers of
two: a rational number. So attention is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat

from attncert.constructions.arrays import FloatArray, IntegerArray
from attncert.constructions.brief import in_brief
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.errors import InputError
from attncert.constructions.exact import integers
from attncert.constructions.exact.contexts import context_products

MOST_PARAMETERS = 10**8

# A layer as a block of a certificate's network: the fields that are the same for every layer.
LAYER_BLOCK = {"kind": "attention", "of": "query", "rule": "softmax", "mask": None,
               "residual": False}  # fmt: skip


@dataclass(frozen=True)
class Head:
    """key, query: d×d_h; value: d×d_v, or None in a layer without a readout. Exact rationals.

    Raises nothing. Source: docs/networks.md.

    >>> Head(fmpq_mat([[1]]), fmpq_mat([[2]])).width
    1
    """

    key: fmpq_mat
    query: fmpq_mat
    value: fmpq_mat | None = None

    def __repr__(self) -> str:
        return in_brief(
            self, d=int(self.key.nrows()), width=self.width, readout=self.value is not None
        )

    @property
    def width(self) -> int:
        return int(self.key.ncols())


@dataclass(frozen=True)
class Layer:
    """H heads and the output matrix (H·d_v)×m, head by head; output is None without a readout.

    heads: key and query d×d_h, value d×d_v, over ℚ; logits in units of ln 2. Arithmetic: exact.
    Source: paper, section 3 (formula above). Raises InputError if shapes disagree.

    >>> Layer.of_weights([([[1], [0]], [["1/2"], [-3]])])
    Layer(heads=1, d=2, head_width=1, readout=False)
    """

    heads: tuple[Head, ...]
    output: fmpq_mat | None = None

    def __repr__(self) -> str:
        return in_brief(
            self,
            heads=len(self.heads),
            d=int(self.heads[0].key.nrows()),
            head_width=self.head_width,
            value_width=self.value_width,
            readout=self.output is not None,
        )

    @classmethod
    def of_weights(cls, heads: Sequence[Any]) -> Layer:
        """A layer of keys and queries, one pair (key, query) for each head, without a readout.

        Each is d×d_h: nested lists of int, float (taken exactly), Fraction or "p/q", a NumPy array,
        an ExactArray or a FLINT matrix. Logits are ln 2 times E·key·queryᵀ·e: divide the query
        weights of a softmax with base e by ln 2 first. Raises InputError for anything else.

        >>> layer = Layer.of_weights([([[1], [0]], [["1/2"], [-3]])])
        >>> layer.heads[0].query
        [1/2]
        [ -3]
        """
        built: list[Head] = []
        for number, pair in enumerate(_as_list(heads, "layer", "a list of pairs (key, query)"), 1):
            pair = _as_list(pair, f"head {number}", "a pair (key, query)")
            if len(pair) != 2:
                raise InputError(f"head {number}", "a pair (key, query)", f"{len(pair)} items")
            key, query = (
                _matrix(weights, f"{name} of head {number}")
                for name, weights in zip(("key", "query"), pair, strict=True)
            )
            shapes = [(int(m.nrows()), int(m.ncols())) for m in (key, query)]
            for name, shape in zip(("key", "query"), shapes, strict=True):
                expected = shapes[0] if not built else (int(built[0].key.nrows()), built[0].width)
                if shape != expected:
                    raise InputError(f"{name} of head {number}", f"of shape {expected}", shape)
            built.append(Head(key, query))
        if not built:
            raise InputError("layer", "made of at least one head", "empty")
        return cls(tuple(built))

    @property
    def head_width(self) -> int:
        return self.heads[0].width

    @property
    def value_width(self) -> int | None:
        value = self.heads[0].value
        return None if value is None else int(value.ncols())

    @property
    def readout(self) -> tuple[list[fmpq_mat], fmpq_mat]:
        """The H values (d×d_v) and the output (H·d_v)×m. The layer must have a readout."""
        assert self.output is not None
        return [head.value for head in self.heads if head.value is not None], self.output

    @cached_property
    def distinct(self) -> Layer:
        """The layer without values and with each pair of key and query only once. Its rank is the
        same.

        >>> len(Layer.of_weights([([[1]], [[2]]), ([[3]], [[2]]), ([[1]], [[2]])]).distinct.heads)
        2
        """
        pairs = {(*head.key.entries(), *head.query.entries()): head for head in self.heads}
        return Layer(tuple(Head(head.key, head.query) for head in pairs.values()))

    @property
    def matrices(self) -> list[fmpq_mat]:
        """Key, query and value (if there is one) of each head in order, then the output."""
        parts = [m for head in self.heads for m in (head.key, head.query, head.value)]
        return [m for m in (*parts, self.output) if m is not None]

    def to_numpy(self) -> dict[str, FloatArray]:
        """float64 weights with the usual shapes, for a plain softmax (base e) without 1/√d_h.

        W_K, W_Q: (H, d, d_h), W_V: (H, d, d_v), W_O: (H·d_v, m). The factor ln 2 is in W_Q.
        To run them in a layer that divides the logits by √d_h, multiply W_Q by √d_h.
        There is no mask: a query attends to every token of its context, and is not itself one of
        them. Each entry is the nearest float64 to the exact one (W_Q: to its product with ln 2).
        """
        parts = self._parts(to_float, lambda query: query * math.log(2))
        return {name: np.stack(x) if isinstance(x, list) else x for name, x in parts.items()}

    def to_sympy(self) -> dict[str, Any]:
        """The same weights as exact SymPy matrices: lists W_K, W_Q, W_V of H each, and one W_O.

        W_Q has the factor log(2), W_O is (H·d_v)×m. Arithmetic: exact.

        >>> Layer.of_weights([([[1], [0]], [["1/2"], [-3]])]).to_sympy()["W_Q"]
        [Matrix([
        [ log(2)/2],
        [-3*log(2)]])]
        """
        from sympy import Matrix, Rational, log

        def exact(matrix: fmpq_mat) -> Any:
            rows = [[Rational(int(x.p), int(x.q)) for x in row] for row in matrix.tolist()]
            return Matrix(rows)

        return self._parts(exact, lambda query: query * log(2))

    def _parts(
        self, converted: Callable[[fmpq_mat | None], Any], times_log_two: Callable[[Any], Any]
    ) -> dict[str, Any]:
        """W_K, W_Q, W_V, lists of one matrix for each head, and W_O, all `converted`."""
        parts: dict[str, Any] = {
            "W_K": [converted(head.key) for head in self.heads],
            "W_Q": [times_log_two(converted(head.query)) for head in self.heads],
        }
        if self.output is not None:
            parts["W_V"] = [converted(head.value) for head in self.heads]
            parts["W_O"] = converted(self.output)
        return parts


def scaled_head(
    data: Dataset, key: IntegerArray, query: IntegerArray, value: IntegerArray | None = None
) -> Head:
    """The head of these integers times the data's denominators, which makes all logits integers."""
    return Head(
        fmpq_mat(integers.to_flint(key)) * fmpq(data.contexts.denominator),
        fmpq_mat(integers.to_flint(query)) * fmpq(data.queries.denominator),
        None if value is None else fmpq_mat(integers.to_flint(value)),
    )


def parameter_count(d: int, m: int, heads: int, head_width: int, value_width: int) -> int:
    """H(2d·d_h + d·d_v + d_v·m), the number of entries of W_Q, W_K, W_V, W_O (paper, Theorem 1)."""
    return heads * (2 * d * head_width + d * value_width + value_width * m)


def require_size(d: int, m: int, heads: int, head_width: int, value_width: int) -> None:
    """Raises InputError for a layer with too many exact parameters for a machine's memory.

    >>> require_size(2, 1, 2**14, 2**14, 1)
    Traceback (most recent call last):
    attncert.InputError: heads: must be fewer or narrower: at most 100,000,000 parameters in all, \
not 1,073,790,976 parameters
    """
    count = parameter_count(d, m, heads, head_width, value_width)
    if count > MOST_PARAMETERS:
        must = f"fewer or narrower: at most {MOST_PARAMETERS:,} parameters in all"
        raise InputError("heads", must, f"{count:,} parameters")


def integer_logits(head: Head, data: Dataset) -> list[list[int]]:
    """T lists of logits in units of ln 2, one for each token. Raises ValueError if one is not an
    integer."""
    queries = data.query_matrix * head.query  # T×d_h
    if data.shared:
        table = queries * (data.context(0) * head.key).transpose()
        return [_integers(row, t) for t, row in enumerate(table.tolist())]
    rows = (queries * head.key.transpose()).tolist()  # M e_t
    return [
        _integers((data.context(t) * fmpq_mat(data.d, 1, rows[t])).entries(), t)
        for t in range(data.T)
    ]


def logit_ranges(head: Head, data: Dataset) -> list[int]:
    """The largest minus the smallest logit of each example: T integers in units of ln 2.

    At width one, the logits are (query·e_t)·E⁽ᵗ⁾key. Raises ValueError as `integer_logits` does.
    """
    if head.width > 1:
        return [max(logits) - min(logits) for logits in integer_logits(head, data)]
    (key, a), (query, b) = head.key.numer_denom(), head.query.numer_denom()
    rows = context_products(data, integers.from_flint(key))[:, :, 0]
    products = integers.product(data.queries.numerators, integers.from_flint(query))[:, 0]
    spans = integers.subtract(rows.max(axis=1), rows.min(axis=1))
    ranges = integers.multiply(np.abs(products), spans)
    below = int(a * b) * data.contexts.denominator * data.queries.denominator
    if below > 1:
        ranges = ranges.astype(object)
        if (ranges % below).any():
            raise ValueError("a logit is not an integer")
        ranges //= below
    return list(ranges.tolist())


def features(head: Head, data: Dataset) -> fmpq_mat:
    """The features z_t = E⁽ᵗ⁾ᵀ σ(E⁽ᵗ⁾ M e_t) for all t, T×d, as exact rationals."""
    rows = []
    for t, logits in enumerate(integer_logits(head, data)):
        powers = powers_of_two(logits)
        weights = fmpz_mat(1, len(powers), powers)
        rows.extend((fmpq_mat(weights) * data.context(t) / sum(powers)).entries())
    return fmpq_mat(data.T, data.d, rows)


def powers_of_two(logits: Iterable[int]) -> list[int]:
    """2^(k - min k): softmax is invariant under shifts, so the smallest power can be 1."""
    logits = list(logits)
    low = min(logits)
    return [1 << (k - low) for k in logits]


def to_float(matrix: fmpq_mat) -> FloatArray:
    """The nearest float64 of each entry, ±inf beyond the largest."""
    return ExactArray.of_matrix(matrix).floats()


def _as_list(values: Any, argument: str, must: str) -> list[Any]:
    if not isinstance(values, (list, tuple)):
        raise InputError(argument, must, f"of type {type(values).__name__}")
    return list(values)


def _matrix(values: Any, argument: str) -> fmpq_mat:
    if isinstance(values, (fmpq_mat, fmpz_mat)):
        exact = fmpq_mat(values)
    else:
        array = values if isinstance(values, ExactArray) else ExactArray.of(values, argument)
        if len(array.shape) != 2:
            raise InputError(argument, "a matrix (d, d_h)", f"of shape {array.shape}")
        exact = array.matrix()
    if not exact.nrows() or not exact.ncols():
        raise InputError(argument, "of at least one row and one column", "empty")
    return exact


def _integers(entries: list[object], t: int) -> list[int]:
    for x in entries:
        if x.q != 1:  # type: ignore[attr-defined]
            raise ValueError(f"a logit of example {t} is not an integer: {x}")
    return [int(x.p) for x in entries]  # type: ignore[attr-defined]
