"""If values have fewer entries than labels, all commands agree; the rank rules out some labels."""

from __future__ import annotations

import numpy as np
import pytest
from support import exact_data
from support.oracles import rank
from support.tightness_cases import EYE

from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level
from attncert.verify.limits.capacity.capacity import capacity
from attncert.verify.limits.tightness.limits import label_rank, limits
from attncert.verify.prove.prove import prove
from attncert.verify.questions.fit import Capacity
from attncert.verify.questions.prove import Prove

UNITS = [row[:3] for row in EYE[:3]]
QUERIES = [[1, 2, 0], [0, 1, 3], [2, 0, 1]]
THREE = Dataset.of(UNITS, QUERIES, UNITS)


def universal(data: Dataset, heads: int, width: int) -> Level:
    answer = capacity(data, Capacity(heads, value_width=width))
    return answer.trace.standing(ids.LAW_UNIVERSAL)


def test_one_head_with_narrow_values_does_not_serve_every_labelling() -> None:
    """Here rank Z = 3 = T, but the outputs of one head with d_v = 1 have rank 1."""
    assert universal(THREE, 1, 1) is Level.REFUTED
    claims = {claim.id: claim for claim in limits(THREE, 1, 1)}
    assert claims[ids.LABELS_RANK].level is Level.REFUTED
    verdict = claims[ids.VALUES_UNIVERSAL]
    assert verdict.level is Level.REFUTED and verdict.numbers["dimension of the outputs"] == 5
    assert verdict.statement.endswith("with values of width 1.")
    assert universal(THREE, 1, 3) is Level.PROVED
    proof = prove(THREE, Prove("generic", heads=1, value_width=1))
    assert proof.standing is Level.REFUTED and proof.certificate is None


def test_fewest_heads_are_counted_by_the_rank_of_z_not_by_labels_served() -> None:
    """Two heads have rank Z = 3 = T; with values of width one they serve no labels of rank 3."""
    answer = capacity(Dataset.of(UNITS[:2], QUERIES, UNITS), Capacity(2, value_width=1))
    assert answer.trace.standing(ids.LAW_UNIVERSAL) is Level.REFUTED
    assert (answer.notions[0].needed, answer.notions[0].enough.number) == (3, 6)


def test_copies_of_a_head_do_what_wider_values_do() -> None:
    """One head has rank Z = T = m = 3: three copies with values of width one serve every labelling.
    Two do not."""
    assert universal(THREE, 3, 1) is Level.PROVED
    assert universal(THREE, 2, 1) is Level.REFUTED


@pytest.mark.slow
def test_too_few_parameters_refute_it() -> None:
    data = exact_data.family(40, 3, 4, m=10, bound=3, seed=3)
    assert universal(data, 10, 1) is Level.REFUTED
    claims = limits(data, 10, 1)
    reasons = [c.witness["reason"] for c in claims if c.witness and "reason" in c.witness]
    assert reasons == ["the outputs have dimension at most 290, and the labels have 400 entries"]
    assert universal(data, 10, 10) is Level.PROVED


@pytest.mark.parametrize("seed", range(12))
def test_every_place_gives_the_same_verdict(seed: int) -> None:
    """On random data and sizes the verdict agrees with counting by definition."""
    rng = np.random.default_rng(seed)
    T, m, heads, width = (int(x) for x in rng.integers(1, 5, 4))
    data = exact_data.family(T, 2, 4, m=m, shared=bool(seed % 2), seed=seed)
    refuted = any(
        claim.level is Level.REFUTED and claim.id.endswith(".universal")
        for claim in limits(data, heads, width)
    )
    if heads * width < min(T, m):
        assert refuted and universal(data, heads, width) is Level.REFUTED
    assert not (refuted and universal(data, heads, width) is Level.PROVED), "never both"


def test_labels_of_too_large_rank() -> None:
    data = Dataset.of(EYE[:2], EYE[:4], [[1, 0, 1], [0, 1, 1], ["1/2", 0, 0], [1, 1, 1]])
    refuted = label_rank(data, heads=1, value_width=2)
    assert refuted.level is Level.REFUTED and refuted.witness is not None
    table = data.labels.fractions()
    minor = [[table[t][j] for j in refuted.witness["columns"]] for t in refuted.witness["rows"]]
    assert rank(minor) == 3 and len(minor) == 3
    assert label_rank(data, heads=1, value_width=3).level is Level.PROVED
    assert label_rank(data, heads=2, value_width=2).level is Level.PROVED
