"""Where the data come from: rounded from others; read from a file of their own."""

if __name__ == "__main__":
    print("unusable: run the folder: python checker certificate.json")
    raise SystemExit(2)

import os
import re
from fractions import Fraction
from hashlib import sha256
from typing import Any

from .layer import contexts_of
from .limits import Limits, need
from .reading import contents, numbers, typed, values

DATA_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9_-]{0,99}[.](json|npz)")


def rounding(cert: Any, limits: Limits) -> str:
    """Each number of contexts and queries is the multiple of `grid` nearest to the number before,
    of two equally near the even one; labels are unchanged."""
    claim = cert.get("rounding")
    if claim is None:
        return ""
    typed(claim, dict, "rounding", "grid largest_change data")
    before = typed(claim["data"], dict, "rounding.data", "contexts queries labels")
    data = typed(cert["data"], dict, "data to be rounded", "contexts queries labels")
    T, _, d, *_ = cert["dims"].values()
    two = [claim["grid"], claim["largest_change"]]
    (p, change), q, b_g = numbers(limits, two, "rounding", 2)
    need(p > 0, "rounding.grid must be above 0")
    need(before["labels"] == data["labels"], "rounding changed the labels", "wrong")
    largest = Fraction(0)
    for name in ("contexts", "queries"):
        if name == "contexts":
            (old, u, b_x), (new, w, b_y) = (contexts_of(limits, cert, x) for x in (before, data))
        else:
            (old, u, b_x), (new, w, b_y) = (
                numbers(limits, x[name], name, T, d) for x in (before, data)
            )
        need(len(old) == len(new), "rounding changed the number of contexts", "wrong")
        limits.allow(b_x + b_y + b_g)
        limits.divide(b_y + b_g, b_y + b_g)
        most = 0  # of the differences, in units of 1 / (u w); the grid is p u w / q of them
        for x, y in zip(flat(old), flat(new), strict=True):
            limits.on_time()
            k, rest = divmod(y * q, w * p)
            off = abs(x * w - y * u)
            beyond = 2 * off * q - p * u * w  # half a step
            nearest = beyond < 0 or (beyond == 0 and k % 2 == 0)
            need(not rest and nearest, f"{name} are not rounded to the grid", "wrong")
            most = max(most, off)
        largest = max(largest, Fraction(most, u * w))
    need(Fraction(change, q) == largest, "rounding.largest_change is another", "wrong")
    grid = claim["grid"] if len(claim["grid"]) < 40 else "rounding.grid"
    return f"; of data rounded to multiples of {grid}"


def flat(nested: Any) -> Any:
    for x in nested:
        yield from flat(x) if type(x) is list else [x]


def data_file(cert: Any, path: str, limits: Limits, tables: Any, keys: str) -> Any:
    """`data` with these keys, from the file that is named, in the folder of the certificate.

    Size and SHA-256 are compared before anything in it is read. tables: reads integers from an
    .npz (the fast check).
    """
    name, size = cert["data_file"]["name"], typed(cert["data_file"]["bytes"], int, "bytes")
    plain: Any = DATA_NAME.fullmatch(typed(name, str, "data_file.name"))
    need(plain, "data_file.name must be letters, digits, _ or -, and .json or .npz: no folder")
    beside = os.path.join(os.path.dirname(os.path.abspath(path)), name)
    need(os.path.isfile(beside), f"{name} is missing: it belongs beside the certificate")
    need(os.path.getsize(beside) == size, f"{name} has another size than data_file.bytes", "wrong")
    if plain[1] == "npz":
        need(tables, f"{name} is for attncert check --fast", "over limit")
        return tables(beside, cert, limits)
    raw = contents(beside)
    need(sha256(raw).hexdigest() == cert["input_sha256"], f"{name} has another SHA-256", "wrong")
    return typed(values(raw, limits), dict, name, keys)
