"""Coordinates in which many subsets of one table are cheap to test, all exact modulo p.

Independence of rows does not depend on the coordinates, and *fewer* coordinates can only lose it:
a subset that is independent after either map below is independent, modulo p and so over Q.

**Projection.** Multiply the N×d table by one random d×w matrix, w >= k. A subset of k vectors that
is independent modulo p stays so unless a nonzero polynomial of degree k in the random entries
vanishes, about once in p^(w-k+1). One product serves all subsets, and an elimination then costs
k²w instead of k²d.

**Systematic form** (ours; the generator matrices of coding theory). Choose a basis among the
vectors themselves, in random order, and write every vector in it: basis vectors become unit
vectors. In a k-subset S with u of them, those u are independent for free, and S is independent
exactly when the k-u others are independent in the coordinates that belong to none of the u.
A random subset of N vectors of rank r has u = kr/N on average, so a cubic elimination costs
(1 - r/N)^3 of what it did: 0.23 at N = 2,000, r = 768. Of the r-u >= k-u coordinates only about
k-u are used, by consecutive choice; generic coefficients allow that, and where they do not (sparse
data) the subset is tested again by projection. The price, once per table, is one reduced echelon
form: 2dNr operations. The coefficients are also the fundamental circuits of the basis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from attncert.constructions.arrays import FloatArray, IntArray, ResidueArray
from attncert.verify.rank.engines import cpu
from attncert.verify.rank.engines.arithmetic import matmul


@dataclass(frozen=True, eq=False)
class Systematic:
    """A table in a basis of its own vectors, modulo p.

    basis:        (r,) indices of the basis vectors.
    position:     (N,) int64: place in `basis`, or -1.
    coefficients: (N, r) balanced residues: vector i is the sum of coefficients[i, j] * basis[j].
    """

    basis: IntArray
    position: IntArray
    coefficients: ResidueArray
    prime: int


def projected_width(k: int, width: int) -> int:
    """Coordinates to project to: k and its padding (free on CPU, and it makes failures rarer)."""
    return min(width, -(-k // 16) * 16)


def random_projection(table: Any, width: int, p: int, rng: np.random.Generator) -> Any:
    """table @ R modulo p for a random (d, width) matrix R; `table` float64 residues, any xp.

    >>> import numpy as np
    >>> random_projection(np.eye(3), 2, 11, np.random.default_rng(0)).shape
    (3, 2)
    """
    from array_api_compat import array_namespace, device

    xp = array_namespace(table)
    draw = rng.integers(0, p, size=(table.shape[1], width)) - p // 2
    mixing = xp.asarray(draw.astype(np.float64), device=device(table))
    return matmul(table, mixing, p)


def worth_systematic(vectors: int, width: int, k: int, subsets: int, threads: int) -> bool:
    """Whether `subsets` eliminations of size k repay one reduced echelon form of the table.

    Counts multiplications: the form is one sequential job, the eliminations run on all threads.

    >>> worth_systematic(2000, 768, 197, 5000, 2), worth_systematic(2000, 768, 197, 50, 2)
    (True, False)
    """
    rank = min(vectors, width)
    saved = k**3 / 3 - (k * (1 - rank / vectors)) ** 3 / 3
    return subsets * saved / threads > width * vectors * rank


def systematic(table: FloatArray, p: int, dtype: str, rng: np.random.Generator) -> Systematic:
    """Systematic form of a float64 (N, d) table of balanced residues, kept in `dtype`.

    >>> import numpy as np
    >>> form = systematic(np.array([[1.0, 0], [1, 1], [0, 1]]), 11, "float64",
    ...                   np.random.default_rng(0))
    >>> back = matmul(form.coefficients, np.array([[1.0, 0], [1, 1], [0, 1]])[form.basis], 11)
    >>> back.tolist()
    [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    """
    order = rng.permutation(len(table))
    pivots, rows = cpu.echelon(np.ascontiguousarray(table[order].T, dtype=dtype), p)
    basis = order[pivots]
    coefficients = np.empty((len(table), len(basis)), dtype=dtype)
    coefficients[order] = rows.T
    position = np.full(len(table), -1, dtype=np.int64)
    position[basis] = np.arange(len(basis))
    return Systematic(basis, position, coefficients, p)
