"""Evaluates blocks by their definitions in docs/certificate.md, in mpmath with 60 digits.

Nothing is shared with verify/ or constructions/: numbers are mpf, vectors are lists, and each
vector is computed separately.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import mpmath

Vector = list[Any]
DIGITS = 60


def real(text: Any) -> Any:
    """The number at the current precision."""
    return _real(text, mpmath.mp.prec)


@cache
def _real(text: Any, precision: int) -> Any:
    x = Fraction(text)
    return mpmath.mpf(x.numerator) / x.denominator


def vector(texts: Any) -> Vector:
    return [real(x) for x in texts]


def times(x: Vector, rows: Any) -> Vector:
    assert len(rows) == len(x)
    return [
        sum((a * real(row[j]) for a, row in zip(x, rows, strict=True)), mpmath.mpf(0))
        for j in range(len(rows[0]))
    ]


def plus(x: Vector, y: Vector) -> Vector:
    return [a + b for a, b in zip(x, y, strict=True)]


def activated(name: str, z: Any) -> Any:
    if name == "relu":
        return max(z, mpmath.mpf(0))
    if name == "threshold":
        return mpmath.mpf(z >= 0)
    if name == "silu":
        return z / (1 + mpmath.exp(-z))
    if name == "gelu":
        return z * mpmath.ncdf(z)
    if name == "gelu-tanh":
        inner = mpmath.sqrt(2 / mpmath.pi) * (z + real("0.044715") * z**3)
        return z / 2 * (1 + mpmath.tanh(inner))
    assert name == "identity"
    return z


def fed(block: Any, x: Vector, weights: str, bias: str, activation: str) -> Vector:
    return [activated(activation, z) for z in plus(times(x, block[weights]), vector(block[bias]))]


def normalized(x: Vector, epsilon: str, gain: Any) -> Vector:
    root = mpmath.sqrt(sum(y * y for y in x) / len(x) + real(epsilon))
    return [y / root * g for y, g in zip(x, vector(gain), strict=True)]


def rotated(x: Vector, rotary: Any, place: int) -> Vector:
    """The pairs as complex numbers, times e^(i angle)."""
    turn = 2 * mpmath.pi if rotary["unit"] == "turn" else 1
    made = []
    for j, frequency in enumerate(rotary["frequencies"]):
        z = mpmath.mpc(*x[2 * j : 2 * j + 2]) * mpmath.expj(turn * real(frequency) * place)
        made += [z.real, z.imag]
    return made


def projected(block: Any, x: Vector, h: int, name: str, place: int) -> Vector:
    y = times(x, block["heads"][h][name])
    if block["norm"] and name != "value":
        y = normalized(y, block["norm"]["epsilon"], block["norm"][f"{name}_gain"])
    return rotated(y, block["rotary"], place) if block["rotary"] and name != "value" else y


def attended(block: Any, x: Vector, tokens: list[Vector], place: int, row: int) -> Vector:
    made, mask, start = [mpmath.mpf(0)] * len(block["output"][0]), block["mask"], 0
    for h in range(len(block["heads"])):
        query, logits, values = projected(block, x, h, "query", place), [], []
        for i, token in enumerate(tokens):
            hidden = i > row >= 0 if mask == "causal" else mask and not mask[row][i]
            if hidden:
                continue
            key = projected(block, token, h, "key", i)
            z = sum(a * b for a, b in zip(query, key, strict=True)) / mpmath.sqrt(block["root"])
            z = real(block["cap"]) * mpmath.tanh(z / real(block["cap"])) if block["cap"] else z
            z -= real(block["slopes"][h]) * abs(place - i) if block["slopes"] else 0
            z += real(block["tables"][h][place][i]) if block["tables"] else 0
            logits.append(z)
            values.append(projected(block, token, h, "value", i))
        total = [mpmath.mpf(0)] * len(values[0])
        for share, value in zip(shares(block, h, logits), values, strict=False):
            total = plus(total, [share * y for y in value])
        made = plus(made, times(total, block["output"][start : start + len(total)]))
        start += len(total)
    return made


def shares(block: Any, h: int, logits: Vector) -> Vector:
    """The weights, followed by the weight of a sink if there is one."""
    logits = [*logits, real(block["sinks"][h])] if block["sinks"] else logits
    if block["rule"] == "linear":
        return logits
    if block["rule"] == "hardmax":
        return [mpmath.mpf(x == max(logits)) / logits.count(max(logits)) for x in logits]
    powers = [(2 if block["logit_unit"] == "ln 2" else mpmath.e) ** x for x in logits]
    return [x / sum(powers) for x in powers]


def changed(block: Any, x: Vector, tokens: list[Vector], place: int, row: int) -> Vector:
    """The block's result for the vector x at a position; row: the index of its row in a mask."""
    if block["kind"] == "positions":
        return vector(block["table"][place])
    if block["kind"] == "general-attention":
        return attended(block, x, tokens, place, row)
    if block["kind"] == "feed-forward":
        read = [y for some in (x, *tokens) for y in some] if block["of"] == "row" else x
        return fed(block, read, "weights", "bias", block["activation"])
    if block["kind"] == "gated":
        gates = fed(block, x, "gate", "gate_bias", block["activation"])
        sums = fed(block, x, "weights", "bias", "identity")
        return [a * b for a, b in zip(gates, sums, strict=True)]
    assert block["kind"] == "normalization"
    mean = sum(x) / len(x) if block["centred"] else 0
    scaled = normalized([y - mean for y in x], block["epsilon"], block["gain"])
    return plus(scaled, vector(block["bias"]))


def state(blocks: Any, tokens: list[Vector], query: Vector) -> tuple[list[Vector], Vector]:
    """Tokens and query after the blocks."""
    for block in blocks:
        old, n = [*tokens, query], len(tokens)
        if block["kind"] == "group":
            inner, last = state(block["blocks"], tokens, query)
            new = [*inner, last]
        else:
            places = [*range(n), n if block.get("query_place") == "next" else n - 1]
            rows = [*range(n), -1]
            named = list(zip(old, places, rows, strict=True))
            if block["of"] != "all":
                named = named[-1:]
            new = [changed(block, x, tokens, place, row) for x, place, row in named]
        if block["of"] != "all":
            new = [*tokens, new[-1]]
        if block["residual"]:
            first = 0 if block["of"] == "all" else n
            new[first:] = [plus(x, y) for x, y in zip(new[first:], old[first:], strict=True)]
        tokens, query = new[:n], new[n]
    return tokens, query


def outputs(blocks: Any, data: Any) -> list[Vector]:
    """The outputs for all examples of a certificate's `data`."""
    with mpmath.workdps(DIGITS):
        contexts = [[vector(row) for row in context] for context in data["contexts"]]
        contexts *= len(data["queries"]) if len(contexts) == 1 else 1
        pairs = zip(contexts, data["queries"], strict=True)
        return [state(blocks, E, vector(q))[1] for E, q in pairs]


def rounded(x: Any, digits: int = 50) -> str:
    """A fraction within 10^-digits of x."""
    with mpmath.workdps(DIGITS + 40):
        return str(Fraction(int(mpmath.nint(x * mpmath.mpf(10) ** digits)), 10**digits))
