"""Check an ``attncert/1`` certificate: python checker.py FILE [--json] [--limit-seconds N]

Standard library only; nothing in the file is believed; docs/certificate.md says what is proved.
Head h gives example t, with context E (n tokens, width d) and query e, the logits ln 2 * k, where
k = E @ key @ query.T @ e must be integers: softmax weights 2^k_i / sum_j 2^k_j, all rational."""

import argparse
import json
import math
import re
from collections import namedtuple
from fractions import Fraction
from hashlib import sha256
from operator import mul
from typing import Any

MAX_FILE_BYTES, MAX_ITEMS = 2**28, 2**23  # items: commas and opening brackets
MAX_DIGITS, MAX_HELD_BITS = 500_000, 2**34  # of a numerator or denominator; of integers at once
LIMIT_SECONDS = 600.0  # for each stage of the work, as estimated before it is begun
Verdict = namedtuple("Verdict", "status claim message numbers")
EXIT = {"holds": 0, "wrong": 1, "unusable": 2, "over limit": 3}
NUMBER = re.compile(f"(-?)([0-9]{{1,{MAX_DIGITS}}})(?:/([1-9][0-9]{{0,{MAX_DIGITS - 1}}}))?")


class Rejected(Exception): ...


def need(condition: object, message: str, status: str = "unusable") -> None:
    if not condition:
        raise Rejected(status, message)


def afford(limit: float, held_bits: int, *products: tuple[int, int, int]) -> None:
    """Products (count, a, b) are of integers of a and of b bits, at the speed of CPython 3.11."""
    seconds = sum(n * (1.2e-7 + 1.1e-12 * max(a, 30) * max(b, 30)) for n, a, b in products)
    work = f"{seconds:.2g} s, {held_bits >> 23} MiB: see --limit-seconds and attncert check --fast"
    need(seconds <= limit and held_bits <= MAX_HELD_BITS, f"estimated at {work}", "over limit")


def typed(value: Any, kind: type, where: str, keys: str = "") -> Any:
    """The value, if of this type; an object, or each object in a list, has exactly the keys."""
    objects, names = [value] if kind is dict else value if keys else [], set(keys.split())
    fits = type(value) is kind and all(type(x) is dict and set(x) == names for x in objects)
    need(fits, f"{where} must be of type {kind.__name__}{keys and ' with the keys '}{keys}")
    return value


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    need(len(dict(pairs)) == len(pairs), "a key occurs twice in one object")
    return dict(pairs)


def read(path: str) -> dict[str, Any]:
    """The certificate as JSON values, its digests and dims in order; int() refuses floats."""
    with open(path, "rb") as file:
        raw = file.read(MAX_FILE_BYTES + 1)
    need(len(raw) <= MAX_FILE_BYTES, f"the file has over {MAX_FILE_BYTES} bytes")
    need(sum(map(raw.count, b",[{")) <= MAX_ITEMS, f"the file has over {MAX_ITEMS} items")
    cert = json.loads(raw.decode(), object_pairs_hook=unique, parse_float=int, parse_constant=int)
    need(type(cert) is dict and cert.get("format") == "attncert/1", "the format is not attncert/1")
    need(str(cert.get("claim")) in CLAIMS, f"the claim must be one of: {', '.join(CLAIMS)}")
    _, fields, data, dims = CLAIMS[cert["claim"]]
    typed(cert, dict, "the certificate", f"{ENVELOPE} {fields}")
    body = {key: cert[key] for key in cert if key != "digest"}
    for name, part in (("digest", body), ("input_sha256", cert["data"])):
        fresh = sha256(json.dumps(part, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
        need(cert[name] == fresh, f"{name} is stale: the content was changed", "wrong")
    typed(cert["data"], dict, "data", data)
    for name, size in typed(cert["dims"], dict, "dims", dims).items():
        need(0 < typed(size, int, "dims") <= MAX_ITEMS, f"dims.{name} must be 1 to {MAX_ITEMS}")
    return body | {"dims": {name: cert["dims"][name] for name in dims.split()}}


def integer(text: str) -> int:
    """int(text), by halves: below Python's limit of 4,300 digits, and faster than quadratic."""
    half = len(text) // 2
    return int(text) if half < 256 else integer(text[:-half]) * 10**half + integer(text[-half:])


def integers(limit: float, value: Any, where: str, *shape: int) -> tuple[Any, int, int]:
    """Nested lists of numbers as integers over one denominator; that; the most bits of one."""
    if where == "contexts" and len(typed(value, list, where)) == 1:
        shape = (1, *shape[1:])  # one context may serve all examples
    texts = [value]
    for size in shape:
        fits = all(type(x) is list and len(x) == size for x in texts)
        need(fits, f"{where} must be nested lists of the lengths {shape}, as dims say")
        texts = [item for x in texts for item in x]
    found = [NUMBER.fullmatch(text) if type(text) is str else None for text in texts]
    need(all(found), f"{where} must hold strings 'p' or 'p/q', q > 0, to {MAX_DIGITS} digits each")
    longest = max(map(len, texts))
    afford(limit, 4 * longest * len(texts), (1, 3 * sum(map(len, texts)), longest))
    pairs, unit = [(int(f"{x[1]}1") * integer(x[2]), integer(x[3] or "1")) for x in found if x], 1
    for q in {q for _, q in pairs}:
        unit = math.lcm(unit, q) if unit % q else unit
        afford(limit, unit.bit_length() * len(texts), (len(texts), unit.bit_length(), 2 * longest))
    flat: Any = [p if q == unit else p * (unit // q) for p, q in pairs]
    bits = max(x.bit_length() for x in [unit, *flat])
    for size in shape[:0:-1]:
        flat = [flat[i : i + size] for i in range(0, len(flat), size)]
    return flat, unit, bits


def dot(x: Any, y: Any) -> int:
    return sum(map(mul, x, y))  # to the end of the shorter one


def features(cert: Any, limit: float, b: int, p: int | None = None) -> Any:
    """For each example and head: integers z, s, features z / s (mod p); readout of b bits."""
    T, n, d, m, H, d_h, _ = cert["dims"].values()
    layer = typed(cert["layer"], dict, "layer", "logit_unit heads" + " output" * (not p))
    heads = typed(layer["heads"], list, "layer.heads", "key query" + " value" * (not p))
    need(layer["logit_unit"] == "ln 2", "layer.logit_unit must be 'ln 2'")
    members = sorted(typed(t, int, "each member") for group in cert["groups"] for t in group)
    need(all(cert["groups"]) and members == list(range(T)), "groups must hold each t once", "wrong")
    contexts, unit, b_e = integers(limit, cert["data"]["contexts"], "contexts", T, n, d)
    queries, unit_q, b_q = integers(limit, cert["data"]["queries"], "queries", T, d)
    key, unit_k, b_k = integers(limit, [head["key"] for head in heads], "key", H, d, d_h)
    query, unit_w, b_w = integers(limit, [head["query"] for head in heads], "query", H, d, d_h)
    divisor, size = unit * unit_q * unit_k * unit_w, b_e + b_q + b_k + b_w
    afford(limit, n * H * size, (T * H * (2 * d * d_h + n * d + n), size, size // 4))
    for context, e in zip(contexts * (T // len(contexts)), queries, strict=True):
        terms, columns = [], list(zip(*context, strict=True))
        for k, w in zip(key, query, strict=True):
            inner = [dot(column, e) for column in zip(*w, strict=True)]
            outer = [dot(row, inner) for row in k]
            logits = [dot(token, outer) for token in context]
            need(not any(x % divisor for x in logits), "a logit / ln 2 is no integer", "wrong")
            shifts = [(x - low) // divisor for low in [min(logits)] for x in logits]
            r = p.bit_length() if p else min(max(shifts), 10**18)  # the cap keeps floats finite
            afford(limit, H * d * (r + b), (T * H * d * n, r, b_e), (T * H * m * (d + H), r, r + b))
            powers = [pow(2, x % (p - 1) if p else x, p) for x in shifts]  # 2^(p-1) = 1 mod p
            terms.append(([dot(powers, column) for column in columns], unit * sum(powers)))
        yield terms


def interpolation(cert: Any, limit: float) -> str:
    T, _, d, m, H, _, d_v = cert["dims"].values()
    values = [head["value"] for head in cert["layer"]["heads"]]
    V, unit_v, b_v = integers(limit, values, "value", H, d, d_v)
    W, unit_o, b_o = integers(limit, cert["layer"]["output"], "output", H * d_v, m)
    labels, unit_y, b_y = integers(limit, cert["data"]["labels"], "labels", T, m)
    afford(limit, H * d * m * (b_v + b_o), (H * d * d_v * m, b_v, b_o))
    maps = [[[dot(v, o[h * d_v :]) for v in V[h]] for o in zip(*W, strict=True)] for h in range(H)]
    for t, terms in enumerate(features(cert, limit, b_v + b_o + b_y)):
        common, total = math.prod(s for _, s in terms), [0] * m
        for (z, s), rows in zip(terms, maps, strict=True):
            total = [x + common // s * dot(z, row) for x, row in zip(total, rows, strict=True)]
        equal = [x * unit_y for x in total] == [y * common * unit_v * unit_o for y in labels[t]]
        need(equal, f"the output of example {t} is not its label", "wrong")
    return f"the outputs equal the labels of all {T} examples, exactly"


def full_rank(cert: Any, limit: float) -> str:
    T, _, d, m, H, _, d_v = cert["dims"].values()
    rank = typed(cert["rank"], dict, "rank", "prime value")
    (p,), unit, _ = integers(limit, [rank["prime"]], "rank.prime", 1)
    prime = unit == p % 2 == 1 < p < 2**62 and pow(2, p - 1, p) == 1  # (all the proof needs)
    need(prime, "rank.prime is not an odd prime below 2^62", "wrong")
    need(typed(rank["value"], int, "rank.value") == T, "rank.value is not dims.examples", "wrong")
    need(d_v >= m, "dims.value_width is less than dims.labels", "wrong")
    integers(limit, cert["data"]["labels"], "labels", T, m)
    afford(limit, T * H * d * 500, (T * T * H * d // 2, 30, 30))
    pivots: list[tuple[int, list[int]]] = []  # a column, and a row from there on with leading 1
    for t, terms in enumerate(features(cert, limit, 0, p)):
        need(all(s % p for _, s in terms), f"a denominator of example {t} is 0 mod p", "wrong")
        row = [x * r % p for z, s in terms for r in [pow(s, -1, p)] for x in z]
        for start, pivot in pivots:
            if factor := row[start] % p:
                row[start:] = [x - factor * y for x, y in zip(row[start:], pivot, strict=True)]
        start = next((j for j, x in enumerate(row) if x % p), -1)
        need(start >= 0, f"modulo p, the features of example {t} depend on earlier ones", "wrong")
        pivots.append((start, [x * r % p for r in [pow(row[start], -1, p)] for x in row[start:]]))
    return f"the features of all {T} examples are independent: rank {T} modulo {p}"


def dependent_set(cert: Any, limit: float) -> str:
    N, d = cert["dims"].values()
    relation = typed(cert["relation"], dict, "relation", "indices coefficients")
    indices = [typed(i, int, "each index") for i in typed(relation["indices"], list, "indices")]
    known = indices and set(indices) <= set(range(N)) and len(set(indices)) == len(indices)
    need(known, "relation.indices must be distinct, from 0 to vectors - 1", "wrong")
    factors, _, b_f = integers(limit, relation["coefficients"], "coefficients", len(indices))
    vectors, _, b_v = integers(limit, cert["data"]["vectors"], "vectors", N, d)
    need(all(factors), "a coefficient is 0", "wrong")
    afford(limit, 0, (len(indices) * d, b_f, b_v))
    columns = zip(*(vectors[i] for i in indices), strict=True)
    need(not any(dot(factors, x) for x in columns), "the combination is not 0", "wrong")
    return f"{len(indices)} of the {N} vectors are dependent"


def impossible(cert: Any, limit: float) -> str:
    """For x != 0, n z = sum of tokens + f(query / x, x * centred tokens) / x: f may be anything."""
    T, n, d, m = cert["dims"].values()
    factors, _, b_c = integers(limit, cert["relation"], "relation", T)
    contexts, _, b_e = integers(limit, cert["data"]["contexts"], "contexts", T, n, d)
    queries, _, b_q = integers(limit, cert["data"]["queries"], "queries", T, d)
    labels, _, b_y = integers(limit, cert["data"]["labels"], "labels", T, m)
    afford(limit, n * d * (b_e + b_q), (T * (30 * n * d + m + T), b_e + b_q + b_c, b_q + b_y))
    ties, sums = dict[Any, Fraction](), [0] * (d + m)  # ties: of each value of f
    for E, e, y, c in zip(contexts * (T // len(contexts)), queries, labels, factors, strict=True):
        columns, x = list(zip(*E, strict=True)), next(filter(None, e), 0)
        sums = [s + c * y for s, y in zip(sums, [*map(sum, columns), *y], strict=True)]
        moved = ([x * (n * y - s) for y in column] for column in columns for s in [sum(column)])
        tokens = sorted(zip(*moved, strict=True))
        if any(map(any, tokens)):  # else f is 0
            kind = *(Fraction(y, x) for y in e), *tokens
            ties[kind] = ties.get(kind, Fraction(0)) + Fraction(c, x)
    need(not any(sums[:d]) and not any(ties.values()), "some weights break the relation", "wrong")
    need(any(sums[d:]), "the labels obey the relation", "wrong")
    return f"no weights give these labels: {T - factors.count(0)} examples are tied otherwise"


ENVELOPE = "format claim construction dims data produced_by input_sha256 digest"
LAYER = ("contexts queries labels", "examples context width labels heads head_width value_width")
CLAIMS: dict[str, tuple[Any, str, str, str]] = {
    "interpolation": (interpolation, "layer groups", *LAYER),
    "full-rank": (full_rank, "layer groups rank", *LAYER),
    "dependent-set": (dependent_set, "relation", "vectors", "vectors width"),
    "impossible": (impossible, "relation", LAYER[0], "examples context width labels"),
}


def check_file(path: str, limit_seconds: float = LIMIT_SECONDS) -> Verdict:
    """Check the certificate at `path`; whatever the file holds, a Verdict comes back."""
    status, cert = "holds", dict[str, Any](claim=None, dims={})
    try:
        cert = read(path)
        message = CLAIMS[cert["claim"]][0](cert, limit_seconds)
    except Rejected as rejected:
        status, message = rejected.args
    except Exception as error:  # of reading, of memory, of a type somewhere: no claim was checked
        status, message = "unusable", f"{type(error).__name__}: {str(error)!a:.200}"
    return Verdict(status, cert["claim"], message, cert["dims"])


def main(argv: list[str] | None = None, check: Any = check_file) -> int:
    parser = argparse.ArgumentParser(usage=argparse.SUPPRESS)
    parser.add_argument("file")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--limit-seconds", type=float, default=LIMIT_SECONDS)
    options = parser.parse_args(argv)
    verdict = check(options.file, options.limit_seconds)
    print(json.dumps(verdict._asdict()) if options.json else f"{verdict.status}: {verdict.message}")
    return EXIT[verdict.status]


if __name__ == "__main__":
    raise SystemExit(main())
