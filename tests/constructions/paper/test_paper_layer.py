"""Ranks modulo primes, the readout, and the a-priori bound; corrupted layers are refused."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from flint import fmpq_mat
from support.built import Built, paper, weights
from support.built import claims as claims_of
from support.paths import ROOT

from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.primes import PRIMES_31
from attncert.constructions.paper.theorem import build
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.features import tables
from attncert.verify.statements.steps import conclusions

sys.path.append(str(ROOT / "benchmarks"))


def example(name: str) -> tuple[Dataset, BuiltLayer]:
    return paper(name).data, paper(name).construction


def claims(data: Dataset, built: BuiltLayer) -> dict[str, Claim]:
    return {claim.id: claim for claim in claims_of(Built(data, built))}


def failing(found: dict[str, Claim]) -> set[str]:
    return {name for name, claim in found.items() if not claim.level.holds}


# Ranks and primes.


def test_no_usable_prime_is_undecided_not_a_crash() -> None:
    data, _ = example("shared")
    below = 1
    for p in PRIMES_31:
        below *= p
    contexts = [[x / below for x in row] for row in data.contexts.fractions()[0]]
    small = Dataset.of(contexts, data.queries, data.labels)
    built = build(small)
    assert not failing(claims(small, built))
    assert conclusions.full_rank(small, built.layer).level is Level.UNDECIDED


def test_a_softmax_sum_that_vanishes_is_undecided_not_a_crash() -> None:
    """2^((p-1)/2) + 1 = 0 mod p: with such logits there are no features mod p."""
    p = PRIMES_31[0]
    data = Dataset.of([[1, 0], [0, 1]], [[1, 0], [0, 1]], [0, 1])
    built = build(data)
    key = fmpq_mat([[(p - 1) // 2, 0], [0, 0]])
    run = weights(Built(data, built), 0, key=key, query=fmpq_mat([[1, 1], [0, 0]]))
    spoilt = run.construction
    found = claims(data, spoilt)
    assert found["head.1.rank"].level is Level.UNDECIDED
    assert conclusions.full_rank(data, spoilt.layer).numbers["prime"] != p


# Numbers that do not occur in a step.


def test_off_peak_weights_in_bits() -> None:
    """log2(1 - p_max) for the weights 1/4 and 2^-k/(1 + 2^-k), equal weights, and weights beyond
    all floats."""
    table = np.array([[0, 0, 0, 0], [0, -50, -(10**6), -(10**6)], [3**800, 0, 0, 0]], dtype=object)
    found = tables.log2_off_peak(table)
    assert found[0] == pytest.approx(np.log2(0.75))
    assert found[1] == pytest.approx(-50)
    assert found[2] == -1e300 or found[2] == pytest.approx(-float(3**640) * 3.0**160)
    assert tables.log2_off_peak(np.array([[7]], dtype=object)).tolist() == [-np.inf]
