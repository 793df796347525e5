"""Theorem 2 of docs/width-one.md: contexts of any rank and different lengths; narrow values."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from support import exact_data
from support.oracles import SAFE_PRIME, features_mod, meets_partition_condition, rank, rank_mod
from support.trace_rules import broken

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.search.dimensions import Dimensions, by_dimension, dimensions
from attncert.verify import checker
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.proof import Proof
from attncert.verify.prove.prove import prove
from attncert.verify.questions.prove import Prove

CURVE = exact_data.family(7, 3, 4, queries="moment-curve", seed=1)


def certified(proof: Proof, path: Path) -> bool:
    path.write_text(json.dumps(proof.certificate))
    return checker.check_file(str(path)).status == "holds"


def drawn(seed: int) -> Dataset:
    """Contexts of 1 to 4 tokens, some repeated or on a line, and queries on the moment curve."""
    rng = np.random.default_rng([seed, 85])
    T, d = int(rng.integers(2, 7)), int(rng.integers(2, 4))
    contexts = []
    for _ in range(T):
        rows = rng.integers(-2, 3, (int(rng.integers(1, 5)), d)).tolist()
        rows += rows[: int(rng.integers(0, 2))]
        contexts.append(rows)
    queries = [[(t + 1) ** k for k in range(d)] for t in range(T)]
    return Dataset.of(contexts, queries, list(range(T)))


@pytest.mark.parametrize("seed", range(8))
def test_what_is_grouped_is_memorized(seed: int, tmp_path: Path) -> None:
    data = drawn(seed)
    try:
        groups = by_dimension(data)
    except HypothesisFails as failure:
        assert failure.hypothesis == "dimensions"
        assert prove(data, Prove("affine")).standing is not Level.PROVED
        return
    queries = data.queries.fractions()
    assert meets_partition_condition(queries, groups)
    for h, group in enumerate(groups):
        for j, t in enumerate(group, start=1):
            rows = data.contexts.fractions()[t]
            between = [[x - y for x, y in zip(row, rows[0], strict=True)] for row in rows]
            assert rank(between if h else rows) >= j
    proof = prove(data, Prove("affine"))
    assert proof.standing is Level.PROVED and certified(proof, tmp_path / "c.json")
    assert proof.layer is not None
    assert rank_mod(features_mod(data, proof.layer), SAFE_PRIME) == data.T
    assert broken(proof) == {}


def test_an_order_is_found_if_any_is() -> None:
    for ranks in itertools.product((1, 2, 3), repeat=4):
        sizes = Dimensions(ranks, tuple(r - 1 for r in ranks))
        for first in (True, False):
            counted = sizes.ranks if first else sizes.affine
            some = any(
                all(counted[t] >= j for j, t in enumerate(order, start=1))
                for order in itertools.permutations(range(4))
            )
            assert (sizes.ordered(range(4), first) is not None) == some


def test_where_no_grouping_can_be_it_says_so() -> None:
    queries = [[1, 0], [0, 1]]
    constant = Dataset.of([[[1, 2]] * 2, [[2, 1]] * 2], queries, [1, 2])
    proof = prove(constant, Prove("affine"))
    assert proof.standing is Level.NOT_APPLICABLE and proof.exit_status == 3
    assert proof.trace["hypothesis.dimensions"].level is Level.REFUTED
    zero = Dataset.of([[[0, 0]] * 2, [[2, 1], [1, 0]]], queries, [1, 2])
    parallel = Dataset.of(np.eye(2, dtype=int), [[1, 0], [2, 0]], [1, 2])
    for data in (zero, parallel):
        with pytest.raises(HypothesisFails) as refused:
            by_dimension(data)
        assert refused.value.decided
    with pytest.raises(HypothesisFails, match="no grouping for H = 1") as few:
        by_dimension(CURVE, heads=1)
    assert not few.value.decided
    assert dimensions(constant) == Dimensions((1, 1), (0, 0))


NARROW = exact_data.family(7, 3, 4, queries="moment-curve", m=4, seed=1)


@pytest.mark.parametrize("construction", ["paper", "width-one", "affine"])
def test_values_as_wide_as_a_group_are_enough(construction: str, tmp_path: Path) -> None:
    """With d_v = 3 = n and m = 4, W_V picks columns that do not depend on the labels."""
    proof = prove(NARROW, Prove(construction, value_width=3))
    assert proof.standing is Level.PROVED and certified(proof, tmp_path / "c.json")
    assert proof.trace["hypothesis.value-width"].level is Level.REFUTED
    assert proof.trace["theorem"].level is Level.NOT_APPLICABLE
    assert proof.trace["reduction"].level is Level.KERNEL
    assert proof.trace.standing("universal") is Level.PROVED
    assert proof.layer is not None
    for head in proof.layer.heads:
        assert head.value is not None and {int(x.p) for x in head.value.entries()} <= {0, 1}


def test_narrower_ones_and_ranks_alone_are_refused_in_one_line() -> None:
    proof = prove(NARROW, Prove("width-one", value_width=2))
    assert (
        "narrower than labels of 4 and than a group of 3" in proof.trace["memorization"].statement
    )
    proof = prove(NARROW, Prove("width-one", value_width=3, claim="full-rank"))
    assert "--claim interpolation allows narrower values" in proof.trace["memorization"].statement
    assert proof.exit_status == 3
