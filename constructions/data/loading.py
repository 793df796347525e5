"""Data sets from files: JSON or .npz, read exactly, or refused in one line.

JSON: {"contexts": ..., "queries": ..., "labels": ...}, and "name" if wanted. Numbers are integers,
floats (taken as the nearest float64, exactly) or strings "p" or "p/q". Contexts are (T, n, d), or
(n, d) when shared by all examples; queries (T, d); labels (T,) or (T, m). An .npz archive holds
arrays of the same names and shapes, of integers or of floats of at most 64 bits. Labels may be
booleans: false is 0, true is 1. A certificate is read as the data in it. The name "-" means
standard input, where the first bytes tell which format it is.

Nothing here trusts a file: what it claims is compared with the limits below before it is read.
`conversion.py` states the limits on digits, denominators and memory of the numbers themselves.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import sys
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, TypeVar

import numpy as np

from attncert.constructions.arrays import AnyArray
from attncert.constructions.data.conversion import MAX_AXES, MAX_DIGITS, describe
from attncert.constructions.data.dataset import ARGUMENTS, Dataset, full_shapes
from attncert.constructions.data.digits import digits
from attncert.constructions.errors import InputError

MAX_JSON_BYTES = 2**26  # 64 MiB; larger data belong in an .npz
MAX_ARRAY_BYTES = 2**31  # of the three arrays of an .npz together, unpacked
MAX_EXAMPLES = 10**6
MAX_HEADER_BYTES = 2**12  # of one array in an .npz; NumPy writes 118
MAX_DIRECTORY_BYTES = 2**12  # of the archive's list of members; NumPy writes under 200

BUNDLED = {"digits": digits}

_FILE = f"a JSON or .npz file, or the name of bundled data ({', '.join(BUNDLED)})"
_KEYS = "contexts, queries and labels"
_NPZ = "an .npz archive as numpy.savez writes it"
_PIECE = 2**18  # bytes of an array that are read at a time
STDIN = "standard input"
_Read = TypeVar("_Read")
Readers = Mapping[str, Callable[[BinaryIO, str, str], _Read]]  # by suffix, without the dot
_SHORT = 600  # characters of an integer that int() reads under any limit of the environment


def load(source: str | os.PathLike[str], unlabelled: bool = False) -> Dataset:
    """The data set in an .npz or JSON file, or the bundled one of that name where no such file is.

    A certificate counts as the data that it holds. unlabelled: whether labels may be missing. The
    data set is named after the file, unless JSON names it. Raises InputError, and nothing else, for
    whatever is no data set; what the file claims is checked before memory is taken for it.

    >>> load("digits").T
    1782
    >>> load("my.json")
    Traceback (most recent call last):
    attncert.InputError: my.json: must be a JSON or .npz file, or the name of bundled \
data (digits), not missing
    """
    name = bundled(source)
    readers: Readers[Dataset] = {
        "npz": partial(read_npz, unlabelled=unlabelled),
        "json": partial(parse_json, unlabelled=unlabelled),
    }
    return BUNDLED[name]() if name else read_source(source, readers)


def bundled(source: str | os.PathLike[str]) -> str | None:
    """The name of bundled data that `source` is, where no file of that name exists."""
    return str(source) if str(source) in BUNDLED and not os.path.lexists(source) else None


def read_source(
    source: str | os.PathLike[str], readers: Readers[_Read], must: str = _FILE
) -> _Read:
    """What the reader for its format makes of a file, or of standard input ("-"): a function of
    (file, name, what error lines call it), chosen by the suffix, or there by the first bytes.
    Other suffixes are read as JSON. must: what error lines say the file must be."""
    path, shown = Path(source), str(source) or "''"
    try:
        if shown == "-":
            content = standard_input()
            return readers[_format(content, readers)](io.BytesIO(content), "stdin", STDIN)
        if not path.exists():
            raise InputError(shown, must, "missing")
        if not path.is_file():  # a pipe would block, a device never end
            raise InputError(shown, must, "a directory" if path.is_dir() else "a pipe or device")
        with path.open("rb") as file:
            suffix = path.suffix.lower().removeprefix(".")
            return readers[suffix if suffix in readers else "json"](file, path.stem, shown)
    except OSError as error:
        raise InputError(shown, must, f"unreadable ({error.strerror or error})") from None
    except MemoryError:
        raise InputError(shown, "data that fit the memory of this machine", "larger") from None


def standard_input() -> bytes:
    """All of standard input, up to the limit of a JSON text. Raises InputError, also where it is
    empty: read already, for another argument."""
    content = sys.stdin.buffer.read(MAX_JSON_BYTES + 1)
    if not content:
        raise InputError(STDIN, "a file, for one argument alone", "empty")
    if len(content) > MAX_JSON_BYTES:
        raise InputError(STDIN, f"at most {MAX_JSON_BYTES} bytes", "longer")
    return content


def _format(content: bytes, readers: Mapping[str, object]) -> str:
    """Which format these bytes begin: archive, array, object, or else lines of numbers.

    >>> [_format(x, ("npz", "json", "npy", "csv")) for x in (b"PK", b"\\x93NUMPY", b" {", b"1,2")]
    ['npz', 'npy', 'json', 'csv']
    """
    if "safetensors" in readers and content[8:9] == b"{":  # behind the length of this header
        return "safetensors"
    start = content[:64].removeprefix(b"\xef\xbb\xbf").lstrip()
    for key, first in (("npz", b"PK"), ("npy", b"\x93NUMPY"), ("json", b"{")):
        if key in readers and start.startswith(first):
            return key
    return "csv" if "csv" in readers else "json"


def json_value(text: bytes, source: str) -> Any:
    """The value of a JSON text (UTF-8), no key twice; invalid numbers stay texts.

    Raises InputError. `source` is what error lines call it.
    """
    if len(text) > MAX_JSON_BYTES:
        raise InputError(source, f"JSON of at most {MAX_JSON_BYTES} bytes", "longer")
    try:
        return json.loads(
            text.decode("utf-8-sig"),
            object_pairs_hook=_unique,
            parse_constant=_Literal,
            parse_float=_float,
            parse_int=lambda x: int(x) if len(x) <= _SHORT else _Literal(x),
        )
    except UnicodeDecodeError as error:
        raise InputError(source, "JSON in UTF-8", f"bytes with {error.reason}") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}: {error.msg}"
        raise InputError(source, "JSON", f"a text with an error ({where})") from None
    except RecursionError:
        raise InputError(source, f"JSON nested at most {MAX_AXES} deep", "deeper") from None
    except _Duplicate as error:
        raise InputError(source, "JSON with each key once", f"with {error} twice") from None


def parse_json(
    text: bytes | BinaryIO, name: str = "data", source: str = "data", unlabelled: bool = False
) -> Dataset:
    """The data set in a JSON text (UTF-8). `source` is what error lines call it."""
    value, title = parse_object(text, name, source)
    value = {key: x for key, x in value.items() if key != "labels" or x is not None}
    _require_keys(source, list(value), unlabelled)
    queries = value["queries"]
    count = len(queries) if isinstance(queries, list) else 0
    _require_few(count)
    return Dataset.of(value["contexts"], queries, value.get("labels"), title)


def parse_object(text: bytes | BinaryIO, name: str, source: str) -> tuple[dict[str, Any], str]:
    """The object in a JSON text, without its "name", and that name (or the one given). Of a
    certificate: its data."""
    text = text if isinstance(text, bytes) else text.read(MAX_JSON_BYTES + 1)
    value = json_value(text, source)
    if not isinstance(value, dict):
        raise InputError(source, f"an object with {_KEYS}", describe(value))
    if str(value.get("format")).startswith("attncert/"):
        value = _data_of_certificate(value)
    title = value.pop("name", name)
    if type(title) is not str:
        raise InputError("name", "a string", describe(title))
    return value, title


def _data_of_certificate(value: dict[str, Any]) -> dict[str, Any]:
    """Without labels where zeros stand in the place of labels that there were not: the format has
    no optional keys, and full-rank is claimed without labels, too."""
    data = value.get("data")
    if not isinstance(data, dict):
        raise InputError("data", "an object, as in every certificate", describe(data))
    labels = data.get("labels")
    none = isinstance(labels, list) and all(row == ["0"] for row in labels)
    return {
        k: x
        for k, x in data.items()
        if k != "labels" or value.get("claim") != "full-rank" or not none
    }


def read_npz(
    file: BinaryIO, name: str = "data", source: str = "data", unlabelled: bool = False
) -> Dataset:
    """The data set in an .npz archive. `source` is what error lines call it."""

    def choose(keys: list[str]) -> tuple[str, ...]:
        _require_keys(source, keys, unlabelled)
        return tuple(key for key in ARGUMENTS if key in keys)

    def check(shapes: list[tuple[int, ...]]) -> None:
        E, e, *y = shapes
        _require_few(full_shapes(E, e, y[0] if y else None)[1][0])

    arrays = read_arrays(file, source, choose, check)
    return Dataset.of(arrays["contexts"], arrays["queries"], arrays.get("labels"), name)


def read_npy(file: BinaryIO, source: str) -> np.ndarray:
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


def read_csv(file: BinaryIO, source: str) -> list[list[Any]]:
    """The rows of a CSV file (UTF-8, commas), cells as JSON would have them: integers, floats,
    "p/q". A first row without any number is a header, left out; so are empty lines."""
    text = file.read(MAX_JSON_BYTES + 1)
    if len(text) > MAX_JSON_BYTES:
        raise InputError(source, f"CSV of at most {MAX_JSON_BYTES} bytes", "longer")
    try:
        lines = csv.reader(io.StringIO(text.decode("utf-8-sig"), newline=""))
        rows = [[_cell(cell.strip()) for cell in row] for row in lines if any(row)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(source, "CSV in UTF-8", f"unreadable ({error})") from None
    named = rows and all(isinstance(x, str) and not re.search("[0-9]", x) for x in rows[0])
    return rows[1:] if named else rows


def _cell(text: str) -> Any:
    """An integer or "p/q" stays a text, which is read exactly; what has a point is a float."""
    try:
        return text if re.fullmatch("-?[0-9]+(/[0-9]+)?", text, re.ASCII) else float(text)
    except ValueError:
        return text


def read_arrays(
    file: BinaryIO,
    source: str,
    choose: Callable[[list[str]], Sequence[str]],
    check: Callable[[list[tuple[int, ...]]], None] = lambda shapes: None,
    limit: int = MAX_ARRAY_BYTES,
) -> dict[str, AnyArray]:
    """Some arrays of an .npz archive, by name: those that `choose` picks from the names in it.

    Headers first: sizes, shapes (judged by `check`) and dtypes are compared with each other, with
    the archive's own list and with the limits before any array is read. Nothing is unpickled.
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


class _Literal(str):
    """A JSON number that is no finite float or short integer: its text, judged where it stands."""


class _Duplicate(Exception):
    """A key that occurs twice in one JSON object."""


def _float(text: str) -> float | _Literal:
    value = float(text) if len(text) <= MAX_DIGITS else math.inf
    return value if math.isfinite(value) else _Literal(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in pairs:
        if key in out:
            raise _Duplicate(repr(key[:100]))
        out[key] = value
    return out


def _require_keys(source: str, keys: list[str], unlabelled: bool) -> None:
    if sorted(keys) == sorted(ARGUMENTS):
        return
    absent = sorted(keys) == sorted(ARGUMENTS[:2])
    if not (absent and unlabelled):
        got = ", ".join(repr(key[:40]) for key in sorted(keys)) or "none"
        only = " (only prove --claim full-rank needs no labels)" if absent else ""
        raise InputError(source, f"made of {_KEYS}{only}", f"of {got}")


def _require_few(examples: int) -> None:
    if examples > MAX_EXAMPLES:
        raise InputError("queries", f"at most {MAX_EXAMPLES} examples", examples)


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
