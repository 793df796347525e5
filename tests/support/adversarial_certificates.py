"""Small well-formed files that are expensive to check, grouped by the resource that they strain.

Each maker takes a size. The cost of the check grows steeply with the size, while the file stays
small. The checker must know this cost; whether the claims hold does not matter.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

from support.small_certificates import NOTHING, Certificate, layer_block, sealed

MERSENNE = 2**61 - 1  # integers that agree modulo this have the same hash


def table(*shape: int, entry: str = "1") -> Any:
    return [table(*shape[1:], entry=entry) for _ in range(shape[0])] if shape else entry


def layer(
    claim: str, *, T: int = 1, n: int = 1, d: int = 1, m: int = 1, H: int = 1, **parts: Any
) -> Certificate:
    """A certificate of zeros and ones with these shapes, with `parts` in place of some of them."""
    value = claim == "interpolation"
    head = {"key": table(d, 1), "query": table(d, 1), "value": table(d, 1) if value else None}
    output = table(H, m) if value else None
    block = layer_block(parts.get("heads", [head] * H), parts.get("output", output))
    numbers = {"contexts": [table(n, d)], "queries": table(T, d), "labels": table(T, m)}
    prime = parts.get("prime", "2147483579")
    return sealed(NOTHING | {
        "claim": claim, "construction": "", "produced_by": "",
        "dims": {"examples": T, "context": n, "width": d, "labels": m, "heads": H,
                 "head_width": 1, "value_width": 1 if value else m},
        "data": {key: parts.get(key, value) for key, value in numbers.items()},
        "network": [block],
        "groups": [list(range(T))],
    } | ({} if value else {"rank": {"prime": prime, "value": T}}))  # fmt: skip


def relation(claim: str, dims: dict[str, int], data: Any, found: Any) -> Certificate:
    return sealed(NOTHING | {
        "claim": claim, "construction": "", "produced_by": "",
        "dims": dims, "data": data, "relation": found,
    })  # fmt: skip


def vectors(rows: list[list[str]], **dims: int) -> Certificate:
    k = len(rows)
    shape = {"vectors": k, "width": len(rows[0])} | dims
    found = {"indices": list(range(k)), "coefficients": ["1"] * k}
    return relation("dependent-set", shape, {"vectors": rows}, found)


def tied(contexts: Any, queries: Any) -> Certificate:
    T, n, d = len(queries), len(contexts[0]), len(queries[0])
    dims = {"examples": T, "context": n, "width": d, "labels": 1}
    data = {"contexts": contexts, "queries": queries, "labels": [["1"]] * T}
    return relation("impossible", dims, data, ["1"] * T)


def decimal(x: int) -> str:
    """str(x), without Python's limit of 4,300 digits."""
    return str(x) if x < 10**4000 else decimal(x // 10**4000) + str(x % 10**4000).zfill(4000)


def colliding(size: int) -> Certificate:
    """Denominators with equal hashes; their least common multiple has 61 bits per denominator."""
    return vectors([[f"1/{1 + (i + 1) * MERSENNE}"] for i in range(size)])


def powers(size: int) -> Certificate:
    """`size` tokens whose weights are powers of two with `size` bits; one of them is 1."""
    contexts = [[["0"], *[[str(30 * size)]] * size]]
    return layer("interpolation", n=size + 1, contexts=contexts)


def long_outputs(size: int) -> Certificate:
    """There are as many labels as heads, and one denominator is common to all heads."""
    contexts = [[["0"], [str(10 * size)]]]
    return layer("interpolation", n=2, m=size, H=size, contexts=contexts)


def long_heads(size: int) -> Certificate:
    """Heads with long softmax sums, which need a common denominator."""
    return layer("interpolation", n=2, H=size, contexts=[[["0"], [str(10**5 * size)]]])


def many_logits(size: int) -> Certificate:
    """There are as many heads as tokens, and therefore far more logits than numbers in the file."""
    contexts = [[[str(i)] for i in range(10 * size)]]
    return layer("full-rank", n=10 * size, H=10 * size, contexts=contexts)


def kinds(size: int) -> Certificate:
    """Each direction of the query gives a different kind of example with the same long context."""
    draw = random.Random(3)
    context = [[str(draw.getrandbits(2000)), "1"] for _ in range(size)]
    return tied([context], [[str(i + 1), "1"] for i in range(size)])


def one_kind(size: int) -> Certificate:
    """Multiples g of one query, and tokens divided by g: the numbers 1/g are summed."""
    draw = random.Random(0)
    factors = [draw.getrandbits(20) | 1 for _ in range(size)]
    whole = math.prod(factors)
    contexts = [[["0"], [decimal(whole // g)]] for g in factors]
    return tied(contexts, [[str(g)] for g in factors])


def colliding_kinds(size: int) -> Certificate:
    """Queries, and centred and scaled tokens, with equal hashes."""
    queries = [["1", str(2 + i * MERSENNE)] for i in range(size * 10)]
    return tied([[["0", "1"], ["1", "0"]]], queries)


def colliding_tokens(size: int) -> Certificate:
    """Centred and scaled tokens with equal hashes."""
    return tied([[[str(1 + i * MERSENNE)] for i in range(size * 20)]], [["1"], ["2"]])


def long_numbers(size: int) -> Certificate:
    return vectors([["7" * (size * size)] for _ in range(8)])


def divisors(size: int) -> Certificate:
    """Denominators that divide one another; each number is put over the full common denominator."""
    return vectors([[f"1/{3 ** (i + 1)}"] for i in range(size)])


def long_exponents(size: int) -> Certificate:
    """The rank is full; logits have very many bits, and are reduced modulo p - 1."""
    key = {"key": [["1" + "0" * (100 * size)]], "query": [["1"]]}
    contexts = [[[str(i)] for i in range(size)]]
    return layer("full-rank", n=size, contexts=contexts, heads=[key])


def independent(size: int) -> Certificate:
    """The rank is full, so that every pair of rows is combined."""
    draw = random.Random(1)
    contexts = [
        [[str(draw.randint(-99, 99)) for _ in range(size)] for _ in range(2)] for _ in range(size)
    ]
    return layer("full-rank", T=size, n=2, d=size, contexts=contexts)


def keys_in_free_text(size: int) -> Certificate:
    certificate = vectors([["1"], ["1"]])
    return sealed(certificate | {"produced_by": {f"{i:x}": 0 for i in range(100 * size)}})


def wide_text(size: int) -> Certificate:
    """Text with two bytes per character in the file, and four in memory."""
    certificate = vectors([["1"], ["1"]])
    return sealed(certificate | {"produced_by": "\U0001f600" + "\u00e9" * (1000 * size)})


def saturated(size: int) -> Certificate:
    """`size` bits and `size` tokens; one token leads, and the others' powers of two are short."""
    head = {"key": [["1"]], "query": [["1"]]}
    file = layer("full-rank", T=2, n=size, d=1, H=2, heads=[head] * 2, contexts=[
        [[str(size + 50)], *[["0"]] * (size - 1)], [[str(size + 50)], *[["0"]] * (size - 1)],
    ])  # fmt: skip
    told = {"saturation": {"bits": size, "own": True}, "groups": [[0], [1]]}
    return sealed(file | told)


def rounded(size: int) -> Certificate:
    """Short numbers, rounded from long ones with different denominators."""
    numbers = [[str(i)] for i in range(size)]
    before = [[f"{i * (2**400 + i) + 1}/{2**400 + i}"] for i in range(size)]
    file = layer("interpolation", n=size, contexts=[numbers])
    data = file["data"] | {"contexts": [before]}
    origin = {"kind": "rounded", "grid": "1", "largest_change": "0", "data": data}
    return sealed(file | {"origin": origin})


# Files of interpolation-near with one token and zeros in `near.inverse`: only the cost matters.


def near(
    *, T: int = 1, n: int = 1, d: int = 1, m: int = 1, H: int = 1, d_h: int = 1, d_v: int = 1,
    **parts: Any,
) -> Certificate:  # fmt: skip
    """Arrays of ones with these shapes, and an inverse of zeros, unless `parts` replaces them."""
    head = {"key": table(d, d_h), "query": table(d, d_h), "value": table(d, d_v)}
    numbers = {"contexts": [table(n, d)], "queries": table(T, d), "labels": table(T, m)}
    claim = {"radius": "1/1000", "unknowns": list(range(T * m))}
    claim["inverse"] = parts.get("inverse") or table(T * m, T * m, entry="0")
    heads = parts.get("heads", [head | parts.get("head", {})] * H)
    return sealed(NOTHING | {
        "claim": "interpolation-near", "construction": "", "produced_by": "",
        "dims": {"examples": T, "context": n, "width": d, "labels": m, "heads": H,
                 "head_width": d_h, "value_width": d_v},
        "data": {key: parts.get(key, value) for key, value in numbers.items()},
        "network": [layer_block(heads, table(H * d_v, m), "1")],
        "near": {key: parts.get(key, value) for key, value in claim.items()},
    })  # fmt: skip


def eights(digits: int) -> str:
    return "8" * digits


def colliding_unknowns(size: int) -> Certificate:
    """Unknowns with equal hashes, none of them a weight."""
    count = 200 * size
    return near(T=count, unknowns=[1 + i * MERSENNE for i in range(count)], inverse=[[]])


def long_radius_and_inverse(size: int) -> Certificate:
    """A long radius, with the rows of a long inverse."""
    inverse = [[f"1/{'9' * 40 * size}"] + ["1"] * 9, *table(9, 10)]
    return near(T=10, d=10, radius=f"{'9' * 40 * size}/{eights(40 * size)}", inverse=inverse)


def long_labels(size: int) -> Certificate:
    labels = [[f"1/{eights(100 * size)}"], ["9" * 100 * size], *[["1"]] * 8]
    return near(T=10, d=10, labels=labels)


def small_radius(size: int) -> Certificate:
    """The balls need `size` bits and as many terms of exp."""
    contexts = [[[f"{i}/{size}"] for i in range(9)]]
    return near(T=2, n=9, H=3, contexts=contexts, radius=f"1/1{'0' * 5 * size}")


def long_weights(size: int) -> Certificate:
    head = {"key": table(2, 2, entry="9" * 5 * size), "value": table(2, 2, entry=f"1/{eights(99)}")}
    return near(T=2, n=4, d=2, H=2, d_h=2, d_v=2, head=head)


def long_inverse(size: int) -> Certificate:
    inverse = [[f"1/{'9' * 40 * size}"] + ["1"] * 19, *table(19, 20)]
    return near(T=20, d=20, inverse=inverse)


def many_unknowns(size: int) -> Certificate:
    return near(T=size, d=size, inverse=table(size, size, entry="123456789"))


MAKERS: dict[str, Callable[[int], Certificate]] = {
    maker.__name__: maker
    for maker in (
        colliding, powers, long_outputs, long_heads, many_logits, kinds, one_kind, colliding_kinds,
        colliding_tokens, long_numbers, divisors, long_exponents, independent, keys_in_free_text,
        wide_text, saturated, rounded,
        colliding_unknowns, long_radius_and_inverse, long_labels, small_radius, long_weights,
        long_inverse, many_unknowns,
    )
}  # fmt: skip
