"""The claim "interpolation": the outputs equal the labels, exactly."""

if __name__ == "__main__":
    print("unusable: run the folder: python checker certificate.json")
    raise SystemExit(2)

from collections import namedtuple
from typing import Any

from .layer import attention, saturated, shifts
from .limits import Limits, need
from .reading import all_of, dims, numbers

Parts = namedtuple("Parts", "layer values output labels")


def parts(cert: Any, limits: Limits) -> Parts:
    T, d, m, H, d_v = dims(cert, "examples width labels heads value_width")
    layer = attention(limits, cert)
    values = [head["value"] for head in cert["layer"]["heads"]]
    return Parts(
        layer,
        numbers(limits, values, "value", H, d, d_v),
        numbers(limits, cert["layer"]["output"], "output", H * d_v, m),
        numbers(limits, cert["data"]["labels"], "labels", T, m),
    )


def judge(cert: Any, parts: Parts, limits: Limits) -> str:
    T, d, m, H, d_v = dims(cert, "examples width labels heads value_width")
    layer, V, W, labels = parts
    limits.allow(V.bits + W.bits + d_v.bit_length(), H * d * m)
    maps = []  # for each head and label: value @ output, of its width
    for h, rows in enumerate(V.rows):
        columns = list(zip(*W.rows[h * d_v : (h + 1) * d_v], strict=True))
        by_row = []
        for row in rows:
            limits.on_time()
            by_row.append([limits.dot(row, column) for column in columns])
        maps.append(list(zip(*by_row, strict=True)))
    unit = limits.product(V.unit, W.unit)
    for t, (columns, times, logits) in enumerate(shifts(limits, layer)):
        terms, bits = [], layer.tables[0].bits  # of the common denominator, at least
        for x, rows in zip(logits, maps, strict=True):
            bits += max(x)
            limits.allow(bits, len(x) + d + m)
            weights = [often << k for k, often in zip(x, times, strict=True)]
            z = [limits.dot(weights, column) for column in columns]
            terms.append(([limits.dot(z, row) for row in rows], layer.unit * sum(weights)))
        outputs, common = added(limits, terms)
        common = limits.product(common, unit)
        pairs = zip(outputs, labels.rows[t], strict=True)
        equal = all(limits.product(x, labels.unit) == limits.product(y, common) for x, y in pairs)
        need(equal, f"the output of example {t} is not its label", "wrong")
    more = saturated(limits, cert, layer)
    return f"the outputs equal the labels of {all_of(T)}, exactly{more}"


def added(limits: Limits, terms: list[tuple[list[int], int]]) -> tuple[list[int], int]:
    """The sum of fractions, each some numerators over one denominator; by halves, so that the
    factors have similar lengths."""
    if len(terms) == 1:
        return terms[0]
    half, product = len(terms) // 2, limits.product
    (x, s), (y, r) = added(limits, terms[:half]), added(limits, terms[half:])
    pairs = zip(x, y, strict=True)
    return [product(a, r) + product(b, s) for a, b in pairs], product(s, r)
