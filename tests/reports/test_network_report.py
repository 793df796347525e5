"""The report of a network: formulas, promises, hypotheses, steps, graph, gaps and references."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flint import fmpq_mat

from attncert import (
    Attention,
    Construction,
    Dataset,
    FeedForward,
    GeneralAttention,
    Hypothesis,
    Network,
    Prove,
    Step,
    prove,
    readout,
    register,
)
from attncert.constructions.layer import Head
from attncert.reports.answers import report
from attncert.reports.html import mathml
from attncert.reports.prove.formula import formulas

M = fmpq_mat
DATA = Dataset.of([[0], [1]], [[1], [2]], [1, 2])
DOUBLE, HALF = readout(M([[2]])), readout(M([[1]]) / 2)


def doubles(at: Any, k: int) -> Any:
    for t, ([before], [after]) in enumerate(zip(at.query[k - 1], at.query[k], strict=True)):
        yield after, "==", 2 * before, t


TWICE = Construction(
    name="twice",
    theorem="the theorem of two blocks",
    source="my-paper.pdf, Theorem 7",
    build=lambda data, request: Network((DOUBLE, HALF)),
    hypotheses={"narrow": Hypothesis("Queries have one entry.", lambda data: [(data.d, "==", 1)])},
    steps={"doubles": Step("It doubles.", doubles, ("narrow",), "block", ("example",))},
    promises={"parameters": lambda sizes: 2 * sizes.d, "blocks": lambda sizes: 1},
)


def page_of(construction: Construction, data: Dataset = DATA) -> tuple[str, dict[str, bytes]]:
    register(construction)
    files = report(prove(data, Prove(construction.name))).files
    return files["report.md"].decode(), dict(files)


def test_a_referee_finds_all_of_a_proof() -> None:
    page, files = page_of(TWICE)
    assert "The construction is the theorem of two blocks; its proof is in `my-paper.pdf" in page
    assert "| narrow | Queries have one entry. | as stated | – | proved | " in page
    assert "| 1–2 | $x_{k} = x_{k-1}W_{k} + b_{k}$, where $W_{k}$ is $1\\times1$ |  |" in page
    assert "| parameters | at most 2 | 2 | proved |" in page
    assert "| blocks | at most 1 | 2 | refuted |" in page
    assert "**3. `block.2.doubles`**: refuted" in page
    assert "- Witness. examples: 0, 1." in page and "1 == 4 at example 0" in page
    assert "- Rests on: [hypothesis: narrow](#step-1)" in page
    gaps = page.partition("## What was not proved")[2].partition("## What a reader")[0]
    assert "block: 2, doubles" in gaps and "promise: blocks" in gaps
    assert "block: 1, doubles" not in gaps
    svg = files["figures/graph.svg"].decode()
    assert 'href="../report.html#step-3"' in svg and "block: 2, doubles: refuted" in svg
    assert b"lenstra" in files["references.bib"] and b"mahdavi" not in files["references.bib"]


def test_a_refusal_has_its_hypothesis_and_no_network() -> None:
    refusing = replace(TWICE, build=lambda data, request: data.network)
    page, files = page_of(refusing, Dataset.of([[0, 0]], [[1, 2]], [1]))
    assert "## What fails" in page and "`hypothesis.narrow`" in page
    assert "## The network" not in page and "figures/graph.svg" in files
    assert "nothing was built that could be checked" in page


@pytest.mark.parametrize("depth", [3, 70])
def test_a_deep_network_has_a_graph_that_can_be_read(depth: int) -> None:
    build = lambda data, request: Network((readout(M([[1]])),) * depth)  # noqa: E731
    kept = Step("It keeps.", lambda at, k: [(at.query[k], "==", at.query[k - 1])], each="block")
    page, files = page_of(replace(TWICE, build=build, steps={"kept": kept}, promises={}))
    assert page.count("**: proved\n\nIt keeps.") == depth
    assert files["figures/graph.svg"].count(b'class="box"') == (depth + 4 if depth < 10 else 5)


HEADS = (Head(M(2, 1), M(3, 1), M(2, 4)), Head(M(2, 2), M(3, 2), M(2, 5)))


@pytest.mark.parametrize(
    ("block", "formula"),
    [
        (
            FeedForward(M(3, 4), M(1, 4), "row", "threshold", True),
            r"$x_{1} = x_{0} + \mathbb{1}[(x_{0},\,X_{0})W_{1} + b_{1}\ge 0]$, "
            r"where $W_{1}$ is $3\times4$",
        ),
        (
            Attention(HEADS, M(9, 3), rule="linear", unit=None, mask=((True, False),)),
            r"$x_{1} = \big((x_{0}Q_{1,h}K_{1,h}^\top X_{0}^\top)\,X_{0}V_{1,h}\big)_{h=1}^{2}"
            r"\,O_{1}$, where the heads are concatenated, $Q_{1,h}$ $3\times1$ or $3\times2$, "
            r"$K_{1,h}$ $2\times1$ or $2\times2$, $V_{1,h}$ $2\times4$ or $2\times5$, "
            r"$O_{1}$ $9\times3$; a mask hides some tokens",
        ),
        (
            GeneralAttention(HEADS[:1], M(4, 3), unit="1", root=2),
            r"$x_{1} = \big(\mathrm{softmax}(x_{0}Q_{1,h}K_{1,h}^\top X_{0}^\top)\,X_{0}"
            r"V_{1,h}\big)_{h=1}^{1}\,O_{1}$, where the heads are concatenated, "
            r"$Q_{1,h}$ $3\times1$, $K_{1,h}$ $2\times1$, $V_{1,h}$ $2\times4$, $O_{1}$ $4\times3$"
            r"; the logits with, in this order: division by $\sqrt{2}$",
        ),
    ],
)
def test_the_formula_of_every_kind_of_block(block: Any, formula: str) -> None:
    assert list(formulas([(block, "why")])) == [("1", formula, "why")]
    assert not any("<code>" in mathml(part) for part in formula.split("$")[1::2])
