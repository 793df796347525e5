"""Two layers for the fuzzer: a first one before a small true certificate, and a judge of both.

Plain formulas over fractions, from docs/certificate.md ("Two layers"); nothing is shared with
constructions/mixing.py or verify/checker_mixing.py.
"""

from __future__ import annotations

import json
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.certificate_judge import (
    Malformed,
    OutOfReach,
    demand,
    judgement,
    numbers,
    record,
)
from support.file_strategies import mutated
from support.fuzz_measure import Finding, timed
from support.small_certificates import CASES, Certificate, digested, sealed, text

from attncert.verify import checker_mixing

CUT = b"\n--8<--\n"  # between the first layer and the certificate
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


def pair(content: bytes, scratch: Path) -> str:
    """A first layer and a certificate, as they are and with all digests computed afresh."""
    first, _, certificate = content.partition(CUT)
    return [_judged(*files, scratch) for files in _files(first, certificate)][-1]


def _files(first: bytes, certificate: bytes) -> list[tuple[bytes, bytes]]:
    files = [(first, certificate)]
    with suppress(ValueError, RecursionError, AttributeError, TypeError):
        made = sealed(json.loads(certificate))
        fresh = sealed(json.loads(first) | {"second": made["digest"]})
        files.append((json.dumps(fresh).encode(), json.dumps(made).encode()))
    return files


def _judged(first: bytes, certificate: bytes, scratch: Path) -> str:
    paths = [scratch / name for name in ("first-layer.json", "second.json")]
    for path, content in zip(paths, (first, certificate), strict=True):
        path.write_bytes(content)
    found: list[Any] = []

    def run() -> str:
        found.append(checker_mixing.check_files(*map(str, paths), limit_seconds=2.0))
        return str(found[0].status)

    status = timed(run)
    if status not in checker_mixing.checker.EXIT or not found[0].message.isprintable():
        raise Finding(f"not one clear line: {status} {found[0].message!r}")
    if status == "holds":
        truth = pair_judgement(json.loads(first), json.loads(certificate))
        if truth is False:
            raise Finding("accepted, but not true")
        return status if truth else "holds, beyond the judge"
    return status


def pair_seeds() -> list[bytes]:
    made = [CASES[name]() for name in SECOND]
    return [CUT.join(json.dumps(x).encode() for x in (before(second), second)) for second in made]


def pair_mutant(content: bytes, scratch: Path) -> str:
    """The bytes as the choices of a hypothesis strategy: one of the two changed in structure."""
    _CHOSEN.clear()
    _mutants.hypothesis.fuzz_one_input(content)
    return pair(_CHOSEN[0], scratch) if _CHOSEN else "too short"


_CHOSEN: list[bytes] = []


@settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def _mutants(data: st.DataObject) -> None:
    second = CASES[data.draw(st.sampled_from(SECOND))]()
    files: list[Any] = [before(second), second]
    which = data.draw(st.sampled_from([0, 0, 0, 1, None]))
    if which is not None:
        files[which] = data.draw(mutated(files[which]))
    _CHOSEN[:] = [CUT.join(json.dumps(x).encode() for x in files)]
