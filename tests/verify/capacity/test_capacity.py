"""Capacity: certified from below by ranks, bounded from above, and told as what it is."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from flint import fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

import attncert
from attncert.constructions import layer as exact_layer
from attncert.constructions.construction import capacity as theorem
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import family
from attncert.constructions.errors import InputError
from attncert.constructions.layer import Head, Layer
from attncert.reports.capacity.page import holds, markdown_page, one_line, report
from attncert.reports.folder import strange, write
from attncert.verify.capacity.published_bounds import BOUNDS as PUBLISHED
from attncert.verify.capacity.published_bounds import Kind
from attncert.verify.capacity.sweeps import (
    BOUNDS,
    Capacity,
    Setting,
    SweepSettings,
    certify,
    examples_of,
    independent_prefix,
    sweep,
)
from attncert.verify.claims.evidence import Level
from attncert.verify.rank.primes import order_of_two
from attncert.verify.tightness.relations.probes import random_layer

TINY = SweepSettings(Setting(2, 2, 1, 3, False), heads=(1, 2), context=(1, 2), head_width=(1, 2))
by_key = {bound.key: bound for bound in PUBLISHED}


@cache
def tiny() -> Capacity:
    return sweep(TINY)


def exact_features(data: Dataset, layer: Layer) -> fmpq_mat:
    """Z over ℚ by the builders' exact forward pass, which shares nothing with verify/."""
    blocks = [exact_layer.features(head, data).tolist() for head in layer.heads]
    rows = [[x for block in blocks for x in block[t]] for t in range(data.T)]
    return fmpq_mat(data.T, len(rows[0]), [x for row in rows for x in row])


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("H", "n", "d_h", "d"), [(1, 1, 1, 2), (2, 2, 1, 3), (2, 3, 2, 3)])
def test_what_is_certified_is_the_rank_over_the_rationals(
    H: int, n: int, d_h: int, d: int, shared: bool
) -> None:
    setting = Setting(H, n, d_h, d, shared, seed=3)
    point, data = certify(setting), examples_of(setting)
    rng = np.random.default_rng(setting.seed)
    for draw in range(point.draw):
        layer = random_layer(data, H, d_h, BOUNDS[draw % len(BOUNDS)], rng)
    first = exact_features(data.take(point.certified), layer)
    assert first.rank() == point.certified
    assert all(head.key.rank() <= d_h for head in layer.heads)
    assert exact_features(data, layer).rank() <= point.upper


def test_shared_contexts_reach_the_bound_and_distinct_ones_all_columns_at_width_one() -> None:
    shared, distinct = (certify(Setting(3, 4, 1, 6, kind)) for kind in (True, False))
    assert (shared.certified, shared.upper, shared.met) == (10, 10, True)
    assert (distinct.certified, distinct.upper, distinct.met) == (18, 18, True)
    assert shared.setting.paper == 1


@settings(max_examples=20, deadline=None)
@given(
    heads=st.integers(1, 3),
    context=st.integers(1, 3),
    extra=st.integers(0, 2),
    width=st.integers(1, 4),
    shared=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_never_more_than_any_weights_allow(
    heads: int, context: int, extra: int, width: int, shared: bool, seed: int
) -> None:
    setting = Setting(heads, context, width, context + extra, shared, seed)
    point = certify(setting)
    assert 1 <= point.certified <= point.upper <= heads * setting.width
    assert point.upper < examples_of(setting).T  # the data do not end before the bound
    if shared:
        assert point.upper == theorem(heads, context, context)
    assert point.met == (point.certified == point.upper)


def test_a_repeated_example_ends_the_prefix() -> None:
    """Rank alone would not see it: the examples after it are independent again."""
    data = family(9, 2, 5)
    layer = random_layer(data, 2, 1, 9, np.random.default_rng(0))
    assert independent_prefix(data, layer)[0] == 9
    again = data.take([0, 1, 2, 3, 1, 4, 5, 6, 7])
    assert independent_prefix(again, layer)[0] == 4


def test_heads_without_weights_serve_one_example_of_a_shared_context() -> None:
    data = family(5, 3, 4, shared=True)
    zero = fmpq_mat(4, 1)
    assert independent_prefix(data, Layer((Head(zero, zero),) * 3))[0] == 1


def test_the_primes_are_no_trap() -> None:
    primes = {point.prime for point in tiny().points.values()}
    assert primes and all(order_of_two(p) == p - 1 for p in primes)


def test_a_sweep_builds_what_the_theorems_promise() -> None:
    found = tiny()
    assert found.unbuilt == () and found.open == ()
    for setting, point in found.points.items():
        ranks = {b.construction: (b.rank, b.examples) for b in point.built}
        assert ranks["paper"] == (setting.paper,) * 2
        assert ranks["width-one"] == (setting.width_one,) * 2
        assert {b.head_width for b in point.built if b.construction == "width-one"} == {1}


def test_the_seed_of_a_sweep_counts() -> None:
    base = TINY.base
    assert examples_of(base).sha256 != examples_of(replace(base, seed=1)).sha256


def test_levels_are_kept_apart() -> None:
    below, above = certify(Setting(2, 2, 1, 3, True)).claims()
    assert (below.level, above.level) == (Level.PROVED, Level.ARGUED)
    assert below.numbers["T"] == above.numbers["bound"] == 3
    assert "docs/tightness.md" in above.source


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"heads": 0}, "heads"),
        ({"context": 5}, "context"),
        ({"head_width": -1}, "head_width"),
        ({"heads": 10**6}, "heads"),
        ({"seed": -1}, "seed"),
    ],
)
def test_settings_without_sense(arguments: dict[str, int], named: str) -> None:
    good = {"heads": 2, "context": 3, "head_width": 1, "width": 4, "shared": True}
    with pytest.raises(InputError) as refused:
        Setting(**(good | arguments))
    assert refused.value.argument == named


def test_an_axis_is_checked_before_anything_runs() -> None:
    with pytest.raises(InputError):
        SweepSettings(Setting(2, 2, 1, 3, False), context=(2, 4))
    with pytest.raises(InputError):
        SweepSettings(Setting(2, 2, 1, 3, False), heads=())


def test_published_bounds_by_hand() -> None:
    setting = Setting(20, 32, 8, 64, True)
    values = {key: bound.in_setting(setting) for key, bound in by_key.items()}
    assert values == {
        "paper": 141, "width-one": 621, "shared": 621, "columns": 1280, "dana2025": 224,
        "kim2023": None, "kajitsuka2025": None,
    }  # fmt: skip
    assert by_key["shared"].in_setting(replace(setting, shared=False)) is None


def test_no_published_bound_of_another_setting_passes_for_ours() -> None:
    for bound in PUBLISHED:
        assert bound.same_setting != ("another setting" in bound.assumes)
        assert not (bound.kind is Kind.ORDER and bound.same_setting)
        assert bound.same_setting or "not rebuilt" in bound.source


def test_a_gap_is_told_and_nothing_claimed_about_it() -> None:
    found = tiny()
    setting, point = next(iter(found.points.items()))
    wide = replace(point, upper=point.upper + 1)
    gap = Capacity(found.settings, found.points | {setting: wide})
    page = markdown_page(gap).decode()
    assert gap.open == (setting,)
    assert "do not meet in 1 setting; nothing is claimed about the gap" in page
    assert "do not meet" not in markdown_page(found).decode()
    assert one_line(gap) != one_line(found)


def test_a_promise_that_is_not_kept_shows() -> None:
    found = tiny()
    setting, point = next((s, p) for s, p in found.points.items() if s.width_one > 1)
    short = replace(point.built[1], rank=point.built[1].rank - 1)
    broken = replace(point, built=(point.built[0], short))
    less = Capacity(found.settings, found.points | {setting: broken})
    assert less.unbuilt == ((setting, short),)
    assert not holds(less)
    assert holds(found)
    assert f"{short.rank} only" in markdown_page(less).decode()


def test_equal_sweeps_are_written_with_equal_bytes(tmp_path: Path) -> None:
    again = sweep(TINY)
    assert again.points == tiny().points
    first = write(report(tiny()), tmp_path / "out")
    before = {path: path.read_bytes() for path in first}
    second = write(report(again), tmp_path / "out")
    assert strange(tmp_path / "out") == ""
    assert {path: path.read_bytes() for path in second} == before
    assert {path.name for path in first} == {
        "report.md", "report.html", "capacity.json", "capacity-heads.svg",
        "capacity-context.svg", "capacity-head-width.svg", "capacity-parameters.svg",
    }  # fmt: skip
    for path, content in before.items():
        if path.suffix == ".svg":
            assert ElementTree.fromstring(content).tag.endswith("svg")


def test_every_number_of_the_table_is_the_measured_one() -> None:
    page = markdown_page(tiny()).decode()
    for point in tiny().along("head_width", False):
        start = f"| {point.setting.head_width} | distinct | {point.certified} | {point.upper} |"
        assert start in page


def test_another_folder_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    done: list[object] = []
    monkeypatch.setattr("attncert.verify.capacity.sweeps.sweep", lambda *_: done.append(_))
    assert attncert.main(["capacity", "--quick", "--out", str(tmp_path)]) == 2
    assert "folder" in capsys.readouterr().err
    assert done == [] and (tmp_path / "mine.txt").read_text() == "keep"
