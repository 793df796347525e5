"""Compares each listed type of model with transformers: outputs, options, and refusals.

Skipped without PyTorch and transformers; what the table itself promises is tested without them in
tests/constructions/test_model_configs.py.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.model_cases import difference, model, recorded

import attncert
from attncert.cli import main
from attncert.constructions.errors import InputError
from attncert.constructions.weights.model_types import _OF_PARTS, BY_NAME, HEADS, MODEL_TYPES, TORCH
from attncert.constructions.weights.naming import NAMINGS, places
from attncert.verify.claims.evidence import Level
from attncert.verify.features.attention import Attention
from attncert.verify.third_party.layer.mask import Recorded
from attncert.verify.third_party.layer.reading import read_claim

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install '.[torch]'")
transformers = pytest.importorskip(
    "transformers", reason="needs transformers: pip install '.[models]'"
)
transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()

CASES = 20
WITHIN = {"gpt_neo": 1e-6}  # it computes its softmax in float32
NAMES = [name for name in BY_NAME if name != TORCH]


def agrees(name: str, seed: int, folder: Path, **options: Any) -> float:
    """The largest relative difference for the module and the file; the audit must accept both."""
    taken, layers = recorded(name, seed, folder, **options)
    assert {weights.type for weights in layers[1:]} <= {name}
    for weights in layers:
        attention = Attention.of(weights, taken.data)
        claim = read_claim(weights, attention, Recorded(taken.outputs, taken.unit))
        assert claim is not None and claim.level is Level.NUMERICAL, claim
    return max(difference(taken, weights) for weights in layers)


@pytest.mark.parametrize("name", [kind.names[0] for kind in MODEL_TYPES])
def test_a_layer_of_this_type_is_read_as_its_library_computes_it(name: str, tmp_path: Path) -> None:
    assert agrees(name, 0, tmp_path) < WITHIN.get(name, 1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_NAME)
def test_twenty_random_cases(name: str, tmp_path: Path) -> None:
    assert max(agrees(name, seed, tmp_path) for seed in range(CASES)) < WITHIN.get(name, 1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", ["bert", "bart", "gpt2", "gpt_neo", "opt", "vit"])
def test_rounding_is_not_taken_for_something_that_acts(
    name: str, kind: str, tmp_path: Path
) -> None:
    """In all cases, the difference is at most half of what is allowed."""
    for seed in range(CASES):
        taken, (weights, *_) = recorded(name, seed, tmp_path, kind)
        attention = Attention.of(weights, taken.data)
        claim = read_claim(weights, attention, Recorded(taken.outputs, taken.unit))
        assert claim is not None and claim.level is Level.NUMERICAL
        assert 2 * float(claim.numbers["largest difference"]) < float(claim.numbers["rounding"])


@pytest.mark.parametrize("name", ["gpt2", "imagegpt"])
def test_a_scale_that_is_switched_off_is_read(name: str, tmp_path: Path) -> None:
    taken, layers = recorded(name, 1, tmp_path, scale_attn_weights=False)
    assert {weights.scale for weights in layers} == {"none"}
    assert max(difference(taken, weights) for weights in layers) < 1e-13


HARMLESS = {
    "attention_bias", "attention_dropout", "attention_probs_dropout_prob", "attn_pdrop",
    "enable_bias", "hidden_dropout_prob", "qkv_bias", "resid_dropout", "resid_pdrop",  # in arrays
    "hidden_size", "dim", "head_dim", "layer_norm_eps", "max_position_embeddings", "patch_size",
    "attention_softmax_in_fp32", "scale_attention_softmax_in_fp32", "reorder_and_upcast_attn",
    "_attn_implementation", "dtype",  # affect only arithmetic
    "attention_layers",  # gpt_neo: attention_types, expanded
    "num_attention_heads",  # the code's name for n_head and similar options
    "pre_norm",  # xmod: norm before attention
}  # fmt: skip
# Options that the recorded mask covers, by type of model.
ROWS = {"albert": ("is_decoder",), "gpt_neo": ("attention_types", "window_size")}


@pytest.mark.parametrize("name", NAMES)
def test_no_option_of_the_library_s_attention_is_left_out(name: str) -> None:
    """Every configuration entry that the attention's source uses is read, refused or harmless."""
    kind, found = BY_NAME[name], model(name)
    rows = ROWS.get(kind.names[0], ())
    known = {*HEADS, *_OF_PARTS, kind.divided, *kind.plain, *rows} - {"", "no"} | HARMLESS
    classes = {type(part) for part in found.modules() if "Attention" in type(part).__name__}
    assert classes
    for one in classes:
        source = inspect.getsource(one)
        asked = re.findall(r"config\.(\w+)", source)
        asked += re.findall(r"getattr\((?:self\.)?config, *\"(\w+)\"", source)
        assert set(asked) <= known, (one.__name__, set(asked) - known)
        module = importlib.import_module(one.__module__)
        assert "apply_rotary" not in inspect.getsource(module)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_configuration_leaves_out_is_plain(name: str) -> None:
    """Old files lack newer options; then the library's own default is read."""
    kind, usual = BY_NAME[name], transformers.AutoConfig.for_model(name).to_dict()
    for key, values in kind.plain.items():
        assert usual.get(key) in (None, *values)
    if kind.divided not in ("", "no"):
        assert usual.get(kind.divided) is True
    assert any(key in usual for key in (*HEADS, *_OF_PARTS)) or "text_config" in usual


# Cases that were wrongly accepted before.

OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "GPT-J, rotary": ("gptj", {"rotary_dim": 4}),
    "Granite, a multiplier": ("granite", {"attention_multiplier": 3.0}),
    "Llama, rotary": ("llama", {}),
    "OLMo, clipped": ("olmo", {"clip_qkv": 0.1}),
    "GPT-BigCode, one key head": ("gpt_bigcode", {}),
    "GPT-2, by layer": ("gpt2", {"scale_attn_by_inverse_layer_idx": True}),
    "BEiT, relative biases outside": ("beit", {"use_relative_position_bias": True}),
    "PyTorch, a zero row": (TORCH, {"add_zero_attn": True}),
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_layers_are_refused_in_a_line(case: str, tmp_path: Path) -> None:
    """The layers are given as modules, and as files beside their configuration."""
    name, options = OTHERS[case]
    if name == TORCH:
        layer = torch.nn.MultiheadAttention(12, 3, **options)
    else:
        layer = attention_of(found := model(name, **options))
        found.save_pretrained(tmp_path)
        torch.save(layer.state_dict(), tmp_path / "layer.pt")
    reads = [lambda: attncert.Weights.from_torch(layer, heads=3)]
    reads += [lambda: attncert.Weights.load(tmp_path / "layer.pt", heads=3)] * (name != TORCH)
    for read in reads:
        with pytest.raises(
            InputError, match=r"must be of a type of model|to be plain, not|a network of other bl"
        ) as line:
            read()
        assert "\n" not in str(line.value)


def attention_of(found: Any) -> Any:
    """The first module with the projections of a layer."""
    return next(
        part
        for part in found.modules()
        if any(not place.prefix for place in places(list(part.state_dict()), NAMINGS))
    )


PLAIN = ("GPT-J, rotary", "GPT-2, by layer", "PyTorch, a zero row")


@pytest.mark.parametrize("case", PLAIN)
def test_read_as_plain_they_do_not_give_what_was_recorded(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python and the command line call the outcome undecided (3), and say nothing about labels."""
    name, options = OTHERS[case]
    torch.manual_seed(0)
    if name == TORCH:
        layer = torch.nn.MultiheadAttention(12, 3, batch_first=True, **options).eval()
        run, x = layer, [torch.randn(1, 4, 12)] * 3
    else:
        run, x = model(name, **options), [torch.tensor([[3, 4, 5, 6]])]
        layer = attention_of(run.h[1])
    with attncert.record(layer) as taken, torch.no_grad():
        run(*x)
    torch.save(layer.state_dict(), tmp_path / "layer.pt")
    weights = attncert.Weights.load(tmp_path / "layer.pt", heads=3)
    own = np.random.default_rng(0).normal(size=taken.outputs.shape)
    answer = attncert.layer(weights, taken.labelled(own))
    said = "The layer as read does not give the recorded outputs of all 4 examples"
    assert answer.exit_status == 3 and answer.reason.startswith(said)
    assert [claim.id for claim in answer.trace] == ["layer.read", "layer.memorizes"]
    data, mask = taken.save(tmp_path / "batch.npz")
    words = ["layer", str(tmp_path / "layer.pt"), str(data), "--mask", str(mask)]
    assert main([*words, "--heads", "3", "--tolerance", "1", "--out", str(tmp_path / "out")]) == 3
    out = capsys.readouterr().out
    assert said in out and "So the labels were not judged." in out
    content = json.loads((tmp_path / "out" / "answer.json").read_text())
    assert content["claims"][0]["level"] == "refuted" and content["standing"] == "undecided"


def test_a_class_of_one_s_own_in_a_model_is_not_taken_for_the_library_s() -> None:
    layer = model("bert").encoder.layer[0].attention
    assert attncert.Weights.from_torch(layer).type == "bert"
    own = type("Own", (type(layer.self),), {})
    layer.self.__class__ = own
    for module in (layer, layer.self):
        with pytest.raises(InputError, match=r"must be (of a type of model|one with the query)"):
            attncert.Weights.from_torch(module)


def test_a_tensor_that_is_not_understood_is_named() -> None:
    inputs, bias = torch.randn(1, 3, 12), torch.randn(1, 3, 3, 3)

    class Plain(torch.nn.Module):
        num_heads = 3

        def __init__(self) -> None:
            super().__init__()
            for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
                setattr(self, name, torch.nn.Linear(12, 12))

        def forward(self, x: Any, mask: Any = None, pair: Any = None) -> Any:
            return self.out_proj(self.q_proj(x) + self.k_proj(x) + self.v_proj(x))

    module = Plain().eval()
    for given, name in (({"mask": bias}, "mask"), ({"pair": (bias, bias)}, "pair")):
        with (
            pytest.raises(InputError, match=f"{name}: must be left out while a layer is recorded"),
            attncert.record(module),
        ):
            module(inputs, **given)
