"""What the pipeline refuses: the hypothesis that fails, its witness; settings without sense."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from support.oracles import is_relation

from attncert.constructions.data import generators
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.search import grouping
from attncert.verify.claims.evidence import Level
from attncert.verify.prove import prove
from attncert.verify.questions.prove import Prove

EYE = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
SHARED = generators.family(7, 3, 4, queries="moment-curve", shared=True, seed=1)

POSSIBLE, IMPOSSIBLE = "serve every labelling", "Universal memorization"
EXCLUDED = "Given labels"
# One for each way in which it may end; many more are in audit/test_edge_cases.py.
REFUSED: dict[str, tuple[Dataset, dict[str, Any], str, str]] = {
    "A2 false": (
        Dataset.of([EYE, [[1, 1, 0], [0, 1, 0], [1, 0, 0]]], EYE[:2], [0, 1]), {},
        "hypothesis.A2", POSSIBLE,
    ),
    "parallel queries": (
        Dataset.of(EYE, [[1, 2, 0], [-2, -4, 0]], [0, 1]), {},
        "hypothesis.some-partition", POSSIBLE,
    ),
    "signed pairs": (generators.signed_pairs(), {}, "hypothesis.some-partition", EXCLUDED),
    "above the rank's bound": (SHARED, {"heads": 2}, "hypothesis.capacity", IMPOSSIBLE),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_hypothesis_that_fails(name: str) -> None:
    data, options, hypothesis, verdict = REFUSED[name]
    proof = prove(data, Prove(**options))
    claim = proof.trace[hypothesis]
    assert claim.level is Level.REFUTED and claim.witness
    if verdict in (IMPOSSIBLE, EXCLUDED):
        assert (proof.standing, proof.exit_status) == (Level.REFUTED, 1)
    else:
        assert (proof.standing, proof.exit_status) == (Level.NOT_APPLICABLE, 3)
        assert hypothesis in proof.trace.ancestors("memorization")
    assert proof.layer is None and proof.heads == ()
    assert (proof.certificate is not None) == (verdict == EXCLUDED)
    assert verdict in proof.trace["memorization"].statement
    if "examples" in claim.witness and isinstance(claim.witness["examples"], list):
        assert is_relation(data.queries.fractions(), claim.witness)
    json.dumps(proof.trace.as_dict(), allow_nan=False)


def test_a_search_that_gave_up_refutes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    planes = [[1, t, 0, 0] for t in range(6)] + [[0, 0, 1, t] for t in range(6)]
    data = Dataset.of(np.eye(4, dtype=int).tolist(), planes, [0] * 12)
    assert prove(data, Prove(heads=4)).standing is Level.NOT_APPLICABLE
    monkeypatch.setattr(grouping, "_SEARCH_STEPS", 3)
    proof = prove(data, Prove(heads=4))
    assert proof.trace["hypothesis.some-partition"].level is Level.UNDECIDED
    assert (proof.standing, proof.exit_status) == (Level.UNDECIDED, 3)
