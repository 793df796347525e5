r"""Networks of several softmax blocks, evaluated exactly modulo a tower of primes.

A softmax in units of ln 2 has the weights 2^ℓ / Σ 2^ℓ. After one block the states are rational, so
the next logits are rational but need not be integers. Residues of the weights still exist. Let

    p_0 = 2 p_1 + 1,  p_1 = 2 p_2 + 1,  …,  p_L      be odd primes with  p_L ≡ 3 mod 4.          (1)

Then p_k ≡ 7 mod 8 for k < L, so 2 is a square modulo p_k. Its order divides the prime (p_k - 1)/2 =
p_{k+1}, so it is p_{k+1}. Hence 2^x mod p_k depends only on x mod p_{k+1}. Block l of L softmax
blocks is evaluated modulo p_0, …, p_{L-l}, with its logits modulo p_1, …, p_{L-l+1}:

    weight of a token mod p_k  =  2^(logit mod p_{k+1}) / sum of these powers.                  (2)

A TowerArray contains one array of residues for each prime that is still needed; operations act on
the primes that both operands have. Two interpretations make (2) a statement about real weights
(docs/depth.md):

**Scaled keys, any depth.** Let D be a common denominator of all logits of a block, on these data,
and c = D D′ with an integer D′ ≡ D⁻¹ modulo every prime of the tower. Multiply the keys of each
block by its c, in the order of the blocks. Then every logit is an integer and every state is
rational, and residues do not change since c ≡ 1. So (2) holds exactly for these real weights.

**Unscaled keys, two blocks.** The logits of block 2 are x/D with integers x. With β =
2^(1/D), t^D - 2 is irreducible (Eisenstein), so β ↦ 2^(D⁻¹ mod p_1) mod p_0, a D-th root of 2,
defines a ring homomorphism from ℤ_(p)[β] to 𝔽_p; it takes 2^(x/D) to (2).

In both interpretations a derivative is a polynomial in ln 2 over a ring of rational or algebraic
numbers that maps to 𝔽_p, p = p_0. Since ln 2 is transcendental (Lindemann), it may be mapped to any
λ in 𝔽_p: a polynomial that is not 0 modulo p at one λ is not 0 at ln 2. Hence, for any λ:

    a minor of the Jacobian that is not 0 modulo p is not 0 for the real weights.                (3)

Denominators are products of softmax sums and of denominators of data and weights; if one is 0
modulo a prime for which it is used, `SumVanishes` is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from flint import fmpz

from attncert.constructions.arrays import AnyArray
from attncert.constructions.exact.modular import SumVanishes
from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.verify.derivatives.engine import Arithmetic, Array
from attncert.verify.rank.engines.arithmetic import inverse, matmul, reduce
from attncert.verify.rank.residues import residues

LARGEST = PRIMES_FLOAT64[0]  # sums of 256 products of residues stay exact in float64
_LOW_BITS = 12  # the low bits of an exponent, which index the first of two tables of powers


@cache
def chains(softmax_blocks: int, count: int = 3) -> tuple[tuple[int, ...], ...]:
    """The `count` largest chains as in (1) for this number of blocks, p_0 first, with p_0 at most
    LARGEST.

    >>> chains(2)[0]
    (11861327, 5930663, 2965331)
    """
    found: list[tuple[int, ...]] = []
    smallest = (LARGEST + 1) // 2**softmax_blocks - 1
    for last in range(smallest, 2, -1):
        chain = [last]
        while len(chain) <= softmax_blocks and fmpz(chain[-1]).is_prime():
            chain.append(2 * chain[-1] + 1)
        primes = tuple(reversed(chain[: softmax_blocks + 1]))
        if len(primes) > softmax_blocks and is_chain(primes):
            found.append(primes)
        if len(found) == count:
            break
    return tuple(found)


def is_chain(primes: Sequence[int]) -> bool:
    """Whether these numbers form a chain as in (1).

    >>> is_chain((47, 23, 11)), is_chain((23, 11, 5)), is_chain((13, 6, 3))
    (True, False, False)
    """
    return (
        all(fmpz(p).is_prime() for p in primes)
        and all(p == 2 * q + 1 for p, q in pairwise(primes))
        and primes[-1] % 4 == 3
    )


@dataclass(frozen=True)
class TowerArray:
    """parts: balanced residues modulo the first primes of the chain; float64 arrays of one
    shape."""

    parts: tuple[Array, ...]
    primes: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.parts[0].shape)

    def _each(self, function: Callable[..., Array], *others: Any) -> TowerArray:
        used = [x.parts if isinstance(x, TowerArray) else (x,) * len(self.parts) for x in others]
        together = zip(self.primes, self.parts, *used, strict=False)
        return TowerArray(tuple(function(*rest, p) for p, *rest in together), self.primes)

    def __add__(self, other: TowerArray) -> TowerArray:
        return self._each(lambda x, y, p: reduce(x + y, p), other)

    def __sub__(self, other: TowerArray) -> TowerArray:
        return self._each(lambda x, y, p: reduce(x - y, p), other)

    def __mul__(self, other: TowerArray | AnyArray | float) -> TowerArray:
        return self._each(lambda x, y, p: reduce(x * array_namespace(x).asarray(y), p), other)

    def __matmul__(self, other: TowerArray) -> TowerArray:
        return self._each(matmul, other)

    def __getitem__(self, index: Any) -> TowerArray:
        return self._each(lambda x, p: x[index])

    def reshape(self, *shape: int) -> TowerArray:
        return self._each(lambda x, p: x.reshape(*shape))

    def transpose(self, *axes: int) -> TowerArray:
        return self._each(lambda x, p: x.transpose(*axes))

    def sum(self, axis: int) -> TowerArray:
        return self._each(lambda x, p: reduce(x.sum(axis=axis), p))


def tower_array(
    table: AnyArray, primes: tuple[int, ...], denominator: int = 1, xp: Any = np
) -> TowerArray:
    """The residues of integers over one denominator modulo every prime. Raises SumVanishes if a
    prime divides the denominator."""
    flat, parts = table.reshape(1, -1), []
    for p in primes:
        if denominator % p == 0:
            raise SumVanishes(p)
        over = float(pow(denominator, -1, p))
        parts.append(xp.asarray(reduce(residues(flat, p) * over, p).reshape(table.shape)))
    return TowerArray(tuple(parts), primes)


def arithmetic(slope: int, relu: Any = None) -> Arithmetic:
    """The arithmetic of a tower. slope: λ, which replaces ln 2. relu: a ReLU with known slopes."""
    return Arithmetic(_softmax, relu or _no_relu, slope, _concatenate)


def _softmax(logits: TowerArray, times: Any) -> TowerArray:
    """The softmax weights (2). Raises SumVanishes."""
    parts = []
    for p, exponents in zip(logits.primes, logits.parts[1:], strict=False):
        shares = powers_of_two(exponents, p)
        if times is not None:
            shares = reduce(shares * array_namespace(shares).asarray(times), p)
        total = reduce(shares.sum(axis=-1), p)
        if bool((total == 0).any()):
            raise SumVanishes(p)
        parts.append(reduce(shares * inverse(total, p)[..., None], p))
    return TowerArray(tuple(parts), logits.primes)


def powers_of_two(exponents: Array, p: int) -> Array:
    """2^x modulo p for balanced residues x modulo (p - 1)/2, the order of 2.

    >>> powers_of_two(np.array([0.0, 1.0, -1.0, 5.0]), 23).tolist()
    [1.0, 2.0, -11.0, 9.0]
    """
    xp = array_namespace(exponents)
    low, high = (xp.asarray(table) for table in _tables(p))
    whole = xp.astype(exponents, xp.int64) % ((p - 1) // 2)
    first, second = whole & (2**_LOW_BITS - 1), whole >> _LOW_BITS
    return reduce(xp.take(low, first.reshape(-1)) * xp.take(high, second.reshape(-1)), p).reshape(
        exponents.shape
    )


@cache
def _tables(p: int) -> tuple[Any, Any]:
    """Tables of 2^x for x < 2^12, and for multiples of 2^12."""
    step = pow(2, 2**_LOW_BITS, p)
    low = [pow(2, x, p) for x in range(2**_LOW_BITS)]
    high = [pow(step, x, p) for x in range((p >> _LOW_BITS) + 1)]
    return reduce(np.array(low, dtype=float), p), reduce(np.array(high, dtype=float), p)


def _no_relu(sums: TowerArray) -> tuple[TowerArray, TowerArray]:
    raise TypeError("a residue does not determine a sign: give the slopes of the ReLU")


def _concatenate(parts: Sequence[TowerArray], axis: int) -> TowerArray:
    xp, primes = array_namespace(parts[0].parts[0]), parts[0].primes
    together = zip(*(part.parts for part in parts), strict=False)
    return TowerArray(tuple(xp.concat(some, axis=axis) for some in together), primes)
