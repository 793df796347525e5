"""Check an ``attncert/1`` or ``attncert/2`` certificate: python checker.py FILE [--json]

Standard library only; nothing in the file is believed; docs/certificate.md says what is proved.
Head h gives example t, with context E (n tokens, width d) and query e, the logits ln 2 * k, where
k = E @ key @ query.T @ e must be integers: softmax weights 2^k_i / sum_j 2^k_j, all rational.

To read: `main` and `check_file` at the end, then `interpolation` and what it needs. Files beside
this one judge the other claims, and import from here (see CLAIMS). Before each loop stands its cost
(class Work).
"""

import argparse
import importlib
import json
import math
import os
import re
import stat
import sys
from collections import namedtuple
from hashlib import sha256
from operator import mul
from typing import Any

MAX_FILE_BYTES, MAX_ITEMS = 2**28, 2**23  # items: commas and opening brackets
MAX_DIGITS, MAX_DEPTH = 500_000, 64  # of a numerator or denominator; of brackets in brackets
LIMIT_SECONDS, LIMIT_MIB = 600.0, 2048.0  # of the whole check, as estimated before it is done
Verdict = namedtuple("Verdict", "status claim message numbers")
Layer = namedtuple("Layer", "contexts queries heads unit divisor bits")
EXIT = {"holds": 0, "wrong": 1, "unusable": 2, "over limit": 3}
NUMBER = re.compile(f"-?[0-9]{{1,{MAX_DIGITS}}}(?:/[1-9][0-9]{{0,{MAX_DIGITS - 1}}})?")


class Rejected(Exception): ...


def need(condition: object, message: str, status: str = "unusable") -> None:
    if not condition:
        raise Rejected(status, message)


def typed(value: Any, kind: type, where: str, keys: str = "") -> Any:
    """The value, if of this type; an object, or each object in a list, has exactly the keys."""
    objects, names = [value] if kind is dict else value if keys else [], set(keys.split())
    fits = type(value) is kind and all(type(x) is dict and x.keys() == names for x in objects)
    need(fits, f"{where} must be of type {kind.__name__}{keys and ' with the keys '}{keys}")
    return value


class Work:
    """Time and memory, counted before they are spent; above a limit, the check ends.

    Seconds of CPython 3.11 on one core: products and quotients of a by b bits take time in
    proportion to a * b (long products less: there the estimate is high).
    """

    def __init__(self, limit_seconds: float, limit_mib: float) -> None:
        self.limits = limit_seconds, limit_mib
        self.seconds = self.bytes = self.peak = 0.0

    def spend(self, seconds: float, passing_bytes: float = 0.0) -> None:
        self.seconds += seconds
        self.peak = max(self.peak, self.bytes + passing_bytes)
        mib, (limit, limit_mib) = self.peak / 2**20, self.limits
        if not (self.seconds <= limit and mib <= limit_mib):  # true of NaN, too
            over = f"above --limit-seconds {limit:g} or --limit-mib {limit_mib:g}"
            line = f"estimated at {self.seconds:.2g} s, {mib:.3g} MiB or more: {over}"
            raise Rejected("over limit", f"{line} (see attncert check --fast)")

    def dots(self, count: float, length: float, a: float, b: float) -> None:
        """`count` sums of `length` products each, of integers of a and of b bits."""
        a, b = min(a, 1e18), min(b, 1e18)  # floats from here on, and finite
        self.spend(count * (6e-7 + length * (1.2e-7 + 2e-12 * (a + 30) * (b + 30))))

    def quotients(self, count: float, a: float, b: float) -> None:
        """`count` quotients of a bits, or remainders, by integers of b bits."""
        a, b = min(max(a, 0), 1e18), min(b, 1e18)
        self.spend(count * (2e-7 + 2e-12 * (a + 30) * (b + 300)))

    def pass_by(self, *integers: tuple[float, float]) -> None:
        """Lists of `count` integers of so many bits, all at once, for a moment."""
        self.spend(0.0, sum(count * (40 + min(bits, 1e18) / 7.5) for count, bits in integers))

    def hold(self, count: float, bits: float) -> None:
        """The same of one list, to the end of the check."""
        self.bytes += count * (40 + bits / 7.5)  # 30 bits in four bytes, behind a head
        self.spend(0.0)


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    need(len(found) == len(pairs), "a key occurs twice in one object")
    return found


def contents(path: str) -> bytes:
    need(stat.S_ISREG(os.stat(path).st_mode), "this is not a regular file")
    with open(path, "rb") as file:
        raw = file.read(min(os.stat(path).st_size, MAX_FILE_BYTES) + 1)
    need(len(raw) <= MAX_FILE_BYTES, f"the file has over {MAX_FILE_BYTES} bytes")
    return raw


def values(raw: bytes, work: Work) -> Any:
    """JSON values, no number a float."""
    items, pairs = sum(map(raw.count, b",[{")), raw.count(b":")
    need(items <= MAX_ITEMS, f"the file has over {MAX_ITEMS} items")
    work.bytes += (4 if raw.isascii() else 10) * len(raw) + 80 * items + 170 * pairs
    work.spend(2e-8 * len(raw) + 1e-6 * items + 2e-6 * pairs)
    found = json.loads(raw.decode(), object_pairs_hook=unique, parse_float=int, parse_constant=int)
    inner = [found] if type(found) in (dict, list) else []
    for _ in range(MAX_DEPTH):
        inner = [y for x in inner for y in (x.values() if type(x) is dict else x)]
        inner = [y for y in inner if type(y) in (dict, list)]
    need(not inner, f"the file has over {MAX_DEPTH} brackets in brackets")
    return found


def parse(path: str, work: Work) -> dict[str, Any]:
    """The certificate, with the right keys and its dims in order; data in a file are not read."""
    cert = values(contents(path), work)
    kind: Any = type(cert) is dict and cert.get("format")
    need(kind in list(FORMATS), "the format is not attncert/1 or attncert/2")
    need(cert.get("claim") in list(CLAIMS), f"the claim must be one of: {', '.join(CLAIMS)}")
    _, fields, data, dims = CLAIMS[cert["claim"]]
    typed(cert, dict, "the certificate", f"{ENVELOPE} {fields}{FORMATS[kind]}")
    if cert.get("data_file") is None:
        typed(cert["data"], dict, "data", data)
    else:
        typed(cert["data_file"], dict, "data_file, if not null,", "name bytes")
        need(cert["data"] is None, "data must be null where there is a data_file")
    for name, number in typed(cert["dims"], dict, "dims", dims).items():
        need(0 < typed(number, int, "dims") <= MAX_ITEMS, f"dims.{name} must be 1 to {MAX_ITEMS}")
    return cert | {"dims": {name: cert["dims"][name] for name in dims.split()}}


def same_digests(cert: dict[str, Any]) -> None:
    parts = {"digest": {key: cert[key] for key in cert if key != "digest"}}
    parts |= {} if cert.get("data_file") else {"input_sha256": cert["data"]}
    for name, part in parts.items():
        fresh = sha256(json.dumps(part, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
        need(cert[name] == fresh, f"{name} is stale: the content was changed", "wrong")


def integer(text: str) -> int:
    """int(text), by halves: below Python's limit of 4,300 digits, and faster than quadratic."""
    half = len(text) // 2
    if half < 256 or text[0] == "-":
        return int(text) if half < 256 else -integer(text[1:])
    return integer(text[:-half]) * 10**half + integer(text[-half:])


def integers(work: Work, value: Any, where: str, *shape: int) -> tuple[Any, int, int]:
    """Nested lists of numbers as integers over one denominator; that; the most bits of one."""
    if hasattr(value, "integers"):  # a table of the fast check: nothing that JSON can hold
        return value.integers(where, *shape)
    if where == "contexts" and len(typed(value, list, where)) == 1:
        shape = (1, *shape[1:])  # one context may serve all examples
    texts = [value]
    for k in shape:
        fits = all(type(x) is list and len(x) == k for x in texts)
        need(fits, f"{where} must be nested lists of the lengths {shape}, as dims say")
        texts = [item for x in texts for item in x]
    fits = all(type(text) is str and NUMBER.fullmatch(text) for text in texts)
    need(fits, f"{where} must hold strings 'p' or 'p/q', q > 0, to {MAX_DIGITS} digits each")
    count, digits, longest = len(texts), sum(map(len, texts)), max(map(len, texts))
    strings = 16 * count + 200 * sum("/" in text for text in texts) + digits + 4 * longest
    work.spend(3e-6 * count + 1e-8 * digits + 5e-12 * digits * longest, strings)
    # Denominators are told apart by their texts: integers can be chosen to collide in a dict.
    below = {text.partition("/")[2] or "1": 1 for text in texts}
    below, unit, bits = {text: integer(text) for text in below}, 1, 4 * digits / count
    for q in below.values():
        work.quotients(4, unit.bit_length(), q.bit_length())
        unit = math.lcm(unit, q)
        work.pass_by((count + len(below), unit.bit_length()))
    work.quotients(len(below), unit.bit_length(), 4 * digits / len(below))
    work.dots(1, count, bits, unit.bit_length())
    work.hold(count, bits + (unit.bit_length() if unit > 1 else 0))
    work.hold(count / 4 + 3 * count / shape[-1], 0)  # the lists
    factors = {text: unit // q for text, q in below.items()}
    parts = (text.partition("/") for text in texts)
    flat: Any = [integer(p) * factors[q or "1"] for p, _, q in parts]
    most = max(x.bit_length() for x in [unit, *flat])
    for k in shape[:0:-1]:
        flat = [flat[i : i + k] for i in range(0, len(flat), k)]
    return flat, unit, most


def attention(cert: Any, work: Work, layer_keys: str, head_keys: str) -> Layer:
    """Integers: contexts over `unit`; heads as key and transposed query; logits over `divisor`."""
    T, n, d, _, H, d_h, _ = cert["dims"].values()
    layer = typed(cert["layer"], dict, "layer", layer_keys)
    heads = typed(layer["heads"], list, "layer.heads", head_keys)
    need(layer["logit_unit"] == "ln 2", "layer.logit_unit must be 'ln 2'")
    groups = [typed(group, list, "each group") for group in typed(cert["groups"], list, "groups")]
    members = [typed(t, int, "each member of a group") for group in groups for t in group]
    work.spend(2e-6 * len(members), 60 * len(members))
    once = len(members) == T and sorted(members) == list(range(T))
    need(once and all(groups), "groups must hold each example once", "wrong")
    contexts, unit, b_e = integers(work, cert["data"]["contexts"], "contexts", T, n, d)
    queries, unit_q, b_q = integers(work, cert["data"]["queries"], "queries", T, d)
    key, unit_k, b_k = integers(work, [head["key"] for head in heads], "key", H, d, d_h)
    query, unit_w, b_w = integers(work, [head["query"] for head in heads], "query", H, d, d_h)
    work.hold(H * d * d_h / 4, 0)  # the transposed lists
    heads = [(k, list(zip(*w, strict=True))) for k, w in zip(key, query, strict=True)]
    divisor, bits = unit * unit_q * unit_k * unit_w, (b_e, b_q, b_k, b_w)
    return Layer(contexts, queries, heads, unit, divisor, bits)


def dot(x: Any, y: Any) -> int:
    return sum(map(mul, x, y))


def shifts(cert: Any, work: Work, layer: Layer) -> Any:
    """For each example: the columns of its context; by head, logits / ln 2 less the smallest."""
    T, n, d, _, H, d_h, _ = cert["dims"].values()
    (b_e, b_q, b_k, b_w), divisor = layer.bits, layer.divisor
    b, unit_bits = sum(layer.bits) + (d * d * d_h).bit_length(), divisor.bit_length()
    work.dots(T * H * d_h, d, b_w, b_q)
    work.dots(T * H * d, d_h, b_k, b_w + b_q)
    work.dots(T * H * n, d, b_e, b_k + b_w + b_q)
    work.quotients(2 * T * H * n, b - unit_bits, unit_bits)
    work.pass_by((d_h + d + 2 * n, b), (H * n, b - unit_bits), (n * d / 4, 0))
    for t, e in enumerate(layer.queries):
        context, found = layer.contexts[t if len(layer.contexts) > 1 else 0], []
        for key, query in layer.heads:
            inner = [dot(column, e) for column in query]
            outer = [dot(row, inner) for row in key]
            logits = [dot(token, outer) for token in context]
            need(not any(x % divisor for x in logits), "a logit / ln 2 is not an integer", "wrong")
            low = min(logits)
            found.append([(x - low) // divisor for x in logits])
        yield list(zip(*context, strict=True)), found


def interpolation(cert: Any, work: Work) -> str:
    T, n, d, m, H, _, d_v = cert["dims"].values()
    layer = attention(cert, work, "logit_unit heads output", "key query value")
    values = [head["value"] for head in cert["layer"]["heads"]]
    V, unit_v, b_v = integers(work, values, "value", H, d, d_v)
    W, unit_o, b_o = integers(work, cert["layer"]["output"], "output", H * d_v, m)
    labels, unit_y, b_y = integers(work, cert["data"]["labels"], "labels", T, m)
    b_m, b_e = b_v + b_o + d_v.bit_length(), layer.bits[0]
    work.dots(H * d * m, d_v, b_v, b_o)
    work.hold(H * d * m, b_m)
    maps = []  # for each head and label: value @ output, of its width
    for h, rows in enumerate(V):
        columns = zip(*W[h * d_v : (h + 1) * d_v], strict=True)
        maps.append([[dot(row, column) for row in rows] for column in columns])
    b_u = (unit_v * unit_o).bit_length() + unit_y.bit_length() + b_y
    for _, logits in shifts(cert, work, layer):  # what the powers of two will cost
        widths = [max(x) + (n * layer.unit).bit_length() for x in logits]  # of each denominator
        R = min(sum(widths), 10**18)
        for x in widths:
            work.dots(d + 1, n, x, b_e)
        work.quotients(2 * H, R, R / H)
        work.dots(H * m, d, R / H + b_e, b_m)
        work.dots(H * m, 1, R, R / H + b_e + b_m)
        work.dots(2 * m, 1, R + b_e + b_m, b_u)
        long = min(max(map(sum, logits)), 10**18) / n  # bits of a power, on average
        work.pass_by((n, long), (H * d + d, R / H + b_e), (2 * m + 6, R + b_e + b_m + b_u))
    for t, (columns, logits) in enumerate(shifts(cert, work, layer)):
        terms, total = [], [0] * m
        for x in logits:
            weights = [1 << k for k in x]
            terms.append(([dot(weights, column) for column in columns], layer.unit * sum(weights)))
        common = math.prod(s for _, s in terms)
        for (z, s), rows in zip(terms, maps, strict=True):
            share = common // s
            total = [x + share * dot(z, row) for x, row in zip(total, rows, strict=True)]
        common *= unit_v * unit_o
        equal = all(x * unit_y == y * common for x, y in zip(total, labels[t], strict=True))
        need(equal, f"the output of example {t} is not its label", "wrong")
    return f"the outputs equal the labels of all {T} examples, exactly" + steered(cert, work, layer)


def steered(cert: Any, work: Work, layer: Layer) -> str:
    """Where `saturation` is claimed: 1 - p < 2^-bits, p the largest weight, in the head of each
    group for the examples of all groups before it; with `own` for those of the group, too.

    With S the sum of 2^-drop over the other rows, that is S * 2^bits < 1 + S; of drops above
    n * (bits + 1) it does not matter by how much (docs/certificate.md).
    """
    T, n, _, _, H, _, _ = cert["dims"].values()
    told, groups, pairs = cert.get("saturation"), cert["groups"], 0
    if told is None:
        return ""
    bits, own = (typed(told, dict, "saturation", "bits own")[key] for key in ("bits", "own"))
    fits = type(bits) is int and 0 < bits <= MAX_ITEMS and type(own) is bool
    need(fits, f"saturation.bits must be 1 to {MAX_ITEMS}, saturation.own true or false")
    need(len(groups) <= H, "there are more groups than heads", "wrong")
    most, head_of = n * (bits + 1), {t: h for h, group in enumerate(groups) for t in group}
    work.spend(2e-7 * T * n * len(groups) * n.bit_length(), 150 * T)
    work.dots(T * len(groups), n, most, 1)
    work.pass_by((n, 0), (6, most + bits))
    unit = 1 << most
    for t, (_, logits) in enumerate(shifts(cert, work, layer)):
        for h in range(head_of[t] + (not own), len(groups)):
            *rest, top = sorted(logits[h])
            S = sum(unit >> min(top - k, most) for k in rest)
            need(S << bits < S + unit, f"head {h}, example {t}: 1-p >= 2^-{bits}", "wrong")
            pairs += 1
    return f"; 1-p < 2^-{bits} in {pairs} pairs of a head and an example"


ENVELOPE = "format claim construction dims data produced_by input_sha256 digest"
FORMATS = {"attncert/1": "", "attncert/2": " saturation rounding data_file"}  # null, or an object
LAYER = ("contexts queries labels", "examples context width labels heads head_width value_width")
CLAIMS = {  # the file whose function judges it; its own keys; those of `data`; those of `dims`
    "interpolation": ("checker", "layer groups", *LAYER),
    "full-rank": ("checker_rank", "layer groups rank", *LAYER),
    "interpolation-near": ("checker_near", "layer near", *LAYER),
    "every-labelling": ("checker_labelling", "layer groups rank", *LAYER),
    "dependent-set": ("checker_data", "relation", "vectors", "vectors width"),
    "impossible": ("checker_data", "relation", LAYER[0], "examples context width labels"),
}


def judge(claim: str, file: str = "") -> Any:
    """The function that judges a claim, from this file or from one beside it."""
    file = file or CLAIMS[claim][0]
    module = importlib.import_module(f"{__package__}.{file}" if __package__ else file)
    return getattr(module, claim.replace("-", "_"))


def check_file(
    path: str, limit_seconds: float = LIMIT_SECONDS, limit_mib: float = LIMIT_MIB, by: Any = None,
    tables: Any = None,
) -> Verdict:  # fmt: skip
    """Check the certificate at `path`; whatever the file holds, a Verdict comes back."""
    status, cert = "holds", dict[str, Any](claim=None, dims={})
    try:
        work = Work(limit_seconds, limit_mib)
        cert = parse(path, work)
        same_digests(cert)
        if cert.get("data_file"):
            cert["data"] = judge("data_file", "checker_data")(cert, path, work, tables)
        rounded = cert.get("rounding") is not None
        more = judge("rounding", "checker_data")(cert, work) if rounded else ""
        message = (by or judge(cert["claim"]))(cert, work) + more
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
    parser.add_argument("--limit-mib", type=float, default=LIMIT_MIB)
    options = parser.parse_args(argv)
    found = check(options.file, options.limit_seconds, options.limit_mib)
    line = json.dumps(found._asdict()) if options.json else f"{found.status}: {found.message}"
    try:
        print(line, flush=True)
    except OSError:  # a full disk, a closed pipe: who sees no answer is to get no status of one
        return EXIT["unusable"]
    return EXIT[found.status]


if __name__ == "__main__":
    sys.dont_write_bytecode = True  # a report's folder stays what it was
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    sys.modules[f"{__package__}.checker" if __package__ else "checker"] = sys.modules[__name__]
    raise SystemExit(main())
