"""Which rows of a matrix take part in a relation between its rows, modulo a prime."""

from __future__ import annotations

import numpy as np
from flint import nmod_mat

from attncert.constructions.arrays import IntArray


def related_rows(table: IntArray, p: int) -> tuple[int, list[int]]:
    """The rank modulo p, and the rows with a coefficient that is not 0 in some relation. The others
    are independent of one another and of these.

    >>> related_rows(np.array([[1, 0, 0], [0, 1, 1], [0, 2, 2], [0, 0, 5]]), 7)
    (3, [1, 2])
    """
    matrix = nmod_mat(*table.T.shape, table.T.ravel().tolist(), p)
    kernel, nullity = matrix.nullspace()
    basis = np.array([int(x) for x in kernel.entries()]).reshape(len(table), -1)[:, :nullity]
    return len(table) - nullity, [int(t) for t in np.flatnonzero(basis.any(axis=1))]
