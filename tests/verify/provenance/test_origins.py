"""The origin of the data is stated in every proof about them, and in its certificate."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support.exact_data import family

from attncert import Fit, Prove, fit, prove
from attncert.constructions.data.dataset import AS_GIVEN
from attncert.verify import checker
from attncert.verify.certificates.certificate import canonical_bytes
from attncert.verify.checker import Verdict
from attncert.verify.provenance.rounded import on_grid

DATA = family(5, 2, 3, seed=4)


def checked(certificate: Mapping[str, Any], folder: Path) -> Verdict:
    path = folder / "certificate.json"
    path.write_bytes(canonical_bytes(certificate))
    return checker.check_file(str(path))


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
    """The origin is stated in the same words as after `round`, even in a fit, without that
    option."""
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
