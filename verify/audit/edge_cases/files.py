"""Edge cases of input files: each refused in one line before any work, or accepted exactly."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

from attncert.verify.audit.edge_cases.records import FileCase

_GOOD: dict[str, Any] = {
    "contexts": [[1, 0], [0, 1]],
    "queries": [[1, 2], [3, 1]],
    "labels": [5, 7],
}
_NUMBER = 'an integer, a finite float or a string "p/q"'


def _json(**change: Any) -> Callable[[], bytes]:
    return lambda: json.dumps(_GOOD | change).encode()


def _raw(old: str, new: str) -> Callable[[], bytes]:
    """The good file with a piece of its text replaced."""
    return lambda: json.dumps(_GOOD).replace(old, new).encode()


def _npz(**change: Any) -> Callable[[], bytes]:
    def content() -> bytes:
        out = io.BytesIO()
        arrays: dict[str, Any] = {k: np.asarray(v) for k, v in (_GOOD | change).items()}
        np.savez(out, **arrays)
        return out.getvalue()

    return content


def _claims_to_be_huge() -> bytes:
    """An archive whose first array says that it has 10^12 numbers, in a file of a few bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for key, shape in (("contexts", (10**6, 10**3, 10**3)), ("queries", (10**6, 10**3)),
                           ("labels", (10**6,))):  # fmt: skip
            header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode()
            header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
            archive.writestr(
                f"{key}.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
            )
    return out.getvalue()


def case(
    name: str, why: str, file: str, content: Callable[[], bytes], line: str | None
) -> FileCase:
    must = "accepted" if line is None else "exit status 2, one line"
    return FileCase(name, "files", must, why, "constructions/data/loading.py", file, content, line)


_LABEL = f"labels[0]: must be {_NUMBER}, not "
_NOT_A_NUMBER = "not a finite exact number"
_DEEP = b'{"contexts": ' + b"[" * 10**5 + b"]" * 10**5 + b', "queries": [[1]], "labels": [1]}'
_LONG_DENOMINATORS = [["1/" + str(10**4000 + k) for k in range(1, 30)]] * 2
_SHARES = "one for each of the 2 queries"

CASES = (
    case("NaN", _NOT_A_NUMBER, "d.json", _raw("5", "NaN"), f"{_LABEL}'NaN'"),
    case("Infinity", _NOT_A_NUMBER, "d.json", _raw("5", "Infinity"), f"{_LABEL}'Infinity'"),
    case("1e400", "beyond the floats", "d.json", _raw("5", "1e400"), f"{_LABEL}'1e400'"),
    case("a word", _NOT_A_NUMBER, "d.json", _json(labels=["one", 2]), f"{_LABEL}'one'"),
    case(
        "1e5 as a string", "strings are p or p/q", "d.json", _json(labels=["1e5", 2]),
        f"{_LABEL}'1e5'",
    ),
    case("1/0", "not a rational number", "d.json", _json(labels=["1/0", 2]), f"{_LABEL}'1/0'"),
    case("true", "a truth value, not a number", "d.json", _json(labels=[True, 2]), f"{_LABEL}true"),
    case("null", "not a number", "d.json", _json(labels=[None, 2]), f"{_LABEL}null"),
    case(
        "Arabic digits", "Python's int() reads them, another parser need not", "d.json",
        _json(labels=["\u0661", 2]), f"{_LABEL}'\u0661'",
    ),
    case(
        "1_0", "Python's int() reads it, another parser need not", "d.json",
        _json(labels=["1_0", 2]), f"{_LABEL}'1_0'",
    ),
    case(
        "5,000 digits", "a stated limit, below which Python reads any integer", "d.json",
        _json(labels=["9" * 5000, 2]), "labels[0]: must be a number of at most 4300 digits, not",
    ),
    case(
        "denominators without a common factor", "every numerator would grow by as much", "d.json",
        _json(labels=_LONG_DENOMINATORS),
        "labels: must be numbers with a common denominator of at most 262144 bits, not",
    ),
    case(
        "ragged contexts", "rows of 2 and of 1", "d.json", _json(contexts=[[1, 0], [0]]),
        "contexts[1]: must be a list of 2, like contexts[0], not a list of 1",
    ),
    case(
        "no contexts", "T, n, d, m are positive", "d.json", _json(contexts=[]),
        "contexts: must be (T, n, d) or (n, d) numbers, no size 0, not (0,)",
    ),
    case(
        "queries of width 0", "T, n, d, m are positive", "d.json", _json(queries=[[], []]),
        "queries: must be (T, d) numbers, no size 0, not (2, 0)",
    ),
    case(
        "contexts with four axes", "(T, n, d) or (n, d)", "d.json",
        _json(contexts=[[[[1, 0], [0, 1]]]]),
        "contexts: must be (T, n, d) or (n, d) numbers, no size 0, not (1, 1, 2, 2)",
    ),
    case(
        "three labels for two queries", "one label for each query", "d.json",
        _json(labels=[1, 2, 3]), f"labels: must be {_SHARES}, not 3 of them",
    ),
    case(
        "three contexts for two queries", "one for each, or one for all", "d.json",
        _json(contexts=[[[1, 0], [0, 1]]] * 3),
        f"contexts: must be {_SHARES}, or one shared by all, not 3 of them",
    ),
    case(
        "queries wider than context rows", "both have width d", "d.json",
        _json(queries=[[1, 2, 3], [3, 1, 4]]),
        "queries: must be as wide as the contexts' rows, 2, not 3",
    ),
    case(
        "no labels", "three keys are needed", "d.json",
        lambda: b'{"contexts": [[1]], "queries": [[1]]}',
        "FILE: must be made of contexts, queries and labels (prove --claim full-rank needs no "
        "labels), not of 'contexts', 'queries'",
    ),
    case(
        "a key too many", "a misspelt key must not be passed over", "d.json", _json(weights=[1]),
        "FILE: must be made of contexts, queries and labels, not of",
    ),
    case(
        "a key twice", "which one would count?", "d.json",
        lambda: b'{"contexts": [[1]], "queries": [[1]], "labels": [1], "labels": [2]}',
        "FILE: must be JSON with each key once, not with 'labels' twice",
    ),
    case(
        "half a file", "the brackets do not close", "d.json", lambda: b'{"contexts": [[1]',
        "FILE: must be JSON, not a text with an error (line 1, column 18:",
    ),
    case(
        "an empty file", "not JSON at all", "d.json", lambda: b"",
        "FILE: must be JSON, not a text with an error (line 1, column 1:",
    ),
    case(
        "a list instead of an object", "names are needed", "d.json", lambda: b"[1, 2]",
        "FILE: must be an object with contexts, queries and labels, not a list",
    ),
    case(
        "bytes that are not UTF-8", "JSON is UTF-8", "d.json", lambda: b"\xff\xfe",
        "FILE: must be JSON in UTF-8, not bytes with",
    ),
    case(
        "brackets 100,000 deep", "the parser's stack has an end", "d.json", lambda: _DEEP,
        "FILE: must be JSON nested at most 8 deep, not deeper",
    ),
    case(
        "NaN in an archive", _NOT_A_NUMBER, "d.npz", _npz(labels=[np.nan, 1.0]), f"{_LABEL}nan"
    ),
    case(
        "pickled objects in an archive", "unpickling runs code", "d.npz",
        _npz(labels=np.array([1, "x"], dtype=object)),
        "labels: must be integers, or floats of at most 64 bits, not dtype '|O'",
    ),
    case(
        "complex numbers", "the layer is real", "d.npz", _npz(labels=np.array([1j, 2])),
        "labels: must be integers, or floats of at most 64 bits, not dtype '<c16'",
    ),
    case(
        "a truncated archive", "its list of members is missing", "d.npz",
        lambda: _npz()()[:200], "FILE: must be an .npz archive as numpy.savez writes it, not",
    ),
    case(
        "not an archive", "five bytes of text", "d.npz", lambda: b"hello",
        "FILE: must be an .npz archive as numpy.savez writes it, not",
    ),
    case(
        "an archive that claims 10^12 numbers", "sizes are compared before memory is taken",
        "d.npz", _claims_to_be_huge,
        "FILE: must be arrays of at most 2147483648 bytes, not 8008008000000",
    ),
    case(
        "a byte-order mark", "some editors write one", "d.json",
        lambda: b"\xef\xbb\xbf" + json.dumps(_GOOD).encode(), None,
    ),
    case("an archive as NumPy writes it", "the same data as JSON", "d.npz", _npz(), None),
)  # fmt: skip
