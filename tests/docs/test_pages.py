"""The pages that benchmarks/ makes say what their rows say."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
from flint import fmpq, fmpq_mat
from support.paths import ROOT

from attncert.constructions import layer as exact_layer
from attncert.constructions import paper, width_one
from attncert.constructions.construction import Construction
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import family
from attncert.constructions.layer import Head, Layer
from attncert.verify import features

RESULT = ROOT / "benchmarks" / "results" / "experiments.json"


def page_of(name: str) -> Any:
    @pytest.fixture(name=name)
    def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
        monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
        return importlib.import_module(f"{name}_page")

    return module


experiments, capacity, constants = map(page_of, ("experiments", "capacity", "constants"))


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    return dict(json.loads(RESULT.read_text()))


def rows(result: dict[str, Any], **wanted: Any) -> Iterator[dict[str, Any]]:
    return (r for r in result["rows"] if all(r[key] == x for key, x in wanted.items()))


def test_a_certified_T_is_marked_by_what_limits_it(
    experiments: ModuleType, result: dict[str, Any]
) -> None:
    heads = {"series": "heads", "labels": "real"}
    (end,) = rows(result, **heads, contexts="random", heads=10)
    (weak,) = rows(result, **heads, contexts="fixed", heads=10)
    (large,) = rows(result, **heads, contexts="random", heads=30)
    (uncertified,) = rows(result, series="one-hot", contexts="fixed", heads=2)
    assert [experiments.notes(row) for row in (end, weak, large, uncertified)] == [
        "‡", "†", "\\*‡", "† (12 found)",
    ]  # fmt: skip
    (all_of_N,) = rows(result, **heads, contexts="random", heads=1)
    assert experiments.notes(all_of_N) == ""


def test_one_hot_labels_are_counted_in_examples(
    experiments: ModuleType, result: dict[str, Any]
) -> None:
    (row,) = rows(result, series="one-hot", contexts="fixed", heads=4)
    assert (experiments.examples(row), row["bounds"]["universal"], row["T"]) == (37, 29, 3)
    assert experiments.below_what_is_proved(row)
    assert not experiments.below_what_is_proved(row | {"T": 29})
    line = "| fixed | one-hot | 10 | 4 | 3† (11 found) | 8 % | 37 | 29 |"
    assert line in experiments.render(result)["report.md"].decode()


def test_saturation_is_compared_at_equal_T(experiments: ModuleType) -> None:
    same = {"contexts": "fixed", "n": 4, "d": 8, "heads": 2, "T": 13}
    (line,) = experiments.equal(
        same | {"weights": name, "saturated": shares}
        for name, shares in (
            ("paper", [[0.5, 1.0]]), ("width one", [[0.0, 1.0]]),
            ("fitted", [[0.0, 0.0], [0.2, 0.4], [0.0, 0.2]]),
        )
    )  # fmt: skip
    assert (line["paper"], line["width one"], line["median"]) == ([0.75], [0.5], 0.1)


def test_the_committed_points_are_certificates_that_were_checked(
    experiments: ModuleType, result: dict[str, Any]
) -> None:
    certified = list(rows(result, outcome="certified"))
    assert len(certified) > 100
    for point in certified:
        last = point["certificates"][-1]
        assert last["T"] == point["T"] and last["status"] == "holds"
        assert last["unknowns"] == point["T"] * point["m"] <= point["bounds"]["N"]
        own = point["T"] if point["contexts"] == "random" else 1
        items = last["unknowns"] ** 2 + own * point["n"] * point["d"]  # about, of its file
        small = last["unknowns"] <= 2000 and items < 2**23
        assert last["checked"] == ("file" if small else "in memory")
        tried = [one for one in point["tried"] if one["T"] == point["T"] and one["found"]]
        assert tried and point["kappa"] < 1
    for point in result["rows"]:
        assert point["bounds"] == experiments.key(point).bounds()
        assert point["outcome"] == "certified" or point.get("T") is None


def test_what_theorems_promise_by_hand(capacity: ModuleType) -> None:
    promised = {"paper": 141, "width_one": 621, "columns": 1280, "dana": 224}
    assert capacity.bounds(20, 32, 8, 64) == promised


@pytest.mark.parametrize(("shared", "T"), [(True, 7), (False, 12)])
def test_a_capacity_is_certified_by_a_rank(
    capacity: ModuleType, monkeypatch: pytest.MonkeyPatch, shared: bool, T: int
) -> None:
    """H = 3, n = 3, d = 4: H(n-1) + 1 on one context, Hd on own ones; not with heads of zeros."""
    row = capacity.certify(3, 3, 1, 4, shared)
    assert (row["T"], row["certified"]) == (T, True)
    assert row["paper_built"] and row["width_one_built"]
    nothing = Layer((Head(fmpq_mat(4, 1), fmpq_mat(4, 1)),) * 3)
    monkeypatch.setattr(capacity, "random_layer", lambda *_: nothing)
    assert not capacity.certify(3, 3, 1, 4, shared)["certified"]


def test_the_parameters_are_the_entries_of_the_matrices(capacity: ModuleType) -> None:
    built = capacity.same_examples(3, 4, 6, shared=False)
    sizes = {name: (row["heads"], row["parameters"]) for name, row in built.items()}
    assert sizes == {
        "paper": (3, 3 * (2 * 6 * 4 + 6 + 1)), "width one": (3, 57), "generic": (3, 57),
        "fewest": (2, 38),
    }  # fmt: skip
    assert all(row["certified"] for row in built.values())


def tables(data: Dataset, built: Construction) -> list[Any]:
    return [features.logits(head, data) for head in built.layer.heads]


def with_multiplier(built: Construction, number: int, c: int) -> Construction:
    """The same construction with another c in head `number`, record and weights."""
    record, weights = built.heads[number - 1], built.layer.heads[number - 1]
    d = weights.key.nrows()
    identity = fmpq_mat(d, d, [int(i == j) for i in range(d) for j in range(d)])
    step = record.separator * record.selector.transpose() * fmpq(c - record.c)
    heads = [Head(h.key * h.query.transpose(), identity) for h in built.layer.heads]
    heads[number - 1] = Head(weights.key * weights.query.transpose() + step, identity)
    records = list(built.heads)
    records[number - 1] = replace(record, c=c)
    return replace(built, layer=Layer(tuple(heads)), heads=tuple(records), head_width=d)


def full_rank_over_q(data: Dataset, built: Construction, number: int) -> bool:
    record = built.heads[number - 1]
    rows = [*record.earlier, *record.group]
    blocks = [exact_layer.features(h, data).tolist() for h in built.layer.heads[:number]]
    Z = [[x for block in blocks for x in block[t]] for t in rows]
    return bool(fmpq_mat(len(rows), len(Z[0]), [x for row in Z for x in row]).rank() == len(rows))


def least_lead(data: Dataset, built: Construction, number: int) -> int:
    record = built.heads[number - 1]
    logits = exact_layer.integer_logits(built.layer.heads[number - 1], data)
    return min(
        logits[s][target] - k
        for s, target in zip(record.earlier, record.targets, strict=True)
        for i, k in enumerate(logits[s])
        if i != target
    )


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("kind", ["paper", "width-one"])
def test_the_least_c_is_that_of_exact_arithmetic(
    constants: ModuleType, kind: str, shared: bool
) -> None:
    data = family(7, 3, 5, shared=shared)
    built = paper.build(data) if kind == "paper" else width_one.build(data, saturated=True)
    for number in range(2, len(built.heads) + 1):
        tried = (with_multiplier(built, number, c) for c in range(100))
        c, least = next((c, b) for c, b in enumerate(tried) if full_rank_over_q(data, b, number))
        larger = with_multiplier(built, number, built.heads[number - 1].c + 5)
        for one in (built, larger):
            found = constants.least_certified(data, one, number, tables(data, one))
            assert found == (c, least_lead(data, least, number))


def test_no_certified_c_is_said_and_not_made_up(constants: ModuleType) -> None:
    """A head whose rows cannot be independent: one example twice."""
    data = family(7, 3, 5, shared=True)
    built = paper.build(data)
    order = list(range(data.T))
    order[built.heads[1].group[0]] = built.heads[1].earlier[0]
    twice = data.take(order)
    assert constants.least_certified(twice, built, 2, tables(twice, built)) is None
    assert constants.most([2, None, 1]) is None and constants.most([2, 1]) == 2


def test_one_size_of_the_constants(constants: ModuleType) -> None:
    rows = {row["construction"]: row for row in constants.constants(3, 3, 6)}
    assert len(rows) == 4 and all(row["certified"] and row["T"] == 7 for row in rows.values())
    assert rows["paper"]["parameters"] == 3 * (2 * 6 * 3 + 6 + 1)
    assert len(rows["paper"]["selectors"]) == 2 and rows["generic"]["selectors"] == []
    assert rows["paper"]["c"] <= rows["paper"]["built_c"] and rows["generic"]["c"] is None
