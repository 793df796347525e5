"""Two layers: a first one before a small true certificate, and a judge of both.

Plain formulas over fractions, from docs/certificate.md ("Two layers"); nothing is shared with
constructions/mixing.py or verify/checker/first_layer.py.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from support.certificate_judge import (
    Malformed,
    OutOfReach,
    demand,
    judgement,
    numbers,
    record,
)
from support.small_certificates import Certificate, digested, sealed, text

FORMAT = "attncert-first-layer/1"
SECOND = ("interpolation", "interpolation, second", "full-rank", "impossible")


def before(certificate: Certificate) -> Certificate:
    """A first layer that makes the data of this certificate.

    x + mean of the rows = y for every row, so the mean of the rows is half that of the y.
    """
    data, (n, d) = certificate["data"], (certificate["dims"][name] for name in ("context", "width"))
    contexts = [[[*map(Fraction, row)] for row in E] for E in data["contexts"]]
    means = [[sum(column) / (2 * n) for column in zip(*E, strict=True)] for E in contexts]
    queries = [[*map(Fraction, e)] for e in data["queries"]]
    old = [[_less(row, mean) for row in E] for E, mean in zip(contexts, means, strict=True)]
    asked = [_less(e, means[t if len(means) > 1 else 0]) for t, e in enumerate(queries)]
    copy = [["1" if i == j else "0" for j in range(d)] for i in range(d)]
    zeros = [["0"]] * d
    return sealed({
        "format": FORMAT,
        "data": {"contexts": [text(E) for E in old], "queries": text(asked)}
        | {"labels": data["labels"]},
        "layer": {"heads": [{"key": zeros, "query": zeros, "value": copy}], "output": copy},
        "second": certificate["digest"],
    })  # fmt: skip


def _less(x: list[Fraction], y: list[Fraction]) -> list[Fraction]:
    return [a - b for a, b in zip(x, y, strict=True)]


def pair_judgement(first: Any, certificate: Any) -> bool | None:
    """Whether the certificate is true, and of what this first layer makes; None: out of reach."""
    second = judgement(certificate)
    try:
        return second if second is not True else _mixes(first, certificate)
    except Malformed:
        return False
    except OutOfReach:
        return None


def _mixes(first: Any, certificate: Any) -> bool:
    record(first, ["format", "data", "layer", "second", "input_sha256", "digest"])
    demand(first["format"] == FORMAT and sealed(first) == first)
    demand(digested(certificate) == certificate and first["second"] == certificate["digest"])
    T, n, d = (certificate["dims"][name] for name in ("examples", "context", "width"))
    (head,) = record(first["layer"], ["heads", "output"])["heads"]
    record(head, ["key", "query", "value"])
    zeros = [numbers(head[name], d, 1) for name in ("key", "query")]
    copies = [numbers(x, d, d) for x in (head["value"], first["layer"]["output"])]
    identity = [[int(i == j) for j in range(d)] for i in range(d)]
    demand(zeros == [[[0]] * d] * 2 and copies == [identity] * 2)
    old, new = record(first["data"], ["contexts", "queries", "labels"]), certificate["data"]
    count = len(new["contexts"])
    made, queries = numbers(new["contexts"], count, n, d), numbers(new["queries"], T, d)
    given, asked = numbers(old["contexts"], count, n, d), numbers(old["queries"], T, d)
    for t in range(T):
        E = given[t if count > 1 else 0]
        mean = [sum(row[j] for row in E) / n for j in range(d)]
        rows = [[x + m for x, m in zip(row, mean, strict=True)] for row in [*E, asked[t]]]
        demand(rows == [*made[t if count > 1 else 0], queries[t]])
    return bool(old["labels"] == new["labels"])
