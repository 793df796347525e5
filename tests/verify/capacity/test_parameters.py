"""The same examples by every construction: built, ranked, and counted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.oracles import SAFE_PRIME, features_mod, rank_mod

from attncert.constructions import generic
from attncert.constructions.data.generators import family
from attncert.constructions.errors import HypothesisFails
from attncert.reports.capacity.page import cost_rows, markdown_page
from attncert.verify.capacity import parameters
from attncert.verify.capacity.parameters import costs
from attncert.verify.capacity.sweeps import Capacity, SweepSettings, sweep


@pytest.mark.parametrize("shared", [True, False])
def test_counts_against_the_matrices_themselves(shared: bool) -> None:
    n, d, H = 4, 6, 3
    data = family(H * (n - 1) + 1, n, d, shared=shared, seed=1)
    found = {c.construction: c for c in costs(data)}
    for name, heads, width, built in parameters._built(data, H, 0):
        assert built is not None and len(built.layer.heads) == heads
        entries = sum(h.key.nrows() * h.key.ncols() * 2 for h in built.layer.heads)
        assert found[name].parameters == entries + heads * (d + 1)
        assert found[name].head_width == width == built.layer.head_width
        assert found[name].certified
        assert rank_mod(features_mod(data, built.layer), SAFE_PRIME) == data.T
    unit = H * (3 * d + 1)
    assert found["width-one"].parameters == unit and found["width-one"].ratio == 1
    assert found["paper, d_h = n"].ratio == pytest.approx((2 * d * n + d + 1) / (3 * d + 1), 1e-3)
    assert ("generic, fewest heads" in found) != shared
    if not shared:
        assert found["generic, fewest heads"].heads == 2  # 10 examples in 2·6 columns


def test_weights_that_are_not_found_are_not_called_certified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*args: object, **options: object) -> None:
        raise HypothesisFails("search", "no luck", {}, decided=False)

    monkeypatch.setattr(generic, "build", fails)
    found = {c.construction: c.certified for c in costs(family(7, 3, 5, seed=1))}
    assert found["paper, d_h = n"] and not found["generic, d_h = 1"]


def test_the_capacity_report_has_the_table() -> None:
    settings = replace(SweepSettings.quick(), heads=(1, 2), context=(2,), head_width=(2,))
    found = sweep(settings)
    assert {cost.examples for cost in found.costs} == {4, 7}
    report = markdown_page(found).decode()
    for row in cost_rows(found):
        assert f"| {' | '.join(row)} |" in report
    without = markdown_page(Capacity(settings, found.points)).decode()
    assert "by every construction" not in without
