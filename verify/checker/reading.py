"""Reading a certificate: JSON without floats, digests, and numbers as integers over one
denominator."""

if __name__ == "__main__":
    print("unusable: run the folder, not this file: python checker certificate.json")
    raise SystemExit(2)

import json
import os
import re
import stat
import sys
from collections import namedtuple
from hashlib import sha256
from itertools import islice, repeat
from typing import Any

from .limits import SHORT, Limits, Rejected, need

MAX_FILE_BYTES, MAX_ITEMS = 2**28, 2**23  # an item is a comma or an opening bracket
MAX_DIGITS, MAX_INTEGER = 500_000, 4300  # digits of p or q in "p/q", and of a JSON integer
MAX_DEPTH = 64  # the deepest nesting of brackets
NUMBER = re.compile(f"-?[0-9]{{1,{MAX_DIGITS}}}(?:/[1-9][0-9]{{0,{MAX_DIGITS - 1}}})?")
Table = namedtuple("Table", "rows unit bits")  # integers `rows` over `unit`, of at most `bits` bits


def typed(part: Any, kind: type, where: str, keys: str = "") -> Any:
    """The value, which must have this type. An object, or each object in a list, must have these
    keys."""
    need(type(part) is kind, f"{where} must be of type {kind.__name__}")
    names = set(keys.split())
    for one in [part] if kind is dict else part if keys else []:
        need(type(one) is dict, f"each of {where} must be an object")
        odd = min(one.keys() ^ names, default=None)
        have = "not have" if odd in one else "have"
        need(odd is None, f"{where} must {have} the key {odd!a:.40}")
    return part


def dims(cert: Any, names: str) -> list[int]:
    """The sizes with these names, in this order."""
    return [cert["dims"][name] for name in names.split()]


def all_of(T: int) -> str:
    return "the one example" if T == 1 else f"all {T} examples"


def contents(path: str) -> bytes:
    need(stat.S_ISREG(os.stat(path).st_mode), "this is not a regular file")
    with open(path, "rb") as file:
        raw = file.read(min(os.stat(path).st_size, MAX_FILE_BYTES) + 1)
    need(len(raw) <= MAX_FILE_BYTES, f"the file has over {MAX_FILE_BYTES} bytes")
    return raw


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    once = dict(pairs)
    need(len(once) == len(pairs), "a key occurs twice in one object")
    return once


def whole(text: str) -> int:
    need(len(text.lstrip("-")) <= MAX_INTEGER, f"an integer has over {MAX_INTEGER} digits")
    return integer(text)


def integer(text: str) -> int:
    """int(text) by divide and conquer: within Python's limit on digits, in subquadratic time."""
    half = len(text) // 2
    if half < 256 or text[0] == "-":
        return int(text) if half < 256 else -integer(text[1:])
    return integer(text[:-half]) * 10**half + integer(text[-half:])


def decimal(text: str) -> None:
    need(False, f"a number is not an integer: {text:.40}")


def parsed(raw: bytes) -> Any:
    try:
        return json.loads(
            raw.decode(),
            object_pairs_hook=unique,
            parse_int=whole,
            parse_float=decimal,
            parse_constant=decimal,
        )
    except UnicodeDecodeError:
        why = "not text in UTF-8"
    except json.JSONDecodeError as error:
        why = f"not JSON (line {error.lineno}, column {error.colno})"
    except RecursionError:
        why = "nested too deeply"
    raise Rejected("unusable", f"the file is {why}")


def values(raw: bytes, limits: Limits) -> Any:
    """The JSON values; floats are refused."""
    items = sum(map(raw.count, b",[{"))
    need(items <= MAX_ITEMS, f"the file has over {MAX_ITEMS} items")
    pairs, width = raw.count(b":"), 4 if raw.isascii() else 10
    limits.hold(width * len(raw) + 80 * items + 170 * pairs)
    limits.on_time()
    content = parsed(raw)
    inner = [content] if type(content) in (dict, list) else []
    for _ in range(MAX_DEPTH):
        inner = [y for x in inner for y in (x.values() if type(x) is dict else x)]
        inner = [y for y in inner if type(y) in (dict, list)]
    need(not inner, f"the file nests brackets over {MAX_DEPTH} deep")
    return content


def digest(part: Any) -> str:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)  # MAX_INTEGER limits digits
    try:
        text = json.dumps(part, sort_keys=True, separators=(",", ":"))
    finally:
        sys.set_int_max_str_digits(before)
    return sha256(text.encode()).hexdigest()


def same_digests(cert: dict[str, Any]) -> None:
    parts = {"digest": {key: cert[key] for key in cert if key != "digest"}}
    parts |= {} if cert["data_file"] else {"input_sha256": cert["data"]}
    for name, part in parts.items():
        need(cert[name] == digest(part), f"{name} is stale: the content was changed", "wrong")


def numbers(limits: Limits, nested: Any, where: str, *shape: Any) -> Table:
    """Nested lists of numbers as integers over one denominator. If an item of `shape` is a list, it
    holds the size of each list at this depth."""
    if hasattr(nested, "integers"):  # a table of the fast check, which does not come from JSON
        return Table(*nested.integers(where, *shape))
    lists, lengths = [nested], []
    for size in shape:
        sizes = size if type(size) is list else repeat(size, len(lists))
        fits = all(type(x) is list and len(x) == k for x, k in zip(lists, sizes, strict=True))
        named = tuple("tokens" if type(k) is list else k for k in shape)
        need(fits, f"{where} must be nested lists of the lengths {named}, as dims say")
        lengths.append([len(x) for x in lists])
        lists = [y for x in lists for y in x]
    texts: Any = lists
    fits = all(type(text) is str and NUMBER.fullmatch(text) for text in texts)
    need(fits, f"{where} must hold strings 'p' or 'p/q', q > 0, up to {MAX_DIGITS} digits each")
    # Denominators are compared as strings, since integers can be chosen to collide in a dict.
    below, unit = {text.partition("/")[2] or "1": 1 for text in texts}, 1
    for text in below:
        below[text] = integer(text)
        unit = limits.lcm(unit, below[text])
        limits.allow(unit.bit_length(), len(texts) + len(below))
    for text, q in below.items():
        limits.divide(unit.bit_length(), q.bit_length())
        below[text] = unit // q
    flat: Any = []
    for text in texts:
        limits.on_time()
        p, _, q = text.partition("/")
        flat.append(integer(p) * below[q or "1"])
    most = max(x.bit_length() for x in [unit, *flat])
    limits.long |= most > SHORT
    for sizes in lengths[:0:-1]:
        rest = iter(flat)
        flat = [list(islice(rest, k)) for k in sizes]
    return Table(flat, unit, most)
