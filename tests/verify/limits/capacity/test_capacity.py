"""The capacity of H heads: both bounds on each of three notions agree with oracles over all
subsets."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import numpy as np
import pytest
from support import given_oracle as oracle
from support.given_oracle import dataset, draw_groups
from support.shell import Shell

from attncert import Capacity, capacity
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import signed_pairs
from attncert.constructions.errors import InputError
from attncert.reports.answers import report, verdict
from attncert.verify.claims.evidence import Level
from attncert.verify.limits.capacity import capacity as module
from attncert.verify.limits.capacity.capacity import DataCapacity

SMALL = [[1, 0, 2, 1], [0, 1, 1, 0], [0, 1, 1, 0]]  # a = 1, so N = H(d + 1) + 1


def levels(answer: DataCapacity) -> dict[str, Level]:
    return {claim.id: answer.trace.standing(claim.id) for claim in answer.trace}


def drawn(T: int, n: int, d: int, m: int = 1, bound: int = 9, seed: int = 3) -> Dataset:
    rng = np.random.default_rng(seed)
    shapes = (T, n, d), (T, d), (T, m)
    return Dataset.of(*(rng.integers(-bound, bound + 1, shape) for shape in shapes))


@pytest.mark.parametrize("seed", range(6))
def test_groups_of_contexts_of_every_kind(seed: int) -> None:
    """The bound and the rank equal the oracle's minimum over all subsets of the groups."""
    rng = random.Random(seed)
    while True:
        groups = draw_groups(rng, 4, [rng.choice((1, 3, 9, 30)) for _ in range(3)], 4)
        sizes = {len(context) for group in groups for context, _ in group}
        if len(sizes) == 1:
            break
    examples = [x for group in groups for x in group]
    H, w = rng.randint(1, 2), rng.randint(1, 3)
    answer = capacity(dataset(examples), Capacity(H, w))
    assert answer.jacobian.least == answer.jacobian.most == oracle.bound(groups, H, w, 1, 1)
    assert answer.holds and answer.exit_status == 0


@pytest.mark.slow
def test_a_subset_of_contexts_is_found_from_the_matrix() -> None:
    """Eighteen examples have a context that allows 11, and two have its double; N alone is 22."""
    rng = random.Random(2)
    queries = oracle.draw_matrix(rng, 26, 4, 99)
    double = [[2 * x for x in row] for row in SMALL]
    contexts = [SMALL] * 18 + [double] * 2 + [oracle.draw_matrix(rng, 3, 4, 9) for _ in range(6)]
    answer = capacity(dataset(list(zip(contexts, queries, strict=True))), Capacity(2))
    least = answer.jacobian.uppers[0]
    assert (least.name, least.examples) == ("the examples in relations", 20)
    assert least.law is not None
    assert answer.jacobian.least == least.bound == least.law + 6 < min(26, answer.jacobian.law)
    assert (
        f"| {least.name} | {least.bound} | {least.law} |"
        in report(answer).files["report.md"].decode()
    )


@pytest.mark.parametrize(
    ("T", "H", "w", "d_v", "rank"),
    [(13, 1, 2, 4, 23), (8, 2, 1, 2, 16), (40, 1, 1, 2, 12)],
)
def test_labels_of_two_numbers(T: int, H: int, w: int, d_v: int, rank: int) -> None:
    """The first case, n = 2 and d = 5, is the one on the page, where the simple formula gives
    26."""
    law = capacity(drawn(T, 2, 3 if T == 40 else 5, 2, seed=1), Capacity(H, w, d_v)).jacobian
    assert law.decided and (T == 40 or law.least == rank)


def test_relations_that_hold_for_all_weights_bound_the_rank() -> None:
    """The labels violate one of these relations, and the only certificate shows that."""
    answer = capacity(signed_pairs())
    assert (answer.jacobian.least, answer.jacobian.most) == (3, 3)
    found = levels(answer)
    assert found["law.every-labelling"] is found["law.universal"] is Level.REFUTED
    assert answer.certificate is not None and answer.certificate["claim"] == "impossible"
    assert "no number of heads" in report(answer).sentences[1]


def test_what_the_bounds_do_not_explain_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the relation between the four queries, which is known, the rank would stay open."""
    monkeypatch.setattr("attncert.verify.limits.capacity.jacobian.row_relations", lambda data: ())
    answer = capacity(signed_pairs())
    assert not answer.holds and answer.exit_status == 3
    assert "Between 3 (certified) and 4" in verdict(answer)
    assert "The two bounds do not meet" in report(answer).files["report.md"].decode()


def test_the_three_notions_are_told_apart() -> None:
    few, some, many = (
        levels(capacity(drawn(T, 3, 4), Capacity(2))) for T in (11, 20, 23)
    )  # fmt: skip
    assert few["law.labellings"] is few["law.every-labelling"] is Level.PROVED
    assert few["law.universal"] is Level.REFUTED  # 2 heads have 8 features
    assert some["law.labellings"] is some["law.twice-the-heads"] is Level.PROVED
    assert some["law.every-labelling"] is Level.UNDECIDED
    assert many["law.every-labelling"] is Level.REFUTED and "law.twice-the-heads" not in many


@pytest.mark.parametrize("seed", range(8))
def test_each_notion_implies_the_next(seed: int) -> None:
    """On small, mostly degenerate data, bounds and head counts are ordered as the notions imply."""
    rng = np.random.default_rng(seed)
    data = drawn(*(int(x) for x in rng.integers((2, 2, 2, 1), (9, 4, 5, 3))), 1, seed)
    answer = capacity(data, Capacity(int(rng.integers(1, 5)), value_width=1))
    universal, labelling, some = answer.notions
    assert universal.least <= labelling.least <= some.least <= answer.jacobian.most
    assert all(notion.least <= notion.most for notion in answer.notions)
    for notion in answer.notions:
        full = notion.least == data.T * data.m
        assert full == (levels(answer)[notion.claim] is Level.PROVED)
        if notion.enough is not None:
            assert notion.needed is not None and notion.needed <= notion.enough.number
    counts = [notion.enough.number if notion.enough else 10**9 for notion in answer.notions]
    assert counts == sorted(counts, reverse=True)


def test_what_excludes_these_labels_is_no_row_of_the_table() -> None:
    """If equal inputs have different labels, the file concerns only these labels."""
    answer = capacity(Dataset.of([[1, 0], [0, 1]], [[1, 2]] * 2, [0, 1]))
    assert [notion.about.value for notion in answer.notions][-1] == "some labellings"
    assert [about.value for about in answer.certificates] == ["these labels"]
    page = report(answer).files["report.md"].decode()
    rows = re.findall(r"^\| \*\*(.+)\*\* .* \|(.*)\|$", page, re.MULTILINE)
    assert [file.strip() for _, file in rows] == ["", "", ""]
    assert "is about *these labels*" in page and "## Claims: These labels" in page


def test_the_command(tmp_path: Path, shell: Shell) -> None:
    """Both certificates hold, with labels and without."""
    file, out = tmp_path / "data.json", tmp_path / "report"
    data = drawn(11, 3, 4).canonical()
    del data["labels"]
    file.write_text(json.dumps(data))
    line = ["capacity", file, "--out", out, "--heads", "2"]
    printed = shell.runs(*line).out.splitlines()
    assert printed[0] == (
        "Proved. The outputs on these examples, over all weights of 2 heads of width 1 (values: "
        "1), have dimension 11 of 11: an open set of labellings is output exactly, each by its "
        "own weights."
    )
    assert printed[1] == (
        "All labels at once: 8 of 11 label numbers by 2 heads; the fewest heads that serve all: 3."
    )
    for name, claim in (("", "full-rank"), ("-every-labelling", "every-labelling")):
        path = out / f"certificate{name}.json"
        assert json.loads(path.read_text())["claim"] == claim
        shell.runs("check", path)
    assert json.loads(shell.runs(*line, "--json").out)["standing"] == "proved"
    shell.refuses("capacity", "--heads", "2")
    shell.refuses(*line, "--heads", "16000", "--head-width", "16000")


def test_a_larger_jacobian_for_each_labelling_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The requested number of heads is still examined."""
    true = module.label_all

    def large(data: Dataset, heads: int | None, *rest: int, **more: object) -> object:
        if heads is None:
            raise InputError("DATA", "small", "large")
        return true(data, heads, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "label_all", large)
    answer = capacity(drawn(11, 3, 4), Capacity(2))
    assert levels(answer)["law.every-labelling"] is Level.PROVED
    answer = capacity(drawn(20, 3, 4), Capacity(2))
    assert answer.notions[1].least == 11 and answer.notions[1].below.claim == "law.zero"
