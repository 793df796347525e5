"""The origin of data says once what there is to say of it, wherever they are proved."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncert import Dataset, Fit, Prove, fit, prove
from attncert.constructions.data.dataset import AS_GIVEN
from attncert.constructions.data.generators import family
from attncert.verify import checker
from attncert.verify.certificate import canonical_bytes
from attncert.verify.checker import Verdict
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.proof import Proof
from attncert.verify.origins.rounded import on_grid
from attncert.verify.pipeline import refusal, stages

DATA = family(5, 2, 3, seed=4)
ONE_QUERY = Dataset.of(
    [[[1, 0, 2], [0, 3, 1]], [[2, 1, 0], [0, 1, 0]]], [[1, 1, 1]] * 2, [5, "1/2"]
)
FLOATS = Dataset.of(np.random.default_rng(3).standard_normal((4, 2, 3)), np.eye(4)[:, :3] + 1)
RUNS = {
    "as given": (DATA, Prove(heads=4)),
    "rounded": (DATA, Prove(heads=4, round="1/2", saturate=3)),
    "after": (ONE_QUERY, Prove(heads=1, before="mean")),
    "a long readout": (FLOATS, Prove(claim="full-rank")),
    "refused": (DATA, Prove(heads=1, round="1/2")),
}
STAGES = ("value_width", "premises", "saturation", "rank", "consequences")


def spoken(question: Callable[[], Proof], patch: pytest.MonkeyPatch) -> tuple[list[Claim], Proof]:
    """All claims as the stages make them, and the proof."""
    claims = list[Claim]()

    def heard(stage: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            answer = stage(*arguments, **options)
            parts = answer[0] if isinstance(answer, tuple) else answer  # the rank has its prime
            claims.extend(getattr(parts, "claims", parts))
            return answer

        return call

    for name in (*(f"check_{stage}" for stage in STAGES), "outcome"):
        patch.setattr(stages, name, heard(getattr(stages, name)))
    patch.setattr(refusal, "conclusion", heard(refusal.conclusion))
    return claims, question()


@pytest.mark.parametrize("name", RUNS)
def test_no_stage_changes_what_another_one_said(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data, question = RUNS[name]
    claims, proof = spoken(lambda: prove(data, question), monkeypatch)
    in_the_end = {id(claim) for claim in proof.trace}
    assert len(claims) > 2 and ids.MEMORIZATION in [claim.id for claim in claims]
    assert [claim.id for claim in claims if id(claim) not in in_the_end] == []


def checked(certificate: Mapping[str, Any], folder: Path) -> Verdict:
    path = folder / "certificate.json"
    path.write_bytes(canonical_bytes(certificate))
    return checker.check_file(str(path))


# What is made of data is as given, until it is known to be more.


def test_parts_and_copies_are_as_given_and_files_keep_the_origin() -> None:
    short = on_grid(DATA, Fraction(1, 2))
    origin = short.origin
    assert short.origin is origin and DATA.origin is AS_GIVEN
    assert short.take(2).origin is AS_GIVEN
    assert replace(short, queries=DATA.queries).origin is AS_GIVEN
    again = pickle.loads(pickle.dumps(short))
    assert again.origin.keys == origin.keys and again.sha256 == short.sha256


@pytest.mark.parametrize("claim", ["interpolation", "full-rank"])
def test_rounded_data_say_so_wherever_they_are_proved(claim: Any, tmp_path: Path) -> None:
    """The same as by `round`, and after a fit, whose question knows nothing of rounding."""
    short = on_grid(DATA, Fraction(1, 2))
    whole, asked = (
        prove(short, Prove(heads=4, claim=claim)),
        Prove(heads=4, claim=claim, round="1/2"),
    )
    assert whole.trace.as_dict() == prove(DATA, asked).trace.as_dict()
    fitted = fit(short, Fit(heads=4))
    for answer in (whole, fitted):
        assert answer.certificate is not None and answer.certificate["origin"]["grid"] == "1/2"
        verdict = checked(answer.certificate, tmp_path)
        assert verdict.status == "holds" and "rounded to multiples of 1/2" in verdict.message
