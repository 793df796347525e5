"""Gated blocks, groups and the parts of attention: both evaluators against mpmath; defects."""

from __future__ import annotations

import copy
import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import mpmath
import pytest
from flint import ctx
from support import networks
from support.block_oracle import outputs, real, rounded
from support.requires import EXECUTABLE, verified_status
from support.shell import Shell
from support.small_certificates import NOTHING, changed, sealed, written
from test_checker import SCHEMA

from attncert.constructions.network.file import as_json, of_json
from attncert.reports.certificate.explain import explain
from attncert.reports.prove.formula import formulas
from attncert.verify.checker import Limits, Rejected, check_file
from attncert.verify.checker.network_near import parts as near
from attncert.verify.checker.network_rank import parts as rank
from attncert.verify.derivatives.networks import NotDifferentiable, blocks_of

DRAW = random.Random(5)


def numbers(rows: int, columns: int) -> Any:
    """Fractions other than 0, small enough that a softmax decides nothing alone."""
    return [
        [str(Fraction(DRAW.choice([-7, -5, -4, -2, 1, 3, 4, 5, 8]), 5)) for _ in range(columns)]
        for _ in range(rows)
    ]


def row(columns: int) -> Any:
    return numbers(1, columns)[0]


def gated(activation: str, of: str = "all", residual: bool = True) -> Any:
    return {
        "kind": "gated", "of": of, "activation": activation, "gate": numbers(4, 4),
        "gate_bias": row(4), "weights": numbers(4, 4), "bias": row(4), "residual": residual,
    }  # fmt: skip


def group(*blocks: Any, of: str = "all", residual: bool = True) -> Any:
    return {"kind": "group", "of": of, "blocks": list(blocks), "residual": residual}


def attention(**parts: Any) -> Any:
    """Two heads of width 2, the second with the key and value of the first."""
    first = {"key": numbers(4, 2), "query": numbers(4, 2), "value": numbers(4, 2)}
    return {
        "kind": "general-attention", "of": "all", "rule": "softmax", "logit_unit": "1", "root": 1,
        "heads": [first, {"key": 0, "query": numbers(4, 2), "value": 0}], "norm": None,
        "rotary": None, "cap": None, "slopes": None, "tables": None, "sinks": None,
        "output": numbers(4, 4), "mask": "causal", "query_place": "last", "residual": True,
    } | parts  # fmt: skip


NORM = {"epsilon": "1/7", "query_gain": row(2), "key_gain": row(2)}
EXACT = {"logit_unit": "ln 2", "rotary": {"unit": "turn", "frequencies": ["3/4"]}, "root": 9,
         "slopes": ["2", "-1"], "sinks": ["1", "0"],
         "tables": [[["1", "2", "0"]] * 4, [["-3", "1", "4"]] * 4],
         "heads": [{"key": [["3", "0"], ["0", "3"], ["0", "0"], ["0", "0"]], "value": numbers(4, 2),
                    "query": [["1", "0"], ["0", "-2"], ["0", "0"], ["1", "1"]]},
                   {"key": 0, "query": [["0", "0"]] * 4, "value": 0}]}  # fmt: skip
RMS = {"kind": "normalization", "of": "all", "centred": False, "epsilon": "1/1000",
       "gain": row(4), "bias": ["0"] * 4, "residual": False}  # fmt: skip
READOUT = {"kind": "feed-forward", "of": "query", "activation": "identity",
           "weights": numbers(4, 2), "bias": row(2), "residual": False}  # fmt: skip
ROW = READOUT | {"of": "row", "weights": numbers(16, 2)}
NETWORKS = {
    "gated-silu": [gated("silu"), ROW],
    "gated-gelu": [gated("gelu"), ROW],
    "gated-gelu-tanh": [gated("gelu-tanh", "query", residual=False), READOUT],
    "gated-relu": [gated("relu"), gated("identity"), ROW],
    "group-of-all": [group(RMS, gated("relu", residual=False)), ROW],
    "group-of-query": [group(RMS, gated("silu"), of="query"), ROW],
    "slopes": [attention(slopes=row(2), query_place="next", mask=None), ROW],
    "tables": [attention(tables=[numbers(4, 3), numbers(4, 3)], query_place="next"), ROW],
    "sinks": [attention(sinks=row(2), logit_unit="ln 2"), ROW],
    "sinks-of-hardmax": [attention(sinks=["0", "10"], rule="hardmax", logit_unit=None), ROW],
    "root-and-cap": [attention(root=3, cap="5/2"), ROW],
    "rotary-turns": [attention(rotary={"unit": "turn", "frequencies": ["5/19"]}), ROW],
    "rotary-radians": [attention(rotary={"unit": "radian", "frequencies": ["-77/3"]}), ROW],
    "norms": [attention(norm=NORM, rule="linear", logit_unit=None), ROW],
    "positions": [
        {
            "kind": "positions",
            "of": "all",
            "table": numbers(4, 4),
            "query_place": "next",
            "residual": True,
        },
        ROW,
    ],
    "all-parts": [
        group(
            RMS,
            attention(
                norm=NORM,
                rotary={"unit": "radian", "frequencies": ["1"]},
                root=2,
                cap="3",
                slopes=row(2),
                tables=[numbers(3, 3), numbers(5, 4)],
                sinks=row(2),
                residual=False,
                mask=[[1, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]],
            ),
        ),
        ROW,
    ],
    "rational-parts": [attention(**EXACT, query_place="next", of="query"), READOUT],
    "groups": [group(group(RMS, residual=False), group(gated("relu"), RMS), of="all"), ROW],
}


def data_of(T: int = 1) -> Any:
    return {"contexts": [numbers(3, 4) for _ in range(T)], "queries": numbers(T, 4)}


def certificate(blocks: Any, data: Any | None = None, within: str = f"1/{10**40}") -> Any:
    data = data or data_of()
    labels = [[rounded(x) for x in made] for made in outputs(blocks, data)]
    dims = {"examples": len(labels), "context": len(data["contexts"][0])}
    dims |= {"width": len(data["queries"][0]), "labels": len(labels[0])}
    body = {"claim": "outputs-within", "construction": "", "dims": dims, "within": within}
    body |= {"data": data | {"labels": labels}, "network": blocks, "tokens": None}
    return sealed(NOTHING | body | {"produced_by": {"version": "0", "command": "", "seed": None}})


WHOLE = {"contexts": [[["1", "2", "3", "1"], ["0", "-1", "1", "2"], ["2", "1", "0", "-1"]]],
         "queries": [["1", "-1", "2", "3"], ["0", "2", "1", "1"]]}  # fmt: skip
TRUE = {
    name: certificate(blocks, WHOLE if name == "rational-parts" else None)
    for name, blocks in NETWORKS.items()
}


@pytest.mark.parametrize("name", NETWORKS)
def test_both_evaluators_agree_with_the_definition(name: str, tmp_path: Path) -> None:
    true = TRUE[name]
    path = written(true, tmp_path)
    assert check_file(path).status == explain(path).status == "holds"
    jsonschema.validate(true, SCHEMA)
    network, data = of_json(true["network"]), networks.dataset(true["data"])
    assert as_json(network) == true["network"]
    assert all("$" in formula for _, formula, _ in formulas((x, "") for x in network.blocks))
    balls = network.enclosures(data, 300).tolist()
    for made, labels in zip(balls, true["data"]["labels"], strict=True):
        for ball, label in zip(made, labels, strict=True):
            with mpmath.workdps(60), ctx.workdps(60):
                assert ball.rad() < 1e-40
                assert abs(real(str(ball.mid().fmpq())) - real(label)) < 1e-45
    off = str(Fraction(true["data"]["labels"][0][0]) + Fraction(2, 10**40))
    planted = changed(true, "data.labels.0.0", off)
    assert check_file(written(planted, tmp_path)).status == "wrong"
    if EXECUTABLE.exists():
        assert verified_status(path) == "unusable"


@pytest.mark.parametrize("name", NETWORKS)
def test_every_number_counts(name: str, tmp_path: Path) -> None:
    """A change of any number of the blocks is refused."""
    true = TRUE[name]
    places = [p for p in networks.places(true["network"]) if _is_number(true["network"], p)]
    for place in DRAW.sample(places, min(len(places), 9)):
        planted = copy.deepcopy(true)
        inner = networks.at(planted["network"], place[:-1])
        inner[place[-1]] = str(Fraction(inner[place[-1]]) + Fraction(1, 1000))
        if outputs(planted["network"], true["data"]) == outputs(true["network"], true["data"]):
            continue  # a ReLU is off
        status = check_file(written(sealed(planted), tmp_path)).status
        assert status == "wrong", place


def _is_number(blocks: Any, place: tuple[Any, ...]) -> bool:
    part = networks.at(blocks, place)
    return isinstance(part, str) and part.lstrip("-")[:1].isdigit()


def test_rational_networks_are_equal_exactly(tmp_path: Path) -> None:
    """The claim of equality: the labels of one evaluator are those of the other."""
    for name in ("gated-relu", "sinks-of-hardmax", "positions", "rational-parts"):
        true = TRUE[name]
        exact = of_json(true["network"]).outputs(networks.dataset(true["data"])).tolist()
        labels = [[str(x) for x in row] for row in exact]
        body = {key: x for key, x in true.items() if key != "within"}
        equal = sealed(body | {"claim": "network", "data": true["data"] | {"labels": labels}})
        assert check_file(written(equal, tmp_path)).status == "holds"
        off = changed(equal, "data.labels.0.1", str(Fraction(labels[0][1]) + Fraction(1, 2**400)))
        assert check_file(written(off, tmp_path)).status == "wrong"


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("gated-silu", "0.gate", [["1"] * 4] * 3),
        ("gated-silu", "0.gate", [["1"] * 3] * 4),
        ("gated-silu", "0.gate_bias", ["1"] * 3),
        ("gated-silu", "0.of", "row"),
        ("gated-silu", "0.activation", "mish"),
        ("group-of-all", "0.blocks", []),
        ("group-of-all", "0.blocks", [READOUT]),
        ("group-of-all", "0.blocks", [{"kind": "group"}]),
        ("group-of-all", "0.of", "row"),
    ],
)
def test_what_does_not_fit_is_unusable(name: str, place: str, value: Any, tmp_path: Path) -> None:
    planted = changed(TRUE[name], f"network.{place}", value)
    assert check_file(written(planted, tmp_path)).status == "unusable"


@pytest.mark.parametrize(("name", "kind"), [("gated-silu", "gated"), ("groups", "group")])
def test_claims_about_derivatives_refuse_by_name(name: str, kind: str) -> None:
    true, limits = TRUE[name], Limits()
    of_near = {"near": {"radius": "1/9", "unknowns": [], "inverse": []}}
    of_rank = {"rank": {"of": "jacobian", "primes": [], "slope": "1", "value": 1}}
    for parts in (near, rank):
        with pytest.raises(Rejected, match=rf"unusable.*no derivative of {kind}"):
            parts(true | of_near | of_rank, limits)
    with pytest.raises(NotDifferentiable, match=f"block 1 is a block of kind {kind}"):
        blocks_of(of_json(true["network"]), lambda table, below: table)


@pytest.mark.parametrize("name", ["groups"])
def test_the_command_layer(name: str, tmp_path: Path, shell: Shell) -> None:
    """The file of a network on data with labels to six digits; its certificate is checked again."""
    true = TRUE[name]
    labels = [[str(round(Fraction(x), 6)) for x in made] for made in true["data"]["labels"]]
    data = true["data"] | {"labels": labels}
    for file, content in (("network", {"network": true["network"]}), ("data", data)):
        (tmp_path / f"{file}.json").write_text(json.dumps(content))
    options = ["--tolerance", "1e-6", "--out", str(tmp_path / "report")]
    files = (tmp_path / f"{x}.json" for x in ("network", "data"))
    printed = shell.runs("layer", *files, *options).out
    assert "the output differs from its label by at most 1/1000000" in printed
    assert check_file(str(tmp_path / "report" / "certificate.json")).status == "holds"
