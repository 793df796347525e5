"""`attncert compare`: hand counts, failures, third-party constructions, and identical bytes."""

from __future__ import annotations

import functools
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support import exact_data
from support.paths import ROOT
from support.shell import Shell

import attncert
from attncert import Construction
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network import relu
from attncert.constructions.network.network import Network
from attncert.reports.answers import report
from attncert.reports.pages.compare import sentences
from attncert.verify.claims.evidence import Level
from attncert.verify.compare import compare as module
from attncert.verify.compare.compare import Comparison, Entry, compare
from attncert.verify.prove.prove import prove
from attncert.verify.questions.compare import Compare
from attncert.verify.questions.prove import Prove
from attncert.verify.statements import registry

DATA = exact_data.family(9, 3, 4, queries="moment-curve", seed=1)
OWN_DATA = exact_data.family(3, 2, 3, shared=True, queries="moment-curve", seed=1)
CONFLICT = Dataset.of([[1, 0], [0, 1]], [[1, 2], [1, 2], [3, 1]], [1, 2, 3])
NETWORKS = ("relu", "threshold-pairs", "derivative-pairs", "two-layers", "bits", "attention-relu")
RETRIEVAL = "retrieval"
LAYERS = ("paper", "width-one", "affine", "generic")


@functools.cache
def compared() -> Comparison:
    return compare(DATA)


def row(answer: Comparison, name: str) -> Entry:
    return next(entry for entry in answer.table if entry.method.name == name)


def bits(numbers: list[Fraction]) -> int:
    return sum(
        abs(x.numerator).bit_length() + (x.denominator.bit_length() if x.denominator > 1 else 0)
        for x in numbers
    )


def test_all_constructions_are_there() -> None:
    answer = compared()
    assert [x.method.name for x in answer.table] == [*LAYERS, *NETWORKS, RETRIEVAL]
    assert answer.holds and answer.exit_status == 0
    assert "10 of 11 constructions" in answer.statement


def test_retrieval_is_within_and_not_exact() -> None:
    entry = row(compared(), RETRIEVAL)
    assert entry.standing is Level.ENCLOSED and not entry.exact and entry.costs
    assert compared().trace["compare.retrieval"] == entry.claim
    assert "no, within: " in page_of(compared()) and RETRIEVAL not in compared().statement
    one = module._entry(DATA.take(1), registry.method(RETRIEVAL), Compare())
    assert not one.exact  # a single pattern is retrieved exactly, but is not its own label


def test_relu_is_counted_as_by_hand() -> None:
    """The count is p + 2K + Km minus the number of zeros, which follows from the points."""
    projection = relu.build(DATA).line.a
    a = [Fraction(str(x)) for x in projection.entries()]
    queries = [[Fraction(x) for x in query] for query in DATA.queries.strings()]
    labels = [Fraction(y[0]) for y in DATA.labels.strings()]
    points = sorted(
        (sum((x * y for x, y in zip(query, a, strict=True)), Fraction(0)), label)
        for query, label in zip(queries, labels, strict=True)
    )
    points = [(points[0][0] - 1, Fraction(0)), *points]
    slopes = [Fraction(0), *((f - e) / (t - s) for (s, e), (t, f) in pairwise(points))]
    knots, changes = [-s for s, _ in points[:-1]], [y - x for x, y in pairwise(slopes)]
    numbers = [x for x in [*a, *[Fraction(1)] * DATA.T, *knots, *changes] if x]
    costs = row(compared(), "relu").costs
    assert costs["parameters"] == len(numbers) <= DATA.d + 3 * DATA.T
    assert costs["bits in all"] == bits(numbers)
    assert (costs["hidden units"], costs["blocks"]) == (DATA.T, 3)


@pytest.mark.parametrize("name", ["paper", "width-one", "generic"])
def test_a_layer_is_counted_from_the_numbers_of_its_certificate(name: str) -> None:
    certificate = prove(DATA, Prove(construction=name)).certificate
    assert certificate is not None
    layer = json.loads(json.dumps(certificate["network"][0]))
    numbers = [Fraction(x) for x in leaves(layer) if Fraction(x)]
    costs = row(compared(), name).costs
    assert (costs["parameters"], costs["bits in all"]) == (len(numbers), bits(numbers))


def leaves(tree: Any) -> Iterator[str]:
    """All numbers in the heads and the output."""
    if isinstance(tree, dict):
        named = [tree[key] for key in ("heads", "key", "query", "value", "output") if key in tree]
        yield from (x for branch in named for x in leaves(branch))
    elif isinstance(tree, list):
        yield from (x for branch in tree for x in leaves(branch))
    else:
        yield str(tree)


@pytest.mark.parametrize("name", LAYERS)
def test_a_readout_that_is_not_written_is_bounded(name: str) -> None:
    """The bound is at least the number of parameters of the written readout."""
    layer = prove(DATA, Prove(construction=name)).layer
    bound = module._without_readout(layer, DATA)
    written = Network.of_layer(layer)
    assert written.parameters <= bound["parameters"] <= written.parameters + DATA.T + 9
    assert "bits in all" not in bound


def test_a_layer_of_full_rank_without_readout() -> None:
    rng = random.Random(1)
    contexts = [[[rng.randint(-9, 9) for _ in range(8)] for _ in range(4)] for _ in range(60)]
    queries = [[rng.randint(-99, 99) for _ in range(8)] for _ in range(60)]
    data = Dataset.of(contexts, queries, [rng.randint(0, 9) for _ in range(60)])
    entry = module._entry(data, registry.method("generic"), Compare())
    assert entry.exact and not entry.written
    assert entry.costs["parameters"] == 2 * 20 + 60 + 20  # one entry in each key and query
    assert entry.claim.level is Level.PROVED and "rank 60" in entry.claim.statement


def test_what_fails_is_shown_as_failing() -> None:
    data = attncert.load("examples/one-query.json")
    answer = compare(data, Compare())
    failing = row(answer, "width-one")
    assert failing.standing is Level.NOT_APPLICABLE and not failing.costs
    assert "queries 0 and 1 are parallel" in failing.reason
    assert answer.trace["compare.width-one"].level is Level.NOT_APPLICABLE
    assert answer.trace["compare.width-one.hypothesis.A1"].level is Level.REFUTED
    assert answer.holds and "width-one" not in answer.statement
    assert row(answer, "relu").exact
    page = report(answer).files["report.md"].decode()
    line = next(x for x in page.splitlines() if x.startswith("| width-one"))
    assert "not applicable: queries 0 and 1 are parallel" in line


def test_equal_inputs_with_different_labels_are_refuted() -> None:
    answer = compare(CONFLICT, Compare())
    assert answer.standing is Level.REFUTED and answer.exit_status == 1
    assert not any(entry.exact for entry in answer.table)
    assert answer.claim.witness and answer.claim.witness["examples"] == [0, 1]
    assert "two equal examples" in report(answer).sentences[0]


def test_third_party_constructions_appear() -> None:
    registry.method("examples.own_construction:PARITY")
    answer = compare(OWN_DATA, Compare())
    assert row(answer, "parity").exact
    assert "parity: heads that single out one example each (third-party)" in page_of(answer)


def test_one_that_breaks_does_not_stop_the_others() -> None:
    def build(*arguments: Any) -> Any:
        raise RuntimeError("no such luck")

    registry.register(Construction("broken", build))
    answer = compare(OWN_DATA, Compare())
    assert row(answer, "broken").standing is Level.UNDECIDED
    assert "no such luck" in row(answer, "broken").reason
    assert all(row(answer, name).exact for name in NETWORKS)


def page_of(answer: Comparison) -> str:
    return report(answer).files["report.md"].decode()


def test_the_sentences_follow_from_the_table() -> None:
    answer = compared()
    cheap = {"parameters": 1, "bits in all": 2}
    swapped = tuple(
        replace(x, costs={**x.costs, **cheap}) if x.method.name == "bits" else x
        for x in answer.table
    )
    alone, networks = sentences(replace(answer, table=swapped))
    fewest = min(row(answer, name).costs["parameters"] for name in LAYERS)
    assert "Among layers of attention alone" in alone and f"parameters ({fewest})" in alone
    assert "bits has the fewest parameters (1) and the fewest bits (2)." in networks
    nothing = replace(answer, table=tuple(x for x in answer.table if x.method.name in NETWORKS))
    none = next(sentences(nothing))
    assert none.startswith("None of these constructions with attention alone")
    assert none.endswith("Other weights of an attention layer may still do so.")


OWN = """
from dataclasses import replace
from attncert import Hypothesis, Step
from examples.own_construction import PARITY
OWN = replace(PARITY, name="mine", {change})
"""
STANDS = "claimed.mine. Proved: The layer outputs exactly the label"
FALSE_STEP = 'steps={"false": Step("It holds.", lambda at: [(1, "==", 2)])}'
FALSE_HYPOTHESIS = """hypotheses={
    "two": Hypothesis("T is even.", lambda data: [(data.T % 2, "==", 0)])
}, steps={}, build=lambda data, request: data.half"""


@pytest.mark.parametrize(
    ("change", "status", "said", "cell"),
    [
        ("title='my heads'", 0, STANDS, "| yes | valid |"),
        (FALSE_STEP, 1, "This fails: Every step", "| yes | refuted: step.false is refuted |"),
        (FALSE_HYPOTHESIS, 3, "hypothesis is false: T is even", "| not applicable: this hypoth"),
        ("build=lambda data, request: 1 / 0", 2, "build of construction mine: failed", ""),
        ("build=lambda data, request: 1", 2, "it returns int, not a Network", ""),
        ("nothing=1", 2, "--construction: must be a module and a name in it", ""),
    ],
)
def test_ones_own_construction_beside_ours(
    change: str, status: int, said: str, cell: str, shell: Shell, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Verdicts agree with those of `prove`; a row of the table and the exit status show them."""
    name = f"compared_{status}_{len(change)}"
    (tmp_path / f"{name}.py").write_text(OWN.format(change=change))
    data = str(ROOT / "examples" / "tiny.json")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    command = ["compare", data, "--construction", f"{name}:OWN", "--out", "out"]
    if status == 2:
        assert said in shell.refuses(*command)
        return
    printed = shell.runs(*command, status=status).out
    assert said in printed and "relu" in printed.splitlines()[0]
    page = (tmp_path / "out" / "report.md").read_text()
    assert cell in next(line for line in page.splitlines() if line.startswith("| mine"))
    assert (tmp_path / "out" / "construction" / f"{name}.py").exists()
