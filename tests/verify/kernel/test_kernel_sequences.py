"""The extracted checker and the checker in Python on token sequences and on domains: files of every
claim, each with some changes, and mutants."""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support import networks
from support.paths import ROOT
from support.requires import needed, verified_status
from support.sequence_cases import POSITIONS, TRUE, prefixes, true_file
from support.small_certificates import Certificate, on_domain, sealed, text, written

from attncert import Dataset, Prove, prove
from attncert.verify.checker import check_file

PRIMES = ["3", "5", "7", "11", "13", "17", "257"]


def files() -> list[Certificate]:
    plain = [true_file(claim, p) for claim in TRUE for p in (None, POSITIONS)]
    return plain + [behind(file) for file in plain if len(file["dims"]) > 4]


def behind(file: Certificate) -> Certificate:
    """The claim about a layer behind a block that makes 2 x + 1/3 of each token."""
    d = file["dims"]["width"]
    one = [[str(int(i == j)) for j in range(d)] for i in range(d)]
    block = {"kind": "feed-forward", "of": "all", "activation": "identity",
             "weights": one, "bias": ["1/3"] * d, "residual": True}  # fmt: skip
    data = file["data"]
    halves = [[str((Fraction(x) - Fraction(1, 3)) / 2) for x in row] for row in data["embedding"]]
    shifts = data["positions"] and [[str(Fraction(x) / 2) for x in r] for r in data["positions"]]
    more = {"embedding": halves, "positions": shifts}
    return sealed(file | {"network": [block, *file["network"]], "data": data | more})


def number(draw: random.Random, old: str) -> str:
    p = Fraction(draw.choice(PRIMES))
    return str(Fraction(old) + draw.choice([1, -1, p, 1 / p, Fraction(1, 2), 10**20]))


def entry(draw: random.Random, table: Any) -> None:
    row = draw.choice(table)
    j = draw.randrange(len(row))
    row[j] = number(draw, row[j])


def of_numbers(draw: random.Random, file: Certificate, data: Any) -> None:
    entry(draw, draw.choice([data["embedding"], data["positions"] or data["embedding"]]))


def of_an_unused_symbol(draw: random.Random, file: Certificate, data: Any) -> None:
    """Its denominator may be divisible by the prime."""
    data["embedding"].append([number(draw, "0") for _ in data["embedding"][0]])
    entry(draw, data["embedding"][-1:])


def of_equal_tokens(draw: random.Random, file: Certificate, data: Any) -> None:
    """Both tables moved against each other: the same tokens, over other denominators."""
    if data["positions"]:
        j, shift = draw.randrange(len(data["embedding"][0])), Fraction(number(draw, "0"))
        for table, sign in ((data["embedding"], 1), (data["positions"], -1)):
            for row in table:
                row[j] = str(Fraction(row[j]) + sign * shift)


def of_a_symbol(draw: random.Random, file: Certificate, data: Any) -> None:
    sequence = draw.choice(data["sequences"])
    beyond = [-1, len(data["embedding"]), True, "0"] if draw.random() < 0.1 else []
    sequence[draw.randrange(len(sequence))] = draw.choice(beyond or range(len(data["embedding"])))


def of_a_longer_text(draw: random.Random, file: Certificate, data: Any) -> None:
    sequence = draw.choice(data["sequences"])
    sequence.insert(draw.randrange(len(sequence) + 1), draw.randrange(len(data["embedding"])))


def of_a_place(draw: random.Random, file: Certificate, data: Any) -> None:
    pair = draw.choice(data["examples"])
    pair[draw.randrange(2)] = draw.choice([0, 1, 2, draw.randrange(8), -1])


def of_the_order(draw: random.Random, file: Certificate, data: Any) -> None:
    draw.shuffle(draw.choice([data["examples"], *data["sequences"]]))


def of_positions(draw: random.Random, file: Certificate, data: Any) -> None:
    data["positions"] = draw.choice([None, text(POSITIONS), [*text(POSITIONS), ["9/7", "1", "0"]]])


def of_the_prime(draw: random.Random, file: Certificate, data: Any) -> None:
    if "rank" in file:
        file["rank"]["prime"] = draw.choice(PRIMES)


def of_the_lengths(draw: random.Random, file: Certificate, data: Any) -> None:
    file["dims"]["context"] += draw.choice([-1, 1])


def of_the_origin(draw: random.Random, file: Certificate, data: Any) -> None:
    """Rounded from themselves or from others, or said to be a domain."""
    shifts = data["positions"] and [[Fraction(x) for x in row] for row in data["positions"]]
    contexts, queries = prefixes(shifts)
    before = {"contexts": text(contexts), "queries": text(queries), "labels": data["labels"]}
    if draw.random() < 0.5:
        entry(draw, draw.choice([before["queries"], before["contexts"][0]]))
    grid, change = draw.choice(["1", "1/2"]), draw.choice(["0", "1/2", "1"])
    rounded = {"kind": "rounded", "grid": grid, "largest_change": change, "data": before}
    domain = {"kind": "domain", "contexts": text(contexts)[:7], "queries": text(queries)[:1]}
    file["origin"] = draw.choice([rounded, domain])


CHANGES: list[Callable[[random.Random, Certificate, Any], None]] = [
    of_numbers, of_an_unused_symbol, of_equal_tokens, of_a_symbol, of_a_longer_text, of_a_place,
    of_the_order, of_positions, of_the_prime, of_the_lengths, of_the_origin,
]  # fmt: skip


def changed(file: Certificate, draw: random.Random) -> Certificate:
    other = copy.deepcopy(file)
    for change in draw.choices(CHANGES, k=draw.choice([1, 1, 2])):
        change(draw, other, other["data"])
    return sealed(other)


def compared(file: Certificate, folder: Path) -> str:
    """One verdict, but for limits; behind blocks, of several defects each may name another."""
    path = written(file, folder)
    verdict = check_file(path)
    found = verified_status(path)
    blocks = file.get("network")
    after = isinstance(blocks, list) and len(blocks) > 1
    several = after and "holds" not in (found, verdict.status)
    limited = "over limit" in (found, verdict.status)
    assert found == verdict.status or limited or several, (verdict, found, file)
    return verdict.status


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_sequences(count: int, tmp_path: Path) -> None:
    """Half of the files with changes of their texts, the others mutants."""
    needed()
    draw, true, seen, other = random.Random(count), files(), Counter[str](), Counter[str]()
    assert {compared(file, tmp_path) for file in true} == {"holds"}
    for _ in range(count // 2):
        seen.update([compared(changed(draw.choice(true), draw), tmp_path)])
        mutant = networks.mutant(draw.choice(true), draw, draw.choice([1, 1, 2]))
        other.update([compared(sealed(mutant), tmp_path)])
    assert min(len(seen), len(other)) >= 3


@pytest.mark.parametrize("name", ["certificate", "certificate-every-labelling"])
def test_200_characters(name: str) -> None:
    needed()
    file = ROOT / "docs" / "gallery" / "next-token" / f"{name}.json"
    assert verified_status(str(file)) == "holds"


def domains() -> list[Certificate]:
    """Whole domains, contexts shared or not, of two lengths or one."""
    found = []
    for contexts in ([[["1"], ["2"]]], [[["1"]], [["1"], ["1/2"]]], [[["1", "2"]], [["3", "1/3"]]]):
        d = len(contexts[0][0])
        queries = [["0"] * d, ["1"] * d, ["-2/3"] * d]
        pairs = [(context, query) for query in queries for context in contexts]
        shared = len(contexts) == 1
        data = Dataset.of(contexts[0] if shared else [c for c, _ in pairs], [q for _, q in pairs],
                          [*range(len(pairs))])  # fmt: skip
        for construction in ("relu", "attention-relu"):
            made = prove(data, Prove(construction)).certificate
            found += [on_domain(Certificate(made))] if made else []
    return found


def other_domain(file: Certificate, draw: random.Random) -> Certificate:
    other = copy.deepcopy(file)
    origin, data = other["origin"], other["data"]
    part = draw.choice([origin, origin, data])
    rows = draw.choice([part["queries"], *part["contexts"]])
    kind = draw.random()
    if kind < 0.3:
        entry(draw, rows)
    elif kind < 0.5:
        rows[draw.randrange(len(rows))] = copy.deepcopy(draw.choice(rows))
    elif kind < 0.7:
        draw.shuffle(draw.choice([origin["queries"], origin["contexts"], rows]))
    elif kind < 0.8:
        row = draw.choice(rows)
        row[0] = row[0] + "0/10" if "/" not in row[0] else row[0]
    elif kind < 0.9:
        origin["contexts"], origin["queries"] = (
            draw.choice([[], origin["contexts"][:1], origin["contexts"] * 2, [0], ["1"]]),
            draw.choice([[], origin["queries"][:2], origin["queries"]]),
        )
    else:
        origin[draw.choice(list(origin))] = draw.choice([None, "domain", "rounded", [], {}, 1])
    return sealed(other)


@pytest.mark.parametrize("count", [100, pytest.param(10_000, marks=pytest.mark.slow)])
def test_domains(count: int, tmp_path: Path) -> None:
    needed()
    draw, true, seen = random.Random(count), domains(), Counter[str]()
    assert len(true) >= 4 and {compared(file, tmp_path) for file in true} == {"holds"}
    for _ in range(count):
        file = draw.choice(true)
        mutant = other_domain(file, draw)
        if draw.random() < 0.2:
            mutant = sealed(networks.mutant(mutant, draw))
        seen.update([compared(mutant, tmp_path)])
    assert set(seen) >= {"holds", "wrong", "unusable"}
