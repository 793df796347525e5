"""Planted defects: each is caught by the check of its own step, and every check is needed.

The families stand beside this file. What has no steps is shown to fire where it is tested:
hypotheses by the edge cases, readout, float weights and the three routes in `interpolation/`, each
rejection of a checker in `checker/`. Beside that, it is shown here that the test can fail.
"""

from __future__ import annotations

import json

import pytest
import step_defects as steps
from defect_matrix import Defect
from support.built import RUNS, claims, rebuilt, run, weights
from trace_defects import TRACES

from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.methods import registry

STEPS = {
    "paper": steps.PAPER,
    "width-one": steps.WIDTH_ONE,
    "affine": steps.AFFINE,
    "generic": steps.GENERIC,
}
FAMILIES = {**STEPS, "trace": TRACES}
HEAD_DEFECTS = {
    f"{name}: {defect.name}": defect for name in STEPS for defect in STEPS[name].defects
}


@pytest.mark.parametrize("name", FAMILIES)
def test_every_defect_is_caught_and_every_check_is_needed(name: str) -> None:
    assert FAMILIES[name].complaints == []
    names = [defect.name for defect in FAMILIES[name].defects]
    assert len(set(names)) == len(names)


def test_every_construction_of_ours_has_its_family() -> None:
    assert (
        set(STEPS) == set(RUNS) == {x.name for x in registry.methods() if not registry.foreign(x)}
    )


# Errors in heads: refuted with a witness, and not before the head that was spoilt.


@pytest.mark.parametrize("defect", HEAD_DEFECTS.values(), ids=HEAD_DEFECTS)
def test_what_fires_has_its_level_and_a_witness(defect: Defect) -> None:
    against: list[Claim] = [c for c in claims(defect.plant()) if not c.level.holds]
    assert against
    for claim in against:
        undecided = claim.id.endswith((".rank", ".independence"))
        assert claim.level is (Level.UNDECIDED if undecided else Level.REFUTED)
        assert claim.witness
        json.dumps(claim.as_dict(), allow_nan=False)


def test_what_is_no_defect_is_not_seen() -> None:
    """The same matrix in other factors, key times 2 and query by 2; weights computed again."""
    right = run("paper", "interior")
    head = right.layer.heads[1]
    assert steps.fired(weights(right, key=head.key * 2, query=head.query / 2)) == frozenset()
    assert steps.fired(rebuilt(right)) == frozenset()


# The test can fail.
