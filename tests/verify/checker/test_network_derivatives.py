"""The claims about derivatives of networks: the checkers agree, and planted defects are refused."""

from __future__ import annotations

import time
from copy import deepcopy
from pathlib import Path

import pytest
from support import deep_cases
from support.requires import EXECUTABLE, needed, verified_status
from support.small_certificates import sealed, written

from attncert.verify.checker import check_file, derivatives
from attncert.verify.checking.fast import check as fast


def statuses(certificate: dict[str, object], folder: Path) -> set[str]:
    """The verified checker says "over limit" for claims that it does not support."""
    path = written(certificate, folder)
    found = {check_file(path).status, fast.check_file(path).status}
    if EXECUTABLE.exists() and certificate["claim"] == "network-rank":
        found |= {verified_status(path)} - {"over limit"}
    return found


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("of", deep_cases.ALL)
def test_true_ranks_hold(of: str, layers: int, tmp_path: Path) -> None:
    assert statuses(deep_cases.case(of, layers), tmp_path) == {"holds"}


@pytest.mark.parametrize("of", ["jacobian", "features"])
def test_the_verified_checker_takes_ranks(of: str, tmp_path: Path) -> None:
    needed()
    for layers in (1, 2, 3):
        assert verified_status(written(deep_cases.case(of, layers), tmp_path)) == "holds"


@pytest.mark.parametrize("name", deep_cases.FALSE)
def test_planted_defects_are_refused(name: str, tmp_path: Path) -> None:
    status, change = deep_cases.FALSE[name]
    assert statuses(deep_cases.false(change, deep_cases.case()), tmp_path) == {status}


@pytest.mark.parametrize("layers", [2, 3])
@pytest.mark.parametrize("of", deep_cases.ALL)
def test_true_ranks_with_relu_blocks_hold(of: str, layers: int, tmp_path: Path) -> None:
    assert statuses(deep_cases.case(of, layers, 2), tmp_path) == {"holds"}


@pytest.mark.parametrize("name", deep_cases.RELU_FALSE)
def test_planted_defects_of_relu_blocks_are_refused(name: str, tmp_path: Path) -> None:
    status, change = deep_cases.RELU_FALSE[name]
    case = deep_cases.case("jacobian", 2, 2)
    assert statuses(deep_cases.false(change, case), tmp_path) == {status}


def test_a_flipped_sign_changes_the_verdict(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """All units are inactive, as both checkers see; with flipped signs the verdict differs."""
    _, change = deep_cases.RELU_FALSE["all units inactive"]
    false = deep_cases.false(change, deep_cases.case("jacobian", 2, 2))
    assert statuses(false, tmp_path) == {"wrong"}
    read = derivatives.positive
    monkeypatch.setattr(derivatives, "positive", lambda balls: [not x for x in read(balls)])
    assert check_file(written(false, tmp_path)).status == "holds"


def test_nearby_weights_of_two_layers_hold(tmp_path: Path) -> None:
    assert statuses(deep_cases.near_case(), tmp_path) == {"holds"}


@pytest.mark.parametrize("name", deep_cases.NEAR_FALSE)
def test_planted_defects_of_nearby_weights_are_refused(name: str, tmp_path: Path) -> None:
    status, change = deep_cases.NEAR_FALSE[name]
    assert statuses(deep_cases.false(change, deep_cases.near_case()), tmp_path) == {status}


def test_outputs_that_are_not_0_prove_no_labelling(tmp_path: Path) -> None:
    certificate = deepcopy(deep_cases.case())
    certificate["rank"]["of"] = "jacobian at zero"
    assert statuses(sealed(certificate), tmp_path) == {"wrong"}


def test_values_narrower_than_labels_serve_no_labels(tmp_path: Path) -> None:
    certificate = deepcopy(deep_cases.case("features"))
    certificate["dims"]["labels"] = 2
    certificate["data"]["labels"] = [["0", "1"]] * 6
    output = certificate["network"][-1]["output"]
    certificate["network"][-1]["output"] = [row * 2 for row in output]
    assert statuses(sealed(certificate), tmp_path) == {"wrong"}


def test_a_chain_modulo_which_a_sum_vanishes_is_refused(tmp_path: Path) -> None:
    """With the smallest chains, one of the softmax sums is often 0."""
    found = set()
    for primes in (["47", "23", "11"], ["23", "11", "5"], ["7", "3", "1"]):
        certificate = deepcopy(deep_cases.case())
        certificate["rank"]["primes"] = primes
        found |= statuses(sealed(certificate), tmp_path)
    assert found <= {"wrong"}


def causal(of: str) -> dict[str, object]:
    """Two sequences of the same tokens in different orders, which a causal block tells apart.

    With keys 0 and the map -6/11 in block 1, the features of AAB and BAB are equal.
    """
    certificate = deepcopy(deep_cases.case(of))
    zero, one = [["0"], ["0"]], [["1", "0"], ["0", "1"]]
    first = certificate["network"][0] | {
        "mask": "causal",
        "output": [["-6/11", "0"], ["0", "-6/11"]],
    }
    first["heads"] = [{"key": zero, "query": zero, "value": one}]
    last = certificate["network"][1] | {"output": [["1"], ["0"]]}
    last["heads"] = [{"key": zero, "query": zero, "value": one}]
    certificate["network"] = [first, last]
    data = {"embedding": one, "positions": None, "sequences": [[0, 0, 1], [1, 0, 1]]}
    certificate["data"] = data | {"examples": [[0, 2], [1, 2]], "labels": [["0"], ["1"]]}
    certificate["dims"] = {"examples": 2, "context": 3, "width": 2, "labels": 1}
    certificate["rank"]["value"] = 2
    return sealed(certificate)


@pytest.mark.parametrize("of", ["features", "jacobian"])
def test_the_order_of_equal_tokens_counts_behind_a_causal_block(of: str, tmp_path: Path) -> None:
    found = statuses(causal(of), tmp_path)
    assert len(found) == 1 and (found == {"wrong"} or of == "jacobian")


def test_time_and_memory_are_counted(tmp_path: Path) -> None:
    """1,500 tokens make tables of 1,500 × 1,500 numbers."""
    certificate = deepcopy(deep_cases.case())
    certificate["data"]["contexts"] = [[[str(k), "1", "2"] for k in range(1500)]]
    certificate["dims"]["context"] = 1500
    path = written(sealed(certificate), tmp_path)
    start = time.monotonic()
    assert check_file(path, 0.5).status == "over limit"
    assert check_file(path, 60, 20).status == "over limit"
    assert time.monotonic() - start < 20
