"""For repeated symbols under every mask, all evaluations agree with that of the raw sequence.

The oracle (tests/support/networks.py) takes the tokens one by one in plain fractions.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from flint import arb, fmpq
from support import networks
from support.shares import share
from support.small_certificates import NOTHING, Certificate, sealed, written

from attncert import load
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.file import of_json
from attncert.verify import checker

KINDS = ["none", "causal", "explicit", "row"]


def kind_of(blocks: list[Any]) -> str:
    """The kind of the first block that depends on the order of the tokens."""
    for block in blocks:
        mask = block.get("mask")
        if block["of"] == "row" or (mask == "causal" and block["of"] == "all"):
            return "row" if block["of"] == "row" else "causal"
        if isinstance(mask, list):
            return "explicit"
    return "none"


def case(seed: int, exact: bool) -> tuple[Certificate, list[Any], list[Any]]:
    """A certificate about sequences such as "aba"; the outputs on these, and on "aab"."""
    blocks, data, counts = networks.network(seed)
    draw, T, d = random.Random(seed), len(data["queries"]), len(data["queries"][0])
    counts = counts or [len(data["contexts"][0])] * T
    embedding = networks.numbers(draw, 2, d, whole=True)
    starts = [draw.randrange(2) for _ in counts]
    sequences = [[(x + i) % 2 for i in range(n)] for x, n in zip(starts, counts, strict=True)]
    merged = [[s[0]] * s.count(s[0]) + [1 - s[0]] * s.count(1 - s[0]) for s in sequences]
    both = []
    for rows in (sequences, merged):
        contexts = [[embedding[x] for x in row] for row in rows]
        queries = [embedding[s[-1]] for s in sequences]
        tables = {"contexts": contexts, "queries": queries}
        both.append(networks.outputs(blocks, tables, exact))
    dims = {"examples": T, "context": max(counts), "width": d, "labels": len(both[0][0])}
    certificate = NOTHING | {
        "claim": "network", "construction": "random", "dims": dims,
        "data": {
            "embedding": embedding, "positions": None, "sequences": sequences,
            "examples": [[s, n - 1] for s, n in enumerate(counts)], "labels": texts(both[0]),
        },
        "network": blocks,
        "produced_by": {"version": "0", "command": "none", "seed": seed},
    }  # fmt: skip
    return sealed(certificate), both[0], both[1]


def far_apart(outputs: list[Any], others: list[Any]) -> bool:
    pairs = zip(flat(outputs), flat(others), strict=True)
    return any(abs(x - y) > Fraction(1, 10**6) for x, y in pairs)


def flat(rows: list[list[Any]]) -> list[Any]:
    return [x for row in rows for x in row]


def texts(rows: Any) -> list[list[str]]:
    return [[str(x) for x in row] for row in rows]


@cache
def cases(kind: str, exact: bool, count: int) -> list[tuple[Certificate, list[Any], list[Any]]]:
    """Cases of this kind; unless it is "none", only those whose outputs depend on the order of
    tokens."""

    def found() -> Iterator[tuple[Certificate, list[Any], list[Any]]]:
        for seed in range(10**4):
            blocks = networks.network(seed)[0]
            words = {word for b in blocks for word in (b.get("logit_unit"), b.get("rule"))}
            ties = (words | {b.get("activation") for b in blocks}) & {"hardmax", "threshold"}
            if kind_of(blocks) != kind or (not exact and ("1" not in words or ties)):
                continue
            with suppress(networks.Irrational):
                certificate, outputs, merged = case(seed, exact)
                if kind == "none" or far_apart(outputs, merged):
                    yield certificate, outputs, merged

    return list(islice(found(), count))


def data_of(certificate: Certificate, folder: Path) -> list[Dataset]:
    """The data in a certificate: read, expanded, through JSON, and as part of more examples."""
    content = certificate["data"]
    (folder / "data.json").write_text(json.dumps(content))
    (folder / "certificate.json").write_text(json.dumps(certificate))
    data = load(folder / "data.json")
    (folder / "expanded.json").write_text(json.dumps(data.expanded().canonical()))
    (folder / "twice.json").write_text(
        json.dumps({k: x * 2 if k in ("examples", "labels") else x for k, x in content.items()})
    )
    twice = load(folder / "twice.json")
    return [
        data,
        data.expanded(),
        load(folder / "certificate.json"),
        load(folder / "expanded.json"),
        twice.take(range(data.T, 2 * data.T)),
        twice.expanded().take(data.T),
    ]


@pytest.mark.parametrize("kind", share(KINDS, 2))
def test_the_rational_route(kind: str, tmp_path: Path) -> None:
    for certificate, outputs, _ in cases(kind, True, 2):
        network = of_json(certificate["network"])
        for data in data_of(certificate, tmp_path):
            found = network.outputs(data).tolist()
            assert [[Fraction(int(x.p), int(x.q)) for x in row] for row in found] == outputs


@pytest.mark.parametrize("kind", KINDS)
def test_the_route_in_balls(kind: str, tmp_path: Path) -> None:
    for certificate, outputs, _ in cases(kind, False, 2):
        network = of_json(certificate["network"])
        for data in data_of(certificate, tmp_path):
            balls = network.enclosures(data).tolist()
            for x, y in zip(flat(balls), flat(outputs), strict=True):
                assert x.rad() < 1e-20
                assert x.overlaps(arb(fmpq(y.numerator, y.denominator), 1e-30))


@pytest.mark.parametrize("exact", [True, False], ids=["rational", "balls"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_checker(kind: str, exact: bool, tmp_path: Path) -> None:
    """Claims that are true for the sequence hold; claims that are true only for the merged tokens
    do not."""
    for certificate, outputs, merged in cases(kind, exact, 2):
        labels = {"true": outputs, **({} if outputs == merged else {"merged": merged})}
        for name, rows in labels.items():
            file = certificate | {"data": certificate["data"] | {"labels": texts(rows)}}
            if not exact:
                file |= {"claim": "outputs-within", "within": "1/1000000000000"}
            path = written(sealed(file), tmp_path)
            assert checker.check_file(path).status == ("holds" if name == "true" else "wrong")
