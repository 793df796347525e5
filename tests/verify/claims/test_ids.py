"""Ids of claims: made and parsed in one place, and written out in no other."""

import pytest

from attncert.verify.claims import ids
from attncert.verify.claims.ids import Step, head_and_step, hypothesis, hypothesis_name, of_head

CONSTANTS = {name: value for name, value in vars(ids).items() if name.isupper() and name[0] != "_"}
STEPS = {
    "DUALS", "STEERING", "COEFFICIENTS", "CURVE", "SMALL", "DISTINCT", "SELECTOR", "SEPARATOR",
    "WEIGHTS", "INTEGRAL", "LOGITS", "SATURATION", "INDEPENDENCE", "RANK_SO_FAR",
}  # fmt: skip


def test_parsing_undoes_making():
    assert head_and_step(of_head(12, Step("alone.apart"))) == (12, "alone.apart")
    assert hypothesis_name(hypothesis("even")) == "even"


@pytest.mark.parametrize(
    "claim_id", ["rank", "head", "head.", "head.0.rank", "head.x.rank", "head.1.", "a.head.1.rank"]
)
def test_what_is_no_step_of_a_head(claim_id):
    assert head_and_step(claim_id) is None


def test_no_two_constants_are_the_same_id():
    claims = [value for name, value in CONSTANTS.items() if name not in STEPS]
    assert len(claims) > 60 and len(set(claims)) == len(claims)
    steps = [CONSTANTS[name] for name in STEPS]
    assert len(set(steps)) == len(steps)
