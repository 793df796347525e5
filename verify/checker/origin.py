"""Where the data come from: other data, rounded; all inputs of a domain; or another file."""

if __name__ == "__main__":
    print("unusable: run the folder, not this file: python checker certificate.json")
    raise SystemExit(2)

import os
import re
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise, product
from typing import Any

from .layer import contexts_of, width_of
from .limits import Limits, need
from .reading import contents, numbers, typed, values

DATA_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9_-]{0,99}[.](json|npz)")


def origin(cert: Any, limits: Limits) -> str:
    """The statement about the origin of the data, according to `kind`."""
    claim = cert["origin"]
    if claim is None:
        return ""
    kind: Any = claim.get("kind") if type(claim) is dict else None
    need(kind in list(KINDS), "origin.kind must be rounded or domain")
    keys, judge = KINDS[kind]
    typed(claim, dict, "origin", f"kind {keys}")
    data = typed(cert["data"], dict, "data with an origin", "contexts queries labels")
    return str(judge(cert, claim, data, limits))


def rounded(cert: Any, claim: Any, data: Any, limits: Limits) -> str:
    """Each number in contexts and queries is the multiple of `grid` nearest to the original number
    (ties to even); labels are unchanged."""
    before = typed(claim["data"], dict, "origin.data", "contexts queries labels")
    T, d = cert["dims"]["examples"], width_of(cert, data)
    two = [claim["grid"], claim["largest_change"]]
    (p, change), q, b_g = numbers(limits, two, "origin", 2)
    need(p > 0, "origin.grid must be above 0")
    need(before["labels"] == data["labels"], "rounding changed the labels", "wrong")
    largest = Fraction(0)
    for name in ("contexts", "queries"):
        if name == "contexts":
            (old, u, b_x), (new, w, b_y) = (contexts_of(limits, cert, x, d) for x in (before, data))
        else:
            (old, u, b_x), (new, w, b_y) = (
                numbers(limits, x[name], name, T, d) for x in (before, data)
            )
        need(len(old) == len(new), "rounding changed the number of contexts", "wrong")
        limits.allow(b_x + b_y + b_g)
        limits.divide(b_y + b_g, b_y + b_g)
        most = 0  # the largest difference, in units of 1 / (u w); the grid is p u w / q such units
        for x, y in zip(flat(old), flat(new), strict=True):
            limits.on_time()
            k, rest = divmod(y * q, w * p)
            off = abs(x * w - y * u)
            beyond = 2 * off * q - p * u * w  # half a step
            nearest = beyond < 0 or (beyond == 0 and k % 2 == 0)
            need(not rest and nearest, f"{name} are not rounded to the grid", "wrong")
            most = max(most, off)
        largest = max(largest, Fraction(most, u * w))
    need(Fraction(change, q) == largest, "origin.largest_change is wrong", "wrong")
    grid = claim["grid"] if len(claim["grid"]) < 40 else "origin.grid"
    return f"; of data rounded to multiples of {grid}"


def domain(cert: Any, claim: Any, data: Any, limits: Limits) -> str:
    """Each pair of one of these contexts and one of these queries occurs as an example exactly
    once. So the two sorted lists of pairs must be equal, and no pair may occur twice."""
    T, d = cert["dims"]["examples"], width_of(cert, data)
    counts = [len(x) for x in typed(claim["contexts"], list, "origin.contexts")]
    count = len(typed(claim["queries"], list, "origin.queries"))
    need(len(counts) * count == T, "origin does not have one pair for each example", "wrong")
    pairs = []
    for contexts, queries in (
        (contexts_of(limits, cert, data, d), numbers(limits, data["queries"], "queries", T, d)),
        (
            numbers(limits, claim["contexts"], "origin.contexts", len(counts), counts, d),
            numbers(limits, claim["queries"], "origin.queries", count, d),
        ),
    ):
        pairs.append([[list(flat(x)) for x in contexts.rows], contexts.unit, *queries[:2]])
    units = [limits.lcm(pairs[0][k], pairs[1][k]) for k in (1, 3)]
    for pair in pairs:
        for k, unit in zip((0, 2), units, strict=True):
            limits.allow(unit.bit_length(), sum(map(len, pair[k])))
            pair[k] = [[x * (unit // pair[k + 1]) for x in row] for row in pair[k]]
    (contexts, _, queries, _), (every, _, all_queries, _) = pairs
    repeated = contexts * T if len(contexts) == 1 else contexts
    examples = sorted(zip(repeated, queries, strict=True))
    limits.on_time()
    whole = sorted(product(every, all_queries))
    need(examples == whole, "the examples are not exactly the pairs of origin", "wrong")
    need(all(a < b for a, b in pairwise(whole)), "origin holds a pair twice", "wrong")
    return f"; all inputs of a domain, contexts times queries: {len(counts)} x {count}"


KINDS = {"rounded": ("grid largest_change data", rounded), "domain": ("contexts queries", domain)}


def flat(nested: Any) -> Any:
    for x in nested:
        yield from flat(x) if type(x) is list else [x]


def data_file(cert: Any, path: str, limits: Limits, tables: Any, keys: Any) -> Any:
    """`data` read from the named file in the folder of the certificate.

    Its size and SHA-256 are compared before its contents are parsed. tables: a reader of integers
    from an .npz (the fast check). keys: a function that returns the keys the data must have.
    """
    name, size = cert["data_file"]["name"], typed(cert["data_file"]["bytes"], int, "bytes")
    plain: Any = DATA_NAME.fullmatch(typed(name, str, "data_file.name"))
    need(plain, "data_file.name must be letters, digits, _, -, then .json or .npz, with no folder")
    beside = os.path.join(os.path.dirname(os.path.abspath(path)), name)
    need(os.path.isfile(beside), f"{name} is missing: it belongs beside the certificate")
    need(os.path.getsize(beside) == size, f"the size of {name} is not data_file.bytes", "wrong")
    if plain[1] == "npz":
        need(tables, f"{name} needs attncert check --fast", "over limit")
        return tables(beside, cert, limits)
    raw = contents(beside)
    same = sha256(raw).hexdigest() == cert["input_sha256"]
    need(same, f"{name} does not match input_sha256", "wrong")
    data = values(raw, limits)
    return typed(data, dict, name, keys(data))
