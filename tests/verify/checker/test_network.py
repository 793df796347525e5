"""Networks: the checker agrees with plain fractions, and refuses every planted defect."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support import networks
from support.shares import share
from support.small_certificates import Certificate, changed, sealed, written

from attncert.verify.checker import Verdict, check_file


def judged(certificate: Certificate, folder: Path) -> Verdict:
    return check_file(written(certificate, folder))


@pytest.mark.parametrize("first", [0, pytest.param(10_000, marks=pytest.mark.slow)])
def test_outputs_are_those_of_plain_fractions(first: int, tmp_path: Path) -> None:
    """A label that is off by 2^-90 is detected, too."""
    for certificate in networks.rational(1000 if first else 120, first):
        assert judged(certificate, tmp_path).status == "holds", certificate
        data = certificate["data"]
        t, label = len(data["labels"]) - 1, Fraction(data["labels"][-1][0])
        off = changed(certificate, f"data.labels.{t}.0", str(label + Fraction(1, 2**90)))
        verdict = judged(off, tmp_path)
        assert (verdict.status, verdict.message) == (
            "wrong",
            f"the output of example {t} is not its label",
        )


LAYERS = [x for x in networks.rational(40) if x["network"][0]["kind"] == "attention"]
FED = [x for x in networks.rational(40) if x["network"][0]["kind"] == "feed-forward"]
DEFECTS: list[tuple[list[Certificate], str, Any]] = [
    (LAYERS, "network.0.kind", "convolution"),
    (LAYERS, "network.0.of", "row"),
    (LAYERS, "network.0.rule", "sparsemax"),
    (LAYERS, "network.0.logit_unit", "ln 3"),
    (LAYERS, "network.0.residual", 1),
    (LAYERS, "network.0.mask", [[0] * 9]),
    (LAYERS, "network.0.mask", [[1] * 9]),
    (LAYERS, "network.0.mask", "anticausal"),
    (LAYERS, "network.0.heads", []),
    (LAYERS, "network.0.output", [["1"]] * 9),
    (LAYERS, "network.0.heads.0.key", [["1"]] * 9),
    (LAYERS, "network.0.heads.0.value", [[]]),
    (FED, "network.0.of", "tokens"),
    (FED, "network.0.activation", "mish"),
    (FED, "network.0.weights", [["1"]] * 40),
    (FED, "network.0.bias", ["1"] * 9),
    (FED, "network.0.bias", None),
    (FED, "saturation", {"bits": 1, "own": False}),
    (FED, "network", []),
    (FED, "network", {}),
    (FED, "dims.labels", 7),
    (FED, "dims.context", 7),
]


@pytest.mark.parametrize(("certificates", "path", "leaf"), DEFECTS, ids=[x[1] for x in DEFECTS])
def test_what_no_network_has_is_unusable(
    certificates: list[Certificate], path: str, leaf: Any, tmp_path: Path
) -> None:
    for certificate in certificates[:4]:
        verdict = judged(changed(certificate, path, leaf), tmp_path)
        assert verdict.status == "unusable", verdict
        assert "Error" not in verdict.message, verdict


def test_what_is_no_number_of_this_network_is_unusable(tmp_path: Path) -> None:
    for certificate in networks.rational(30):
        wide = {**certificate, "dims": {**certificate["dims"], "labels": 4}}
        wide["data"] = wide["data"] | {"labels": [["0"] * 4 for _ in wide["data"]["labels"]]}
        for claim in (sealed(wide), networks.nearly(wide)):
            path = written(claim, tmp_path)
            assert check_file(path).status == "unusable"


SQUARE: dict[str, Any] = {
    "kind": "attention", "of": "all", "rule": "linear", "logit_unit": None, "output": [["1"]],
    "heads": [{"key": [["1"]], "query": [["1"]], "value": [["1"]]}], "mask": None,
    "residual": False,
}  # fmt: skip


@pytest.mark.parametrize("steep", share([True, False], 2))
def test_long_numbers_end_at_once(steep: bool, tmp_path: Path) -> None:
    """A file of 10 KB has a softmax with 2^(2^30), which is computed in balls, or squares one
    number 40 times. The outputs are far from the labels."""
    certificate = networks.rational(1)[0] | {"tokens": None, "network": [SQUARE] * 40}
    certificate["dims"] = {"examples": 1, "context": 1 + steep, "width": 1, "labels": 1}
    contexts = [[[str(2**30)], ["0"]] if steep else [["3"]]]
    certificate["data"] = {"contexts": contexts, "queries": [["3"]], "labels": [["3"]]}
    if steep:
        certificate["network"] = [SQUARE | {"rule": "softmax", "logit_unit": "ln 2"}]
    begin = time.process_time()
    assert judged(sealed(certificate), tmp_path).status == ("wrong" if steep else "over limit")
    path = written(networks.nearly(certificate), tmp_path)
    assert check_file(path, limit_seconds=2).status in ("over limit", "wrong")
    assert time.process_time() - begin < 30
