"""`prove --construction generic`: small random weights, certified by rank."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support import exact_data
from support.oracles import SAFE_PRIME, features_mod, rank_mod
from support.small_layers import outputs

from attncert.constructions import generic
from attncert.constructions.data import generators
from attncert.constructions.data.dataset import Dataset
from attncert.verify.certificates.certificate import canonical_bytes
from attncert.verify.checker import check_file
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.proof import Proof
from attncert.verify.prove.prove import prove
from attncert.verify.questions.prove import Prove

EYE = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
SHARED = exact_data.family(7, 3, 4, shared=True, queries="moment-curve", seed=1)
DISTINCT = exact_data.family(7, 3, 4, queries="moment-curve", m=2, bound=2, seed=1)
LINE = Dataset.of(EYE, [[t, 2 * t, 0] for t in range(1, 6)], [1, 0, 0, 1, 2])
ABOVE = generators.random(15, 4, 5, seed=1)


def generically(data: Dataset, **options: Any) -> Proof:
    return prove(data, Prove(construction="generic", **options))


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (SHARED, {}),
        (SHARED, {"head_width": 3}),
        (DISTINCT, {"head_width": 2, "value_width": 3}),
        (LINE, {}),  # A1 is false and no grouping meets the partition condition
        (ABOVE, {"heads": 3}),  # 15 examples, while H(n-1) + 1 = 10
        (Dataset.of([[2]], [[3]], [5]), {}),
        (generators.random(7, 3, 4, denominator=6, seed=2), {"claim": "full-rank"}),
    ],
    ids=["shared", "wide", "distinct", "on a line", "above", "one", "rational"],
)
def test_proved_with_a_certificate(data: Dataset, options: dict[str, Any], tmp_path: Path) -> None:
    proof = generically(data, **options)
    assert (proof.standing, proof.exit_status) == (Level.PROVED, 0)
    assert proof.layer is not None
    assert rank_mod(features_mod(data, proof.layer), SAFE_PRIME) == data.T
    if proof.setup.claim == "interpolation":
        assert outputs(data, proof.layer) == data.labels.fractions()
    assert proof.certificate is not None and proof.certificate["construction"] == "generic"
    file = tmp_path / "certificate.json"
    file.write_bytes(canonical_bytes(proof.certificate))
    assert check_file(str(file)).status == "holds"
    assert all(claim.level is Level.PROVED for claim in proof.trace if claim.id.startswith("head."))
    assert proof.trace.standing("almost-all") is Level.ARGUED
    assert proof.trace.ancestors("almost-all") == {"rank"}
    hypotheses = {claim.id for claim in proof.trace if claim.id.startswith("hypothesis.")}
    assert not hypotheses & proof.trace.ancestors("memorization")


def test_corollary_2_is_claimed_where_its_hypotheses_hold_and_only_there() -> None:
    assert generically(SHARED).trace.standing("theorem") is Level.PROVED
    assert generically(LINE).trace["theorem"].level is Level.NOT_APPLICABLE
    above = generically(ABOVE, heads=3)
    assert above.trace["theorem"].level is Level.NOT_APPLICABLE
    assert above.trace["hypothesis.capacity"].level is Level.REFUTED
    assert above.setup.capacity == 10


def test_no_draw_reaching_the_rank_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generic, "_DOUBLINGS", 0)
    monkeypatch.setattr(generic, "_DRAWS", 0)
    proof = generically(DISTINCT)
    assert (proof.standing, proof.exit_status) == (Level.UNDECIDED, 3)
    assert proof.trace["memorization"].statement.startswith(
        "No layer was completed: no small random"
    )
    assert proof.trace["memorization"].rests_on == ()
