"""Planted defects: each is caught by the check of its own step, and every check is needed.

The families are in the files of this folder. Checks without steps are shown to fire in their own
tests: hypotheses by the edge cases of `audit/`, readout, float weights and the three routes in
`outputs/`, each rejection of a checker in `checker/`. This file also shows that the test can
fail.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any

import pytest
import step_defects as steps
from defect_matrix import Defect
from step_defects import PAPER as FAMILY
from step_defects import fired
from support.built import RUNS, Built, claims, paper, rebuilt, run, weights
from support.oracles import rank
from support.small_layers import features
from trace_defects import TRACES

from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.statements import registry
from attncert.verify.statements.steps import conclusions

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


# Errors in heads are refuted with a witness, and no earlier than at the head that was spoilt.


@pytest.mark.parametrize("defect", HEAD_DEFECTS.values(), ids=HEAD_DEFECTS)
def test_what_fires_has_its_level_and_a_witness(defect: Defect) -> None:
    failing = [c for c in claims(defect.plant()) if not c.level.holds]
    against = [c for c in failing if not steps.waits_for_logits(c)]
    assert against
    for claim in against:
        undecided = claim.id.endswith((".rank", ".independence"))
        assert claim.level is (Level.UNDECIDED if undecided else Level.REFUTED)
        assert claim.witness
        json.dumps(claim.as_dict(), allow_nan=False)


def test_what_is_no_defect_is_not_seen() -> None:
    """The same matrix is factored into 2·key and query/2, and the weights are computed again."""
    right = run("paper", "interior")
    head = right.layer.heads[1]
    assert steps.fired(weights(right, key=head.key * 2, query=head.query / 2)) == frozenset()
    assert steps.fired(rebuilt(right)) == frozenset()


# The test can fail.


def claims_by_id(run: Built) -> dict[str, Claim]:
    found = claims(run)
    assert len({claim.id for claim in found}) == len(found)
    return {claim.id: claim for claim in found}


# Witnesses, and defects that need more than their entry in step_defects.py.


def witness_of(name: str) -> dict[str, Any]:
    """The claim of the defect's own step."""
    defect = next(d for d in FAMILY.defects if d.name == name)
    found = claims_by_id(defect.plant())[defect.check]
    assert found.witness is not None
    return dict(found.witness)


def test_witnesses_name_the_place() -> None:
    """The examples and products of a few defects, recomputed in Fractions."""
    run = paper("interior")
    group, earlier = run.head().group, run.head().earlier
    blinded = witness_of("selector vanishing on an earlier query")
    assert blinded == {
        "examples": [earlier[0]],
        "relation": f"0 != 0 at example {earlier[0]}",
    }
    assert witness_of("tie at the top of Eu")["examples"] == [earlier[-1]]
    assert witness_of("other logits on record")["examples"] == [group[0]]
    found = witness_of("gap overstated")["relation"].split(" == ")
    assert int(found[1]) == int(found[0]) + 1
    assert witness_of("wrong target row")["examples"] == [earlier[0]]
    swapped = witness_of("two duals exchanged")
    assert swapped["relation"] == f"0 == 1 at example {group[0]}, entry 0"
    below, logit = map(Fraction, _relation("half the key: logits not whole"))
    assert logit.denominator == 2 and below == logit.__floor__()


def _relation(name: str) -> list[str]:
    """Both sides of the first relation that fails."""
    text = str(witness_of(name)["relation"]).partition(" at ")[0]
    return re.split(" (?:==|<=) ", text)


def test_a_repeated_example_spoils_the_ranks() -> None:
    """Example 6 becomes a copy of example 0: its head cannot make their rows independent."""
    run = paper("shared")
    queries = run.data.queries.fractions()
    queries[6] = queries[0]
    doubled = Dataset.of(run.data.contexts, queries, run.data.labels)
    assert rank(features(doubled, run.construction.layer)) < 7
    spoilt = Built(doubled, run.construction)
    assert {"head.3.rank", "head.3.duals", "head.3.selector"} <= fired(spoilt)
    found = claims_by_id(spoilt)["head.3.rank"]
    assert found.level is Level.UNDECIDED and found.numbers["rank"] == 6
    whole = conclusions.full_rank(doubled, run.construction.layer)
    assert whole.level is Level.UNDECIDED and whole.numbers["rank"] == 6
    assert conclusions.full_rank(run.data, run.construction.layer).level is Level.PROVED
