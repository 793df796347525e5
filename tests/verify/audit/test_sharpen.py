"""Cases that need a hypothesis: planted ones are found and shrunk; others are only counted."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import fmpq_mat
from support.shell import Shell

from attncert import (
    Attention,
    Construction,
    Dataset,
    Head,
    Hypothesis,
    HypothesisFails,
    Network,
    Step,
    readout,
    register,
)
from attncert.constructions.progress import silent
from attncert.verify.audit import sharpen
from attncert.verify.audit.attack import networks
from attncert.verify.statements import registry


def build(data: Dataset, request: Any) -> Network:
    if data.d == 2:
        raise HypothesisFails("not-two", "the width is 2", {})
    return Network((readout(fmpq_mat([[1]] * data.d)),))


def sums(data: Dataset) -> Any:
    for t, (row, labels) in enumerate(zip(rows(data), data.label_matrix.tolist(), strict=True)):
        yield labels, "==", sum(row), t


def rows(data: Dataset) -> Any:
    return data.query_matrix.tolist()


def grows(at: Any) -> Any:
    for t, ([after], row) in enumerate(zip(at.query[1], at.query[0], strict=True)):
        yield row, "<=", after, t


def summed(data: Dataset) -> Dataset:
    queries = [[abs(x) if data.d == 2 else x for x in row] for row in rows(data)]
    return Dataset.of([[0] * data.d], queries, [sum(row) for row in queries])


SUMS = Construction(
    name="sums",
    build=build,
    adapt=summed,
    hypotheses={
        "sums": Hypothesis("Labels are sums.", sums),
        "positive": Hypothesis("No entry is negative.", lambda data: [(rows(data), ">=", 0)]),
        "not-two": Hypothesis("The width is not 2.", lambda data: [(data.d, "!=", 2)]),
        "few": Hypothesis("There are at most 3 examples.", lambda data: [(data.T, "<=", 3)]),
        "true": Hypothesis("One is one.", lambda data: [(1, "==", 1)]),
    },
    steps={"grows": Step("No entry is larger than the sum.", grows, ("positive",))},
)


@pytest.fixture(scope="module")
def found() -> dict[str, sharpen.Sharpened]:
    """A construction for one test only, since other tests see all that are registered."""
    register(SUMS)
    known = {x.hypothesis: x for x in sharpen.sharpen(SUMS, True, 0, lambda *_: None)}
    del registry._registered["sums"]
    return known


@pytest.mark.parametrize(
    ("name", "words", "level"),
    [
        ("sums", "memorization breaks", "proved"),
        ("positive", "step.grows breaks", "proved"),
        ("not-two", "the builder refuses", "sampled"),
        ("few", "not needed on ", "sampled"),
        ("true", "no data set was found on which it alone is false", "undecided"),
    ],
)
def test_what_breaks_is_what_the_hypothesis_is_for(
    name: str, words: str, level: str, found: dict[str, sharpen.Sharpened]
) -> None:
    one = found[name]
    assert words in one.words and one.level.value == level == one.claim().level.value
    assert ("not needed" in one.words) == (name == "few")
    if name == "few":
        assert one.words.startswith(f"not needed on {one.tried - one.open} data sets tried")


@pytest.mark.slow
def test_hypotheses_of_ours_are_tried() -> None:
    found = {x.hypothesis: x for x in sharpen.sharpen(registry.method("paper"), True, 0, silent)}
    assert found.keys() == {"context-size", "A2", "A1"} and found["A1"].tried


def test_the_data_are_as_small_as_can_be(found: dict[str, sharpen.Sharpened]) -> None:
    for name, size in (("sums", 1), ("positive", 3)):
        smallest = found[name].smallest
        assert smallest is not None and smallest.queries.shape == (1, size)
        assert abs(smallest.queries).sum() <= 1 and not smallest.contexts.any()
        assert found[name].claim().witness["queries"] == smallest.queries.tolist()  # type: ignore[index]
        register(SUMS)
        assert sharpen._false_alone(SUMS, smallest) == name


def test_the_level_is_no_higher_than_that_of_the_other_hypotheses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sharpen, "QUICK_DRAWN", 12)
    weak = {"float": Hypothesis("One half.", lambda data: [(0.5, "<", 1)])}
    other = replace(SUMS, name="weak", hypotheses={**SUMS.hypotheses, **weak})
    register(other)
    of = {x.hypothesis: x for x in sharpen.sharpen(other, True, 0, lambda *_: None)}
    assert (of["positive"].words, of["positive"].level.value) == ("step.grows breaks", "numerical")


@pytest.mark.slow
def test_a_break_in_balls_is_enclosed() -> None:
    one = fmpq_mat([[1]])
    softmax = Attention((Head(one, one, one),), one, unit="1")

    def below(at: Any) -> Any:
        yield from (([x for [x] in at.query[1]], "<", 1),)

    construction = Construction(
        name="balls",
        build=lambda data, request: Network((softmax,)),
        adapt=lambda data: Dataset.of([[0], [1]], [row[:1] for row in rows(data)], data.stated),
        hypotheses={
            "small": Hypothesis("Tokens are at most 1.", lambda data: [
                (data.context(t).tolist(), "<=", 1) for t in range(data.T)]),
            "turned": Hypothesis("No query is 0.", lambda data: [(rows(data), "!=", 0)]),
            "two": Hypothesis("0 and another token.", lambda data: [
                (data.n, "==", 2)] + [(data.context(t)[0, 0], "==", 0) for t in range(data.T)]
                + [(data.context(t)[data.n - 1, 0], "!=", 0) for t in range(data.T)]),
        },
        steps={"below": Step("The mean is below 1.", below, ("small",))},
    )  # fmt: skip
    register(construction)
    small, *_ = sharpen.sharpen(construction, True, 1, lambda *_: None)
    assert (small.words, small.level.value) == ("step.below breaks", "enclosed")


def test_data_as_a_case_are_the_same_data() -> None:
    for number in range(40):
        case = networks.draw(np.random.default_rng([3, number]))
        again = networks.of_dataset(case.dataset, case)
        assert again.dataset.sha256 == case.dataset.sha256


@pytest.mark.slow
def test_the_audit_says_it(shell: Shell, tmp_path: Path) -> None:
    register(SUMS)
    printed = shell.runs("audit", "--quick", "--construction", "sums", "--out", tmp_path).out
    assert "sums without positive: step.grows breaks (proved)." in printed.splitlines()
    page = (tmp_path / "report.md").read_text()
    assert "| sums | positive | grows | step.grows breaks | proved |" in page
    claims = json.loads((tmp_path / "answer.json").read_text())["claims"]
    (claim,) = (x for x in claims if x["id"] == "audit.sums.positive")
    assert claim["witness"]["queries"] and "step.grows is refuted" in claim["witness"]["reason"]
