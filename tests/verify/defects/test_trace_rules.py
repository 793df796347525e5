"""Real proofs of many kinds keep the rules; what each rule says where one is broken.

That every rule is needed is test_planted_defects.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

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
