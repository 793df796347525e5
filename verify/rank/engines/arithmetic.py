"""Exact arithmetic modulo p in floating point, and the bound that makes it exact.

Notation: t = 24 (float32) or 53 (float64) bits of mantissa, u = 2^-t, p an odd prime with
11 <= p < 2^t. A *balanced residue* is an integer r with |r| <= B, where

    B = p/2 + 4.

**Lemma 1 (reduction).** Let x be an integer with |x| <= 2^t - B, f = fl(1/p), and q the floor of
the computed x*f + 1/2, or the computed x*f rounded to an integer. Then the computed x - q*p is
exact, congruent to x, and balanced.
*Proof.* f = (1 + d1)/p, and at most two roundings follow, so the computed quotient is
w = ((x/p)(1 + d1)(1 + d2) + 1/2)(1 + d3) with |d| <= u, or the same without the 1/2 and d3.
Since |x| <= 1/u, |w - x/p - 1/2| <= (3 + 3u + u^2)/p + u/2 <= 3.1/p + u/2. After rounding down (or
to nearest), q is off by at most 1/2 more, hence |x - qp| <= p/2 + 3.1 + pu/2 <= B. So |qp| <=
|x| + B <= 2^t: the integers qp and x - qp are represented exactly, whether or not the processor
fuses the multiplication with the subtraction.

**Lemma 2 (lazy reduction).** A sum of one balanced residue and T products of two balanced
residues is exact in any order of summation, fused or not, and may then be reduced, if

    B + T*B^2 + B <= 2^t.

*Proof.* Every partial sum is an integer of absolute value at most B + T*B^2 <= 2^t - B.

So a matrix product over T terms, or T rank-one updates of the same entry, need only one reduction.
The largest such T is `lazy_terms(p, t)`. Since p >= 11, B < p, so a balanced residue is 0 modulo p
only if it is the number 0, and pivots are found by `!= 0`.
"""

from __future__ import annotations

import functools
import importlib
import math
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_cupy_array
from flint import fmpz

from attncert.constructions.errors import InputError

MANTISSA = {"float32": 24, "float64": 53}


def lazy_terms(p: int, dtype: str) -> int:
    """The largest T with B + T*B^2 + B <= 2^t (Lemma 2); 0 if p is too large for the type.

    >>> lazy_terms(1019, "float32"), lazy_terms(11863067, "float64"), lazy_terms(8191, "float32")
    (63, 256, 0)
    """
    twice = p + 8  # 2B, an integer
    return max(0, (4 * (1 << MANTISSA[dtype]) - 4 * twice) // twice**2)


def modulus(p: Any, dtype: str, terms: int = 1) -> int:
    """Return `p`. Raises InputError unless p is a prime >= 11 that allows sums of `terms`
    products."""
    if isinstance(p, bool) or not isinstance(p, int) or p < 11 or not fmpz(p).is_prime():
        raise InputError("prime", "a prime of at least 11", repr(p))
    if lazy_terms(p, dtype) < terms:
        largest = 2 * math.isqrt(2 ** MANTISSA[dtype] // terms) - 8
        raise InputError("prime", f"at most about {largest} for elimination in {dtype}", p)
    return p


def reduce(x: Any, p: int) -> Any:
    """The balanced residues of an array of integers stored as floats, |x| <= 2^t - B (Lemma 1).

    >>> import numpy as np
    >>> reduce(np.array([0.0, 12.0, -13.0, 2.0**40]), 11).tolist()
    [0.0, 1.0, -2.0, 1.0]
    """
    if is_cupy_array(x):
        return _one_kernel()(x, 1.0 / p, float(p))
    # array-api-compat's NumPy takes 0.1 s to load
    xp = np if isinstance(x, np.ndarray) else array_namespace(x)
    return x - xp.round(x * (1.0 / p)) * p


@functools.cache
def _one_kernel() -> Any:
    """Lemma 1 as one GPU kernel, which reads and writes each number once."""
    cupy = importlib.import_module("cupy")

    def reduced(x: Any, over_p: float, p: float) -> Any:
        return x - cupy.rint(x * over_p) * p

    return cupy.fuse(reduced)


def matmul(a: Any, b: Any, p: int) -> Any:
    """a @ b modulo p, balanced; (..., m, n) @ (..., n, k), float64 balanced residues.

    The inner dimension is cut into slabs of `lazy_terms` products (Lemma 2). A library's matrix
    product qualifies, whatever its order of summation. Strassen's algorithm, which subtracts, and
    products with fewer bits (TF32) would not, but no double-precision routine uses them by default.

    >>> import numpy as np
    >>> a = np.array([[5.0, -5.0, 5.0]])
    >>> matmul(a, np.full((3, 1), 5.0), 11).tolist()
    [[3.0]]
    """
    slab = lazy_terms(p, "float64")
    inner = a.shape[-1]
    total = a[..., :, : min(slab, inner)] @ b[..., : min(slab, inner), :]
    for start in range(slab, inner, slab):
        stop = min(start + slab, inner)
        total = reduce(total, p) + a[..., :, start:stop] @ b[..., start:stop, :]
    return reduce(total, p)


def inverse(x: Any, p: int) -> Any:
    """x^(p-2) modulo p for each entry, balanced: the inverse, or 0 if x is 0 (Fermat).

    >>> import numpy as np
    >>> inverse(np.array([0.0, 1.0, 2.0, -3.0]), 11).tolist()
    [0.0, 1.0, -5.0, -4.0]
    """
    power = reduce(x * 0 + 1, p)
    for bit in bin(p - 2)[2:]:
        power = reduce(power * power, p)
        if bit == "1":
            power = reduce(power * x, p)
    return power


def require_exact_products(xp: Any, p: int) -> None:
    """Check the largest sums that the bound allows against integers, to reject emulated doubles."""
    terms, extreme = lazy_terms(p, "float64"), p // 2
    left, right = xp.full((8, terms), float(extreme)), xp.full((terms, 8), -float(extreme))
    left[0, 0] = float(extreme - 1)
    product, total = left @ right, float(-terms * extreme**2)
    if not bool(xp.all(product[1:, :] == total)) or float(product[0, 0]) != total + extreme:
        raise RuntimeError("float64 products are not exact on this device")


def random_projection(table: Any, width: int, p: int, rng: np.random.Generator) -> Any:
    """table @ R modulo p for a random (d, width) matrix R; table: (N, d), float64 residues.

    If the images of rows are independent, so are the rows. If width >= k, the images of k
    independent rows are independent unless a nonzero polynomial of degree k in the entries of R
    vanishes, which happens about once in p^(width - k + 1) draws.

    >>> import numpy as np
    >>> random_projection(np.eye(3), 2, 11, np.random.default_rng(0)).shape
    (3, 2)
    """
    xp = array_namespace(table)
    draw = rng.integers(0, p, size=(table.shape[1], width)) - p // 2
    mixing = xp.asarray(draw.astype(np.float64), device=device(table))
    return matmul(table, mixing, p)
