"""The capacity law on data: against the oracle of the attack, over all subsets of contexts."""

from __future__ import annotations

import dataclasses
import json
import random
from pathlib import Path

import numpy as np
import pytest
from support import given_oracle as oracle
from support.given_oracle import dataset, draw_groups

import attncert
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import signed_pairs
from attncert.reports.capacity.page import one_line, render
from attncert.verify.capacity.capacity import DataCapacity, DataCapacitySettings, data_capacity
from attncert.verify.claims.evidence import Level
from attncert.verify.labelling.labelled import LabellingSettings, label_all

SMALL = [[1, 0, 2, 1], [0, 1, 1, 0], [0, 1, 1, 0]]  # a = 1: worth H(d + 1) + 1 at width one


def levels(made: DataCapacity) -> dict[str, Level]:
    return {claim.id: claim.level for claim in made.claims}


@pytest.mark.parametrize("seed", range(6))
def test_groups_of_contexts_of_every_kind(seed: int) -> None:
    """The least bound and the rank are those over all subsets of the groups."""
    rng = random.Random(seed)
    while True:
        groups = draw_groups(rng, 4, [rng.choice((1, 3, 9, 30)) for _ in range(3)], 4)
        sizes = {len(context) for group in groups for context, _ in group}
        if len(sizes) == 1:
            break
    examples = [x for group in groups for x in group]
    H, w = rng.randint(1, 2), rng.randint(1, 3)
    made = data_capacity(dataset(examples), DataCapacitySettings(H, w))
    assert made.rank.rank == made.uppers[0].bound == oracle.bound(groups, H, w, 1, 1)
    assert made.decided and made.exit_status == 0


def test_a_subset_of_contexts_is_found_from_the_matrix() -> None:
    """Twenty examples on a context worth 11 and on a scaled copy, among others: N alone is 22."""
    rng = random.Random(2)
    queries = oracle.draw_matrix(rng, 26, 4, 99)
    double = [[2 * x for x in row] for row in SMALL]
    contexts = [SMALL] * 18 + [double] * 2 + [oracle.draw_matrix(rng, 3, 4, 9) for _ in range(6)]
    made = data_capacity(
        dataset(list(zip(contexts, queries, strict=True))), DataCapacitySettings(2)
    )
    least = made.uppers[0]
    assert (least.name, least.examples) == ("the examples in relations", 20)
    assert least.law is not None
    assert made.rank.rank == least.bound == least.law + 6 < min(26, made.law)
    assert "**Finding:**" in render(made)["report.md"].decode()


@pytest.mark.parametrize(
    ("T", "H", "w", "d_v", "rank"),
    [(13, 1, 2, 4, 23), (8, 2, 1, 2, 16), (40, 1, 1, 2, 12)],
)
def test_labels_of_two_numbers(T: int, H: int, w: int, d_v: int, rank: int) -> None:
    """n = 2, d = 5: the first is the case of the page where the simple formula says 26."""
    rng = np.random.default_rng(1)
    d = 3 if T == 40 else 5
    data = Dataset.of(
        rng.integers(-9, 10, (T, 2, d)), rng.integers(-9, 10, (T, d)), np.ones((T, 2))
    )
    made = data_capacity(data, DataCapacitySettings(H, w, d_v))
    assert made.rank.rank == rank if T != 40 else made.rank.rank == made.uppers[0].bound
    assert made.decided


def test_the_formulas_are_those_of_the_pages() -> None:
    """Three heads on a shared context of rank 3, and on own ones, some shorter."""
    rng = np.random.default_rng(2)
    draw = lambda *shape: rng.integers(-9, 10, shape).tolist()  # noqa: E731
    shared = Dataset.of(draw(3, 4), draw(8, 4), np.ones((8, 2)))
    made = data_capacity(shared, DataCapacitySettings(3, 2, 2))
    assert made.formulas == {
        "N/m": made.law // 2, "Ha+b": 7, "H(n-1)+1": 7, "H(min(n,d_h)-1)+1": 4,
    }  # fmt: skip
    ragged = Dataset.of([draw(2, 4), draw(3, 4)], draw(2, 4), [1, 2])
    made = data_capacity(ragged, DataCapacitySettings(3))
    assert made.formulas == {"N/m": made.law, "Ha+b": 3 * made.spans.differences +
                             made.spans.common, "H(n-1)+1": 4}  # fmt: skip


def test_relations_that_hold_for_all_weights_bound_the_rank() -> None:
    made = data_capacity(signed_pairs())
    assert (made.rank.rank, made.uppers[0].bound) == (3, 3)
    assert levels(made)["law.every-labelling"] is Level.REFUTED
    assert levels(made)["law.universal"] is Level.REFUTED


def test_what_the_bounds_do_not_explain_is_undecided() -> None:
    """Without the relation between the four queries, which is known, the rank would stay open."""
    made = data_capacity(signed_pairs())
    uppers = tuple(u for u in made.uppers if u.name != "relations for all weights")
    open_ = dataclasses.replace(made, uppers=uppers)
    assert not open_.decided and open_.exit_status == 3
    assert "undecided: between 3 (certified) and 4" in one_line(open_)
    assert "No bound here explains it in full" in render(open_)["report.md"].decode()


def test_the_three_notions_are_told_apart() -> None:
    rng = np.random.default_rng(3)

    def found(T: int, heads: int) -> dict[str, Level]:
        data = Dataset.of(
            rng.integers(-9, 10, (T, 3, 4)), rng.integers(-9, 10, (T, 4)), np.zeros(T, int)
        )
        return levels(data_capacity(data, DataCapacitySettings(heads)))

    few, some, many = found(11, 2), found(20, 2), found(23, 2)
    assert few["law.labellings"] is few["law.every-labelling"] is Level.PROVED
    assert few["law.universal"] is Level.REFUTED  # 2 heads have 8 features
    assert some["law.labellings"] is some["law.twice-the-heads"] is Level.PROVED
    assert some["law.every-labelling"] is Level.UNDECIDED
    assert many["law.every-labelling"] is Level.REFUTED and "law.twice-the-heads" not in many


def test_what_narrow_heads_cannot_do_is_said_of_narrow_heads() -> None:
    """Wider heads can: 14 labels, N = 11 at width one and 20 at width four."""
    rng = np.random.default_rng(3)
    data = Dataset.of(
        rng.integers(-3, 4, (14, 4, 4)), rng.integers(-3, 4, (14, 4)), np.zeros(14, int)
    )
    for width, level in ((1, Level.ARGUED), (4, Level.PROVED)):
        made = data_capacity(data, DataCapacitySettings(1, width))
        who = f"1 head of width {width} (values: 1)"
        assert who in one_line(made)
        told = {claim.id: claim for claim in made.claims}
        assert told["law.labellings"].level is level
        for name in ("law.bound", "law.labellings", "law.every-labelling"):
            assert who in told[name].statement
    narrow = label_all(data, LabellingSettings(1, 1))
    assert "1 head of width 1 (values: 1)" in narrow.claims[-1].statement


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "data.json", tmp_path / "report"
    file.write_text(json.dumps({"contexts": SMALL, "queries": [[1, 2, 3, 4], [0, 1, 0, 1]]}))
    line = ["capacity", str(file), "--out", str(out)]
    assert attncert.main(line) == 0
    assert capsys.readouterr().out.startswith(
        "Capacity of these examples, 1 head of width 1 (values: 1): 2 of 2 labels"
    )
    assert {"report.md", "capacity.json"} <= {path.name for path in out.iterdir()}
    for wrong in (["--heads", "0"], ["--head-width", "0"]):
        assert attncert.main([*line, *wrong]) == 2
    assert attncert.main(["capacity", "--heads", "2"]) == 2
    assert attncert.main([*line, "--heads", "16000", "--head-width", "16000"]) == 2
