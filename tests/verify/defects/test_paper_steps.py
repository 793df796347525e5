"""The claims about the paper's heads: all there and proved on correct runs, witnesses where not.

That each check fires on the errors of its own step is test_planted_defects.py.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from step_defects import PAPER as FAMILY
from step_defects import fired
from support.built import Built, paper
from support.built import claims as claims_of
from support.oracles import rank
from support.small_layers import features

from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.steps import conclusions


def claims(run: Built) -> dict[str, Claim]:
    found = claims_of(run)
    assert len({claim.id for claim in found}) == len(found)
    return {claim.id: claim for claim in found}


# Witnesses, and defects that need a word more than their row in step_defects.py.


def witness_of(name: str) -> dict[str, Any]:
    """What the check of the defect's own step says."""
    defect = next(d for d in FAMILY.defects if d.name == name)
    found = claims(defect.plant())[defect.check]
    assert found.witness is not None
    return dict(found.witness)


def test_witnesses_name_the_place() -> None:
    """The examples and products of a few defects, worked out again in Fractions."""
    run = paper("interior")
    group, earlier = run.head().group, run.head().earlier
    blinded = witness_of("selector vanishing on an earlier query")
    assert blinded == {"example": earlier[0], "product": "0"}
    assert witness_of("tie at the top of Eu") == {"example": earlier[-1]}
    assert witness_of("other logits on record") == {"example": group[0]}
    found = witness_of("gap overstated")
    assert found["claimed"] == found["least gap"] + 1 and found["examples with another row"] == []
    assert witness_of("wrong target row")["examples with another row"] == [earlier[0]]
    swapped = witness_of("two duals exchanged")
    assert swapped["product"] == "0" and len(set(swapped["examples"])) == 1
    fraction = Fraction(witness_of("half the key: logits not whole")["logit"])
    assert fraction.denominator == 2
    assert witness_of("rank of M above r")["rank"] == 4


def test_a_repeated_example_spoils_the_ranks() -> None:
    """Example 6 made a copy of example 0: its head cannot make their rows independent."""
    run = paper("shared")
    queries = run.data.queries.fractions()
    queries[6] = queries[0]
    doubled = Dataset.of(run.data.contexts, queries, run.data.labels)
    assert rank(features(doubled, run.construction.layer)) < 7
    spoilt = Built(doubled, run.construction)
    assert {"head.3.rank", "head.3.duals", "head.3.selector"} <= fired(spoilt)
    found = claims(spoilt)["head.3.rank"]
    assert found.level is Level.UNDECIDED and found.numbers["rank"] == 6
    whole = conclusions.full_rank(doubled, run.construction.layer)
    assert whole.level is Level.UNDECIDED and whole.numbers["rank"] == 6
    assert conclusions.full_rank(run.data, run.construction.layer).level is Level.PROVED
