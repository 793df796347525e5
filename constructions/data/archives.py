"""Arrays from .npy and .npz files: what a file claims to hold is checked before it is read.

Nothing is unpickled. An array may hold integers, floats of at most 64 bits, or booleans, which a
caller converts to 0 and 1 or refuses.
"""

from __future__ import annotations

import io
import math
import os
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from attncert.constructions.arrays import AnyArray
from attncert.constructions.errors import InputError

MAX_ARRAY_BYTES = 2**31  # limit on the three arrays in an .npz together, unpacked
MAX_HEADER_BYTES = 2**12  # limit on one array's header; NumPy writes 118 bytes
MAX_DIRECTORY_BYTES = 2**12  # limit on the list of members; NumPy writes less than 200 bytes

_NPZ = "an .npz archive as numpy.savez writes it"
_LOCAL = 30  # bytes before the name in the local header of a member


def read_npy(file: BinaryIO, source: str) -> AnyArray:
    """The array in an .npy file, with the limits and checks of `read_arrays`. Raises InputError."""
    with _refused(source, "an .npy array as numpy.save writes it"):
        header = _header(file, source)
        if header.bytes > MAX_ARRAY_BYTES:
            raise InputError(source, f"an array of at most {MAX_ARRAY_BYTES} bytes", header.bytes)
        if file.seek(0, os.SEEK_END) != header.start + header.bytes:
            raise zipfile.BadZipFile("its size does not match its shape")
        file.seek(0)
        return _array(file)


def read_arrays(
    file: BinaryIO,
    source: str,
    choose: Callable[[list[str]], Sequence[str]],
    check: Callable[[list[tuple[int, ...]]], None] = lambda shapes: None,
    limit: int = MAX_ARRAY_BYTES,
) -> dict[str, AnyArray]:
    """The arrays in an .npz archive that `choose` picks by name. Raises InputError
    before any array is read if sizes, shapes (judged by `check`) or dtypes are wrong."""
    with _refused(source, _NPZ):
        _require_short_directory(file)
        with zipfile.ZipFile(file) as archive:
            infos = archive.infolist()
            keys = choose([info.filename.removesuffix(".npy") for info in infos])
            members = {info.filename.removesuffix(".npy"): info for info in infos}
            headers = {}
            for key in keys:
                if members[key].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise zipfile.BadZipFile("neither stored nor deflated")
                with archive.open(members[key]) as member:
                    headers[key] = _header(member, key)
            check([headers[key].shape for key in keys])
            total = sum(header.bytes for header in headers.values())
            if total > limit:
                raise InputError(source, f"arrays of at most {limit} bytes", total)
            for key in keys:
                if headers[key].start + headers[key].bytes != members[key].file_size:
                    raise zipfile.BadZipFile(f"the size of {key} does not match its shape")
            arrays = {}
            for key in keys:
                with archive.open(members[key]) as member:
                    arrays[key] = _array(member)
            return arrays


def mapped(file: BinaryIO, source: str) -> dict[str, AnyArray]:
    """All arrays of an uncompressed .npz (int8 to int64, in C order), mapped read-only instead of
    loaded. Raises InputError."""
    with _refused(source, f"{_NPZ}, uncompressed"):
        _require_short_directory(file)
        size, arrays = file.seek(0, os.SEEK_END), dict[str, AnyArray]()
        with zipfile.ZipFile(file) as archive:
            for info in archive.infolist():
                key = info.filename.removesuffix(".npy")
                if info.compress_type != zipfile.ZIP_STORED or key in arrays:
                    raise zipfile.BadZipFile("compressed, or two arrays have the same name")
                with archive.open(info) as member:
                    header = _header(member, key)
                file.seek(info.header_offset + _LOCAL - 4)  # lengths of name and extra field
                lengths = [int.from_bytes(file.read(2), "little") for _ in range(2)]
                start = info.header_offset + _LOCAL + sum(lengths)
                if header.start + header.bytes != info.file_size or start + info.file_size > size:
                    raise zipfile.BadZipFile(f"the size of {key} does not match its shape")
                if header.fortran or header.dtype.kind not in "iu" or not header.bytes:
                    must, order = "one or more integers in C order", "CF"[header.fortran]
                    raise InputError(key, must, f"{header.dtype.str} in order {order}")
                arrays[key] = np.memmap(file, header.dtype, "r", start + header.start, header.shape)
    return arrays


@contextmanager
def _refused(source: str, must: str) -> Iterator[None]:
    """Turn the errors that a malformed file causes into InputError."""
    try:
        yield
    except InputError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise InputError(source, must, f"unreadable ({error})") from None


def _require_short_directory(file: BinaryIO) -> None:
    """Limit the size of the list of members, which zipfile reads all at once.

    The end record must be the last 22 bytes, with no comment or 64-bit extension: NumPy needs
    neither below 2 GiB, and zipfile then uses exactly this record.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 42))
    tail = file.read(42)
    end = tail[-22:]
    if len(end) < 22 or not end.startswith(b"PK\5\6") or not end.endswith(b"\0\0"):
        raise zipfile.BadZipFile("no end record in its last 22 bytes")
    if tail[:-22].startswith(b"PK\6\7"):
        raise zipfile.BadZipFile("it is 2 GiB or larger: use a smaller integer type")
    if int.from_bytes(end[12:16], "little") > MAX_DIRECTORY_BYTES:
        raise zipfile.BadZipFile(f"its directory is over {MAX_DIRECTORY_BYTES} bytes")


@dataclass(frozen=True)
class _Header:
    """The header of an array. start: the number of bytes before the array's numbers."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    start: int

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def _header(member: IO[bytes], key: str) -> _Header:
    """The header, as NumPy reads it from the first bytes. Raises InputError, BadZipFile."""
    start = io.BytesIO(member.read(MAX_HEADER_BYTES))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # NumPy warns about headers that Python 2 wrote
            shape, fortran, dtype = _HEADERS[npy.read_magic(start)](start)
        if any(size < 0 for size in shape):
            raise ValueError("a negative size")
    except Exception:  # NumPy raises many exception types for a malformed header
        raise zipfile.BadZipFile(f"{key} has no numpy.save header") from None
    if dtype.kind not in "iufb" or dtype.itemsize > 8:
        raise InputError(key, "integers, or floats of at most 64 bits", f"dtype {dtype.str!r}")
    return _Header(shape, fortran, dtype, start.tell())


def _array(member: IO[bytes]) -> AnyArray:
    return npy.read_array(member, allow_pickle=False)
