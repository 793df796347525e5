"""Data sets from JSON or .npz files, read exactly or refused with a one-line error.

The formats are in docs/commands.md. Files are not trusted: their claims are checked against the
limits below first. Limits on arrays are in `archives.py`, on numbers in `conversion.py`."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from attncert.constructions.data.archives import read_arrays
from attncert.constructions.data.conversion import MAX_AXES, MAX_DIGITS, describe
from attncert.constructions.data.dataset import ARGUMENTS, Dataset, full_shapes
from attncert.constructions.data.digits import digits
from attncert.constructions.data.sequences import KEYS, of_sequences
from attncert.constructions.errors import InputError, no_such_file, odd_key

MAX_JSON_BYTES = 2**26  # 64 MiB; larger data belong in an .npz
MAX_EXAMPLES = 10**6

BUNDLED = {"digits": digits}

_FILE = f"a JSON or .npz file, or the name of bundled data ({', '.join(BUNDLED)})"
_KEYS = "contexts, queries and labels"
STDIN = "standard input"
_Read = TypeVar("_Read")
Readers = Mapping[str, Callable[[BinaryIO, str, str], _Read]]  # by suffix, without the dot
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_NUMBERS = re.compile(r"[0-9]|^[+-]?(nan|inf|infinity)$", re.IGNORECASE)  # headers do not match
_FIRST = {"npz": b"PK", "npy": b"\x93NUMPY", "json": b"{"}
_SHORT = 600  # int() reads this many digits whatever limit the environment sets


def load(source: str | os.PathLike[str]) -> Dataset:
    """The data set in an .npz or JSON file, or the bundled one if no file of that name exists.

    Contexts (T, n, d) or (n, d), queries (T, d), and labels (T,) or (T, m), if any, are exact:
    decimals in JSON are taken as written, and floats in an .npz as the rationals that they store.
    If the file is a certificate, the result is the data that it holds. The data set is named after
    the file, unless the JSON file names it. Raises InputError, and nothing else, if the file is not
    a data set; its claims are checked before memory is allocated. Source: docs/commands.md.

    >>> load("digits").T
    1782
    >>> load("my.json")
    Traceback (most recent call last):
    attncert.InputError: my.json: there is no such file; it must be a JSON or \
.npz file, or the name of bundled data (digits)
    """
    name = bundled(source)
    readers: Readers[Dataset] = {"npz": read_npz, "json": parse_json}
    return BUNDLED[name]() if name else read_source(source, readers)


def bundled(source: str | os.PathLike[str]) -> str | None:
    """The name of the bundled data that `source` means; a file of that name takes precedence."""
    return str(source) if str(source) in BUNDLED and not os.path.lexists(source) else None


def read_source(
    source: str | os.PathLike[str], readers: Readers[_Read], must: str = _FILE
) -> _Read:
    """Read a file, or standard input ("-"), with the reader for its suffix, or for its first bytes
    on standard input; other suffixes are read as JSON."""
    path, title = Path(source), str(source)
    try:
        if title == "-":
            content = standard_input()
            return readers[_format(content, readers)](io.BytesIO(content), "stdin", STDIN)
        if not path.exists():
            raise no_such_file(title, must)
        if not path.is_file():  # a pipe would block, and a device would never end
            raise InputError(title, must, "a directory" if path.is_dir() else "a pipe or device")
        with path.open("rb") as file:
            suffix = path.suffix.lower().removeprefix(".")
            return readers[suffix if suffix in readers else "json"](file, path.stem, title)
    except OSError as error:
        raise InputError(title, must, f"unreadable ({error.strerror or error})") from None
    except MemoryError:
        raise InputError(title, "data that fit in this machine's memory", "larger") from None


def standard_input() -> bytes:
    """All of standard input. Raises InputError if it is too long, or was read before."""
    try:
        content = sys.stdin.buffer.read(MAX_JSON_BYTES + 1)
    except OSError as error:  # it is a folder, or open for writing only
        raise InputError(STDIN, "one that can be read", error.strerror or error) from None
    if not content:
        raise InputError(STDIN, "a file, given for one argument only", "empty")
    if len(content) > MAX_JSON_BYTES:
        raise InputError(STDIN, f"at most {MAX_JSON_BYTES} bytes", "longer")
    return content


def _format(content: bytes, readers: Mapping[str, object]) -> str:
    """The format of data that begin with these bytes.

    >>> [_format(x, ("npz", "json", "npy", "csv")) for x in (b"PK", b"\\x93NUMPY", b" {", b"1,2")]
    ['npz', 'npy', 'json', 'csv']
    """
    start = content[:64].removeprefix(b"\xef\xbb\xbf").lstrip()
    for key, first in _FIRST.items():
        if key in readers and start.startswith(first):
            return key
    return "csv" if "csv" in readers else "json"


def json_value(text: bytes, source: str, exact: bool = False) -> Any:
    """The value of a JSON text (UTF-8) without duplicate keys; invalid numbers stay strings. exact:
    whether decimals are `Decimal` and not floats. Raises InputError."""
    if len(text) > MAX_JSON_BYTES:
        raise InputError(source, f"JSON of at most {MAX_JSON_BYTES} bytes", "longer")
    try:
        return json.loads(
            text.decode("utf-8-sig"),
            object_pairs_hook=_unique,
            parse_constant=_Literal,
            parse_float=_decimal if exact else _float,
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


def parse_json(text: bytes | BinaryIO, name: str = "data", source: str = "data") -> Dataset:
    """The data set in a JSON text (UTF-8). source: its name in errors. Raises InputError."""
    content, title = parse_object(text, name, source)
    content = {key: x for key, x in content.items() if key != "labels" or x is not None}
    if "sequences" in content:
        return _of_sequences(content, title, source)
    _require_keys(source, list(content))
    queries = content["queries"]
    count = len(queries) if isinstance(queries, list) else 0
    _require_few(count)
    return Dataset.of(content["contexts"], queries, content.get("labels"), title)


def _of_sequences(content: dict[str, Any], title: str, source: str) -> Dataset:
    further = set(content) - set(KEYS)
    if further or "embedding" not in content:
        actual = f"with {min(further)[:40]!r}" if further else "without embedding"
        raise InputError(source, f"made of {', '.join(KEYS)}", actual)
    data = of_sequences(**content, name=title)
    _require_few(data.T)
    return data


def parse_object(text: bytes | BinaryIO, name: str, source: str) -> tuple[dict[str, Any], str]:
    """The object in a JSON text (the data, for a certificate), and its name. Raises InputError."""
    text = text if isinstance(text, bytes) else text.read(MAX_JSON_BYTES + 1)
    content = json_value(text, source, exact=True)
    if not isinstance(content, dict):
        raise InputError(source, f"an object with {_KEYS}", describe(content))
    if str(content.get("format")).startswith("attncert/"):
        content = _data_of_certificate(content)
    title = content.pop("name", name)
    if type(title) is not str:
        raise InputError("name", "a string", describe(title))
    return content, title


def _data_of_certificate(certificate: dict[str, Any]) -> dict[str, Any]:
    """The data of a certificate, without the zeros that stand for missing labels."""
    data = certificate.get("data")
    if not isinstance(data, dict):
        raise InputError(
            "data", "an object, as in a certificate that holds its data", describe(data)
        )
    labels = data.get("labels")
    zeros = isinstance(labels, list) and all(row == ["0"] for row in labels)
    none = zeros and certificate.get("claim") == "full-rank" and "sequences" not in data
    return {key: x for key, x in data.items() if key != "labels" or not none}


def read_npz(file: BinaryIO, name: str = "data", source: str = "data") -> Dataset:
    """The data set in an .npz archive. source: its name in errors. Raises InputError."""

    def choose(keys: list[str]) -> tuple[str, ...]:
        _require_keys(source, keys)
        return tuple(key for key in ARGUMENTS if key in keys)

    def check(shapes: list[tuple[int, ...]]) -> None:
        E, e, *y = shapes
        _require_few(full_shapes(E, e, y[0] if y else None)[1][0])

    arrays = read_arrays(file, source, choose, check)
    return Dataset.of(arrays["contexts"], arrays["queries"], arrays.get("labels"), name)


def read_csv(file: BinaryIO, source: str) -> list[list[Any]]:
    """The rows of a CSV file (UTF-8, commas) without a header; cells are numbers as in JSON. Raises
    InputError."""
    text = file.read(MAX_JSON_BYTES + 1)
    if len(text) > MAX_JSON_BYTES:
        raise InputError(source, f"CSV of at most {MAX_JSON_BYTES} bytes", "longer")
    try:
        lines = csv.reader(io.StringIO(text.decode("utf-8-sig"), newline=""))
        rows = [[_cell(cell.strip()) for cell in row] for row in lines if any(row)]
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(source, "CSV in UTF-8", f"unreadable ({error})") from None
    named = rows and all(isinstance(x, str) and not _NUMBERS.search(x) for x in rows[0])
    return rows[1:] if named else rows


def _cell(text: str) -> Any:
    """The exact value of a decimal; other text stays a string, for the conversion to judge."""
    return _decimal(text) if _DECIMAL.fullmatch(text) else text


class _Literal(str):
    """The text of a JSON number that is neither a finite float nor a short integer."""


class _Duplicate(Exception):
    """A key occurs twice in one JSON object."""


def _decimal(text: str) -> Decimal | _Literal:
    try:
        return Decimal(text) if len(text) <= MAX_DIGITS else _Literal(text)
    except InvalidOperation:  # an exponent of many digits
        return _Literal(text)


def _float(text: str) -> float | _Literal:
    number = float(text) if len(text) <= MAX_DIGITS else math.inf
    return number if math.isfinite(number) else _Literal(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, content in pairs:
        if key in out:
            raise _Duplicate(repr(key[:100]))
        out[key] = content
    return out


def _require_keys(source: str, keys: list[str]) -> None:
    if sorted({*keys, "labels"}) != sorted(ARGUMENTS) or len({*keys}) < len(keys):
        raise InputError(source, f"made of {_KEYS}", odd_key(keys, ARGUMENTS))


def _require_few(examples: int) -> None:
    if examples > MAX_EXAMPLES:
        raise InputError("queries", f"at most {MAX_EXAMPLES} examples", examples)
