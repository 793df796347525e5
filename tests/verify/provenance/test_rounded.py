"""Rounding agrees with Python's rounding of fractions, in the claim and the certificate."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import attncert
from attncert import Dataset, Prove, prove
from attncert.reports.answers import report
from attncert.reports.prove.records import exhibits
from attncert.verify import checker
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level
from attncert.verify.provenance.rounded import Rounded, on_grid

DRAW = np.random.default_rng(3)
FLOATS = Dataset.of(
    DRAW.standard_normal((4, 2, 3)), DRAW.standard_normal((4, 3)), DRAW.standard_normal(4)
)
FRACTIONS = st.tuples(st.integers(-300, 300), st.integers(1, 64)).map(lambda x: Fraction(*x))


def flat(nested: Any) -> list[Fraction]:
    return [x for y in nested for x in flat(y)] if isinstance(nested, list) else [nested]


@given(st.lists(FRACTIONS, min_size=4, max_size=4), FRACTIONS.filter(lambda x: x > 0))
@settings(max_examples=40, deadline=None)
def test_rounding_is_pythons(numbers: list[Any], grid: Fraction) -> None:
    data = Dataset.of([numbers[:2]], [numbers[2:]], [1])
    short = on_grid(data, grid)
    origin: Any = short.origin
    for name in ("contexts", "queries"):
        before = flat(getattr(data, name).fractions())
        assert flat(getattr(short, name).fractions()) == [round(x / grid) * grid for x in before]
    changes = [
        abs(x - y)
        for name in ("contexts", "queries")
        for x, y in zip(
            flat(getattr(data, name).fractions()),
            flat(getattr(short, name).fractions()),
            strict=True,
        )
    ]
    assert origin.largest_change == max(changes)
    (claim,) = origin.claims(short)
    assert claim.level is Level.PROVED and claim.numbers["numbers"] == 4


def test_other_data_are_refuted() -> None:
    short = on_grid(FLOATS, Fraction(1, 4))
    origin: Any = short.origin
    coarse = on_grid(FLOATS, Fraction(1, 2))
    odd = Dataset.of([[1, 0]], [[1, 1]], [1])
    tie = Rounded(Fraction(1), Dataset.of([["1/2", 0]], [[1, 1]], [1]), Fraction(1, 2))
    for data, claimed in (
        (coarse, origin),
        (FLOATS, origin),
        (short, replace(origin, largest_change=origin.largest_change * 2)),
        (odd, tie),
        (Dataset(short.contexts, short.queries, coarse.queries), origin),
        (Dataset(short.contexts, short.queries), origin),
        (FLOATS.take(2), origin),
    ):
        (claim,) = claimed.claims(data)
        assert claim.level is Level.REFUTED and claim.witness and claim.witness["reason"]


def test_exact_interpolation_of_rounded_floats(tmp_path: Path) -> None:
    proof = prove(FLOATS, Prove(construction="width-one", round="1/8"))
    assert proof.standing is Level.PROVED and ids.ROUNDING in proof.trace[ids.MEMORIZATION].rests_on
    assert "rounded to multiples of 1/8" in proof.trace[ids.MEMORIZATION].statement
    assert "by more than 0.06" in proof.trace[ids.MEMORIZATION].statement
    assert proof.certificate is not None
    told = proof.certificate["origin"]
    assert told["grid"] == "1/8" and told["data"] == FLOATS.canonical()
    assert 0 < Fraction(told["largest_change"]) <= Fraction(1, 16)
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(proof.certificate))
    verdict = checker.check_file(str(path))
    assert verdict.status == "holds" and "rounded to multiples of 1/8" in verdict.message
    assert "largest_change" in exhibits(proof, proof.setup)["setup"]


def test_full_rank_on_floats_ends_with_the_command() -> None:
    proof = prove(FLOATS, Prove())
    assert proof.setup.claim == "full-rank"
    made = report(proof)
    assert "--round with a step" in made.files["report.md"].decode()
    assert "--round with a step" in " ".join(made.sentences)


def test_a_decimal_step_is_exact(tmp_path: Path) -> None:
    words = ["prove", "digits", "--examples", "4", "--round", "0.1", "--out", str(tmp_path / "out")]
    assert attncert.main(words) == 0
    answer = json.loads((tmp_path / "out" / "answer.json").read_text())
    assert answer["settings"]["round"] == answer["exhibits"]["setup"]["round"] == "1/10"
