"""Ranks modulo primes, the readout, and the a-priori bound; and what is spoilt is refused."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq_mat
from support.built import Built, paper, weights
from support.built import claims as claims_of
from support.paths import ROOT
from support.small_layers import features

from attncert.constructions.construction import Construction
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.primes import PRIMES_31
from attncert.constructions.paper.theorem import build
from attncert.verify import features as verify_features
from attncert.verify import tables
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.steps import conclusions, shared

sys.path.append(str(ROOT / "benchmarks"))
from apriori import Apriori


def example(name: str) -> tuple[Dataset, Construction]:
    return paper(name).data, paper(name).construction


def claims(data: Dataset, built: Construction) -> dict[str, Claim]:
    return {claim.id: claim for claim in claims_of(Built(data, built))}


def failing(found: dict[str, Claim]) -> set[str]:
    return {name for name, claim in found.items() if not claim.level.holds}


def context(data: Dataset, t: int) -> list[list[Fraction]]:
    rows: list[list[Fraction]] = data.contexts.fractions()[0 if data.shared else t]
    return rows


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


# Numbers beside the steps.


def sigma(data: Dataset, built: Construction, number: int) -> tuple[np.ndarray, list[int]]:
    """The limit matrix of this head, exactly, then as floats; and its rows."""
    rows = [*built.heads[number].earlier, *built.heads[number].group]
    z = features(data, replace(built.layer, heads=built.layer.heads[: number + 1]))
    limit = [list(z[t]) for t in rows]
    for k, target in enumerate(built.heads[number].targets):
        limit[k][-data.d :] = context(data, rows[k])[target]
    return np.array(limit, dtype=float), rows


@pytest.mark.parametrize("name", ["interior", "vertices", "shared", "rational"])
def test_the_a_priori_bound(name: str) -> None:
    """B is the least with (n-1) 2^-B sqrt(Σ diam²) < σ; c the least that gives every gap B bits."""
    data, built = example(name)
    conditioning = Apriori(data)
    for number, (found, layer_head) in enumerate(zip(built.heads, built.layer.heads, strict=True)):
        table = verify_features.logits(layer_head, data)
        lead = None if found.selector is None else shared.lead(data, found)
        bound = None if lead is None else conditioning.bound(found, table, lead)
        condition = conditioning.add(found, table)
        assert condition is not None and condition >= 1
        if lead is None:
            continue
        limit, _ = sigma(data, built, number)
        smallest = np.linalg.svd(limit, compute_uv=False)[-1]
        diameters = []
        for s in found.earlier:
            points = np.array(context(data, s), dtype=float)
            diameters.append(max(np.linalg.norm(x - y) for x in points for y in points))
        moved = (data.n - 1) * float(np.linalg.norm(diameters))
        assert bound is not None
        c, bits = bound
        assert moved * 2.0**-bits < smallest * (1 + 1e-9)
        assert bits == 1 or moved * 2.0 ** -(bits - 1) >= smallest * (1 - 1e-9)
        gaps = {}
        for at in (c, c - 1):
            shifted = table[list(found.earlier)] + (at - found.c) * tables.dense(lead)
            gaps[at] = min(
                row[target] - row[i]
                for row, target in zip(shifted, found.targets, strict=True)
                for i in range(data.n)
                if i != target
            )
        assert gaps[c] >= bits and (c == 1 or gaps[c - 1] < bits)
        assert c >= found.c


@pytest.mark.parametrize("scale", [Fraction(1, 2**1060), Fraction(1, 2**600), 2**530, 2**1300])
def test_the_a_priori_bound_does_not_depend_on_the_scale(scale: int | Fraction) -> None:
    data, built = example("shared")
    contexts = [[x * scale for x in row] for row in data.contexts.fractions()[0]]
    scaled = Dataset.of(contexts, data.queries, data.labels)
    again = build(scaled)
    bits = []
    for E, b in ((data, built), (scaled, again)):
        conditioning = Apriori(E)
        bits.append([])
        for found, layer_head in zip(b.heads, b.layer.heads, strict=True):
            table = verify_features.logits(layer_head, E)
            if found.selector is not None:
                bits[-1].append(conditioning.bound(found, table, shared.lead(E, found))[1])
            conditioning.add(found, table)
    assert bits[0] == bits[1] != []


def test_off_peak_weights_in_bits() -> None:
    """log2(1 - p_max) for weights 1/4; 2^-k over 1 + 2^-k; equal; and far beyond all floats."""
    table = np.array([[0, 0, 0, 0], [0, -50, -(10**6), -(10**6)], [3**800, 0, 0, 0]], dtype=object)
    found = tables.log2_off_peak(table)
    assert found[0] == pytest.approx(np.log2(0.75))
    assert found[1] == pytest.approx(-50)
    assert found[2] == -1e300 or found[2] == pytest.approx(-float(3**640) * 3.0**160)
    assert tables.log2_off_peak(np.array([[7]], dtype=object)).tolist() == [-np.inf]
