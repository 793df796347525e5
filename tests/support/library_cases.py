"""Small transformers of other libraries, with random weights, and their outputs.

python tests/support/library_cases.py [NAME...] records cases in library_outputs.json beside it, so
that they are compared even if these libraries are missing. Weights are multiples of 1/8.

    pip install torch==2.14.1 transformers==5.24.0 transformer_lens==2.16.1
    pip install tracr-pypi==1.0.0    (apart from the others: it needs JAX)
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.network import Network
from attncert.constructions.weights import weights
from attncert.constructions.weights.libraries import library

FILE = Path(__file__).with_name("library_outputs.json")
WORDS, TOKENS = 5, [3, 1, 4, 1]
ONE_HOT = np.eye(WORDS, dtype=int)[TOKENS]
_SIZES = {
    "vocab_size": WORDS, "hidden_size": 4, "num_hidden_layers": 2, "num_attention_heads": 2,
    "num_key_value_heads": 1, "intermediate_size": 3, "max_position_embeddings": 8, "head_dim": 4,
    "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0,
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A model or a part of it, inputs (n, k) with one state or token per row, and outputs (n, m).
    causal: whether row i sees only the rows up to i; if not, only the last output counts."""

    model: Any
    inputs: Any
    outputs: Any
    causal: bool


def of_transformers(name: str, part: str = "", **options: Any) -> Case:
    """A model, with its language-modelling head if it has one, or a part of it."""
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    known = transformers.AutoConfig.for_model(name).to_dict()
    gpt = {"n_embd": 4, "n_layer": 2, "n_head": 2, "n_inner": 3, "n_positions": 8}
    sizes = {key: x for key, x in {**_SIZES, **gpt}.items() if key in known}
    config = transformers.AutoConfig.for_model(name, **sizes | options)
    kind = transformers.AutoModel if name == "bert" else transformers.AutoModelForCausalLM
    model = drawn(kind.from_config(config))
    found, seen = model.get_submodule(part), list[Any]()
    found.register_forward_hook(lambda _, given, made: seen.extend((given, made)))
    with torch.no_grad():
        made = model(torch.tensor([TOKENS]))
    if not part:
        outputs = made.last_hidden_state if name == "bert" else made.logits
        return Case(model, ONE_HOT, outputs[0].numpy(), name != "bert")
    given, made = (x[0] if isinstance(x, tuple) else x for x in seen)
    return Case(found, given[0].numpy(), made[0].numpy(), name != "bert")


def of_lens(**options: Any) -> Case:
    import torch
    from transformer_lens import HookedTransformer, HookedTransformerConfig

    config = HookedTransformerConfig(
        n_layers=2, d_model=4, n_ctx=6, d_head=6, n_heads=2, d_mlp=3, d_vocab=WORDS, device="cpu",
        **options,
    )  # fmt: skip
    model = drawn(HookedTransformer(config))
    with torch.no_grad():
        outputs = model(torch.tensor([TOKENS]))[0].numpy()
    return Case(model, ONE_HOT, outputs, config.attention_dir == "causal")


def of_tracr(program: str, **options: Any) -> Case:
    from tracr.compiler import compiling, lib
    from tracr.rasp import rasp

    made = {
        "fraction of x before": lambda: lib.make_frac_prevs(rasp.tokens == "x"),
        "histogram": lib.make_hist,
        "sort": lambda: lib.make_sort_unique(rasp.tokens, rasp.tokens),
    }[program]()
    model = compiling.compile_rasp_to_model(
        made, vocab={"x", "y"}, max_seq_len=3, compiler_bos="BOS", **options
    )
    words = ["BOS", "x", "y", "x"]
    width = len(model.params["token_embed"]["embeddings"])
    inputs = np.eye(width, dtype=int)[model.input_encoder.encode(words)]
    outputs = np.asarray(model.apply(words).transformer_output)[0]
    return Case(model, inputs, outputs, model.model_config.causal)


def drawn(module: Any) -> Any:
    """The module in eval mode, with random multiples of 1/8 as weights."""
    import torch

    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randint(-8, 9, parameter.shape) / 8)
    return module.eval()


ROTATED = {"positional_embedding_type": "rotary", "rotary_dim": 4}
CASES: dict[str, Callable[[], Case]] = {
    "gpt2": lambda: of_transformers("gpt2"),
    "gpt2, a layer, not divided": lambda: of_transformers(
        "gpt2", "transformer.h.1", scale_attn_weights=False, activation_function="relu"
    ),
    "bert": lambda: of_transformers("bert"),
    "bert, a layer": lambda: of_transformers("bert", "encoder.layer.0"),
    "llama": lambda: of_transformers("llama", rope_theta=100.0),
    "mistral, a layer": lambda: of_transformers("mistral", "model.layers.1", sliding_window=None),
    "qwen2": lambda: of_transformers("qwen2"),
    "qwen3": lambda: of_transformers(
        "qwen3", num_attention_heads=4, num_key_value_heads=2, rope_theta=9.0
    ),
    "TransformerLens": lambda: of_lens(act_fn="gelu_new"),
    "TransformerLens, attention alone": lambda: of_lens(attn_only=True, normalization_type=None),
    "TransformerLens, both sides": lambda: of_lens(
        act_fn="gelu", normalization_type="LNPre", attention_dir="bidirectional",
        use_attn_scale=False,
    ),
    "TransformerLens, grouped, gated, capped": lambda: of_lens(
        act_fn="silu", normalization_type="RMS", gated_mlp=True, n_key_value_heads=1,
        attn_scores_soft_cap=5.0, **ROTATED,
    ),
    "TransformerLens, neighbours rotated": lambda: of_lens(
        act_fn="relu", normalization_type="RMSPre", rotary_adjacent_pairs=True, **ROTATED
    ),
    "tracr, fraction of x before": lambda: of_tracr("fraction of x before", causal=True),
    "tracr, histogram": lambda: of_tracr("histogram"),
    "tracr, sort": lambda: of_tracr("sort"),
}  # fmt: skip
BUFFERS = ("attn.mask", "attn.IGNORE", "attn.rotary_sin", "attn.rotary_cos")
RECORDED = (
    "gpt2, a layer, not divided", "bert, a layer", "qwen3",
    "TransformerLens, grouped, gated, capped", "tracr, fraction of x before",
)  # fmt: skip


def difference(network: Network, inputs: Any, outputs: Any, causal: bool) -> float:
    """The largest difference of the network's outputs from these, relative to the largest
    output."""
    inputs, wanted, gaps = np.asarray(inputs).tolist(), np.array(outputs), []
    for i in range(len(inputs)) if causal else [len(inputs) - 1]:
        data = Dataset.of([inputs[: i + 1] if causal else inputs], [inputs[i]], [0])
        row = [float(x.mid()) for x in network.enclosures(data).entries()]
        gaps.append(np.abs(row - wanted[i]).max())
    return float(max(gaps) / np.abs(wanted).max())


def _written(name: str) -> dict[str, Any]:
    """What the file stores for a case, with only the options that the table of libraries names."""
    case = CASES[name]()
    compiled = hasattr(case.model, "model_config")
    arrays, config = (weights._compiled if compiled else weights._module)(case.model)
    row = library(config)
    assert row is not None
    used = {*row.options.values(), *row.plain, "model_type", "rope_parameters", "d_head"}
    used |= {"attn_scale", "attention_dir", "rotary_base", "final_rms"}
    of = "tracr-pypi" if compiled else "transformer_lens" if "Lens" in name else "transformers"
    return {
        "library": f"{of} {version(of)}",
        "config": {key: x for key, x in config.items() if key in used},
        "arrays": {
            key: np.asarray(x).astype(float).tolist()
            for key, x in arrays.items()
            if not key.endswith(BUFFERS)
        },
        "inputs": case.inputs.tolist(),
        "outputs": np.asarray(case.outputs, dtype=float).round(7).tolist(),
        "causal": case.causal,
    }


if __name__ == "__main__":
    held = json.loads(FILE.read_text()) if FILE.exists() else {}
    held |= {name: _written(name) for name in sys.argv[1:] or RECORDED}
    lines = (f" {json.dumps(name)}: {json.dumps(held[name])}" for name in RECORDED if name in held)
    FILE.write_text("{\n" + ",\n".join(lines).replace(".0,", ",").replace(".0]", "]") + "\n}\n")
