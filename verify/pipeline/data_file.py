"""Data in a file beside the certificate, which says its name, its size and its SHA-256.

For more numbers than a certificate holds, or where `--data-file` says so: canonical JSON as long as
verify/checker reads it, an .npz of integers beyond (attncert check --fast).
"""

from __future__ import annotations

import io

import numpy as np

from attncert.constructions.data.dataset import ARGUMENTS, Dataset
from attncert.verify.certificate import (
    DataFile,
    TooLarge,
    canonical_bytes,
    require_readable,
)

INSIDE = 2**22  # numbers of the data that a certificate holds itself


def data_file(data: Dataset, always: bool = False) -> DataFile | None:
    """The file for these data; None where the certificate is to hold them: up to INSIDE numbers,
    unless it is `always` wanted. Raises TooLarge where no checker would read the file.

    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1]], [5, "1/3"])
    >>> data_file(data), data_file(data, always=True)
    (None, {'name': 'certificate-data.json', 'bytes': 93})
    """
    arrays = {argument: getattr(data, argument) for argument in ARGUMENTS[:2]}
    arrays |= {"labels": data.stated} if data.stated is not None else {}
    numbers = sum(array.stored.size for array in arrays.values())
    if numbers <= INSIDE or data.origin.inputs is not None:
        if not always:
            return None
        text = canonical_bytes(data.canonical())
        require_readable(text)
        return DataFile("certificate-data.json", text)
    if data.ragged:
        raise TooLarge(f"the data have {numbers:,} numbers, in contexts of different lengths")
    if any(array.denominator > 1 or array.stored.dtype == object for array in arrays.values()):
        raise TooLarge(f"the data have {numbers:,} numbers, not all of them integers of 64 bits")
    out = io.BytesIO()
    np.savez(out, **{name: array.stored for name, array in arrays.items()})
    return DataFile("certificate-data.npz", out.getvalue())
