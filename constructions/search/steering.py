"""Integer vectors with prescribed products: dual vectors ê_t and steering vectors w_t.

Both solve R x = b over the integers, where R is the group's queries or the row differences of one
context, and both are then shortened by a kernel vector of R that makes the products with *all
other* examples small, since these become exponents of two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import fmpq_mat

from attncert.constructions.arrays import IntegerArray
from attncert.constructions.data.conversion import narrow
from attncert.constructions.exact import integers
from attncert.constructions.exact.lattice import kernel_and_preimages


@dataclass(frozen=True)
class Solver:
    """R x = b over the integers, R (r×k) with independent rows. kernel: a basis of the x with R x =
    0; reach: a reduced basis of all integer vectors R x, as columns."""

    kernel: IntegerArray
    reach: IntegerArray
    _preimages: IntegerArray
    _inverse: fmpq_mat

    @classmethod
    def of(cls, rows: IntegerArray) -> Solver:
        """Raises ValueError if the rows are dependent."""
        kernel, preimages, reach = kernel_and_preimages(integers.to_flint(rows))
        inverse = fmpq_mat(reach).inv() if reach.nrows() else fmpq_mat(0, 0)
        whole = integers.from_flint
        return cls(whole(kernel), whole(reach), whole(preimages), inverse)

    def factor(self, b: IntegerArray) -> int:
        """The smallest positive f for which some integer x has R x = f·b."""
        return int(self._coefficients(b).numer_denom()[1])

    def solve(self, b: IntegerArray) -> IntegerArray:
        """An integer x with R x = b. Raises ValueError if there is none."""
        coefficients, denominator = self._coefficients(b).numer_denom()
        if denominator != 1:
            raise ValueError("no integer vector is mapped to b")
        return integers.product(self._preimages, integers.from_flint(coefficients))[:, 0]

    def _coefficients(self, b: IntegerArray) -> fmpq_mat:
        return self._inverse * fmpq_mat(integers.to_flint(b[:, None]))


class Reducer:
    """Adds kernel combinations that make images·x short (LLL once, then Babai's nearest plane).

    kernel: (k, q) and images: (N, k), integers; the kernel is kept as a basis with reduced images.
    The coefficients are computed in float64 from the leading bits of long numbers and applied
    exactly: rounding affects only the length, never the products R x.
    """

    def __init__(self, kernel: IntegerArray, images: IntegerArray) -> None:
        self.kernel, self._images = kernel, images
        if kernel.shape[1] == 0 or not len(images):
            return
        self.kernel = short_kernel(kernel, images)
        moved = integers.product(images, self.kernel)
        self._down = _excess_bits(moved)
        moved = (moved >> self._down).astype(np.float64)
        self._seen = (moved != 0).any(axis=0)
        self._q, self._r = np.linalg.qr(moved[:, self._seen])

    def __call__(self, x: IntegerArray) -> IntegerArray:
        """x (k,) plus a combination of kernel vectors. Each pass removes about 50 bits."""
        if self.kernel.shape[1] == 0 or not len(self._images) or not self._seen.any():
            return x
        r, kernel = self._r, self.kernel[:, self._seen]
        image = self._image(x)
        for _ in range(3 + integers.largest(image).bit_length() // 40):
            further = max(0, _excess_bits(image) - self._down)
            target = self._q.T @ (image >> (self._down + further)).astype(np.float64)
            steps = np.zeros(len(r))
            for j in range(len(r) - 1, -1, -1):
                if r[j, j]:
                    steps[j] = np.round((target[j] - r[j, j + 1 :] @ steps[j + 1 :]) / r[j, j])
            if not steps.any() or not np.isfinite(steps).all():
                break
            whole = narrow([int(s) << further for s in steps], (len(steps), 1))
            x = integers.subtract(x, integers.product(kernel, whole)[:, 0])
            image = self._image(x)
        return x

    def _image(self, x: IntegerArray) -> IntegerArray:
        return integers.product(self._images, x[:, None])[:, 0]


def _excess_bits(array: IntegerArray) -> int:
    """The bits to drop so that squares and sums of the rest are far from overflowing float64."""
    return max(0, integers.largest(array).bit_length() - 400)


def short_kernel(kernel: IntegerArray, images: IntegerArray) -> IntegerArray:
    """The kernel basis (k, q) whose images (N, k)·(k, q) are LLL-reduced, by their Gram matrix if
    it is nonsingular."""
    moved = integers.product(images, kernel)
    gram = integers.to_flint(integers.product(moved.T, moved))
    if gram.det():
        _, transform = gram.lll(transform=True, rep="gram")
    else:
        _, transform = integers.to_flint(moved.T).lll(transform=True)
    return integers.product(kernel, integers.from_flint(transform).T)
