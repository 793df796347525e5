"""The columns of Z: relations that hold for every choice of weights (ours).

Let D be the span of all differences E⁽ᵗ⁾_i - E⁽ᵗ⁾_1 within contexts, b its dimension, and k ∈ D^⊥:
a functional that is constant on the rows of each context. Softmax weights add up to one, so

    k·z^h_t = Σ_i σ_i (k·E⁽ᵗ⁾_i) = k·E⁽ᵗ⁾_1         for every head h and all weights.

It does not depend on the head: k in head 1 minus k in head h is a relation between the columns of
Z; and k alone, in head 1, is one if it vanishes on all rows. With ρ the rank of all rows together,
these are (H - 1)(d - b) + (d - ρ) independent relations, so

    rank Z ≤ H d - (H - 1)(d - b) - (d - ρ) = H b + ρ - b         for every choice of weights.

If all rows lie in an affine flat of dimension a, then b ≤ a and ρ ≤ a + 1: at most H a + 1.
Contexts that are shared, or equal up to the order of their rows, with n independent rows have
a = b = n - 1 and ρ = n: H(n-1) + 1.                             (docs/tightness.md, section 2)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from flint import fmpz_mat, nmod_mat

from attncert.constructions.arrays import IntegerArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact import integers
from attncert.constructions.numerals import numeral
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import RATIONAL, About, Claim, Level, counted
from attncert.verify.features import PRIMES, rank_mod
from attncert.verify.rank import rational

__all__ = ["Flat", "column_bound", "column_relations", "flat_of"]

Vectors = tuple[tuple[int, ...], ...]

_SOURCE = "ours; docs/tightness.md, section 2"
_ENTRIES = 2**20  # of the matrix of relations, up to which it is written down and multiplied
_WITNESS = 2**14  # numbers in a witness, at most
_ROWS = 4096  # rows of the contexts looked at together


@dataclass(frozen=True)
class Flat:
    """Where the context rows of a data set lie. Exact.

    width: d. hull: a, the dimension of the affine hull of all rows. directions: b, that of the span
    of the differences within contexts. rank: ρ, of all rows together.
    constant:  d - b independent integer functionals, constant on the rows of each context.
    vanishing: d - ρ independent combinations of them, zero on all rows.
    """

    width: int
    hull: int
    directions: int
    rank: int
    constant: Vectors
    vanishing: Vectors

    def bound(self, heads: int) -> int:
        """H b + ρ - b: no weights of H heads give features of larger rank. At most H d."""
        return heads * self.directions + self.rank - self.directions


def flat_of(data: Dataset) -> Flat:
    """Dimensions and functionals of the context rows of all examples.

    >>> flat = flat_of(Dataset.of([[1, 0, 0], [0, 1, 0]], [[1, 2, 3], [4, 5, 6]], [0, 0]))
    >>> flat.hull, flat.directions, flat.rank, flat.bound(5), flat.constant, flat.vanishing
    (1, 1, 2, 6, ((1, 1, 0), (0, 0, 1)), ((0, 0, 1),))
    """
    constant = _null_space(data)
    columns = np.array(constant, dtype=object).reshape(len(constant), data.d).T
    values = integers.product(data.contexts[:, 0].numerators, columns)
    combinations = rational.null_vectors(values)
    spread = rational.rank(integers.subtract(values[1:], values[:1])).rank
    directions = data.d - len(constant)
    return Flat(
        width=data.d,
        hull=directions + spread,
        directions=directions,
        rank=data.d - len(combinations),
        constant=constant,
        vanishing=tuple(_content_free(columns @ np.array(c, dtype=object)) for c in combinations),
    )


def bound_of(data: Dataset, heads: int) -> int:
    """`flat_of(data).bound(heads)` by two ranks: the functionals may be long, and are not made.

    >>> bound_of(Dataset.of([[1, 0, 0], [0, 1, 0]], [[1, 2, 3], [4, 5, 6]], [0, 0]), 5)
    6
    """
    directions, rank = (_rank(data, rows) for rows in (_differences, _rows))
    return heads * directions + rank - directions


def column_relations(flat: Flat, heads: int) -> fmpz_mat:
    """N, (H·d)×(H d - bound): integers, independent columns, Z N = 0 for every choice of weights.

    First the vanishing functionals in head 1, then each constant functional in head 1 minus the
    same in head h, for h = 2, ..., H.

    >>> flat = flat_of(Dataset.of([[1, 0], [0, 1]], [[1, 2]], [0]))
    >>> column_relations(flat, 2)
    [ 1]
    [ 1]
    [-1]
    [-1]
    """
    d = flat.width
    columns = [[*k, *[0] * ((heads - 1) * d)] for k in flat.vanishing]
    for h in range(1, heads):
        for k in flat.constant:
            between, after = [0] * ((h - 1) * d), [0] * ((heads - 1 - h) * d)
            columns.append([*k, *between, *(-x for x in k), *after])
    return fmpz_mat(len(columns), heads * d, [x for k in columns for x in k]).transpose()


def column_bound(data: Dataset, heads: int) -> tuple[Claim, ...]:
    """That no weights of these heads, of any width, memorize universally; () where T is within the
    bound.

    Claims: the functionals (exact); the relations and the bound on rank Z for every choice of
    weights (argued from them); and the verdict. None of this says that given labels are impossible.
    """
    flat = flat_of(data)
    bound = flat.bound(heads)
    if bound >= data.T:
        return ()
    return _functionals(data, flat), *_bound(data, flat, heads), _verdict(data.T, bound, heads)


def _functionals(data: Dataset, flat: Flat) -> Claim:
    """Constant and vanishing functionals, multiplied out again."""
    rows = data.contexts.numerators.reshape(-1, data.d)
    constant = np.array(flat.constant, dtype=object).reshape(-1, data.d).T
    vanishing = np.array(flat.vanishing, dtype=object).reshape(-1, data.d).T
    values = integers.product(rows, constant).reshape(len(data.contexts), data.n, -1)
    good = not (values != values[:, :1]).any() and not integers.product(rows, vanishing).any()
    shown = len(flat.constant) * data.d <= _WITNESS
    return Claim(
        ids.TIGHTNESS_FUNCTIONALS,
        "Constant on the rows of every context: "
        f"{counted(len(flat.constant), 'independent linear functional')}; zero on all rows: "
        f"{counted(len(flat.vanishing), 'independent combination')} of them.",
        Level.PROVED if good else Level.REFUTED,
        numbers={
            "affine hull of all rows, a": flat.hull,
            "directions within contexts, b": flat.directions,
            "rank of all rows": flat.rank,
            "d": data.d,
        },
        witness={
            name: [[numeral(x) for x in k] for k in found] if shown else "not listed"
            for name, found in (("constant", flat.constant), ("vanishing", flat.vanishing))
        },
        arithmetic=RATIONAL,
        source=_SOURCE,
    )


def _bound(data: Dataset, flat: Flat, heads: int) -> tuple[Claim, Claim]:
    columns, bound = heads * data.d, flat.bound(heads)
    written = columns * (columns - bound) <= _ENTRIES
    by_hand = "" if written else "; independent by their block form, docs/tightness.md, section 2"
    relations = Claim(
        ids.TIGHTNESS_COLUMN_RELATIONS,
        f"$ZN=0$ for every choice of weights of {counted(heads, 'head')} of any width, with an "
        f"integer matrix $N$ of {counted(columns - bound, 'independent column')}.",
        Level.ARGUED if not written or _independent_columns(flat, heads) else Level.REFUTED,
        numbers={"columns of Z": columns, "columns of N": columns - bound},
        arithmetic="rank of N modulo a prime" if written else f"not formed{by_hand}",
        rests_on=(ids.TIGHTNESS_FUNCTIONALS,),
        source=_SOURCE + ": softmax weights add up to one",
    )
    limit = Claim(
        ids.TIGHTNESS_BOUND,
        f"$\\operatorname{{rank}}Z\\le Hb+\\rho-b={bound}$ for every choice of weights of "
        f"{counted(heads, 'head')} of any width.",
        Level.ARGUED,
        numbers={
            "bound": bound,
            "H a + 1": heads * flat.hull + 1,
            "columns of Z": columns,
            "T": data.T,
        },
        rests_on=(ids.TIGHTNESS_COLUMN_RELATIONS,),
        source=_SOURCE,
    )
    return relations, limit


def _verdict(T: int, bound: int, heads: int) -> Claim:
    return Claim(
        ids.TIGHTNESS_UNIVERSAL,
        f"Universal memorization: some keys and queries of {counted(heads, 'head')} serve every "
        f"labelling of {counted(T, 'example', 'the')} (rank Z is at most {bound}; some labels are "
        "out of reach of any one choice).",
        Level.REFUTED,
        numbers={"T": T, "bound": bound},
        witness={"T": T, "bound": bound, "see": ids.TIGHTNESS_FUNCTIONALS},
        rests_on=(ids.TIGHTNESS_BOUND,),
        source=_SOURCE,
        about=About.UNIVERSAL,
    )


def _null_space(data: Dataset) -> Vectors:
    """A basis of the functionals that are constant on the rows of each context."""
    if _full(data, _differences):
        return ()
    return rational.null_vectors(_differences(data.contexts.numerators))


def _full(data: Dataset, rows: Callable[[IntegerArray], IntegerArray]) -> bool:
    """Whether the first of these rows have rank d already."""
    some = rows(data.contexts[: max(1, _ROWS // data.n)].numerators)
    return len(some) >= data.d and rank_mod(some % PRIMES[0], PRIMES[0]) == data.d


def _rank(data: Dataset, rows: Callable[[IntegerArray], IntegerArray]) -> int:
    if _full(data, rows):
        return data.d
    every = rows(data.contexts.numerators)
    short = every if len(every) <= data.d else np.ascontiguousarray(every.T)
    return rational.rank(short).rank


def _rows(contexts: IntegerArray) -> IntegerArray:
    return contexts.reshape(-1, contexts.shape[2])


def _differences(contexts: IntegerArray) -> IntegerArray:
    """E_i - E_1 of each context, i = 2, ..., n: (count·(n-1), d)."""
    first = np.broadcast_to(contexts[:, :1], contexts[:, 1:].shape)
    return integers.subtract(contexts[:, 1:], first).reshape(-1, contexts.shape[2])


def _independent_columns(flat: Flat, heads: int) -> bool:
    """Full column rank modulo a prime, hence over ℚ."""
    matrix = column_relations(flat, heads)
    return int(nmod_mat(matrix, PRIMES[0]).rank()) == matrix.ncols()


def _content_free(vector: IntegerArray) -> tuple[int, ...]:
    content = math.gcd(*(int(x) for x in vector.tolist()))
    return tuple(int(x) // content for x in vector.tolist())
