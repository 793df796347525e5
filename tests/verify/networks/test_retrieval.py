"""`prove --construction retrieval` agrees with mpmath on errors, bounds and separations."""

from __future__ import annotations

import json
import random
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from flint import arb, ctx, fmpq
from mpmath import mp, mpf
from support.shell import Shell

import attncert
from attncert import Dataset, InputError, Prove, check, prove
from attncert.constructions.layer import Head
from attncert.constructions.network import retrieval
from attncert.constructions.network.blocks import Attention
from attncert.constructions.network.network import Network
from attncert.constructions.network.retrieval import Retrieval
from attncert.reports.answers import report
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.proof import Proof
from attncert.verify.statements.statements import step_claims
from attncert.verify.statements.states import Views
from attncert.verify.statements.steps import networks as steps

CASES: dict[str, tuple[list[list[int]], str]] = {
    "axes": ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], "8"),
    "two": ([[0, 3], [3, 0]], "1/3"),
    "one": ([[2, 1]], "5"),
    "zero among others": ([[-1], [0], [1]], "2"),
    "one behind another": ([[1, 0], [2, 0], [0, 1]], "0.5"),
    "twice": ([[1, 2], [1, 2], [2, 1]], "1e-3"),
}


def random_case(seed: int) -> tuple[list[list[int]], str]:
    draw = random.Random(seed)
    d, N = draw.randint(1, 4), draw.randint(1, 6)
    rows = [[draw.randint(-4, 4) for _ in range(d)] for _ in range(N)]
    return rows, str(Fraction(draw.randint(1, 40), draw.choice([1, 4, 10])))


def retrieved(rows: Any, beta: str = "1", **options: Any) -> Proof:
    proof = prove(Dataset.of([[0] * len(rows[0])], rows), Prove("retrieval", beta=beta, **options))
    assert isinstance(proof, Proof)
    return proof


def plain(rows: list[list[int]], beta: str) -> list[tuple[Any, Any, int | None]]:
    """Error, bound and gap of each distinct pattern, to 60 digits or more."""
    patterns = [x for i, x in enumerate(rows) if x not in rows[:i]]
    factor, triples = Fraction(beta), []
    with mp.workdps(400):
        for x in patterns:
            products = [sum(a * b for a, b in zip(x, y, strict=True)) for y in patterns]
            own, others = products[patterns.index(x)], products[:]
            others.remove(own)
            scale = mpf(factor.numerator) / factor.denominator
            powers = [mp.exp(scale * (p - own)) for p in products]
            outputs = [
                sum(w * y[k] for w, y in zip(powers, patterns, strict=True)) / sum(powers)
                for k in range(len(x))
            ]
            error = max(abs(a - b) for a, b in zip(outputs, x, strict=True))
            gap = own - max(others) if others else None
            reach = max(abs(a - b) for y in patterns for a, b in zip(x, y, strict=True))
            limit = len(others) * mp.exp(-scale * (gap or 0)) * reach
            triples.append((error, limit, gap))
    return triples


def agree(rows: list[list[int]], beta: str) -> Proof:
    proof, expected = retrieved(rows, beta), plain(rows, beta)
    errors = proof.trace["layer.error"].numbers["errors"]
    gaps, bounds = (proof.trace["step.bound"].numbers[key] for key in ("gaps", "bounds"))
    with mp.workdps(400):
        slack, floor = 1 + mpf(10) ** -4, mpf(10) ** -15
        for (error, limit, gap), (low, high), stated, most in zip(
            expected, errors, gaps, bounds, strict=True
        ):
            assert mpf(low) <= error * slack and error <= mpf(high) * slack
            assert mpf(high) <= error * slack + floor
            assert str(gap) == str(stated)
            assert limit / slack <= mpf(most) <= limit * slack
            assert error <= limit + mpf(10) ** -390
        worst = max(x for x, _, _ in expected)
        within = Fraction(proof.claim.numbers["tolerance"])
        within = mpf(within.numerator) / within.denominator
        assert worst <= within <= worst * mpf("1.2") + mpf(10) ** -99
    return proof


@pytest.mark.parametrize("name", CASES)
def test_cases(name: str) -> None:
    rows, beta = CASES[name]
    proof = agree(rows, beta)
    assert proof.standing is Level.ENCLOSED and proof.exit_status == 0
    apart = [i for i, (_, _, gap) in enumerate(plain(rows, beta)) if gap is None or gap > 0]
    assert proof.trace["step.bound"].numbers["separated"] == len(apart)


@pytest.mark.parametrize(
    ("first", "count"), [(0, 10), pytest.param(1000, 100, marks=pytest.mark.slow)]
)
def test_random_patterns(first: int, count: int, tmp_path: Path) -> None:
    """Both checkers accept the certificate."""
    for seed in range(first, first + count):
        rows, beta = random_case(seed)
        proof = agree(rows, beta)
        assert proof.certificate is not None
        path = next(x for x in proof.write(tmp_path / "r") if x.name == "certificate.json")
        assert check(path).status == "holds"
        assert path.read_bytes().count(b'"outputs-within"') == 1


def test_a_separated_pattern_is_never_met() -> None:
    """Balls show that x·output < x·x, at every β tried."""
    for beta in (Fraction(1, 100), 1, 7, 40):
        built = retrieval.build(Dataset.of([[0, 0]], [[2, 1], [-1, 2], [1, -3], [0, 0]]), beta=beta)
        with ctx.workprec(2000):
            outputs = built.network.enclosures(built.data, 2000).tolist()
            for i, x in enumerate(built.data.query_matrix.tolist()):
                product = sum((a * b for a, b in zip(outputs[i], x, strict=True)), arb(0))
                own = sum((a * a for a in x), fmpq(0))
                assert built.gaps[i] <= 0 or product < arb(own)


def other_network(built: Retrieval, **changes: Any) -> Retrieval:
    """The same record with another head."""
    block: Any = built.network.blocks[0]
    head = replace(block.heads[0], **changes)
    assert isinstance(head, Head)
    return replace(built, network=Network((Attention((head,), block.output, unit="1"),)))


def bound(built: Retrieval) -> Claim:
    views = Views(built.data, built, built.network)
    (claim,) = step_claims({"bound": steps.BOUND}, views, lambda part: nullcontext(), "")
    return claim


def test_defects_are_above_the_bound() -> None:
    built = retrieval.build(Dataset.of([[0, 0]], [[3, 1], [-1, 3], [1, -4]]), beta=2)
    head: Any = built.network.blocks[0]
    query, value = head.heads[0].query, head.heads[0].value
    assert bound(built).level is Level.PROVED
    for defect in (
        other_network(built, query=query / 4),
        other_network(built, query=-query),
        other_network(built, value=value * fmpq(2**40 + 1, 2**40)),
    ):
        claim = bound(defect)
        assert claim.level is Level.REFUTED and claim.witness is not None
        assert claim.witness["relation"]


def test_an_error_that_is_almost_the_bound_is_told_from_it() -> None:
    """The error is about the bound times 1 - exp(-1800): exact logits distinguish them."""
    assert bound(retrieval.build(Dataset.of([[0]], [[30], [-30]]))).level is Level.PROVED


def test_the_page_names_the_worst_first_and_repeats_the_command() -> None:
    rows = [[k, 30 - k] for k in range(30)]
    proof = retrieved(rows, "0.25")
    page = report(proof).files["report.md"].decode()
    assert "attncert prove DATA --construction retrieval --beta 0.25" in page
    assert "10 more are in the JSON" in page and "Its distinct queries are the patterns" in page
    table = page.partition("## The errors")[2].partition("\n\nThe largest")[0].splitlines()[4:]
    assert len(table) == 20
    errors = [float(row.split("|")[2].strip(" in\\[]").split(",")[0]) for row in table]
    assert errors == sorted(errors, reverse=True)
    assert report(retrieved(rows, "0.25")).files["report.md"].decode() == page


def test_logits_that_the_precision_does_not_hold_are_undecided() -> None:
    proof = retrieved([[str(10**500)], [str(10**500 + 1)]], "1/3")
    assert proof.standing is Level.UNDECIDED and proof.certificate is None


BAD: list[tuple[dict[str, Any], str]] = [
    ({"construction": "retrieval", "beta": "0"}, "beta: must be a positive number, not 0"),
    ({"construction": "retrieval", "beta": "-1"}, "beta: must be a number, at least 0"),
    ({"construction": "retrieval", "beta": "x"}, "beta: must be a number, at least 0"),
    ({"construction": "relu", "beta": "2"}, "beta: must be left out for the construction relu"),
    ({"construction": "retrieval", "heads": 2}, "heads: must be left out for the construction"),
    ({"construction": "retrieval", "round": "1/2"}, "round: must be left out for the construction"),
    ({"construction": "retrieval", "before": "mean"}, "before: must be left out for the constr"),
    ({"construction": "retrieval", "claim": "full-rank"}, "claim: must be interpolation with"),
]


@pytest.mark.parametrize(("options", "message"), BAD, ids=[x[1] for x in BAD])
def test_what_says_nothing_of_retrieval_is_one_line(
    options: dict[str, Any], message: str, tmp_path: Path, shell: Shell
) -> None:
    with pytest.raises(InputError) as error:
        prove(Dataset.of([[0]], [[1], [2]], [1, 2]), Prove(**options))
    assert message in str(error.value)
    data = tmp_path / "data.json"
    data.write_text(json.dumps({"contexts": [[0]], "queries": [[1], [2]], "labels": [1, 2]}))
    flags = [x for name, y in options.items() for x in (f"--{name}", str(y))]
    shell.refuses("prove", data, *flags, "--out", tmp_path / "r")


def test_data_need_no_labels(tmp_path: Path) -> None:
    data = tmp_path / "patterns.json"
    data.write_text(json.dumps({"contexts": [[0]], "queries": [[1], [-2]]}))
    command = ["prove", str(data), "--construction", "retrieval", "--out", str(tmp_path / "r")]
    assert attncert.main(command) == 0
    assert check(tmp_path / "r" / "certificate.json").status == "holds"
