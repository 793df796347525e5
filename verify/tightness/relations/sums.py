"""Equal sums of rows: relations between examples whose queries lie on one line (ours).

Write a query as e = r u, with u on its line, and D for the multiset of the centred rows times r.
What attention adds is ψ_D(Mu)/r with ψ_D = ∇ log p_D, p_D(x) = Σ_i exp(D_i · x)     (rows.py).

*Lines do not mix.* If Σ_t c_t z_t = 0 for all weights, then Σ c_t ψ_t/r_t = 0 as a function on R^d
over the examples of each line, and Σ c_t μ_t = 0. Proof: take M = a bᵀ (width one). The sum is a
constant plus Σ_u g_u(b·u), with one function g_u(s) = Σ c_t ψ_t(s a)/r_t for each line. For each
other line u' take w with w·u' = 0 and w·u ≠ 0; the derivatives along these w, one after the other,
kill every term but g_u, so some derivative of g_u is 0: a polynomial. It is bounded, for ψ is a
mean of rows: it is constant, and g_u(0) = 0 because ψ(0) is the mean of centred rows. ∎

*On one line.* For integers w, Σ w_D ψ_D = 0 says that Π p_D^{w_D} is constant. So Σ w_D ψ_D = 0 if
and only if the sums of rows, one row drawn uniformly from each multiset with w > 0 (w of them,
independent), are distributed as those from the multisets with w < 0: exponentials with different
exponents are independent. That is an equality of two multisets, checked exactly. Example: the
parallelograms on (a, b), (c, d) and on (a, c), (b, d): both pairs sum to {0, a} + {0, b} + {0, c} +
{0, d}, so z_ab + z_cd = z_ac + z_bd.

*Are these all?* The relations are proposed by the ranks of the ψ_D at points x = ln 2 · (integers),
modulo a prime, and then checked as above. Rows of such a matrix that are independent modulo p are
independent over ℚ, so there are at most as many relations as rows that depend on others modulo p:
if each of these proposals is true there are no more. (Relations have a rational basis: at these
points, which lie dense in the sense of Zariski, the ψ_D are rational.)
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from operator import add, mul

from flint import nmod_mat

from attncert.constructions.exact.hashing import Hashed
from attncert.constructions.exact.primes import PRIMES_31

Rows = Hashed  # of rows, each a tuple of d numbers

MOST_POWERS = 300_000  # evaluated for one line, about two seconds
MOST_DEGREE = 24  # multisets in a sum, on both sides together
MOST_TERMS = 2**16  # sums that are looked at on each side
_SPARE = 4  # columns beyond one for each multiset


@dataclass(frozen=True)
class Ties:
    """terms: for each ψ its coefficients in those of `terms` that stand for themselves ({j: 1}).

    complete: these stand independent, proved: there are no other relations.
    """

    terms: tuple[Mapping[int, Fraction], ...]
    complete: bool


@lru_cache(maxsize=8)
def ties(kinds: tuple[Rows, ...]) -> Ties:
    """The relations between the ψ of these multisets: distinct, centred, not all 0, of one size.

    Exact: each is an equality of sums, checked.

    >>> square, twice = (((-1, -1), (-1, 1), (1, -1), (1, 1)), ((-1, 0), (-1, 0), (1, 0), (1, 0)))
    >>> ties((square, twice, ((0, -1), (0, -1), (0, 1), (0, 1)))).terms[2]
    {0: Fraction(1, 1), 1: Fraction(-1, 1)}
    """
    alone: list[Mapping[int, Fraction]] = [{j: Fraction(1)} for j in range(len(kinds))]
    if len(kinds) == 1:
        return Ties(tuple(alone), complete=True)
    p = PRIMES_31[0]
    columns = _columns(kinds, p)
    if columns is None:
        return Ties(tuple(alone), complete=False)
    reduced, rank = nmod_mat(columns, p).rref()
    pivots = [next(j for j in range(len(kinds)) if int(reduced[i, j])) for i in range(rank)]
    complete = True
    for j in sorted(set(range(len(kinds))) - set(pivots)):
        fractions = _small([int(reduced[k, j]) for k in range(rank)], p)
        if fractions is not None:
            scale, factors = fractions
            weights = {i: w for i, w in zip(pivots, factors, strict=True) if w}
            if same_sums(kinds, weights | {j: -scale}):
                alone[j] = {i: Fraction(w, scale) for i, w in weights.items()}
                continue
        complete = False
    return Ties(tuple(alone), complete)


def same_sums(kinds: Sequence[Rows], weights: Mapping[int, int]) -> bool:
    """Are the sums of rows of the multisets with positive weights distributed as the others'?

    Exact; False too where more than MOST_TERMS sums would have to be looked at.
    """
    sides = []
    for sign in (1, -1):
        multisets = [kinds[j] for j, w in weights.items() for _ in range(max(sign * w, 0))]
        total, ways = Counter({Hashed((0,) * len(kinds[0][0])): 1}), 1
        for rows in multisets:
            if len(total) * len(rows) > MOST_TERMS:
                return False
            sums: Counter[Hashed] = Counter()
            for start, count in total.items():
                for row in rows:
                    sums[Hashed(map(add, start, row))] += count
            total, ways = sums, ways * len(rows)
        sides.append((total, ways))
    (left, left_ways), (right, right_ways) = sides
    return left.keys() == right.keys() and all(
        count * right_ways == right[end] * left_ways for end, count in left.items()
    )


def _columns(kinds: tuple[Rows, ...], p: int) -> list[list[int]] | None:
    """The ψ at random points modulo p: one column for each multiset. None: too many powers."""
    d, n = len(kinds[0][0]), len(kinds[0])
    points = -(-(len(kinds) + _SPARE) // d)
    if points * len(kinds) * n > MOST_POWERS:
        return None
    rng = random.Random(0)
    table: list[list[int]] = []
    for _ in range(points):
        x = [rng.randrange(p - 1) for _ in range(d)]  # exponents count modulo p - 1
        values = [psi for rows in kinds if (psi := _psi(rows, x, p)) is not None]
        if len(values) == len(kinds):  # else this point has no residues
            table += [list(row) for row in zip(*values, strict=True)]
    return table


def _psi(rows: Rows, x: Sequence[int], p: int) -> list[int] | None:
    """Σ 2^(D_i·x) D_i / Σ 2^(D_i·x) modulo p; None where p divides the sum below."""
    powers = [pow(2, sum(map(mul, row, x)) % (p - 1), p) for row in rows]
    if sum(powers) % p == 0:
        return None
    inverse = pow(sum(powers), -1, p)
    return [sum(map(mul, powers, column)) * inverse % p for column in zip(*rows, strict=True)]


def _small(residues: Sequence[int], p: int) -> tuple[int, list[int]] | None:
    """These residues as fractions over one denominator: of MOST_DEGREE in all, else None."""
    for scale in range(1, MOST_DEGREE):
        factors = [(scale * a + p // 2) % p - p // 2 for a in residues]
        if scale + sum(map(abs, factors)) <= MOST_DEGREE:
            return scale, factors
    return None
