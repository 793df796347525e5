"""Compares imported transformers with the libraries they come from; skipped if these are missing.

test_importing.py compares the same transformers with recorded outputs.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from support.library_cases import CASES, TOKENS, difference, drawn, of_transformers

import attncert
from attncert.constructions.weights.libraries import LIBRARIES, library

NEEDS = {"TransformerLens": "transformer_lens", "tracr": "tracr"}


def _require(case: str) -> None:
    """Skip if a library that the case needs is missing."""
    kind = case.split(",")[0]
    for module in (NEEDS.get(kind, "transformers"), *(() if kind == "tracr" else ("torch",))):
        pytest.importorskip(module, exc_type=ImportError)


@pytest.mark.parametrize("name", CASES)
def test_the_network_outputs_what_the_library_computes(name: str, tmp_path: Path) -> None:
    """The network is read from the model and, for transformers, from its folder."""
    _require(name)
    case = CASES[name]()
    found = attncert.network_of(case.model)
    assert difference(found, case.inputs, case.outputs, case.causal) < 2e-6
    if hasattr(case.model, "save_pretrained"):
        case.model.save_pretrained(tmp_path)
        assert attncert.network_of(tmp_path) == found


PARTS = {
    "gpt2": ("transformer.h.1",),
    "bert": ("encoder.layer.1",),
    "llama": ("model.layers.0", "model.layers.1.self_attn"),
    "qwen3": ("model.layers.0", "model.layers.1.self_attn"),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_recorded_part_is_held_against_its_network(name: str) -> None:
    """One of two sequences is padded for BERT. A different layer is refused."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    model = of_transformers(name).model
    given = {"input_ids": torch.tensor([TOKENS, TOKENS[::-1]])}
    given |= {"attention_mask": torch.tensor([[1, 1, 1, 0], [1] * 4])} if name == "bert" else {}
    for part in PARTS[name]:
        module = model.get_submodule(part)
        with attncert.record(module) as taken, torch.no_grad():
            model(**given)
        assert taken.data.T == 8
        answer = attncert.layer(attncert.network_of(module), taken)
        assert answer.exit_status == 0 and answer.standing is attncert.Level.NUMERICAL
        other = model.get_submodule(re.sub(r"\d", lambda i: "10"[int(i[0])], part))
        answer = attncert.layer(attncert.network_of(other), taken)
        assert answer.exit_status == 3 and "does not give the recorded outputs" in answer.reason


def test_keys_and_values_of_another_width() -> None:
    torch = pytest.importorskip("torch")
    module = drawn(torch.nn.MultiheadAttention(4, 2, kdim=3, vdim=5, batch_first=True)).double()
    sizes = ((2, 3, 4), (2, 6, 3), (2, 6, 5))
    with attncert.record(module) as taken, torch.no_grad():
        module(*(torch.randn(size, dtype=torch.float64) for size in sizes))
    answer = attncert.layer(attncert.Weights.from_torch(module), taken)
    assert answer.data.d == 12 and answer.exit_status == 0


HARMLESS = {
    "_attn_implementation", "attention_bias", "attention_dropout", "attention_probs_dropout_prob",
    "attn_pdrop", "chunk_size_feed_forward", "dtype", "head_dim", "hidden_dropout_prob",
    "hidden_size", "intermediate_size", "max_position_embeddings", "mlp_bias", "n_embd", "n_inner",
    "num_attention_heads", "num_key_value_heads", "reorder_and_upcast_attn", "resid_pdrop",
    "rope_parameters", "standardize_rope_params", "max_window_layers", "embedding_size",
}  # fmt: skip


@pytest.mark.parametrize("name", ["gpt2", "bert", "llama", "mistral", "qwen2", "qwen3"])
def test_no_option_of_a_layer_is_left_out(name: str) -> None:
    """Each option that the source of a layer uses is read, required to change nothing, or
    harmless."""
    _require(name)
    model, row = of_transformers(name, **PLAIN.get(name, {})).model, library({"model_type": name})
    assert row is not None and row in LIBRARIES
    known = {*row.options.values(), *row.plain} | HARMLESS
    for kind in {type(part) for part in model.modules() if "transformers" in type(part).__module__}:
        if not re.search("Attention|MLP|Layer|Block|Norm|Intermediate|Output|Rotary", str(kind)):
            continue
        asked = set(re.findall(r"config\.(\w+)", inspect.getsource(kind)))
        asked |= set(re.findall(r"getattr\((?:self\.)?config, *\"(\w+)\"", inspect.getsource(kind)))
        assert asked <= known, (kind.__name__, asked - known)


PLAIN: dict[str, dict[str, Any]] = {"mistral": {"sliding_window": None}}
