"""Check an ``attncert/1`` certificate: python checker.py FILE [--json] [--limit-seconds N]

Standard library only; docs/certificate.md describes the fields. Nothing in the file is believed.
Head h turns example t, with context E (n tokens of width d) and query e, into logits ln 2 * k,
k = E @ key @ query.T @ e, which must be integers. So the softmax weights are powers of two over
their sum, w_i = 2^k_i / sum_j 2^k_j: rational, and so are the features z = w @ E.
- interpolation: the sum over h of z_h @ value_h @ output_h equals the label, for every example.
- full-rank: the T x H*d matrix of all features has rank T modulo a prime that divides no
  denominator of the contexts and no softmax sum. So some T x T minor is not 0 mod p, hence not 0
  over Q; with value_width >= labels, every labelling is then met by some values and output.
- dependent-set: the given combination of the named vectors is 0, and no coefficient is.
Exit status: 0 the claim holds; 1 the certificate is wrong; 2 the file is unusable; 3 the work,
estimated from the sizes before it is done, is above the limit. One line says why.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
import sys
from dataclasses import asdict, dataclass
from operator import mul
from typing import Any

MAX_FILE_BYTES = 2**28  # 256 MiB
MAX_ITEMS = 2**23  # commas and opening brackets in the file; entries of a feature matrix
MAX_DIGITS = 500_000  # of a numerator or denominator
MAX_PRIME = 2**62  # is_prime decides up to 3.1e23
MAX_HELD_BITS = 2**34  # 2 GiB of integers at once
LIMIT_SECONDS = 300.0  # of estimated work, at the speeds in docs/certificate.md
EXIT = {"holds": 0, "wrong": 1, "unusable": 2, "over limit": 3}
NUMBER = re.compile(r"(-?[0-9]{1,%d})(?:/([1-9][0-9]{0,%d}))?" % (MAX_DIGITS, MAX_DIGITS - 1))
ENVELOPE = "format claim construction dims data produced_by input_sha256 digest"
LAYER_DIMS = "examples context width labels heads head_width value_width"


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


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    need(len(dict(pairs)) == len(pairs), "a key occurs twice in one JSON object")
    return dict(pairs)


def keyed(value: Any, where: str, names: str) -> dict[str, Any]:
    fits = isinstance(value, dict) and set(value) == set(names.split())
    need(fits, f"{where} must be an object with exactly the keys: {names}")
    return dict(value)


def sha256(value: Any) -> str:
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def read(path: str) -> dict[str, Any]:
    """The certificate as JSON values; its envelope, digests and dims are in order."""
    try:
        with open(path, "rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
        need(len(raw) <= MAX_FILE_BYTES, f"the file has over {MAX_FILE_BYTES} bytes")
        items = raw.count(b",") + raw.count(b"[") + raw.count(b"{")
        need(items <= MAX_ITEMS, f"the file has over {MAX_ITEMS} items")
        no_floats: Any = {"parse_float": int, "parse_constant": int}  # int("1.5") raises ValueError
        cert = json.loads(raw.decode("utf-8"), object_pairs_hook=unique, **no_floats)
    except (OSError, ValueError) as error:
        raise Rejected("unusable", f"not a JSON file of this format: {error}"[:200]) from None
    need(isinstance(cert, dict) and cert.get("format") == "attncert/1", "not attncert/1")
    known = isinstance(cert.get("claim"), str) and cert["claim"] in CLAIMS
    need(known, f"claim must be one of: {', '.join(CLAIMS)}")
    _, fields, data, dims = CLAIMS[cert["claim"]]
    body = keyed(cert, "the file", f"{ENVELOPE} {fields}")
    need(body.pop("digest") == sha256(body), "stale digest: the content was changed", "wrong")
    keyed(cert["data"], "data", data)
    need(cert["input_sha256"] == sha256(cert["data"]), "input_sha256 is not that of data", "wrong")
    sizes = keyed(cert["dims"], "dims", dims).values()
    need(all(type(x) is int and x > 0 for x in sizes), "dims must be positive integers")
    return cert


def afford(limit: float, held_bits: int, *products: tuple[int, int, int]) -> None:
    """Products (count, a, b) of a-bit by b-bit integers; Karatsuba's rule from 2,100 bits on."""
    seconds = 0.0
    for count, a, b in products:
        short, long = sorted((max(a, 30), max(b, 30)))
        seconds += count * (1.2e-7 + 1.1e-12 * short * long * min(1, (2100 / short) ** 0.415))
    size = f"{seconds:.2g} s and {held_bits >> 23} MiB; see --limit-seconds, attncert check --fast"
    fits = seconds <= limit and held_bits <= MAX_HELD_BITS
    need(fits, f"the work is estimated at {size}", "over limit")


def integers(limit: float, value: Any, where: str, *shape: int) -> tuple[Any, int, int]:
    """Nested lists of numbers as integers over one denominator; the denominator; bits of both."""
    texts = [value]
    for size in shape:
        fits = all(isinstance(part, list) and len(part) == size for part in texts)
        need(fits, f"{where} must be lists of lengths {shape}, as dims say")
        texts = [item for part in texts for item in part]
    found = [NUMBER.fullmatch(text) if isinstance(text, str) else None for text in texts]
    need(all(found), f"{where} must hold strings 'p' or 'p/q', q > 0, to {MAX_DIGITS} digits each")
    longest = max(map(len, texts))
    afford(limit, 4 * longest * len(texts), (6 * sum(map(len, texts)), longest))
    pairs = [(int(match[1]), int(match[2] or 1)) for match in found if match]
    unit = 1
    for _, q in pairs:
        unit = math.lcm(unit, q) if unit % q else unit
        afford(limit, len(texts) * unit.bit_length())
    flat: Any = [p if q == unit else p * (unit // q) for p, q in pairs]
    bits = max(x.bit_length() for x in flat) + unit.bit_length()
    for size in shape[:0:-1]:
        flat = [flat[i : i + size] for i in range(0, len(flat), size)]
    return flat, unit, bits


def dot(x: Any, y: Any) -> int:
    return sum(map(mul, x, y))


def attention(cert: Any, limit: float) -> tuple[Any, int, int, Any]:
    """Columns of the contexts, their denominator, bits of both; [t][h][i]: logit - least logit."""
    T, n, d, _, H, d_h, _ = map(cert["dims"].get, LAYER_DIMS.split())
    data, layer, groups = cert["data"], cert["layer"], cert["groups"]
    values = cert["claim"] == "interpolation"
    keyed(layer, "layer", "logit_unit heads" + " output" * values)
    need(layer["logit_unit"] == "ln 2", "layer.logit_unit must be 'ln 2'")
    need(isinstance(layer["heads"], list), "layer.heads must be a list")
    heads = [keyed(x, "a head", "key query" + " value" * values) for x in layer["heads"]]
    need(isinstance(groups, list) and all(isinstance(x, list) and x for x in groups), "groups must be non-empty lists")
    members = [t for group in groups for t in group]
    need(all(type(t) is int for t in members), "groups must hold integers")
    need(sorted(members) == list(range(T)), "groups must share out 0 to examples - 1", "wrong")
    shared = isinstance(data["contexts"], list) and len(data["contexts"]) == 1
    contexts, unit, b_e = integers(limit, data["contexts"], "contexts", 1 if shared else T, n, d)
    queries, unit_q, b_q = integers(limit, data["queries"], "queries", T, d)
    key, unit_k, b_k = integers(limit, [x["key"] for x in heads], "key", H, d, d_h)
    query, unit_w, b_w = integers(limit, [x["query"] for x in heads], "query", H, d, d_h)
    divisor, size = unit * unit_q * unit_k * unit_w, b_e + b_q + b_k + b_w
    steps = T * H * (2 * d * d_h + n * d + n)
    afford(limit, T * H * n * size, (steps, size, size // 4))
    exponents: Any = [[] for _ in queries]
    for t, h in ((t, h) for t in range(T) for h in range(H)):
        inner = [dot(column, queries[t]) for column in zip(*query[h], strict=True)]
        outer = [dot(row, inner) for row in key[h]]
        logits = [dot(token, outer) for token in contexts[t % len(contexts)]]
        need(not any(k % divisor for k in logits), f"example {t}, head {h}: a logit is no integer", "wrong")
        exponents[t].append([(k - min(logits)) // divisor for k in logits])
    return [list(zip(*context, strict=True)) for context in contexts], unit, b_e, exponents


def interpolation(cert: Any, limit: float) -> str:
    T, n, d, m, H, _, d_v = map(cert["dims"].get, LAYER_DIMS.split())
    columns, unit, b_e, exponents = attention(cert, limit)
    layer = cert["layer"]
    value, unit_v, b_v = integers(limit, [x["value"] for x in layer["heads"]], "value", H, d, d_v)
    output, unit_o, b_o = integers(limit, layer["output"], "output", H * d_v, m)
    labels, unit_y, b_y = integers(limit, cert["data"]["labels"], "labels", T, m)
    r = max(max(k) for heads in exponents for k in heads)
    b = b_v + b_o + b_e + b_y
    afford(limit, H * d * m * b + H * (d + m) * r, (H * d * d_v * m, b_v, b_o), (T * H * d * (m + n), b, r), (T * H * (m + 2), b + r, H * r))
    out = [list(zip(*output[h * d_v : (h + 1) * d_v], strict=True)) for h in range(H)]
    maps = [[[dot(v, o) for v in value[h]] for o in out[h]] for h in range(H)]  # [h][label][d]
    for t, heads in enumerate(exponents):
        powers = [[1 << s for s in k] for k in heads]
        features = [[dot(w, column) for column in columns[t % len(columns)]] for w in powers]
        common = math.prod(map(sum, powers))
        shares = [common // sum(w) for w in powers]
        for j, label in enumerate(labels[t]):
            total = dot(shares, [dot(z, rows[j]) for z, rows in zip(features, maps, strict=True)])
            equal = total * unit_y == label * common * unit * unit_v * unit_o
            need(equal, f"example {t}: the output is not the label", "wrong")
    return f"the outputs equal the labels of all {T} examples, exactly"


def is_prime(n: int) -> bool:
    """Miller-Rabin; these bases decide all n up to 3.1e23."""
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
    if n < 2 or any(n % q == 0 for q in bases):
        return n in bases
    twos = (n - 1 & 1 - n).bit_length() - 1
    runs = ([pow(a, n - 1 >> r, n) for r in range(twos, 0, -1)] for a in bases)
    return all(run[0] == 1 or n - 1 in run for run in runs)


def full_rank(cert: Any, limit: float) -> str:
    T, _, d, m, H, _, d_v = map(cert["dims"].get, LAYER_DIMS.split())
    prime, value = keyed(cert["rank"], "rank", "prime value").values()
    ...
