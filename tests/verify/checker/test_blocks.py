"""For blocks other than attention and ReLU, both evaluators match mpmath and reject defects."""

from __future__ import annotations

import copy
import json
import random
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import pytest
from flint import ctx
from support import networks
from support.block_oracle import outputs, real, rounded
from support.requires import EXECUTABLE, verified_status
from support.shares import share
from support.shell import Shell
from support.small_certificates import NOTHING, changed, sealed, written
from test_checker import VALIDATOR

from attncert.constructions.errors import InputError
from attncert.constructions.network.arithmetic import Inexact
from attncert.constructions.network.file import as_json, of_json
from attncert.reports.certificate.explain import explain
from attncert.reports.prove.formula import formulas
from attncert.verify.checker import Limits, Rejected, check_file
from attncert.verify.checker.network_near import parts as near
from attncert.verify.checker.network_rank import parts as rank
from attncert.verify.derivatives.networks import NotDifferentiable, blocks_of

DRAW = random.Random(5)


def numbers(rows: int, columns: int) -> Any:
    """Fractions other than 0, small enough that no softmax weight dominates."""
    return [
        [str(Fraction(DRAW.choice([-7, -5, -4, -2, 1, 3, 4, 5, 8]), 5)) for _ in range(columns)]
        for _ in range(rows)
    ]


def row(columns: int) -> Any:
    return numbers(1, columns)[0]


def fed(activation: str, of: str = "query", wide: int = 4, rows: int = 4) -> Any:
    return {
        "kind": "feed-forward", "of": of, "activation": activation, "weights": numbers(rows, wide),
        "bias": row(wide), "residual": False,
    }  # fmt: skip


def gated(activation: str, of: str = "all", residual: bool = True) -> Any:
    gates = {"gate": numbers(4, 4), "gate_bias": row(4), "residual": residual}
    return fed(activation, of) | {"kind": "gated"} | gates


def group(*blocks: Any, of: str = "all", residual: bool = True) -> Any:
    return {"kind": "group", "of": of, "blocks": list(blocks), "residual": residual}


def attention(**parts: Any) -> Any:
    """Grouped queries: two heads of width 2 with one key and one value."""
    first = {"key": numbers(4, 2), "query": numbers(4, 2), "value": numbers(4, 2)}
    return {
        "kind": "general-attention", "of": "all", "rule": "softmax", "logit_unit": "1", "root": 1,
        "heads": [first, first | {"query": numbers(4, 2)}], "norm": None,
        "rotary": None, "cap": None, "slopes": None, "tables": None, "sinks": None,
        "output": numbers(4, 4), "mask": "causal", "query_place": "last", "residual": True,
    } | parts  # fmt: skip


def normalization(**parts: Any) -> Any:
    return {
        "kind": "normalization", "of": "all", "centred": False, "epsilon": "1/1000",
        "gain": row(4), "bias": row(4), "residual": False,
    } | parts  # fmt: skip


NORM = {"epsilon": "1/7", "query_gain": row(2), "key_gain": row(2)}
EXACT = {"logit_unit": "ln 2", "rotary": {"unit": "turn", "frequencies": ["3/4"]}, "root": 9,
         "slopes": ["2", "-1"], "sinks": ["1", "0"],
         "tables": [[["1", "2", "0"]] * 4, [["-3", "1", "4"]] * 4],
         "heads": [{"key": [["3", "0"], ["0", "3"], ["0", "0"], ["0", "0"]], "value": numbers(4, 2),
                    "query": [["1", "0"], ["0", "-2"], ["0", "0"], ["1", "1"]]},
                   {"key": numbers(4, 2), "query": [["0", "0"]] * 4,
                    "value": numbers(4, 2)}]}  # fmt: skip
LAST, ROW, RMS = fed("identity", wide=2), fed("identity", "row", 2, 16), normalization()
NETWORKS = {
    "silu": [fed("silu"), LAST],
    "gelu": [fed("gelu", "all"), ROW],
    "gelu-tanh": [fed("gelu-tanh"), LAST],
    "rms-norm": [RMS, ROW],
    "layer-norm": [normalization(centred=True), ROW],
    "gated-silu": [gated("silu"), ROW],
    "gated-gelu": [gated("gelu", "query", residual=False), LAST],
    "gated-relu": [gated("relu"), gated("identity"), ROW],
    "group-of-all": [group(RMS, gated("relu", residual=False)), ROW],
    "group-of-query": [group(RMS, gated("silu"), of="query"), ROW],
    "groups": [group(group(RMS, residual=False), group(gated("relu"), RMS), of="all"), ROW],
    "slopes": [attention(slopes=row(2), query_place="next", mask=None), ROW],
    "tables": [attention(tables=[numbers(4, 3), numbers(4, 3)], query_place="next"), ROW],
    "sinks": [attention(sinks=row(2), logit_unit="ln 2"), ROW],
    "sinks-of-hardmax": [attention(sinks=["0", "10"], rule="hardmax", logit_unit=None), ROW],
    "root-and-cap": [attention(root=3, cap="5/2"), ROW],
    "turns": [attention(rotary={"unit": "turn", "frequencies": ["5/19"]}), ROW],
    "radians": [attention(rotary={"unit": "radian", "frequencies": ["-77/3"]}), ROW],
    "norms": [attention(norm=NORM, rule="linear", logit_unit=None), ROW],
    "positions": [{"kind": "positions", "of": "all", "table": numbers(4, 4), "query_place": "next",
                   "residual": True}, ROW],
    "all-parts": [group(RMS, attention(
        norm=NORM, rotary={"unit": "radian", "frequencies": ["1"]}, root=2, cap="3", slopes=row(2),
        tables=[numbers(3, 3), numbers(5, 4)], sinks=row(2), residual=False,
        mask=[[1, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]])), ROW],
    "rational-parts": [attention(**EXACT, query_place="next", of="query"), LAST],
}  # fmt: skip
WHOLE = {"contexts": [[["1", "2", "3", "1"], ["0", "-1", "1", "2"], ["2", "1", "0", "-1"]]],
         "queries": [["1", "-1", "2", "3"], ["0", "2", "1", "1"]]}  # fmt: skip


def certificate(blocks: Any, data: Any) -> Any:
    labels = [[rounded(x) for x in made] for made in outputs(blocks, data)]
    dims = {"examples": len(labels), "context": len(data["contexts"][0])}
    dims |= {"width": len(data["queries"][0]), "labels": len(labels[0])}
    body = {"claim": "outputs-within", "construction": "", "dims": dims, "within": f"1/{10**40}"}
    body |= {"data": data | {"labels": labels}, "network": blocks, "tokens": None}
    return sealed(NOTHING | body | {"produced_by": {"version": "0", "command": "", "seed": None}})


TRUE = {
    name: certificate(
        blocks,
        WHOLE if "rational" in name else {"contexts": [numbers(3, 4)], "queries": numbers(1, 4)},
    )
    for name, blocks in NETWORKS.items()
}


def equal(true: Any, labels: Any) -> Any:
    """The file with the claim that all outputs equal these labels."""
    body = {key: x for key, x in true.items() if key != "within"}
    return sealed(body | {"claim": "network", "data": true["data"] | {"labels": labels}})


@pytest.mark.parametrize("name", share(NETWORKS, 2))
def test_both_evaluators_agree_with_the_definition(name: str, tmp_path: Path) -> None:
    true = TRUE[name]
    path = written(true, tmp_path)
    assert check_file(path).status == explain(path).status == "holds"
    VALIDATOR.validate(true)
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
    """The checker refuses a file in which a number that affects the outputs is changed."""
    true = TRUE[name]
    places = [p for p in networks.places(true["network"]) if _is_number(true["network"], p)]
    for place in DRAW.sample(places, min(len(places), 5)):
        planted = copy.deepcopy(true)
        inner = networks.at(planted["network"], place[:-1])
        inner[place[-1]] = str(Fraction(inner[place[-1]]) + Fraction(1, 1000))
        if outputs(planted["network"], true["data"]) != outputs(true["network"], true["data"]):
            status = check_file(written(sealed(planted), tmp_path)).status
            assert status == "wrong", place  # behind an inactive ReLU, nothing changes


def _is_number(blocks: Any, place: tuple[Any, ...]) -> bool:
    part = networks.at(blocks, place)
    return isinstance(part, str) and part.lstrip("-")[:1].isdigit()


@pytest.mark.parametrize("name", ["gated-relu", "sinks-of-hardmax", "positions", "rational-parts"])
def test_rational_networks_are_equal_exactly(name: str, tmp_path: Path) -> None:
    """The exact evaluator gives the same outputs as the checker, and they are close to mpmath's."""
    true = TRUE[name]
    exact = of_json(true["network"]).outputs(networks.dataset(true["data"])).tolist()
    labels = [[str(x) for x in row] for row in exact]
    assert check_file(written(equal(true, labels), tmp_path)).status == "holds"
    assert abs(Fraction(labels[0][1]) - Fraction(true["data"]["labels"][0][1])) < 1e-45
    labels[0][1] = str(Fraction(labels[0][1]) + Fraction(1, 2**400))
    assert check_file(written(equal(true, labels), tmp_path)).status == "wrong"


@pytest.mark.parametrize(
    ("query", "changes", "label", "status"),
    [(["1", "1", "5"], {}, ["17/21", "-1/9", "19/3"], "holds"),
     (["1", "1", "4"], {}, ["17/21", "-1/9", "19/3"], "wrong"),
     (["1", "5", "7"], {}, ["19/35", "-1/3", "5"], "holds"),
     (["3", "3", "3"], {"centred": True, "epsilon": "2"}, ["1/7", "0", "-2"], "holds"),
     (["0", "0", "0"], {}, ["1/7", "0", "-2"], "over limit")],
)  # fmt: skip
def test_a_norm_is_exact_if_the_root_is_rational(
    query: Any, changes: Any, label: Any, status: str, tmp_path: Path
) -> None:
    """(1, 1, 5) has mean square 9. If a vector is 0, epsilon need not have a rational root."""
    block = normalization(gain=["2", "-1/3", "5"], bias=["1/7", "0", "-2"], epsilon="0", of="query")
    data = {"contexts": [[["1", "2", "4"]]], "queries": [query]}
    true = certificate([block | {"epsilon": "1"}], data) | {"network": [block | changes]}
    assert check_file(written(equal(true, [label]), tmp_path)).status == status
    network = of_json([block | changes])
    if status == "holds":
        assert [str(x) for x in network.outputs(networks.dataset(data)).entries()] == label
        return
    with pytest.raises(Inexact, match="normalization divides by"):
        network.outputs(networks.dataset(data))


PLANTED = [
    ("silu", "0.activation", "gelu", "wrong"), ("gelu", "0.activation", "gelu-tanh", "wrong"),
    ("gelu-tanh", "0.activation", "relu", "wrong"), ("layer-norm", "0.centred", False, "wrong"),
    ("layer-norm", "0.residual", True, "wrong"), ("layer-norm", "0.centred", 1, "unusable"),
    ("layer-norm", "0.of", "row", "unusable"), ("layer-norm", "0.epsilon", "-1", "unusable"),
    ("layer-norm", "0.gain", [], "unusable"), ("layer-norm", "0.bias", ["1"] * 5, "unusable"),
    ("gated-silu", "0.gate", [["1"] * 4] * 3, "unusable"),
    ("gated-silu", "0.gate", [["1"] * 3] * 4, "unusable"),
    ("gated-silu", "0.gate_bias", ["1"] * 3, "unusable"),
    ("gated-silu", "0.of", "row", "unusable"),
    ("gated-silu", "0.activation", "mish", "unusable"),
    ("group-of-all", "0.of", "query", "wrong"), ("group-of-all", "0.blocks", [], "unusable"),
    ("group-of-all", "0.blocks", [LAST], "unusable"),
    ("group-of-all", "0.blocks", [{"kind": "group"}], "unusable"),
    ("group-of-all", "0.of", "row", "unusable"),
    ("tables", "0.query_place", "last", "wrong"), ("tables", "0.mask", None, "wrong"),
    ("tables", "0.tables", [[["1"] * 3] * 4] * 3, "unusable"),
    ("tables", "0.tables", [[["1"] * 3] * 3] * 2, "unusable"),
    ("tables", "0.tables", [[["1"] * 2] * 4] * 2, "unusable"),
    ("tables", "0.heads.0", {}, "unusable"), ("tables", "1.kind", [], "unusable"),
    ("tables", "0.query_place", "first", "unusable"), ("slopes", "0.slopes", ["1"], "unusable"),
    ("sinks", "0.sinks", None, "wrong"), ("sinks", "0.logit_unit", "1", "wrong"),
    ("sinks", "0.rule", "linear", "unusable"), ("norms", "0.sinks", ["1", "1"], "unusable"),
    ("root-and-cap", "0.cap", "0", "unusable"), ("root-and-cap", "0.root", "3", "unusable"),
    ("root-and-cap", "0.root", 0, "unusable"), ("root-and-cap", "0.root", 4, "wrong"),
    ("turns", "0.rotary.unit", "radian", "wrong"), ("turns", "0.rotary.unit", "pi", "unusable"),
    ("turns", "0.rotary.frequencies", ["1", "1"], "unusable"),
    ("norms", "0.norm.key_gain", ["1"], "unusable"), ("norms", "0.norm", {}, "unusable"),
    ("positions", "0.table", [["1"] * 4] * 3, "unusable"),
    ("positions", "0.residual", False, "wrong"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "place", "value", "status"), PLANTED)
def test_planted_defects(name: str, place: str, value: Any, status: str, tmp_path: Path) -> None:
    """If the checker calls a file unusable, the reader refuses it, too, with a one-line error."""
    planted = changed(TRUE[name], f"network.{place}", value)
    assert check_file(written(planted, tmp_path)).status == status
    if status == "unusable":
        with pytest.raises(InputError, match=r"^block [12]: [^\n]*$"):
            of_json(planted["network"]).enclosures(networks.dataset(planted["data"]))


@pytest.mark.parametrize(
    ("name", "kind"),
    [("rms-norm", "normalization"), ("gated-silu", "gated"), ("groups", ""),
     ("turns", "general-attention"), ("positions", "positions")],
)  # fmt: skip
def test_claims_about_derivatives_refuse_by_name(name: str, kind: str) -> None:
    """Nested groups can add a second skip connection, which is refused, too."""
    skips = "two skip connections"
    file, engine = f"no such {kind} block", f"block 1 is a block of kind {kind}"
    true, limits = TRUE[name], Limits()
    of_near = {"near": {"radius": "1/9", "unknowns": [], "inverse": []}}
    of_rank = {"rank": {"of": "jacobian", "primes": [], "slope": "1", "value": 1}}
    for parts in (near, rank):
        with pytest.raises(Rejected, match=f"unusable.*{file if kind else skips}"):
            parts(true | of_near | of_rank, limits)
    with pytest.raises(NotDifferentiable, match=engine if kind else skips):
        blocks_of(of_json(true["network"]), lambda table, below: table)


@pytest.mark.parametrize("frequencies", [["1/4", "-5/2"], ["2/19", "7"]])
def test_rotations_and_slopes_depend_on_the_difference_of_places(frequencies: Any) -> None:
    """Hidden tokens before the others shift all positions but change no output."""
    rotary = {"unit": "turn", "frequencies": frequencies}
    head = {"key": numbers(4, 4), "query": numbers(4, 4), "value": numbers(4, 2)}
    made = []
    for hidden in (0, 1, 5):
        block = attention(
            rotary=rotary, slopes=["3"], heads=[head], output=[["1"], ["2"]], of="query",
            mask=[[0] * hidden + [1] * 3], residual=False, rule="linear", logit_unit=None,
        )  # fmt: skip
        data = {"contexts": [numbers(hidden, 4) + WHOLE["contexts"][0]]}
        network, data = of_json([block]), networks.dataset(data | {"queries": WHOLE["queries"][:1]})
        exact = "1/4" in frequencies
        made.append((network.outputs(data) if exact else network.enclosures(data, 200))[0, 0])
    assert made[0] == made[1] == made[2] if exact else all(made[0].overlaps(x) for x in made)


def test_general_attention_without_parts_is_attention() -> None:
    """In random networks of other blocks, every attention block is put into the general form."""
    none = {key: None for key in ("norm", "rotary", "cap", "slopes", "tables", "sinks")}
    more = none | {"kind": "general-attention", "root": 1, "query_place": "last"}
    for seed in range(100):
        blocks, data, _ = networks.network(seed)
        general = [x | more if x["kind"] == "attention" else x for x in blocks]
        with suppress(Inexact):
            exact = of_json(blocks).outputs(networks.dataset(data))
            assert of_json(general).outputs(networks.dataset(data)) == exact


@pytest.mark.parametrize("name", ["groups", "all-parts"])
def test_the_command_layer(name: str, tmp_path: Path, shell: Shell) -> None:
    """The command takes a network's file and six-digit labels; its certificate is checked again."""
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
