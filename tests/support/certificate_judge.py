"""Plain formulas over fractions that judge what a certificate states, for the checker's tests.

It is written from docs/certificate.md in the most direct way, and shares nothing with the checker.
Digests and white space are not judged here.
"""

from __future__ import annotations

import math
import random
import re
from fractions import Fraction
from typing import Any

from support.given_oracle import PRIME, Head, jacobian, outputs, softmax
from support.oracles import rank_mod
from support.small_certificates import features_of, logits_of
from sympy import isprime

DIMS = ["examples", "context", "width", "labels", "heads", "head_width", "value_width"]
ENVELOPE = ["format", "claim", "construction", "dims", "data", "produced_by", "input_sha256"]
ENVELOPE += ["digest", "saturation", "origin", "data_file", "tokens"]
LONGEST = 3000  # digits of a number
SPREAD = 10**5  # the largest difference of logits, in bits


class Malformed(Exception):
    pass


class OutOfReach(Exception):
    """The file is too large for fractions."""


def demand(condition: bool) -> None:
    if not condition:
        raise Malformed


def within_reach(condition: bool) -> None:
    if not condition:
        raise OutOfReach


def record(value: Any, keys: list[str]) -> Any:
    demand(isinstance(value, dict) and sorted(value) == sorted(keys))
    return value


def numbers(value: Any, *sizes: int) -> Any:
    if not sizes:
        demand(type(value) is str)
        demand(re.fullmatch(r"-?[0-9]+(/[1-9][0-9]*)?", value, re.ASCII) is not None)
        within_reach(len(value) < LONGEST)
        return Fraction(value)
    demand(type(value) is list and len(value) == sizes[0])
    return [numbers(item, *sizes[1:]) for item in value]


def sizes_of(value: Any, keys: list[str]) -> list[int]:
    record(value, keys)
    demand(all(type(value[key]) is int and 0 < value[key] <= 2**23 for key in keys))
    return [value[key] for key in keys]


def true_statement(certificate: Any) -> bool:
    """Whether the certificate is well-formed and its claim is true. False if the judge cannot
    decide."""
    return judgement(certificate) is True


def judgement(certificate: Any) -> bool | None:
    """Like `true_statement`, but None if the judge cannot decide."""
    try:
        claims = {
            "interpolation": interpolates,
            "full-rank": has_full_rank,
            "dependent-set": is_dependent,
            "impossible": is_impossible,
            "every-labelling": serves_every_labelling,
        }
        demand(certificate["format"] == "attncert/3" and certificate["data_file"] is None)
        demand(certificate["claim"] != "dependent-set" or certificate["tokens"] is None)
        more = saturates(certificate) and is_rounded(certificate)
        return more and bool(claims[certificate["claim"]](certificate))
    except OutOfReach:
        return None
    except (Malformed, KeyError, TypeError, ValueError, OverflowError, MemoryError):
        return False


def layer_of(certificate: Any) -> Any:
    """The one block of the network, which is a layer; a full-rank file has no values or output."""
    within_reach(len(certificate["network"]) < 2)
    [block] = certificate["network"]
    plain = {"kind": "attention", "of": "query", "rule": "softmax", "mask": None}
    record(block, [*plain, "residual", "logit_unit", "heads", "output"])
    demand(plain.items() <= block.items() and block["residual"] is False)
    demand(block["logit_unit"] == "ln 2")
    for head in block["heads"]:
        record(head, ["key", "query", "value"])
    if certificate["claim"] == "full-rank":
        demand(all(x["value"] is None for x in block["heads"]) and block["output"] is None)
    return block


def contexts_of(certificate: Any, contexts: Any, T: int, n: int, d: int) -> Any:
    tokens = certificate["tokens"]
    if tokens is not None:
        demand(all(type(k) is int and k > 0 for k in tokens) and len({*tokens}) > 1)
        demand(max(tokens) == certificate["dims"]["context"])
    demand(type(contexts) is list and len(contexts) in ((1, T) if tokens is None else (T,)))
    counts = [n] * len(contexts) if tokens is None else tokens
    demand(len(counts) == len(contexts))
    return [numbers(E, count, d) for E, count in zip(contexts, counts, strict=True)]


def saturates(certificate: Any) -> bool:
    if certificate["saturation"] is None:
        return True
    told = record(certificate["saturation"], ["bits", "own"])
    demand(type(told["bits"]) is int and told["bits"] > 0 and type(told["own"]) is bool)
    within_reach(told["bits"] < SPREAD)
    groups = certificate["groups"]
    contexts, queries, _, weights = layer_parts(certificate)
    demand(len(groups) <= len(weights))
    for h, group in enumerate(groups):
        for t in [t for before in groups[:h] for t in before] + (group if told["own"] else []):
            logits = logits_of(contexts[t], queries[t], *weights[h])
            within_reach(max(logits) - min(logits) < SPREAD)
            demand(all(x.denominator == 1 for x in logits))
            powers = [Fraction(2) ** int(x - max(logits)) for x in logits]
            if 1 - max(powers) / sum(powers) >= Fraction(1, 2 ** told["bits"]):
                return False
    return True


def is_rounded(certificate: Any) -> bool:
    if certificate["origin"] is None:
        return True
    told = record(certificate["origin"], ["kind", "grid", "largest_change", "data"])
    demand(told["kind"] == "rounded")
    grid, change = numbers(told["grid"]), numbers(told["largest_change"])
    before = record(told["data"], ["contexts", "queries", "labels"])
    demand(grid > 0)
    names = ["examples", "context", "width"]  # always in this order
    T, n, d = sizes_of({name: certificate["dims"][name] for name in names}, names)
    after, changes = certificate["data"], [Fraction(0)]
    tables = [
        [contexts_of(certificate, data["contexts"], T, n, d), numbers(data["queries"], T, d)]
        for data in (before, after)
    ]
    demand(len(before["contexts"]) == len(after["contexts"]))
    for both in zip(*tables, strict=True):
        for x, y in zip(*map(flat, both), strict=True):
            if y != round(x / grid) * grid:  # Python rounds ties to even
                return False
            changes.append(abs(x - y))
    return before["labels"] == after["labels"] and max(changes) == change


def flat(nested: Any) -> list[Fraction]:
    return [x for y in nested for x in flat(y)] if isinstance(nested, list) else [nested]


def is_dependent(certificate: Any) -> bool:
    record(certificate, [*ENVELOPE, "relation"])
    N, d = sizes_of(certificate["dims"], ["vectors", "width"])
    vectors = numbers(record(certificate["data"], ["vectors"])["vectors"], N, d)
    relation = record(certificate["relation"], ["indices", "coefficients"])
    indices = relation["indices"]
    demand(type(indices) is list and all(type(i) is int and 0 <= i < N for i in indices))
    coefficients = numbers(relation["coefficients"], len(indices))
    pairs = list(zip(indices, coefficients, strict=True))
    sums = [sum(c * vectors[i][j] for i, c in pairs) for j in range(d)]
    return bool(indices) and len({*indices}) == len(indices) and all(coefficients) and not any(sums)


def is_impossible(certificate: Any) -> bool:
    """A relation that does not hold for all weights almost surely fails at random weights."""
    record(certificate, [*ENVELOPE, "relation"])
    T, n, d, m = sizes_of(certificate["dims"], DIMS[:4])
    data = record(certificate["data"], ["contexts", "queries", "labels"])
    contexts = contexts_of(certificate, data["contexts"], T, n, d)
    queries, labels = numbers(data["queries"], T, d), numbers(data["labels"], T, m)
    relation = numbers(certificate["relation"], T)
    entries = [x for E in contexts for row in E for x in row], [x for e in queries for x in e]
    scale = math.lcm(*(x.denominator for x in entries[0])) * math.lcm(
        *(x.denominator for x in entries[1])
    )
    draw = random.Random(0)
    for _ in range(4):
        key = [[Fraction(draw.randint(-9, 9)) for _ in range(2)] for _ in range(d)]
        weight = [[Fraction(scale * draw.randint(-9, 9)) for _ in range(2)] for _ in range(d)]
        z = []
        for t in range(T):
            inputs = contexts[t % len(contexts)], queries[t], key, weight
            logits = logits_of(*inputs)
            within_reach(max(logits) - min(logits) < SPREAD)
            z.append(features_of(*inputs))
        if any(sum(c * row[j] for c, row in zip(relation, z, strict=True)) for j in range(d)):
            return False
    return any(sum(c * y[j] for c, y in zip(relation, labels, strict=True)) for j in range(m))


def layer_parts(certificate: Any) -> Any:
    """Dims, contexts, queries and labels, after the checks that both layer claims share."""
    T, n, d, m, H, d_h, _ = sizes_of(certificate["dims"], DIMS)
    data = record(certificate["data"], ["contexts", "queries", "labels"])
    contexts = contexts_of(certificate, data["contexts"], T, n, d)
    layer = layer_of(certificate)
    demand(type(layer["heads"]) is list and len(layer["heads"]) == H)
    keys = numbers([head["key"] for head in layer["heads"]], H, d, d_h)
    queries = numbers([head["query"] for head in layer["heads"]], H, d, d_h)
    examples = numbers(data["queries"], T, d), numbers(data["labels"], T, m)
    groups = certificate["groups"]
    demand(type(groups) is list and all(type(group) is list and group for group in groups))
    demand(all(type(t) is int for group in groups for t in group))
    demand(sorted(t for group in groups for t in group) == list(range(T)))
    return (
        [contexts[t if len(contexts) > 1 else 0] for t in range(T)],
        *examples,
        list(zip(keys, queries, strict=True)),
    )


def interpolates(certificate: Any) -> bool:
    record(certificate, [*ENVELOPE, "network", "groups"])
    contexts, queries, labels, weights = layer_parts(certificate)
    T, _, d, m, H, _, d_v = (certificate["dims"][key] for key in DIMS)
    layer = layer_of(certificate)
    values = numbers([head["value"] for head in layer["heads"]], H, d, d_v)
    output = numbers(layer["output"], H * d_v, m)
    for t in range(T):
        concatenated = []
        for (key, weight), value in zip(weights, values, strict=True):
            logits = logits_of(contexts[t], queries[t], key, weight)
            within_reach(max(logits) - min(logits) < SPREAD)
            z = features_of(contexts[t], queries[t], key, weight)
            concatenated += [sum(z[i] * value[i][a] for i in range(d)) for a in range(d_v)]
        for j in range(m):
            if sum(concatenated[a] * output[a][j] for a in range(H * d_v)) != labels[t][j]:
                return False
    return True


def serves_every_labelling(certificate: Any) -> bool:
    """All outputs are 0 and the Jacobian has full rank: both modulo the judge's own prime, which is
    unlikely to divide any number here."""
    record(certificate, [*ENVELOPE, "network", "groups", "rank"])
    contexts, queries, _, weights = layer_parts(certificate)
    T, _, d, m, H, _, d_v = (certificate["dims"][key] for key in DIMS)
    demand(isprime(int(numbers(certificate["rank"]["prime"]))))
    layer = layer_of(certificate)
    heads, stack = layer["heads"], layer["output"]
    values = numbers([head["value"] for head in heads], H, d, d_v)
    output = numbers(stack, H * d_v, m)
    inputs = list(zip(contexts, queries, strict=True))
    table = [[logits_of(E, e, *pair) for pair in weights] for E, e in inputs]
    demand(all(x.denominator == 1 for row in table for logits in row for x in logits))
    try:
        shares = [[softmax([int(x) for x in logits]) for logits in row] for row in table]
        examples = [(residues(E), *residues([e])) for E, e in inputs]
        own = [
            Head(*map(residues, (*pair, values[h], output[h * d_v :][:d_v])))
            for h, pair in enumerate(weights)
        ]
    except (ValueError, ZeroDivisionError):
        raise OutOfReach from None
    zero = not any(map(any, outputs(examples, own, shares)))
    return zero and rank_mod(jacobian(examples, own, shares), PRIME) == T * m


def residues(matrix: Any) -> list[list[int]]:
    return [[modulo(x, PRIME) for x in row] for row in matrix]


def has_full_rank(certificate: Any) -> bool:
    record(certificate, [*ENVELOPE, "network", "groups", "rank"])
    contexts, queries, _, weights = layer_parts(certificate)
    T, _, d, m, _, _, d_v = (certificate["dims"][key] for key in DIMS)
    rank = record(certificate["rank"], ["prime", "value"])
    prime = numbers(rank["prime"])
    demand(prime.denominator == 1 and 2 < prime < 2**62)
    p = int(prime)
    demand(isprime(p) and p > 2)
    demand(type(rank["value"]) is int and rank["value"] == T and d_v >= m)
    rows = []
    for t in range(T):
        row = []
        for key, weight in weights:
            logits = logits_of(contexts[t], queries[t], key, weight)
            demand(all(logit.denominator == 1 for logit in logits))
            powers = [pow(2, int(logit), p) for logit in logits]
            entries = [[modulo(x, p) for x in token] for token in contexts[t]]
            top = [sum(w * x[j] for w, x in zip(powers, entries, strict=True)) for j in range(d)]
            row += [x * pow(sum(powers), -1, p) % p for x in top]
        rows.append(row)
    return rank_mod(rows, p) == T


def modulo(x: Fraction, p: int) -> int:
    return x.numerator * pow(x.denominator, -1, p) % p
