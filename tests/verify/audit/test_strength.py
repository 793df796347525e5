"""At what strength a construction used each hypothesis."""

from __future__ import annotations

from dataclasses import replace

from attncert.constructions import generic, paper, width_one
from attncert.constructions.data.generators import family
from attncert.verify.audit.strength import uses


def test_the_strength_used_is_r_and_never_n() -> None:
    data = family(7, 4, 5, seed=0)
    built = paper.build(data, head_width=3, heads=3, interior=False)
    records = {(u.hypothesis, u.step): u for u in uses(data, built, 1)}
    assert records["A1", "duals"].used == records["A1", "selector"].used == 3
    assert records["A1", "duals"].allowed == 4
    assert records["A2", "independence"].used == 3
    built = width_one.build(data, heads=2, short_heads=False)
    wide = {(u.hypothesis, u.step): u for u in uses(data, built, 1)}
    assert wide["A1", "coefficients"].used == wide["A2", "curve"].used == 4


def test_weights_that_follow_no_proof_use_none_of_its_steps() -> None:
    data = family(7, 3, 4, seed=0)
    built = generic.build(data)
    assert [(u.hypothesis, u.step) for u in uses(data, built, 1)] == [("d_v ≥ m", "readout")]
    unknown = replace(paper.build(data), name="another")
    assert [u.step for u in uses(data, unknown, 1)] == ["readout"]
