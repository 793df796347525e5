"""A compiled test of many sets of six vectors for dependence modulo 8191.

The determinant in six coordinates is computed by Laplace expansion: for each of the 20 ways to
choose three coordinates, a minor of the first three vectors is multiplied by the complementary
minor of the other three, and the products are added. There is no division and no branch, so a block
of sets is computed in parallel.

Every number is an integer in a float64. A residue modulo r = 8191 is the difference from the
nearest multiple of r, so it is at most 4096 in size; minors of two vectors are at most 2^25, minors
of three less than 2^39, and the sum of 20 products of residues less than 2^29. All are far below
2^53, so x - r rint(x / r) is exact; x / r is off by less than 2^-20, so the result is 0 if and only
if r divides x.
"""

from __future__ import annotations

import itertools

import numpy as np
from numba import njit

R = 8191
BLOCK = 64
_CHOICES = np.array(list(itertools.combinations(range(6), 3)))

_compiled = njit(cache=True, nogil=True)
_INDEX, _12 = np.uint64(0xFFF), np.uint64(12)


@_compiled
def singular(sets, coordinates):  # type: ignore[no-untyped-def]
    """Move the dependent sets to the front, and return how many there are.

    sets: (a multiple of BLOCK, 2), three indices of 12 bits in the lower 36 bits of each word.
    coordinates: (N, 6) residues modulo R, -4096 to 4096.
    """
    rows, threes = np.empty((3, 6, BLOCK)), np.empty((2, 20, BLOCK))
    total = np.empty(BLOCK)
    over, count = 1.0 / R, 0
    for start in range(0, len(sets), BLOCK):
        for side in range(2):
            for t in range(BLOCK):
                word = sets[start + t, side]
                for r in range(3):
                    v = word & _INDEX
                    word >>= _12
                    for j in range(6):
                        rows[r, j, t] = coordinates[v, j]
            for which in range(20):
                i, j, m = _CHOICES[which]
                for t in range(BLOCK):
                    a, b, c = rows[0, i, t], rows[0, j, t], rows[0, m, t]
                    d, e, f = rows[1, i, t], rows[1, j, t], rows[1, m, t]
                    x = (a * e - b * d) * rows[2, m, t] - (a * f - c * d) * rows[2, j, t]
                    x += (b * f - c * e) * rows[2, i, t]
                    threes[side, which, t] = x - R * np.rint(x * over)
        total[:] = 0
        for which in range(20):  # the complement of the first choice is the last choice
            i, j, m = _CHOICES[which]
            sign = 1.0 - 2.0 * ((i + j + m) % 2)
            for t in range(BLOCK):
                total[t] += sign * threes[0, which, t] * threes[1, 19 - which, t]
        for t in range(BLOCK):
            if total[t] - R * np.rint(total[t] * over) == 0:
                sets[count, 0], sets[count, 1] = sets[start + t, 0], sets[start + t, 1]
                count += 1
    return count
