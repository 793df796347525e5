"""Contexts of different lengths, compared with the same data repeated up to a common length.

For every head, a context whose tokens all occur r times is equivalent to the context without
repetition. If the padding of shorter contexts is counted as tokens, results must differ.
"""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import fmpq_mat
from jsonschema import Draft202012Validator
from support.oracles import repeated

from attncert import Prove, of_sequences, prove, verify
from attncert.cli import main
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.primes import PRIMES_31
from attncert.constructions.from_layer import from_layer
from attncert.constructions.given import attention
from attncert.constructions.given.law import law
from attncert.constructions.given.least_squares import descend
from attncert.constructions.layer import Head, Layer
from attncert.constructions.search.dimensions import dimensions
from attncert.verify.certificates.certificate import canonical_bytes, sealed
from attncert.verify.checker import check_file
from attncert.verify.limits.tightness.columns import columns
from attncert.verify.outputs.multiprecision import multiprecision
from attncert.verify.outputs.rational import rational

P, SMALL = PRIMES_31[0], 11863067  # SMALL: for exact matrix products
CONTEXTS = [
    [[1, 0, 2], [0, 1, -1], [2, 1, 0]], [[3, 1, 1]], [[0, 1, 1], [-1, 2, 0]],
    [[1, 0, 1], [0, 2, 0], [0, 0, -3], [1, 1, 1]],
]  # fmt: skip
QUERIES = [[1, 2, 0], [0, 1, 1], [1, 1, -1], [2, 0, 1]]
DATA = Dataset.of(CONTEXTS, QUERIES, [1, 2, 3, -4])
SAME = repeated(DATA)
AS_TOKENS = replace(DATA, counts=None)  # the defect: padding is counted as tokens
LAYER = Layer(
    (
        Head(fmpq_mat([[1], [0], [2]]), fmpq_mat([[1], [-1], [1]]), fmpq_mat([[1], [2], [3]])),
        Head(fmpq_mat([[0], [1], [1]]), fmpq_mat([[2], [1], [0]]), fmpq_mat([[0], [1], [-1]])),
    ),
    fmpq_mat([[1], [2]]),
)
SHAPE = attention.Shape(3, 1, 2, 1, 1)
SCHEMA = json.loads((Path(verify.__file__).parent / "schema/attncert-3.schema.json").read_text())
WEIGHTS = np.linspace(-1, 1, SHAPE.parameters)


def arrays(data: Dataset) -> tuple[Any, Any]:
    return data.contexts.floats(), data.queries.floats()


def there(data: Dataset) -> Any:
    return None if data.times is None else data.times.astype(float)


def test_spans_do_not_see_what_fills_up() -> None:
    assert law(DATA) == law(SAME)
    assert columns(DATA, 2) == columns(SAME, 2)
    assert dimensions(DATA) == dimensions(SAME)


def test_searches_fit_the_tokens() -> None:
    shape = attention.Shape(3, 1, 3, 1, 1)
    labels = DATA.labels.floats()
    found = descend(*arrays(DATA), labels, shape, 0, times=there(DATA))
    assert found.converged
    got = attention.outputs(*arrays(SAME), found.weights, shape)
    assert np.abs(got - labels).max() < 1e-9


@pytest.mark.parametrize("name", ["affine", "generic"])
def test_what_is_built_speaks_of_the_tokens(name: str) -> None:
    proof = prove(DATA, Prove(construction=name))
    assert proof.standing.value == "proved"
    assert not [c.id for c in proof.trace if c.level.value == "refuted" and "head" in c.id]
    for head in proof.heads:
        assert head.log2_off_peak[1] == -np.inf  # one token receives all the attention
    built, layer = DATA.take([0, 1, 2, 3]), proof.layer
    assert rational(built, layer).level.value == rational(SAME, layer).level.value == "proved"
    assert rational(AS_TOKENS, layer).level.value == "refuted"
    assert multiprecision(DATA, layer).level.value == "enclosed"


def test_given_weights_on_contexts_with_repeated_tokens() -> None:
    text = of_sequences(["^abab"], {"a": [1, 0, 2], "b": [-1, 1, 1], "^": [2, 1, 0]})
    proof = prove(text, Prove("generic", claim="full-rank"))
    data, built = proof.data, from_layer(proof.layer, proof.data, "mine")
    assert data.order is not None and built.groups
    for head in built.heads:
        for t, logits in zip(head.group, head.logits, strict=True):
            assert len(logits) == data.tokens(t)


@pytest.mark.parametrize("name", ["paper", "width-one"])
def test_a_proof_of_equally_many_tokens_says_so(name: str) -> None:
    data = Dataset.of([[[1, 0], [0, 1]], [[1, 1]]], [[1, 2], [3, 1]], [5, 7])
    proof = prove(data, Prove(construction=name))
    said = proof.trace[proof.conclusion]
    assert said.level.value == "not applicable"
    assert "equal length, and these have 1 to 2 tokens" in said.statement
    assert proof.trace["hypothesis.A2"].level.value == "proved"
    assert proof.trace["hypothesis.token-counts"].witness == {"examples": [1, 0], "tokens": [1, 2]}


ONE = [[1, 0], [0, 1]]
TIED = Dataset.of([ONE, [*ONE, *ONE], [*ONE, [1, 0]]], [[1, 2]] * 3, [1, 2, 3])
WRITTEN: dict[str, tuple[Dataset, str]] = {
    "interpolation": (DATA, "prove --construction affine"),
    "full-rank": (DATA, "prove --construction generic --claim full-rank"),
    "impossible": (TIED, "prove"),
    "interpolation-near": (DATA, "fit --heads 2"),
    "every-labelling": (DATA, "capacity --heads 2"),
}


@pytest.mark.parametrize("claim", WRITTEN)
def test_every_claim_is_written_with_its_tokens(claim: str, tmp_path: Path) -> None:
    """The file fits the schema, and the checker accepts it. One more token breaks equalities, but
    no rank; a count that differs from the number of rows is refused."""
    data, words = WRITTEN[claim]
    command, *options = words.split()
    (tmp_path / "d.json").write_bytes(canonical_bytes(data.canonical()))
    main([command, str(tmp_path / "d.json"), *options, "--out", str(tmp_path / "out")])
    files = [json.loads(x.read_bytes()) for x in (tmp_path / "out").glob("certificate*.json")]
    (file,) = (x for x in files if x["claim"] == claim)
    assert [*Draft202012Validator(SCHEMA).iter_errors(file)] == []
    path = tmp_path / "certificate.json"
    assert judged(file, path) == "holds"
    file["tokens"][1] += 1
    assert judged(file, path) == "unusable"
    file["data"]["contexts"][1] += file["data"]["contexts"][0][:1]
    file["dims"]["context"] = max(file["tokens"])
    assert judged(file, path) == ("holds" if "rank" in file else "wrong")


def judged(file: dict[str, Any], path: Path) -> str:
    """The verdict on the file with new digests."""
    body = {key: value for key, value in file.items() if key != "digest"}
    body["input_sha256"] = sha256(canonical_bytes(body["data"])).hexdigest()
    path.write_bytes(canonical_bytes(sealed(body)))
    return str(check_file(str(path)).status)


def test_assume_finds_given_contexts_independent(tmp_path: Path) -> None:
    file = tmp_path / "d.json"
    contexts = [[[1, 0], [0, 1]], [[1, 1]]]
    file.write_text(json.dumps({"contexts": contexts, "queries": [[1, 2], [3, 1]]}))
    assert main(["assume", str(file), "--out", str(tmp_path / "out")]) == 0
    report = (tmp_path / "out" / "report.md").read_text()
    assert "requires equally many" in report
