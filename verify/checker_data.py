"""What checker.py checks of the data alone: relations between vectors or examples, rounding, and
data in a file of their own.

Standard library only; nothing in a certificate is believed.
"""

import os
import re
from fractions import Fraction
from hashlib import sha256
from math import gcd
from typing import Any

if __package__:
    from attncert.verify.checker import CLAIMS, contents, dot, integers, need, typed, values
else:  # checker.py was run as a file
    from checker import CLAIMS, contents, dot, integers, need, typed, values  # type: ignore

DATA_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9_-]{0,99}[.](json|npz)")


def dependent_set(cert: Any, work: Any) -> str:
    need(cert.get("saturation") is None, "saturation must be null")
    N, d = cert["dims"].values()
    relation = typed(cert["relation"], dict, "relation", "indices coefficients")
    indices = [typed(i, int, "each index") for i in typed(relation["indices"], list, "indices")]
    work.spend(2e-6 * len(indices), 80 * len(indices))
    known = indices and all(0 <= i < N for i in indices) and len(set(indices)) == len(indices)
    need(known, "relation.indices must be distinct, from 0 to vectors - 1", "wrong")
    factors, _, b_f = integers(work, relation["coefficients"], "coefficients", len(indices))
    vectors, _, b_v = integers(work, cert["data"]["vectors"], "vectors", N, d)
    need(all(factors), "a coefficient is 0", "wrong")
    work.dots(d, len(indices), b_f, b_v)
    columns = zip(*(vectors[i] for i in indices), strict=True)
    need(not any(dot(factors, x) for x in columns), "the combination is not 0", "wrong")
    return f"{len(indices)} of the {N} vectors are dependent"


def impossible(cert: Any, work: Any) -> str:
    """For g != 0, n z = sum of tokens + f(query / g, g * centred tokens) / g: f may be anything."""
    need(cert.get("saturation") is None, "saturation must be null")
    T, n, d, m = cert["dims"].values()
    factors, _, b_c = integers(work, cert["relation"], "relation", T)
    contexts, _, b_e = integers(work, cert["data"]["contexts"], "contexts", T, n, d)
    queries, _, b_q = integers(work, cert["data"]["queries"], "queries", T, d)
    labels, _, b_y = integers(work, cert["data"]["labels"], "labels", T, m)
    b_t = b_e + b_q + 2 * n.bit_length()  # of centred tokens
    work.dots(T, d + m, b_c, b_t + b_y)  # sums
    work.dots(2 * T * d, n, b_q, b_t)  # tokens, centred
    work.dots(T * (4 + n.bit_length()), n * d, b_t, 0)  # sorted and made a text
    work.quotients(T * 3 * d, b_q, b_q)  # greatest common divisors
    work.quotients(T * 9, b_t + b_c, b_q + b_c)  # fractions: g divides every token of its kind
    work.spend(2e-5 * T)
    work.hold(T * (n * d + d + 20) / 2, 4 * b_t)  # texts: a byte for four bits
    work.pass_by((4 * n * d, b_t), (T + 2 * d + 2 * m, b_c + b_t + b_y))
    ties, sums = dict[str, Fraction](), [0] * (d + m)  # ties: of each value of f
    for t, (e, y, c) in enumerate(zip(queries, labels, factors, strict=True)):
        columns = list(zip(*contexts[t if len(contexts) > 1 else 0], strict=True))
        sums = [s + c * x for s, x in zip(sums, [*map(sum, columns), *y], strict=True)]
        g = gcd(*e) if next(filter(None, e), 0) > 0 else -gcd(*e)
        moved = ([g * (n * x - s) for x in column] for column in columns for s in [sum(column)])
        tokens = sorted(zip(*moved, strict=True))
        if any(map(any, tokens)):  # else f is 0
            kind = ",".join(f"{x:x}" for row in ([x // g for x in e], *tokens) for x in row)
            ties[kind] = ties.get(kind, Fraction(0)) + Fraction(c, g)  # (texts do not collide)
    need(not any(sums[:d]) and not any(ties.values()), "some weights break the relation", "wrong")
    need(any(sums[d:]), "the labels obey the relation", "wrong")
    return f"no weights give these labels: {T - factors.count(0)} examples are tied otherwise"


def rounding(cert: Any, work: Any) -> str:
    """Of attncert/2: each number of contexts and queries is the multiple of `grid` nearest to the
    number before, of two as near the even multiple; labels are as they were."""
    told = typed(cert["rounding"], dict, "rounding", "grid largest_change data")
    before = typed(told["data"], dict, "rounding.data", "contexts queries labels")
    data = typed(cert["data"], dict, "data to be rounded", "contexts queries labels")
    T, n, d, *_ = cert["dims"].values()
    (p, change), q, b_g = integers(work, [told["grid"], told["largest_change"]], "rounding", 2)
    need(p > 0, "rounding.grid must be above 0")
    need(before["labels"] == data["labels"], "rounding changed the labels", "wrong")
    largest = Fraction(0)
    for name, shape in (("contexts", (T, n, d)), ("queries", (T, d))):
        old, u, b_x = integers(work, before[name], name, *shape)
        new, w, b_y = integers(work, data[name], name, *shape)
        need(len(old) == len(new), "rounding changed the number of contexts", "wrong")
        count = len(old) * d * (n if name == "contexts" else 1)
        work.dots(4 * count, 1, b_x + b_y, b_y + b_g)  # products of two and of three
        work.quotients(count, b_y + b_g, b_y + b_g)
        work.spend(4e-6 * count)
        work.pass_by((12, b_x + b_y + b_g), (8, 0))
        most = 0  # of the differences, in units of 1 / (u w); the grid is p u w / q of them
        for x, y in zip(flat(old), flat(new), strict=True):
            k, rest = divmod(y * q, w * p)
            off = abs(x * w - y * u)
            beyond = 2 * off * q - p * u * w  # half a step
            nearest = beyond < 0 or (beyond == 0 and k % 2 == 0)
            need(not rest and nearest, f"{name} are not rounded to the grid", "wrong")
            most = max(most, off)
        largest = max(largest, Fraction(most, u * w))
    need(Fraction(change, q) == largest, "rounding.largest_change is another", "wrong")
    grid = told["grid"] if len(told["grid"]) < 40 else "rounding.grid"
    return f"; of data rounded to multiples of {grid}"


def flat(nested: Any) -> Any:
    for x in nested:
        yield from flat(x) if type(x) is list else [x]


def data_file(cert: Any, path: str, work: Any, tables: Any) -> Any:
    """Of attncert/2: `data` from the file that is named, in the folder of the certificate.

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
        cost = f"{4e-6 * size:.2g} s and {150 * size / 2**20:.3g} MiB"
        only = f"{name} is for attncert check --fast; here its numbers would take up to {cost}"
        need(tables, only, "over limit")
        return tables(beside, cert, work)
    raw = contents(beside)
    work.spend(4e-9 * len(raw), len(raw))
    need(sha256(raw).hexdigest() == cert["input_sha256"], f"{name} has another SHA-256", "wrong")
    return typed(values(raw, work), dict, name, CLAIMS[cert["claim"]][2])
