"""Every check of the paper's steps fires on a defect of its own step, and says where it is.

A correct construction is spoilt in one place and the whole list of claims is made again. The table
`DEFECTS` says which claims must then fail: those of the step that was spoilt and of what repeats
its numbers, and no other. Where a defect could hide (a wrong vector and weights made from it), both
variants are there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq_mat
from oracles import rank
from small_layers import changed, features
from spoilt_heads import (
    EXAMPLES,
    HEAD,
    another_group,
    blind,
    bumped,
    claims,
    example,
    extra_column,
    failing,
    half,
    head,
    one_less,
    other_targets,
    rebuilt,
    record,
    scaled_head,
    tied,
    weights,
    with_first,
)

from constructions import generators
from constructions.construction import Construction
from constructions.dataset import Dataset
from constructions.layer import Head
from constructions.mahdavi2024 import build
from verify import conclusions, paper_steps
from verify.evidence import Level

STEPS = ["duals", "steering", "selector", "separator", "weights", "integral", "saturation",
         "independence", "rank"]  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_correct_construction_passes_every_check(name: str) -> None:
    data, built = example(name)
    found = claims(data, built)
    assert {claim.level for claim in found.values()} == {Level.PROVED}
    assert all(claim.witness is None for claim in found.values())
    first = ["duals", "steering", "weights", "integral", "rank"]
    wanted = {f"head.1.{step}" for step in first} | {"groups"}
    wanted |= {f"head.{h}.{step}" for h in range(2, len(built.heads) + 1) for step in STEPS}
    assert set(found) == wanted
    json.dumps([claim.as_dict() for claim in found.values()], allow_nan=False)


def test_ranks_can_be_left_out() -> None:
    data, built = example("interior")
    found = {claim.id for claim in paper_steps.head_claims(data, built, with_ranks=False)}
    assert "head.2.saturation" in found
    assert not any(name.endswith((".rank", ".independence")) for name in found)


# What is spoilt, and what must notice.


Spoil = Callable[[Dataset, Construction], Construction]


@dataclass(frozen=True)
class Defect:
    spoil: Spoil
    fails: set[str]  # steps of head 2, or whole ids
    maybe: frozenset[str] = frozenset()  # may fail too, by luck of the numbers
    on: str = "interior"


RANKS = frozenset({"independence", "rank", "head.3.independence", "head.3.rank"})

DEFECTS: dict[str, Defect] = {
    "dual off by one, in the record": Defect(
        lambda d, b: record(b, duals=with_first(head(b).duals, bumped(head(b).duals[0]))),
        {"duals", "weights"},
        on="vertices",
    ),
    "dual off by one, and used": Defect(
        lambda d, b: rebuilt(b, duals=with_first(head(b).duals, bumped(head(b).duals[0], 6))),
        {"duals", "weights"},
        frozenset({"integral", "saturation"}) | RANKS,
        on="vertices",
    ),
    "duals swapped": Defect(
        lambda d, b: record(b, duals=head(b).duals[::-1]), {"duals", "weights"}, on="vertices"
    ),
    "steering off by one, in the record": Defect(
        lambda d, b: record(b, steering=with_first(head(b).steering, bumped(head(b).steering[0]))),
        {"steering", "weights"},
        on="vertices",
    ),
    "steering off by one, and used": Defect(
        lambda d, b: rebuilt(b, steering=with_first(head(b).steering, bumped(head(b).steering[0]))),
        {"steering", "weights"},
        frozenset({"integral", "saturation"}) | RANKS,
        on="vertices",
    ),
    "logits on record are others": Defect(
        lambda d, b: record(b, logits=((9, 0, 0), *head(b).logits[1:])),
        {"steering", "weights"},
    ),
    "selector not orthogonal to the group": Defect(
        lambda d, b: rebuilt(b, selector=bumped(head(b).selector, 2)),
        {"selector", "weights", "saturation"},
        RANKS | {"integral"},
    ),
    "selector blind to an earlier query": Defect(
        lambda d, b: rebuilt(b, selector=blind(d, b)),
        {"selector", "saturation"},
        RANKS | {"integral"},
    ),
    "selector blind, in the record only": Defect(
        lambda d, b: record(b, selector=blind(d, b)), {"selector", "saturation", "weights"}
    ),
    "tie at the top": Defect(
        lambda d, b: rebuilt(b, separator=tied(d, b, top=True)),
        {"separator", "saturation"},
        RANKS | {"integral"},
    ),
    "tie at the bottom": Defect(
        lambda d, b: rebuilt(b, separator=tied(d, b, top=False)),
        {"separator", "saturation"},
        RANKS | {"integral"},
    ),
    "separator of the record rescaled": Defect(
        lambda d, b: record(b, separator=head(b).separator / 3), {"weights"}
    ),
    "c one too small, in the record": Defect(
        lambda d, b: record(b, c=head(b).c - 1), {"weights"}, on="vertices"
    ),
    "c one too small everywhere": Defect(
        lambda d, b: one_less(b), {"saturation"}, RANKS, on="vertices"
    ),
    "gap overstated": Defect(
        lambda d, b: record(b, gap_bits=head(b).gap_bits + 1), {"saturation"}
    ),
    "gap understated": Defect(
        lambda d, b: record(b, gap_bits=head(b).gap_bits - 1), {"saturation"}, on="shared"
    ),
    "gap left out": Defect(lambda d, b: record(b, gap_bits=None), {"saturation"}),
    "wrong target row": Defect(
        lambda d, b: record(b, targets=other_targets(b)),
        {"saturation"},
        frozenset({"independence"}),
    ),
    "another group on record": Defect(
        lambda d, b: another_group(b),
        {"groups", "steering", "weights", "selector"},
        frozenset({"duals", "independence", "rank"}),
        on="vertices",
    ),
    "an earlier example forgotten": Defect(
        lambda d, b: record(b, earlier=head(b).earlier[1:], targets=head(b).targets[1:]),
        {"groups"},
        frozenset({"saturation"}),
    ),
    "all earlier examples forgotten": Defect(
        lambda d, b: record(b, earlier=(), targets=()), {"groups"}
    ),
    "groups larger than r allows": Defect(
        lambda d, b: replace(b, r=2), {"groups", "head.1.weights"}
    ),
    "an example in no group": Defect(
        lambda d, b: replace(b, groups=(*b.groups[:2], b.groups[2][:1])), {"groups"}
    ),
    "an example in two groups": Defect(
        lambda d, b: replace(b, groups=(*b.groups[:2], (0, *b.groups[2][1:]))), {"groups"}
    ),
    "a head without a record": Defect(
        lambda d, b: replace(b, heads=b.heads[:2]), {"groups"}
    ),
    "rank of M above r": Defect(
        lambda d, b: extra_column(b), {"weights"}, frozenset({"saturation"}) | RANKS, on="wide"
    ),
    "key entry off by one": Defect(
        lambda d, b: weights(b, key=changed(b.layer.heads[HEAD].key, 0, 0, 1)),
        {"weights"},
        frozenset({"saturation", "integral"}) | RANKS,
    ),
    "logits not whole": Defect(
        lambda d, b: half(b), {"weights", "integral"}, frozenset({"saturation"}), on="shared"
    ),
    "the same M in other factors": Defect(lambda d, b: scaled_head(b), set()),
}  # fmt: skip


def full(steps: set[str] | frozenset[str]) -> set[str]:
    return {s if "." in s or s == "groups" else f"head.{HEAD + 1}.{s}" for s in steps}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_caught_where_it_was_made(name: str) -> None:
    defect = DEFECTS[name]
    data, built = example(defect.on)
    found = claims(data, defect.spoil(data, built))
    caught = failing(found)
    assert full(defect.fails) <= caught <= full(defect.fails | defect.maybe)
    for claim_id in caught:
        claim = found[claim_id]
        undecided = claim_id.endswith((".rank", ".independence"))
        assert claim.level is (Level.UNDECIDED if undecided else Level.REFUTED)
        assert claim.witness
        json.dumps(claim.as_dict(), allow_nan=False)


def witness_of(name: str, step: str) -> dict[str, Any]:
    defect = DEFECTS[name]
    data, built = example(defect.on)
    found = claims(data, defect.spoil(data, built))[f"head.{HEAD + 1}.{step}"]
    assert found.witness is not None
    return dict(found.witness)


def test_witnesses_name_the_place() -> None:
    """The examples and products of a few defects, worked out again in Fractions."""
    built = example("interior")[1]
    group, earlier = head(built).group, head(built).earlier
    blinded = witness_of("selector blind to an earlier query", "selector")
    assert blinded == {"example": earlier[0], "product": "0"}
    assert witness_of("tie at the top", "separator") == {"example": earlier[-1]}
    assert witness_of("logits on record are others", "steering") == {"example": group[0]}
    found = witness_of("gap overstated", "saturation")
    assert found["claimed"] == found["least gap"] + 1 and found["examples with another row"] == []
    assert witness_of("wrong target row", "saturation")["examples with another row"] == [earlier[0]]
    swapped = witness_of("duals swapped", "duals")
    assert swapped["product"] == "0" and len(set(swapped["examples"])) == 1
    fraction = Fraction(witness_of("logits not whole", "integral")["logit"])
    assert fraction.denominator == 2
    assert witness_of("rank of M above r", "weights")["rank"] == 4


def test_rank_above_r_alone_is_caught() -> None:
    """The weights follow the formula, but d_h promises a smaller rank."""
    data, built = example("vertices")
    claim = paper_steps.head_weights(data, head(built), built.layer.heads[HEAD], 2, HEAD + 1)
    assert claim.level is Level.REFUTED
    assert claim.witness is not None and claim.witness["equal"] is True
    assert claim.witness["examples with other logits"] == []


def test_a_repeated_example_spoils_the_ranks() -> None:
    """Example 6 made a copy of example 0: its head cannot make their rows independent."""
    data, built = example("shared")
    queries = data.queries.fractions()
    queries[6] = queries[0]
    doubled = Dataset.of(data.contexts, queries, data.labels)
    assert rank(features(doubled, built.layer)) < 7
    found = claims(doubled, built)
    assert {"head.3.rank", "head.3.duals", "head.3.selector"} <= failing(found)
    assert found["head.3.rank"].level is Level.UNDECIDED
    assert found["head.3.rank"].numbers["rank"] == 6
    whole = conclusions.full_rank(doubled, built.layer)
    assert whole.level is Level.UNDECIDED and whole.numbers["rank"] == 6
    assert conclusions.full_rank(data, built.layer).level is Level.PROVED


def test_two_examples_sent_to_one_new_direction() -> None:
    """Step 7's trap: each vertex alone leaves the span of the earlier rows, both together do not.
    Every other step is as it should be."""
    data = generators.step_seven_trap()
    built = build(data, heads=2, head_width=3)
    assert not failing(claims(data, built))
    to_e4 = (0, 60, 0)
    w = fmpq_mat([[0], [0], [0], [60], [0]])
    spoilt = rebuilt(built, steering=(w, w), logits=(to_e4, to_e4))
    assert failing(claims(data, spoilt)) == {"head.2.independence", "head.2.rank"}
    assert conclusions.full_rank(data, spoilt.layer).level is Level.UNDECIDED


def test_a_head_is_a_head() -> None:
    """The helper that spoils weights leaves everything else alone."""
    data, built = example("interior")
    same = rebuilt(built)
    assert same.layer.heads[HEAD].key == built.layer.heads[HEAD].key
    assert isinstance(same.layer.heads[HEAD], Head) and not failing(claims(data, same))
