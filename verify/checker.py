"""Check an ``attncert/1`` certificate: python checker.py FILE [--json] [--limit-seconds N]

Standard library only, and nothing in the file is believed: docs/certificate.md says what each
claim means. Head h gives example t, with context E (n x d) and query e, the logits ln 2 * k,
k = E @ key @ query.T @ e, which must be integers. So the softmax weights are 2^k_i / sum_j 2^k_j:
rational, and so are the features z_h, the tokens of E mixed with these weights.
"""

import argparse
import hashlib
import json
import math
import re
import sys
from dataclasses import asdict, dataclass
from operator import mul
from typing import Any

MAX_FILE_BYTES, MAX_ITEMS = 2**28, 2**23  # items: commas and opening brackets
MAX_DIGITS = 500_000  # of a numerator or denominator
MAX_PRIME = 2**62  # is_prime decides up to 3.1e23
MAX_HELD_BITS = 2**34  # 2 GiB of integers at once
LIMIT_SECONDS = 300.0  # of work, estimated before it is done; costs as measured on CPython 3.11
EXIT = {"holds": 0, "wrong": 1, "unusable": 2, "over limit": 3}
NUMBER = re.compile(f"(-?[0-9]{{1,{MAX_DIGITS}}})(?:/([1-9][0-9]{{0,{MAX_DIGITS - 1}}}))?")


@dataclass(frozen=True)
class Verdict:
    """What the file claims and whether that holds; `status` is a key of EXIT."""

    status: str
    claim: str | None
    message: str
    numbers: dict[str, int]


class Rejected(Exception):
    """Its arguments: the status, and the reason in one line."""


def need(condition: object, message: str, status: str = "unusable") -> None:
    if not condition:
        raise Rejected(status, message)


def afford(limit: float, held_bits: int, *products: tuple[int, int, int]) -> None:
    """Products (count, a, b): of integers of a and of b bits."""
    seconds = sum(n * (1.2e-7 + 1.1e-12 * max(a, 30) * max(b, 30)) for n, a, b in products)
    line = f"the work is estimated at {seconds:.2g} s and {held_bits >> 23} MiB"
    fits = seconds <= limit and held_bits <= MAX_HELD_BITS
    need(fits, f"{line}: see --limit-seconds and attncert check --fast", "over limit")


def dot(x: Any, y: Any) -> int:
    return sum(map(mul, x, y))


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    need(len(dict(pairs)) == len(pairs), "a key occurs twice in one object")
    return dict(pairs)


def read(path: str) -> dict[str, Any]:
    """The JSON of a file whose digests are fresh."""
    with open(path, "rb") as file:
        raw = file.read(MAX_FILE_BYTES + 1)
    small = len(raw) <= MAX_FILE_BYTES and sum(map(raw.count, b",[{")) <= MAX_ITEMS
    need(small, f"the file must have at most {MAX_FILE_BYTES} bytes and {MAX_ITEMS} items")
    no_floats: Any = {"parse_float": int, "parse_constant": int}  # for int("1.0") raises
    cert = json.loads(raw.decode("utf-8"), object_pairs_hook=unique, **no_floats)
    need(type(cert) is dict and cert.get("format") == "attncert/1", "the format is not attncert/1")
    known = type(cert.get("claim")) is str and cert["claim"] in CLAIMS
    need(known, f"the claim must be one of: {', '.join(CLAIMS)}")
    need("digest" in cert and "data" in cert, "digest and data are needed")
    body = {key: cert[key] for key in cert if key != "digest"}
    for name, part in (("digest", body), ("input_sha256", cert["data"])):
        canonical = json.dumps(part, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        fresh = cert.get(name) == hashlib.sha256(canonical.encode("ascii")).hexdigest()
        need(fresh, f"{name} is stale: the content was changed", "wrong")
    return cert


def parse(value: Any, layout: Any, where: str, dims: dict[str, int], limit: float) -> Any:
    """The value, if it has the layout, its arrays of numbers replaced by those of `integers`."""
    if isinstance(layout, str):
        return integers(value, where, [dims[name] for name in layout.split()], limit)
    kind = layout if isinstance(layout, type) else type(layout)
    need(type(value) is kind, f"{where} must be of type {kind.__name__}")
    if kind is list and ...:
        return [parse(x, layout[0], f"{where}[{i}]", dims, limit) for i, x in enumerate(value)]
    if isinstance(layout, dict):
        need(set(value) == set(layout), f"{where} must have exactly the keys: {', '.join(layout)}")
        return {k: parse(value[k], layout[k], f"{where}.{k}", dims, limit) for k in layout}
    return value


def integers(value: Any, where: str, shape: list[int], limit: float) -> tuple[Any, int, int]:
    """Nested lists of numbers as integers over one denominator; the denominator; bits of both."""
    texts = [value]
    for size in shape:
        fits = all(type(x) is list and len(x) == size for x in texts)
        need(fits, f"{where} must be of shape {shape}, as dims say")
        texts = [item for x in texts for item in x]
    found = [NUMBER.fullmatch(text) if type(text) is str else None for text in texts]
    need(all(found), f"{where} must hold strings 'p' or 'p/q', q > 0, {MAX_DIGITS} digits at most")
    longest = max(map(len, texts))
    afford(limit, 4 * longest * len(texts), (1, 6 * sum(map(len, texts)), longest))
    pairs = [(int(match[1]), int(match[2] or 1)) for match in found if match]
    unit = 1
    for _, q in pairs:
        unit = math.lcm(unit, q) if unit % q else unit
        afford(limit, unit.bit_length() * len(texts))
    flat: Any = [p if q == unit else p * (unit // q) for p, q in pairs]
    bits = max(x.bit_length() for x in flat) + unit.bit_length()
    for size in shape[:0:-1]:
        flat = [flat[i : i + size] for i in range(0, len(flat), size)]
    return flat, unit, bits
