"""Arrays from NumPy's own files, .npy and .npz: what a file claims is checked before it is read.

Nothing is unpickled, and no header is evaluated. An array has integers, or floats of at most 64
bits; the one named "labels" may be of booleans.
"""

from __future__ import annotations

import math
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, BinaryIO, Literal

import numpy as np

from attncert.constructions.arrays import AnyArray
from attncert.constructions.errors import InputError

MAX_ARRAY_BYTES = 2**31  # of the three arrays of an .npz together, unpacked
MAX_HEADER_BYTES = 2**12  # of one array in an .npz; NumPy writes 118
MAX_DIRECTORY_BYTES = 2**12  # of the archive's list of members; NumPy writes under 200

_NPZ = "an .npz archive as numpy.savez writes it"
_PIECE = 2**18  # bytes of an array that are read at a time
_LOCAL = 30  # bytes before the name of a member, where it stands in the archive


def read_npy(file: BinaryIO, source: str) -> AnyArray:
    """The array in an .npy file, with the limits and the care of `read_arrays`."""
    try:
        header = _header(file, source)
        if header.bytes > MAX_ARRAY_BYTES:
            raise InputError(source, f"an array of at most {MAX_ARRAY_BYTES} bytes", header.bytes)
        if file.seek(0, os.SEEK_END) != header.start + header.bytes:
            raise zipfile.BadZipFile("it has another size than its shape says")
        file.seek(0)
        return _array(file, header)
    except (zipfile.BadZipFile, EOFError, OSError, ValueError) as error:
        must = "an .npy array as numpy.save writes it"
        raise InputError(source, must, f"unreadable ({error})") from None


def read_arrays(
    file: BinaryIO,
    source: str,
    choose: Callable[[list[str]], Sequence[str]],
    check: Callable[[list[tuple[int, ...]]], None] = lambda shapes: None,
    limit: int = MAX_ARRAY_BYTES,
) -> dict[str, AnyArray]:
    """Some arrays of an .npz archive, by name: those that `choose` picks from the names in it.

    Headers first: sizes, shapes (judged by `check`) and dtypes are compared with each other, with
    the archive's own list and with the limits before any array is read.
    """
    try:
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
                    raise zipfile.BadZipFile(f"{key} has another size than its shape says")
            arrays = {}
            for key in keys:
                with archive.open(members[key]) as member:
                    arrays[key] = _array(member, headers[key])
            return arrays
    except InputError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise InputError(source, _NPZ, f"unreadable ({error})") from None


def mapped(file: BinaryIO, source: str) -> dict[str, AnyArray]:
    """All arrays of an .npz that is stored and not compressed, read-only and not in memory.

    With the care of `read_arrays`; integers of int8 to int64 alone, in C order. Raises InputError.
    """
    try:
        _require_short_directory(file)
        size, arrays = file.seek(0, os.SEEK_END), dict[str, AnyArray]()
        with zipfile.ZipFile(file) as archive:
            for info in archive.infolist():
                key = info.filename.removesuffix(".npy")
                if info.compress_type != zipfile.ZIP_STORED or key in arrays:
                    raise zipfile.BadZipFile("compressed, or two arrays of one name")
                with archive.open(info) as member:
                    header = _header(member, key)
                file.seek(info.header_offset + _LOCAL - 4)  # of the name and of what follows it
                lengths = [int.from_bytes(file.read(2), "little") for _ in range(2)]
                start = info.header_offset + _LOCAL + sum(lengths)
                if header.start + header.bytes != info.file_size or start + info.file_size > size:
                    raise zipfile.BadZipFile(f"{key} has another size than its shape says")
                if header.order != "C" or header.dtype[-2] not in "iu" or not header.bytes:
                    must = "integers in C order, at least one"
                    raise InputError(key, must, f"{header.dtype} in order {header.order}")
                arrays[key] = np.memmap(file, header.dtype, "r", start + header.start, header.shape)
    except InputError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise InputError(source, f"{_NPZ}, uncompressed", f"unreadable ({error})") from None
    return arrays


def _require_short_directory(file: BinaryIO) -> None:
    """zipfile reads the whole list of members at once, so look at its length first.

    The end record must be the last 22 bytes, without comment or 64-bit extension: NumPy needs
    neither below 4 GiB, and zipfile then goes by exactly this record.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 42))
    tail = file.read(42)
    end = tail[-22:]
    if len(end) < 22 or not end.startswith(b"PK\5\6") or not end.endswith(b"\0\0"):
        raise zipfile.BadZipFile("no end record in its last 22 bytes")
    length = int.from_bytes(end[12:16], "little")
    if tail[:-22].startswith(b"PK\6\7") or length > MAX_DIRECTORY_BYTES:
        raise zipfile.BadZipFile(f"its directory is over {MAX_DIRECTORY_BYTES} bytes")


@dataclass(frozen=True)
class _Header:
    """What an array claims to be."""

    dtype: str
    shape: tuple[int, ...]
    order: Literal["C", "F"]
    start: int  # bytes before the numbers

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * int(self.dtype[-1])


_MAGIC = re.compile(rb"\x93NUMPY[\1\2\3]\0")
_LAYOUT = re.compile(
    rb"\{ *'descr': *(?P<descr>.+?), *'fortran_order': *(?P<fortran>True|False), "
    rb"*'shape': *\((?P<shape>(?:[0-9]+, ?)*[0-9]*)\),? *\}[ \n]*"
)
_DTYPE = re.compile(r"'([<>|=](?:[iu][1248]|f[248]|b1))'")


def _header(member: IO[bytes], key: str) -> _Header:
    """Read here and not by NumPy, which evaluates it as Python and takes the memory at once."""
    magic = member.read(8)
    length = 2 if magic[6:7] == b"\1" else 4
    size = int.from_bytes(member.read(length), "little")
    text = member.read(min(size, MAX_HEADER_BYTES))
    match = _LAYOUT.fullmatch(text)
    if not _MAGIC.fullmatch(magic) or len(text) != size or match is None:
        raise zipfile.BadZipFile(f"{key} has no header as numpy.save writes it")
    descr = match["descr"].decode("latin-1")
    dtype = _DTYPE.fullmatch(descr)
    if dtype is None or (dtype[1].endswith("b1") and key != "labels"):
        raise InputError(key, "integers, or floats of at most 64 bits", f"dtype {descr}")
    shape = tuple(int(x) for x in match["shape"].split(b",") if x.strip())
    return _Header(dtype[1], shape, "F" if match["fortran"] == b"True" else "C", 8 + length + size)


def _array(member: IO[bytes], header: _Header) -> AnyArray:
    flat = np.empty(math.prod(header.shape), dtype=header.dtype)
    raw, done = flat.view(np.uint8), 0
    member.read(header.start)
    while done < len(raw):
        piece = np.frombuffer(member.read(_PIECE), dtype=np.uint8)
        if not len(piece):
            raise EOFError("it ends early")
        raw[done : done + len(piece)] = piece
        done += len(piece)
    return flat.reshape(header.shape, order=header.order)
