"""Notebooks and Python sessions show records as lines and pictures; SymPy reads the weights."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable

import numpy as np
import pytest
import sympy
from markdown_it import MarkdownIt
from support.paths import EXAMPLES

import attncert
from attncert import Dataset, Layer, Proof, Prove, prove
from attncert.constructions.data.generators import random
from attncert.reports.answers import report
from attncert.verify.claims.answer import Answer
from attncert.verify.fit.fitted import fit
from attncert.verify.kruskal.kruskal import kruskal
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.questions.kruskal import Kruskal
from attncert.verify.questions.question import Question

CONTEXT, QUERIES = [[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]]
DATA = Dataset.of(CONTEXT, QUERIES, [5, "1/3", 7], "tiny")
VALIDATED = ("Attention", "Dataset", "FeedForward", "Layer", "Level", "Network", "Weights")
NUMBERS = ("Attention", "Claim", "Dataset", "FeedForward", "Layer",
           "Network", "Proof", "Weights", "assume", "attack", "audit", "capacity", "check",
           "compare", "fit", "kruskal", "layer", "load", "of_sequences", "prove",
           "readout", "record")  # fmt: skip
LONG = 10**5000 + 1  # more digits than Python writes


@pytest.fixture(scope="module")
def proof() -> Proof:
    return prove(DATA, Prove(heads=2))


def test_every_public_name_is_listed_and_described() -> None:
    """Every docstring has an example and a source, and states errors and arithmetic where they
    apply."""
    assert dir(attncert) == attncert.__all__
    values = {x: getattr(attncert, x) for x in attncert.__all__ if x != "__version__"}
    public = {x: value for x, value in values.items() if not isinstance(value, types.ModuleType)}
    questions = {x for x, y in public.items() if isinstance(y, type) and issubclass(y, Question)}
    functions = {x for x, y in public.items() if inspect.isfunction(y)}
    assert (len(questions), len(functions)) == (9, 20)
    for pattern, names in {
        ">>> ": set(public),
        r"Source:|docs/[a-z0-9-]+\.md|paper's Theorem 1|and source": set(public),
        r"[Rr]aise[sd]?\s": questions | functions | set(VALIDATED),
        "xact|rithmetic|balls": questions | set(NUMBERS),
    }.items():
        assert [x for x in names if not re.search(pattern, public[x].__doc__ or "")] == []


def test_a_record_is_one_short_line_without_its_numbers(proof: Proof) -> None:
    large = random(300, 8, 64, bound=10**9, seed=0)
    key = [[1] * 40] * 64
    question = Kruskal(k=2, work=1.0, subsets=0, device="cpu")
    records: list[object] = [
        large, Layer.of_weights([(key, key)] * 30), Layer.of_weights([([[LONG]], [[1]])]),
        proof, proof.layer, proof.trace, proof.certificate, proof.setup,
        *proof.trace, *proof.heads, kruskal(Vectors.of(DATA), question),
        attncert.capacity(DATA), fit(DATA), large.queries, Dataset.of([[LONG]], [[LONG]], [LONG]),
    ]  # fmt: skip
    for record in records:
        line = repr(record)
        assert len(line) <= 200 and "\n" not in line
        assert line.startswith(f"{type(record).__name__}(")
    assert repr(DATA) == (
        "Dataset('tiny', examples=3, tokens=2, width=2, labels='1 each', contexts='shared')"
    )


def test_a_notebook_shows_the_verdict(proof: Proof) -> None:
    shown = proof._repr_markdown_()
    assert shown.startswith("> **Proved.** The layer outputs exactly the label")
    assert "$`" not in shown  # GitHub's math syntax, which Jupyter does not read
    assert "Refuted" in prove(DATA, Prove(heads=1))._repr_markdown_()


def test_a_notebook_shows_the_graph(proof: Proof) -> None:
    assert "<svg" in proof.trace._repr_svg_()


ASKED: dict[str, Callable[[], Answer]] = {
    "prove": lambda: prove(DATA, Prove(heads=1)),
    "capacity": lambda: attncert.capacity(DATA),
    "compare": lambda: attncert.compare(DATA),
    "fit": lambda: fit(DATA),
    "kruskal": lambda: kruskal(Vectors.of(DATA), Kruskal(subsets=9)),
    "layer": lambda: attncert.layer(
        trained("before.npz"), attncert.load(trained("data.npz")), LAYER
    ),
}
LAYER = attncert.LayerQuestion(heads=3, tolerance="1/10")


def trained(name: str) -> str:
    return str(EXAMPLES / "trained" / name)


@pytest.mark.parametrize("command", ASKED)
def test_python_and_notebooks_are_told_what_a_terminal_is(command: str) -> None:
    """Python and notebooks show every sentence; notebooks also show the table of `compare`."""
    answer = ASKED[command]()
    said = report(answer).sentences
    assert str(answer).splitlines() == list(said)
    shown = answer._repr_markdown_() or ""
    assert shown.count("\n>\n") == len(said) - 1
    assert command != "layer" or "the largest error is in" in shown
    tables = MarkdownIt().enable("table").render(shown).count("<table>")
    assert tables == (command == "compare")


def test_exact_weights_in_sympy_output_the_labels(proof: Proof) -> None:
    """SymPy evaluates the layer from these matrices alone: exp(k log 2) is 2^k."""
    assert proof.layer is not None
    weights = proof.layer.to_sympy()
    context, d_v = sympy.Matrix(CONTEXT), proof.layer.value_width
    for query, label in zip(QUERIES, (5, sympy.Rational(1, 3), 7), strict=True):
        output = sympy.zeros(1, 1)
        heads = zip(weights["W_K"], weights["W_Q"], weights["W_V"], strict=True)
        for h, (key, asked, value) in enumerate(heads):
            powers = (context * key * asked.T * sympy.Matrix(query)).applyfunc(sympy.exp)
            feature = (context.T * powers) / sum(powers)
            output += (value.T * feature).T * weights["W_O"][h * d_v : (h + 1) * d_v, :]
        assert sympy.simplify(output[0] - label) == 0


def test_float_weights_are_the_nearest(proof: Proof) -> None:
    assert proof.layer is not None
    exact, arrays = proof.layer.to_sympy(), proof.layer.to_numpy()
    assert list(exact) == list(arrays) == ["W_K", "W_Q", "W_V", "W_O"]
    for name in ("W_K", "W_Q", "W_V"):
        for head, near in zip(exact[name], arrays[name], strict=True):
            for i, j in np.ndindex(head.shape):
                assert near[i, j] == pytest.approx(float(head[i, j]), rel=1e-15)
