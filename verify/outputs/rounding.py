"""The outputs of a network as a machine computes them, in float32 or float64, enclosed.

A library sums in an order that it does not document, with or without fused multiply-add. So each
operation becomes a ball that contains its result in every order.

**Model** (Higham, *Accuracy and Stability of Numerical Algorithms*, 2002, sections 2.2 and 3.1).
Let u = 2^-p be the unit roundoff and η the smallest positive normal number; smaller numbers may be
flushed to 0. A rounded sum or product is x(1+δ) + ε with |δ| ≤ u and |ε| ≤ η.

**Sums of products.** In a sum of k terms, each product a_i b_i goes through at most k roundings, in
every order: its own, if it is not fused, and k-1 additions. So the result differs from Σ a_i b_i
by at most γ_k Σ |a_i b_i|, with γ_k = ku / (1 - ku). Each of the at most 2k operations may also add
ε, which later roundings at most double: 4kη in all. Here the a_i and b_i are the machine's numbers.
They lie in balls, and the bound is taken at the largest absolute values in these balls. No partial
sum is above (1 + γ_k) Σ |a_i b_i| + 4kη, which must not overflow.

**Without error.** A single operation whose exact result is a number of the format returns it. A
sum of products of integers is exact in every order if Σ |a_i b_i| is at most 2^p.

**Assumed of the machine**, and not checked:
1. Keys, queries and values come first, then logits and the weights of the softmax, shifted by the
   largest logit, then means, then the output. The variance of a LayerNorm comes from the
   differences from the mean. No number has a shorter format (bfloat16, TF32), and no softmax is
   rescaled on the way (flash attention).
2. A division, a root and an exponential have a relative error of at most 8u, plus η; SiLU, GELU
   and a capped logit of x have an error of at most 16u|x|, plus η; cosine and sine of an angle a
   have an error of at most 16u(1 + |a|), since the angle is computed, too.

If an overflow is not excluded, or the sign at a threshold is open, the evaluation raises `Inexact`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb, arb_mat, fmpq_mat

from attncert.constructions.network.arithmetic import Inexact

FUNCTION, SMOOTH_FUNCTION = 8, 16  # errors of a function, and of SiLU and GELU, in units of u


@dataclass(frozen=True)
class Format:
    """Floating-point numbers of p bits, above 2^least (normal) and below 2^most in absolute value.

    Source: IEEE 754.

    >>> Format("float32", 24, -126, 128).rounded(arb(1) / 2)
    0.500000000000000
    """

    name: str
    p: int
    least: int
    most: int

    @property
    def u(self) -> arb:
        return arb(2) ** -self.p

    @property
    def eta(self) -> arb:
        return arb(2) ** self.least

    def rounded(self, x: arb, units: int = 1) -> arb:
        """The result of an operation whose exact value is in x, with an error of this many u."""
        if units == 1 and self.has(x):
            return x
        return self.near(x, units * self.u * x.abs_upper() + self.eta)

    def near(self, x: arb, error: arb) -> arb:
        """The numbers that differ from one in x by at most the error. Raises Inexact."""
        ball = x + arb(0, error.abs_upper())
        if not ball.abs_upper() < arb(2) ** self.most:
            raise Inexact(f"an overflow in {self.name} is not excluded")
        return ball

    def has(self, x: arb) -> bool:
        """Whether x is one number, of this format and not below the normal ones."""
        if not x.is_exact() or not x.is_finite():
            return False
        mantissa, exponent = (int(part) for part in x.man_exp())
        bits = mantissa.bit_length()
        return bits <= self.p and self.least <= exponent <= self.most - bits

    def each(self, function: Callable[..., arb], *matrices: Any) -> arb_mat:
        """The function of the entries of these matrices of one shape, entry by entry."""
        rows, columns = int(matrices[0].nrows()), int(matrices[0].ncols())
        entries = zip(*(matrix.entries() for matrix in matrices), strict=True)
        return arb_mat(rows, columns, [function(*some) for some in entries])

    def stored(self, matrix: fmpq_mat) -> arb_mat:
        """Exact numbers, rounded to this format."""
        return self.each(self.rounded, arb_mat(matrix))

    def product(self, left: arb_mat, right: arb_mat, more: int = 0) -> arb_mat:
        """left·right, with sums in every order. more: further roundings of each term."""
        k = int(left.ncols()) + more
        gamma = k * self.u / (1 - k * self.u)
        whole = not more and all(x.is_integer() for y in (left, right) for x in y.entries())

        def entry(x: arb, size: arb) -> arb:
            if whole and size <= arb(2) ** self.p:
                return x
            error = gamma * size + 4 * k * self.eta
            self.near(size, error)  # no partial sum is larger
            return self.near(x, error)

        return self.each(entry, left * right, _sizes(left) * _sizes(right))

    def sum(self, left: arb_mat, right: arb_mat) -> arb_mat:
        return self.each(self.rounded, left + right)

    def softmax(self, logits: Sequence[arb]) -> list[arb]:
        top = logits[0]
        for x in logits[1:]:
            top = top.max(x)
        powers = [self.rounded(self.rounded(x - top).exp(), FUNCTION) for x in logits]
        total = self.total(powers)
        return [self.rounded(power / total, FUNCTION) for power in powers]

    def total(self, numbers: Sequence[arb]) -> arb:
        """The sum in every order."""
        n = len(numbers)
        return self.product(arb_mat(1, n, numbers), arb_mat(n, 1, [1] * n))[0, 0]


def _sizes(matrix: arb_mat) -> arb_mat:
    sizes = [x.abs_upper() for x in matrix.entries()]
    return arb_mat(int(matrix.nrows()), int(matrix.ncols()), sizes)


_FORMATS = (Format("float32", 24, -126, 128), Format("float64", 53, -1022, 1024))
FORMATS = {x.name: x for x in _FORMATS}
