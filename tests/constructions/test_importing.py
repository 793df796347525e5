"""Transformers from other libraries give the outputs recorded there, or are refused.

tests/support/library_cases.py recorded the outputs in library_outputs.json;
test_importing_libraries.py compares them with the libraries themselves.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from support.library_cases import FILE, RECORDED, difference
from support.shell import Shell

import attncert
from attncert.constructions.network.file import loaded
from attncert.constructions.weights.load import load_weights
from attncert.constructions.weights.naming import NAMINGS, places
from attncert.constructions.weights.projections import of_projections
from attncert.constructions.weights.recording import Recording

HELD: dict[str, Any] = json.loads(FILE.read_text())
LAYER, LENS, TRACR = (RECORDED[i] for i in (0, 3, 4))


def network(name: str, **changed: Any) -> attncert.Network:
    """The network of a recorded case, with these options changed."""
    held = HELD[name]
    arrays = {key: np.array(x) for key, x in held["arrays"].items()}
    return attncert.network_of(arrays, held["config"] | changed)


def error(found: attncert.Network, name: str) -> float:
    return difference(found, *(HELD[name][key] for key in ("inputs", "outputs", "causal")))


@pytest.mark.parametrize("name", RECORDED)
def test_the_network_outputs_what_the_library_computed(name: str) -> None:
    assert error(network(name), name) < 1e-6


OTHERWISE = {
    "activation_function": (LAYER, "silu"),
    "scale_attn_weights": (LAYER, True),
    "layer_norm_epsilon": (LAYER, 0.1),
    "hidden_act": ("bert, a layer", "silu"),
    "rope_parameters": ("qwen3", {"rope_type": "default", "rope_theta": 2.0}),
    "attn_scores_soft_cap": (LENS, 0.0),
    "rotary_adjacent_pairs": (LENS, True),
    "rotary_dim": (LENS, 2),
    "normalization_type": (LENS, "LN"),
}


@pytest.mark.parametrize("option", OTHERWISE)
def test_an_option_read_otherwise_is_noticed(option: str) -> None:
    name, value = OTHERWISE[option]
    assert error(network(name, **{option: value}), name) > 1e-5


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "an activation": (LAYER, {"activation_function": "quick_gelu"}, "one of relu, silu, .*quick"),
    "heads": (LAYER, {"n_head": "2"}, "n_head: must be a positive integer"),
    "scaled by the layer": (LAYER, {"scale_attn_by_inverse_layer_idx": True}, "False, to be read"),
    "relative positions": (
        "bert, a layer", {"position_embedding_type": "relative_key"}, "must be absolute",
    ),
    "scaled rotation": ("qwen3", {"rope_scaling": {"rope_type": "yarn"}}, "type default.*yarn"),
    "a window": ("qwen3", {"sliding_window": 8}, "sliding_window: must be None"),
    "other layers": ("qwen3", {"num_hidden_layers": 3}, "layers: must be 3, as the conf.* not 2"),
    "parallel halves": (LENS, {"parallel_attn_mlp": True}, "parallel_attn_mlp: must be False"),
    "a factor": (LENS, {"attn_scale": 3.0}, r"must be the root of d_head \(6\), to be read, not 3"),
    "ALiBi": (LENS, {"positional_embedding_type": "alibi"}, "must be standard or rotary"),
    "norms of tracr": (TRACR, {"layer_norm": True}, "layer_norm: must be False"),
    "another type": (LAYER, {"model_type": "gptj"}, "model_type: must be one of gpt2, bert"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_understood_is_refused_by_name(case: str) -> None:
    name, options, line = REFUSED[case]
    with pytest.raises(attncert.InputError, match=line) as error:
        network(name, **options)
    assert "\n" not in str(error.value)


def test_arrays_that_are_missing_or_strange_are_named() -> None:
    held = HELD[LAYER]
    for change, line in (
        ({"ln_1.weight": None}, "ln_1.weight: must be among the arrays, not missing"),
        ({"attn.c_proj.weight": None}, "prefix: must be that of a model, a layer or attention"),
        ({"attn.lora.weight": [[1.0]]}, "made of known arrays, not of 'attn.lora"),
        ({"ln_2.bias": [[1.0]]}, "ln_2.bias: must be nonempty, with ndim 1"),
    ):
        arrays = {k: np.array(x) for k, x in (held["arrays"] | change).items() if x is not None}
        with pytest.raises(attncert.InputError, match=line):
            attncert.network_of(arrays, held["config"])
    left_out = {k: x for k, x in held["config"].items() if k != "layer_norm_epsilon"}
    with pytest.raises(attncert.InputError, match="layer_norm_epsilon: must be given"):
        attncert.network_of({}, left_out)


ODD: list[Any] = [[1], {}, "x", -1, 0, None, 10**40, float("nan"), True, 0.5]


@pytest.mark.parametrize("name", RECORDED)
def test_odd_options_and_arrays_are_a_network_or_a_line(name: str) -> None:
    held = HELD[name]
    arrays = {key: np.array(x) for key, x in held["arrays"].items()}
    for key in (*held["config"], "architectures", "rope_scaling"):
        for odd in ODD:
            network_or_line({}, held["config"] | {key: odd})
        left_out = {x: value for x, value in held["config"].items() if x != key}
        network_or_line(arrays, left_out)
    for key, array in arrays.items():
        for other in (array[..., :1], array[None], array.T, array[:0], array * np.nan, "x"):
            network_or_line(arrays | {key: other}, held["config"])


def network_or_line(arrays: dict[str, Any], config: dict[str, Any]) -> None:
    try:
        found = attncert.network_of(arrays, config)
    except attncert.InputError as error:
        assert "\n" not in str(error) and ": must be " in str(error)
    else:
        assert isinstance(found, attncert.Network) and found.blocks


def test_a_module_in_training_mode_is_refused() -> None:
    module = type("Block", (), {"training": True, "state_dict": dict})()
    with pytest.raises(attncert.InputError, match="in eval mode: dropout is not part"):
        attncert.network_of(module)


def test_a_folder_on_the_command_line(tmp_path: Path, shell: Shell) -> None:
    """A layer is read from a model's folder, and its network from a file."""
    held = HELD[LAYER]
    arrays = {f"h.0.{key}": np.array(x) for key, x in held["arrays"].items()}
    np.savez(tmp_path / "x.npz", **arrays)  # type: ignore[arg-type]
    (tmp_path / "config.json").write_text(json.dumps(held["config"]))
    data = {"contexts": [held["inputs"]], "queries": held["inputs"][-1:]}
    (tmp_path / "data.json").write_text(json.dumps(data | {"labels": held["outputs"][-1:]}))
    words = [tmp_path / "data.json", "--tolerance", "1e-5", "--out", tmp_path / "out"]
    said = shell.runs("layer", tmp_path / "x.npz", *words, "--prefix", "h.0").out
    assert said.startswith("Numerical only. On the one example the output differs")
    report = (tmp_path / "out" / "report.md").read_text()
    assert "The configuration says: type gpt2." in report
    line = shell.refuses("layer", tmp_path / "x.npz", *words, "--prefix", "h.0.mlp")
    assert "prefix: must be that of a model, a layer or attention, not of h.0.mlp.c_fc" in line
    found = attncert.network_of(tmp_path / "x.npz", prefix="h.0")
    assert (found.type, found.blocks) == ("gpt2", network(LAYER).blocks)
    arrays = {key: np.array(x) for key, x in HELD["qwen3"]["arrays"].items()}
    np.savez(tmp_path / "x.npz", **arrays)  # type: ignore[arg-type]
    (tmp_path / "config.json").write_text(json.dumps(HELD["qwen3"]["config"]))
    assert load_weights(tmp_path / "x.npz") == network("qwen3"), "no plain attention: the model"
    attncert.write_network(found, tmp_path / "network.json")
    assert loaded(tmp_path / "network.json") == attncert.Network(found.blocks)


def test_recorded_outputs_are_held_against_the_network() -> None:
    """If an output differs or a sign is undecided, the labels are not judged."""
    ones = fmpq_mat(1, 4, [1] * 4)
    inputs, outputs = (np.array(HELD[LAYER][key]) for key in ("inputs", "outputs"))
    taken = Recording([(x, inputs[: i + 1], outputs[i]) for i, x in enumerate(inputs)])
    answer = attncert.layer(network(LAYER), taken)
    assert answer.exit_status == 0 and answer.standing is attncert.Level.NUMERICAL
    centred = attncert.Normalization(ones, fmpq_mat(1, 4), fmpq(1), centred=True)
    step = attncert.FeedForward(ones.transpose(), fmpq_mat(1, 1), activation="threshold")
    open_ = attncert.Network((*network(LAYER).blocks, centred, step))  # the sum is 0
    outputs[2, 1] += 0.1
    for found, wanted, line in (
        (network(LAYER), outputs, "does not give the recorded outputs of all 4 examples"),
        (open_, outputs[:, :1], "Whether the network gives the recorded outputs is not decided"),
    ):
        other = [(x, inputs[: i + 1], wanted[i]) for i, x in enumerate(inputs)]
        answer = attncert.layer(found, Recording(other))
        assert answer.exit_status == 3 and line in answer.reason


def test_grouped_queries_and_keys_of_another_width() -> None:
    """NumPy computes the outputs from the definitions; heads have width 1."""
    rng = np.random.default_rng(0)
    shapes = {"q_proj_weight": 4, "k_proj_weight": 3, "v_proj_weight": 5}
    apart = {name: rng.normal(size=(4, width)) for name, width in shapes.items()}
    apart |= {"in_proj_bias": rng.normal(size=12), "out_proj.weight": rng.normal(size=(4, 4))}
    rows = {"q": 4, "k": 2, "v": 2, "o": 4}
    grouped = {f"{x}_proj.weight": rng.normal(size=(count, 4)) for x, count in rows.items()}
    e, k, v, x = (rng.normal(size=shape) for shape in ((1, 4), (3, 3), (3, 5), (3, 4)))
    bias = apart["in_proj_bias"].reshape(3, 4)
    q, keys, values = (
        a @ w.T + b for a, w, b in zip((e, k, v), apart.values(), bias, strict=False)
    )
    agrees(
        apart, (q, keys, values), np.hstack([np.zeros((3, 4)), k, v]), np.pad(e, ((0, 0), (0, 8)))
    )
    q, keys, values = (a @ w.T for a, w in zip((e, x, x), grouped.values(), strict=False))
    agrees(grouped, (q, keys.repeat(2, axis=1), values.repeat(2, axis=1)), x, e)


def agrees(arrays: dict[str, Any], projected: Any, tokens: Any, query: Any) -> None:
    q, keys, values = projected
    weights = np.exp(keys * q)  # (n, H)
    wanted = (weights * values / weights.sum(axis=0)).sum(axis=0) @ [*arrays.values()][-1].T
    stored = of_projections(places(arrays, NAMINGS)[0], arrays, 4)
    data = attncert.Dataset.of([tokens], query, [wanted])
    assert attncert.layer(stored, data, attncert.LayerQuestion(tolerance="1e-12")).holds
