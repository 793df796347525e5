"""Real proofs of many kinds keep the rules; what each rule says where one is broken.

That every rule is needed is test_planted_defects.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support import trace_rules
from support.trace_rules import broken

from attncert.constructions.data import generators
from attncert.constructions.data.dataset import Dataset
from attncert.verify.claims.proof import Outline
from attncert.verify.claims.trace import TraceError
from attncert.verify.pipeline import stages as pipeline
from attncert.verify.prove import prove
from attncert.verify.questions.prove import Prove


def curve(T: int, n: int, d: int, **options: Any) -> Dataset:
    return generators.family(T, n, d, queries="moment-curve", seed=3, **options)


# data, question
PROOFS: dict[str, tuple[Dataset, Prove]] = {
    "one token": (Dataset.of([[2, -1]], [[3, 1]], [5]), Prove()),
    "idle heads, wide values": (curve(4, 2, 3), Prove(heads=6, value_width=3)),
    "labels of width 2": (curve(5, 3, 3, m=2), Prove()),
    "shared, width two": (curve(5, 3, 4, shared=True), Prove(head_width=2)),
    "head width above n": (curve(4, 2, 3), Prove(head_width=5)),
    "rank-one, the proof's heads": (
        generators.family(7, 4, 5, queries="near-collinear", shared=True, seed=3),
        Prove(construction="width-one"),
    ),
    "width-one, by rank alone": (curve(6, 3, 3), Prove("width-one", claim="full-rank")),
    "more rows than columns": (generators.random(3, 4, 3, seed=1), Prove()),
    "generic": (curve(7, 3, 4, shared=True), Prove("generic")),
    "generic, width two": (curve(9, 3, 4), Prove("generic", heads=4, head_width=2)),
    "generic, by rank alone": (curve(5, 3, 4), Prove("generic", claim="full-rank")),
    "values too narrow": (curve(4, 3, 3, m=2), Prove(value_width=1)),
    "no grouping": (Dataset.of(np.eye(2, dtype=int), [[1, 0]] * 3, [1, 1, 1]), Prove(heads=2)),
}


@pytest.mark.parametrize("name", PROOFS)
def test_real_proofs_keep_the_rules(name: str) -> None:
    assert broken(prove(*PROOFS[name])) == {}


def test_of_an_unknown_construction_its_own_outline_is_asked() -> None:
    proof = prove(curve(4, 3, 4), Prove())
    for promised in ("separator", "another step"):
        outline = Outline(first=(promised,))
        other = replace(proof.setup, construction="another", outline=outline)
        violations = broken(replace(proof, setup=other))["complete"]
        missing = [f"head.{h}.{promised} is missing" for h in (1, 2)]
        has = promised == "separator"  # every head but the first
        assert violations == (missing[:1] if has else missing)


def test_a_proof_without_the_rank_of_each_head_keeps_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above 200 examples; both limits lowered here."""
    monkeypatch.setattr(pipeline, "RANKS_EACH_HEAD", 3)
    with pytest.raises(TraceError, match=r"trace\.complete: head\.1\.rank is missing"):
        prove(curve(5, 3, 4), Prove())
    monkeypatch.setattr(trace_rules, "RANKS_EACH_HEAD", 3)
    proof = prove(curve(5, 3, 4), Prove())
    assert "head.1.rank" not in proof.trace
    assert broken(proof) == {}
