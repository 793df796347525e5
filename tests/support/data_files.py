"""Files of data sets for the tests of loading: valid files, and files with false claims."""

from __future__ import annotations

import io
import json
import struct
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np

VALID: dict[str, Any] = {
    "contexts": [[1, 0], [0, 1]],
    "queries": [[1, 2], [3, 4]],
    "labels": [1, 2],
}
A_NUMBER = 'an integer, a finite float or a string "p/q"'


def json_text(**changes: Any) -> bytes:
    """VALID with these changes, as JSON."""
    return json.dumps(VALID | changes).encode()


def as_json(values: Any) -> Any:
    """Nested lists for `json`: Fractions become "p/q", everything else is unchanged."""
    return each(values, lambda x: str(x) if isinstance(x, Fraction) else x)


def each(values: Any, change: Callable[[Any], Any]) -> Any:
    """Nested lists with each number changed."""
    if isinstance(values, dict):
        return {key: each(x, change) for key, x in values.items()}
    if isinstance(values, list):
        return [each(x, change) for x in values]
    return change(values)


def archive(**arrays: Any) -> io.BytesIO:
    """VALID with these changes, as an .npz."""
    file = io.BytesIO()
    np.savez(file, **{key: np.array(value) for key, value in (VALID | arrays).items()})
    return file


def member(shape: str, descr: str = "<i8", body: bytes = b"") -> bytes:
    """An .npy file with the given header, which may be false."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + body


def zipped(compression: int = zipfile.ZIP_STORED, **members: bytes) -> io.BytesIO:
    """An .npz of these .npy files, valid or not; a valid file if none are given."""
    file = io.BytesIO()
    matrix, vector = member("(1, 1)", body=b"\1" * 8), member("(1,)", body=b"\1" * 8)
    whole = {"contexts": matrix, "queries": matrix, "labels": vector}
    with zipfile.ZipFile(file, "w", compression) as out:
        for key, content in (whole | members).items():
            out.writestr(f"{key}.npy", content)
    return file


@contextmanager
def traced() -> Iterator[Callable[[], int]]:
    """A function that returns the peak memory since the start, in bytes."""
    tracemalloc.start()
    try:
        yield lambda: tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
