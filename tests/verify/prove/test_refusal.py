"""Answers when nothing was built: the largest subset that fits, limits for all weights, and the
given labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import exact_data
from support.oracles import SAFE_PRIME, features_mod, meets_partition_condition, rank_mod

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.verify import checker
from attncert.verify.certificates.certificate import canonical_bytes
from attncert.verify.claims.evidence import About, Claim, Level
from attncert.verify.claims.proof import Proof
from attncert.verify.limits.tightness.relations.probes import random_layer
from attncert.verify.prove import refusal
from attncert.verify.prove.prove import prove
from attncert.verify.prove.run import Run
from attncert.verify.questions.prove import Prove
from attncert.verify.statements import paper

EYE = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
SHARED = exact_data.family(7, 3, 4, shared=True, queries="moment-curve", seed=1)
PARALLEL = Dataset.of(EYE, [*EYE, [2, 0, 0], [1, 1, 1]], [1, 2, 3, 4, 5])
# Distinct contexts whose rows differ by multiples of one vector: affine dimension 1.
FLAT = Dataset.of(
    [[[1, 0, t], [0, 1, t]] for t in range(1, 6)],
    [[1, t, t * t] for t in range(5)],
    [0, 1, 2, 3, 4],
)


def proof_of(data: Dataset, **options: Any) -> Proof:
    return prove(data, Prove(**options))


@pytest.mark.parametrize("about", [None, *About])
def test_what_excludes_all_weights_is_told_by_what_it_is_about_and_not_by_its_id(about) -> None:
    known = Claim("new.bound", "A bound.", Level.REFUTED, witness={"reason": "why"}, about=about)
    failure = HypothesisFails("A2", "no", {})
    questions = [Prove(heads=1), Prove(heads=1, claim="interpolation")]
    runs = [Run.of(PARALLEL, question, paper.CONSTRUCTION) for question in questions]
    told = [refusal.conclusion(run, failure, (), [known])[-1] for run in runs]
    impossible = [claim.level is Level.REFUTED for claim in told]
    expected = {About.UNIVERSAL: [True, False], About.THESE_LABELS: [True, True]}
    assert impossible == expected.get(about, [False, False])


def test_the_largest_part_that_can_be_placed() -> None:
    proof = proof_of(PARALLEL)
    assert proof.standing is Level.NOT_APPLICABLE
    largest = proof.trace["placed.maximum"]
    assert largest.level is Level.PROVED
    assert (largest.numbers["placed"], largest.numbers["examples"]) == (4, 5)
    groups = (proof.trace["placed.memorizes"].witness or {})["groups"]
    placed = sorted(t for group in groups for t in group)
    assert len(placed) == 4 and not {0, 3} <= set(placed)
    assert meets_partition_condition(PARALLEL.queries.fractions(), groups)
    assert proof.trace.standing("placed.memorizes") is Level.PROVED
    assert prove(PARALLEL.take(placed)).standing is Level.PROVED


@pytest.mark.parametrize("data", [SHARED, FLAT], ids=["shared", "in a flat"])
@pytest.mark.parametrize("construction", ["paper", "width-one"])
def test_above_the_bound_of_the_flat_is_impossible(data: Dataset, construction: str) -> None:
    heads = 2
    proof = proof_of(data, heads=heads, construction=construction)
    bound = proof.trace["tightness.bound"].numbers["bound"]
    assert bound < data.T
    assert (proof.standing, proof.exit_status) == (Level.REFUTED, 1)
    assert {"tightness.bound", "tightness.spans"} <= proof.trace.ancestors("memorization")
    for seed in range(6):
        layer = random_layer(data, heads, 1 + seed % 3, 9, np.random.default_rng(seed))
        assert rank_mod(features_mod(data, layer), SAFE_PRIME) <= bound


def test_other_weights_are_named_where_they_are_known() -> None:
    """If all queries lie on a line, no group of two exists, but almost all weights memorize."""
    line = Dataset.of(EYE, [[t, 2 * t, 0] for t in range(1, 6)], [1, 0, 0, 1, 2])
    proof = proof_of(line)
    assert proof.trace["universal.enough"].level is Level.PROVED
    assert "--construction generic" in proof.trace["memorization"].statement
    assert proof_of(line, construction="generic").standing is Level.PROVED


def test_sizes_beyond_the_limits_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attncert.verify.prove.refusal.MOST_PLACED", 0)
    for name in ("relations.rows.MOST_ROWS", "limits.MOST_FEATURES"):
        monkeypatch.setattr(f"attncert.verify.limits.tightness.{name}", 0)
    proof = proof_of(SHARED, heads=2)
    assert proof.standing is Level.REFUTED  # the bound alone costs little
    ids = {claim.id for claim in proof.trace}
    assert not ids & {"placed.maximum", "rows.relations", "universal.enough"}


@pytest.mark.parametrize(
    "options", [{"saturate": 9}, {"saturate": 9, "round": "1/4"}, {"saturate": 3, "before": "mean"}]
)
def test_a_file_of_impossible_labels_can_be_checked_whatever_was_asked(
    options: dict[str, Any], tmp_path: Path
) -> None:
    """If no weights output the labels, none are saturated."""
    data = Dataset.of([[[1, 2]], [[1, 2]]], [[1, 2], [3, 1]], [5, 7])
    found = proof_of(data, **options)
    assert found.standing is Level.REFUTED and found.certificate is not None
    (tmp_path / "c.json").write_bytes(canonical_bytes(found.certificate))
    assert checker.check_file(str(tmp_path / "c.json")).status == "holds"
