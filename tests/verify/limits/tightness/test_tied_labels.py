"""Labels that no weights output: both verdicts agree with layers and the checker."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support.certificate_judge import true_statement
from support.shares import share
from support.tightness_cases import feature_matrix

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.digits import digits
from attncert.constructions.data.generators import signed_pairs
from attncert.verify import checker
from attncert.verify.claims.evidence import Level
from attncert.verify.limits.tightness.certificate import tied_certificate
from attncert.verify.limits.tightness.relations.probes import random_layer
from attncert.verify.limits.tightness.relations.rows import broken_relation, row_bound
from attncert.verify.prove.prove import prove
from attncert.verify.questions.prove import Prove
from attncert.verify.rank.rational import Relation

E, F = [[1, 2, 0], [3, -1, 1], [0, 2, 1]], [[2, 0, 1], [1, 1, -2], [-1, 4, 0]]
PACKAGE = Path(checker.__file__).parents[1]
SCHEMA = json.loads((PACKAGE / "schema/attncert-3.schema.json").read_text())


def moved(context: list[list[int]]) -> list[list[int]]:
    """Twice the context, shifted."""
    return [[2 * x + s for x, s in zip(row, (5, -1, 2), strict=True)] for row in context]


BROKEN: dict[str, Callable[[], Dataset]] = {  # the labels violate a relation
    "equal inputs up to the order of tokens, two labels": lambda: Dataset.of(
        [E, [E[2], E[0], E[1]]], [[1, 0, 2]] * 2, [3, 4]
    ),
    "one context of equal tokens, two queries": lambda: Dataset.of(
        [[1, 2], [1, 2]], [[1, 0], [0, 1]], [1, 2]
    ),
    "zero queries: three means on a line": lambda: Dataset.of(
        [[[1, 1], [3, 1]], [[2, 2], [4, 2]], [[3, 0], [5, 6]]], [[0, 0]] * 3, [1, 2, 4]
    ),
    "n = 2, queries e, -e, f, -f": signed_pairs,
    "two inputs, each also shifted and scaled": lambda: Dataset.of(
        [E, moved(E), F, moved(F)],
        [[2, 4, 0], [1, 2, 0], [-6, 2, 2], [-3, 1, 1]],
        [1, 0, 0, 0],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_relation_binds_random_layers_and_the_checker_agrees(name: str, tmp_path: Path) -> None:
    data = BROKEN[name]()
    broken = broken_relation(data)
    assert broken is not None
    for seed in range(4):
        rng = np.random.default_rng(seed)
        Z = feature_matrix(data, random_layer(data, 2, 1 + seed % 2, 3, rng))
        assert Z is not None
        pairs = list(zip(broken.relation.indices, broken.relation.coefficients, strict=True))
        assert not any(sum(c * Z[t, j] for t, c in pairs) for j in range(Z.ncols()))
    certificate = tied_certificate(data, {"command": "test"})
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(certificate))
    assert checker.check_file(str(path)).status == "holds"
    assert true_statement(json.loads(path.read_text()))
    assert Draft202012Validator(SCHEMA).is_valid(certificate)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_small_random_data_meet_no_wrong_verdict(seed: int) -> None:
    """Labels made by a layer are never called impossible, however degenerate the data."""
    draw = random.Random(seed)
    T, n, d = draw.randint(2, 5), draw.randint(1, 3), draw.randint(1, 3)
    entries = [
        [[[draw.randint(-1, 1) for _ in range(d)] for _ in range(n)] for _ in range(T)],
        [[draw.randint(-1, 1) for _ in range(d)] for _ in range(T)],
    ]
    data = Dataset.of(*entries, [0] * T)
    Z = feature_matrix(data, random_layer(data, 2, 1, 3, np.random.default_rng(seed)))
    assert Z is not None
    outputs = [
        [sum(int(c) * Z[t, j] for j, c in enumerate(range(1, Z.ncols() + 1)))] for t in range(T)
    ]
    made = Dataset.of(*entries, outputs)
    assert broken_relation(made) is None
    assert row_bound(made)[-1].level is not Level.REFUTED


def test_prove_says_impossible_and_hands_over_the_certificate(tmp_path: Path) -> None:
    """For conflicting labels, the exit status is 1, and the checker accepts the file."""
    for name, data in BROKEN.items():
        proof = prove(data(), Prove())
        assert (proof.standing, proof.exit_status) == (Level.REFUTED, 1), name
        assert proof.trace["memorization"].statement.startswith("Given labels: ")
        path = tmp_path / "certificate.json"
        path.write_text(json.dumps(proof.certificate))
        verdict = checker.check_file(str(path))
        assert (verdict.status, verdict.claim) == ("holds", "impossible"), name


@pytest.mark.parametrize("T", share([300, digits().T], 2))
def test_one_conflict_among_the_digits_is_found(T: int, tmp_path: Path) -> None:
    """Image 17 is repeated with its patches in another order and another label."""
    data = digits().take(T)
    contexts, queries, labels = (x.fractions() for x in (data.contexts, data.queries, data.labels))
    contexts.append([contexts[17][k] for k in (2, 0, 3, 1)])
    queries.append(queries[17])
    labels.append([labels[17][0] + 1])
    planted = Dataset.of(contexts, queries, labels)
    assert broken_relation(data) is None
    broken = broken_relation(planted)
    assert broken is not None and broken.relation == Relation((17, data.T), (1, -1))
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(tied_certificate(planted, {})))
    assert checker.check_file(str(path)).status == "holds"
