"""The data of a certificate in an .npz beside it: mapped arrays of integers, never read as a whole.

A few examples are read at a time, so that memory does not depend on the size of the file.
Compressed archives cannot be mapped and are refused. The SHA-256 is compared first, but anyone who
can write to the file during the check can deceive the checker.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from attncert.constructions.data.archives import mapped
from attncert.constructions.errors import InputError
from attncert.verify.checker import Limits, Rejected, need
from attncert.verify.checker.reading import dims

PIECE = 2**20  # the most entries read at a time
NAMES = ("contexts", "queries", "labels")


@dataclass(frozen=True)
class MappedArray:
    """An array of integers in the file, as accepted by `numbers` in verify/checker/reading.py."""

    array: np.ndarray[Any, Any]

    def integers(self, where: str, *shape: int) -> tuple[np.ndarray[Any, Any], int, int]:
        """The stored array, the denominator 1, and the bits of the longest entry."""
        if where == "contexts" and len(self.array) == 1:
            shape = (1, *shape[1:])
        fits = self.array.shape == shape
        need(fits, f"{where} must be of the shape {shape}, as dims say, not {self.array.shape}")
        largest = max(max(int(part.max()), -int(part.min())) for part in self._pieces())
        return self.array, 1, max(1, largest.bit_length())

    def _pieces(self) -> Iterator[np.ndarray[Any, Any]]:
        step = max(1, PIECE // (self.array.size // len(self.array)))
        for start in range(0, len(self.array), step):
            yield self.array[start : start + step]


def tables(path: str, cert: dict[str, Any], limits: Limits) -> dict[str, MappedArray]:
    """The data in `path`, an .npz whose size has already been checked. Raises Rejected."""
    name = cert["data_file"]["name"]
    need(cert["claim"] == "full-rank", "data in an .npz are read only for the claim full-rank")
    for key in ("origin", "tokens"):
        need(cert[key] is None, f"{key} must be null if the data are in an .npz")
    limits.on_time()
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        need(digest == cert["input_sha256"], f"{name} does not match input_sha256", "wrong")
        try:
            arrays = mapped(file, name)
        except InputError as error:
            raise Rejected("unusable", str(error)) from None
    fits = {"contexts", "queries"} <= {*arrays} <= {*NAMES}
    need(fits, f"{name} must hold the arrays contexts, queries and labels, not {sorted(arrays)}")
    if "labels" not in arrays:  # zeros will do, since full-rank is not about labels
        shape = dims(cert, "examples labels")
        arrays["labels"] = np.broadcast_to(np.zeros((), np.int8), shape)
    for key, array in arrays.items():
        kind = array.dtype.kind == "i" and array.size > 0
        need(kind, f"{key} must be signed integers of at most 64 bits, not {array.dtype}")
    labels = arrays["labels"]
    return {key: MappedArray(array) for key, array in arrays.items()} | {
        "labels": MappedArray(labels[:, None] if labels.ndim == 1 else labels)
    }
