"""Networks: the checker against plain fractions, and every planted defect refused."""

from __future__ import annotations

import copy
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from flint import ctx, fmpq
from support import networks
from support.small_certificates import Certificate, changed, sealed, written

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.arithmetic import Inexact
from attncert.constructions.network.file import as_json, of_json
from attncert.verify.checker import Verdict, check_file


def judged(certificate: Certificate, folder: Path) -> Verdict:
    return check_file(written(certificate, folder))


def data_of(certificate: Certificate) -> Dataset:
    return Dataset.of(*(certificate["data"][x] for x in ("contexts", "queries", "labels")))


def enclosed(blocks: Any, data: Any) -> Any:
    shared = data["contexts"][0] if len(data["contexts"]) == 1 else data["contexts"]
    return of_json(blocks).enclosures(Dataset.of(shared, data["queries"]), bits=300)


@pytest.mark.parametrize("first", [0, pytest.param(10_000, marks=pytest.mark.slow)])
def test_outputs_are_those_of_plain_fractions(first: int, tmp_path: Path) -> None:
    """And so are those of the package; a label that is off by 2^-90 is seen."""
    for certificate in networks.rational(1000 if first else 120, first):
        assert judged(certificate, tmp_path).status == "holds", certificate
        data, blocks = certificate["data"], certificate["network"]
        shared = data["contexts"][0] if len(data["contexts"]) == 1 else data["contexts"]
        network = of_json(blocks)
        exact = network.outputs(Dataset.of(shared, data["queries"])).tolist()
        assert [[str(x) for x in row] for row in exact] == data["labels"]
        assert of_json(as_json(network)).blocks == network.blocks
        t, label = len(data["labels"]) - 1, Fraction(data["labels"][-1][0])
        off = changed(certificate, f"data.labels.{t}.0", str(label + Fraction(1, 2**90)))
        verdict = judged(off, tmp_path)
        assert (verdict.status, verdict.message) == (
            "wrong",
            f"the output of example {t} is not its label",
        )


def test_balls_enclose_what_is_irrational(tmp_path: Path) -> None:
    """Labels at the centres of balls made by other code: within 2^-60 of them, not of others."""
    held = 0
    for seed in range(300):
        blocks, data, tokens = networks.network(seed)
        try:
            networks.outputs(blocks, data)
            continue
        except networks.Irrational:
            pass
        try:
            balls = enclosed(blocks, data).tolist()
        except Inexact:
            continue
        if any(x.rad() > 2.0**-100 or abs(x) > 2**40 for row in balls for x in row):
            continue
        with ctx.workprec(300):
            labels = [
                [str(fmpq((x.mid() * 2**80).floor().unique_fmpz(), 2**80)) for x in row]
                for row in balls
            ]
        base = networks.rational(1)[0] | {"network": blocks, "tokens": tokens}
        dims = {"examples": len(labels), "context": max(map(len, data["contexts"]))}
        dims |= {"width": len(data["queries"][0]), "labels": len(labels[0])}
        base |= {"data": data | {"labels": labels}, "dims": dims}
        near = networks.nearly(base, f"1/{2**60}")
        verdict = judged(near, tmp_path)
        if "decided" in verdict.message:
            continue
        assert verdict.status == "holds", verdict
        off = changed(near, "data.labels.0.0", str(Fraction(labels[0][0]) + Fraction(1, 2**58)))
        assert judged(off, tmp_path).status == "wrong"
        exact = sealed({key: x for key, x in base.items() if key != "within"})
        assert judged(exact, tmp_path).status == "wrong"
        held += 1
    assert held > 20


def test_the_claims_are_of_the_third_format(tmp_path: Path) -> None:
    certificate = networks.rational(1)[0]
    second = sealed({**certificate, "format": "attncert/2"})
    assert judged(second, tmp_path).message == "network is a claim of attncert/3"


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
    (FED, "network.0.activation", "gelu"),
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


@pytest.mark.parametrize("claim", ["network", "outputs-within"])
def test_long_numbers_are_over_limit_at_once(claim: str, tmp_path: Path) -> None:
    """Squares of squares, block after block, in a file of 10 KB; and a softmax of 2^(2^30)."""
    square = {"kind": "attention", "of": "all", "rule": "linear", "logit_unit": None}
    one = {"key": [["1"]], "query": [["1"]], "value": [["1"]]}
    square |= {"heads": [one], "output": [["1"]], "mask": None, "residual": False}
    certificate = networks.rational(1)[0] | {"network": [square] * 40, "tokens": None}
    certificate["dims"] = {"examples": 1, "context": 1, "width": 1, "labels": 1}
    certificate["data"] = {"contexts": [[["3"]]], "queries": [["3"]], "labels": [["3"]]}
    steep = copy.deepcopy(certificate) | {"network": [square | {"rule": "softmax"}]}
    steep["network"][0]["logit_unit"] = "ln 2"
    steep["data"] |= {"contexts": [[[str(2**30)], ["0"]]]}
    steep["dims"] = steep["dims"] | {"context": 2}
    for bad in (certificate, steep):
        bad = networks.nearly(bad) if claim == "outputs-within" else sealed(bad)
        verdict = check_file(written(bad, tmp_path), limit_seconds=2)
        assert verdict.status in ("over limit", "wrong"), verdict
        assert verdict.status == "over limit" or claim == "outputs-within"
