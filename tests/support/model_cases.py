"""Small random models of transformers, one for each listed type, and their inputs.

A case is a model with random weights, a random batch with or without padding, and one of its
layers: the recorded outputs of that layer, to compare with the layer as read, and the rows that it
saw.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from support.third_party import gaps

from attncert.constructions.weights.load import load_weights
from attncert.constructions.weights.model_types import TORCH
from attncert.constructions.weights.naming import NAMINGS, places
from attncert.constructions.weights.recording import Recording, record
from attncert.constructions.weights.stored import StoredLayer
from attncert.constructions.weights.weights import Weights

_WIDTH, _HEADS, _WORDS = 12, 3, 20
_SIZES: dict[str, Any] = {
    "attention_heads": _HEADS, "attention_types": [[["global", "local"], 1]], "bos_token_id": 0,
    "conv_channels": 8, "conv_dim": (8, 8), "conv_kernel": (3, 3), "conv_stride": (2, 2), "d_model":
    _WIDTH, "decoder_attention_heads": _HEADS, "decoder_ffn_dim": 8, "decoder_hidden_size": _WIDTH,
    "decoder_intermediate_size": 8, "decoder_layers": 2, "decoder_num_attention_heads": _HEADS,
    "decoder_num_hidden_layers": 1, "decoder_start_token_id": 0, "default_language": "en",
    "dim": _WIDTH, "embedding_size": _WIDTH, "encoder_attention_heads": _HEADS, "encoder_ffn_dim":
    8, "encoder_layers": 2, "eos_token_id": 2, "ffn_dim": 8, "frequency_stride": 4, "hidden_dim": 8,
    "hidden_size": _WIDTH, "image_size": 8, "input_feat_per_channel": 8, "intermediate_size": 8,
    "languages": ["en"], "max_length": 16, "max_position_embeddings": 32, "max_source_positions":
    32, "max_target_positions": 32, "n_ctx": 32, "n_embd": _WIDTH, "n_head": _HEADS, "n_heads":
    _HEADS, "n_inner": 8, "n_layer": 2, "n_layers": 2, "n_positions": 32, "num_attention_heads":
    _HEADS, "num_conv_pos_embedding_groups": 2, "num_conv_pos_embeddings": 4,
    "num_detection_tokens": 3, "num_feat_extract_layers": 2, "num_heads": _HEADS,
    "num_hidden_layers": 2, "num_layers": 2, "num_mel_bins": 8, "pad_token_id": 1, "patch_size": 4,
    "time_stride": 4, "type_vocab_size": 2, "vocab_size": _WORDS, "window_size": 32,
    "word_embed_proj_dim": _WIDTH,
}  # fmt: skip
_TEXT = ("hidden_size", "intermediate_size", "max_position_embeddings", "num_attention_heads",
         "num_hidden_layers", "vocab_size")  # fmt: skip
_IMAGE = (*_TEXT[:2], *_TEXT[3:5], "image_size", "patch_size")


def model(name: str, kind: str = "float64", **options: Any) -> Any:
    """A small model of this type, with large random weights in its attention."""
    import torch
    from transformers import AutoConfig, AutoModel

    known = AutoConfig.for_model(name).to_dict()
    sizes = {key: x for key, x in _SIZES.items() if key in known} | options
    if name == "yolos":
        sizes["image_size"] = [8, 8]
    if "text_config" in known:
        for part, keys in (("text_config", _TEXT), ("vision_config", _IMAGE)):
            sizes[part] = {key: _SIZES[key] for key in keys}
    found = AutoModel.from_config(AutoConfig.for_model(name, **sizes)).eval()
    found.to(getattr(torch, kind))
    names = list(found.state_dict())
    inside = tuple(place.prefix for place in places(names, NAMINGS))
    with torch.no_grad():
        for key, parameter in found.named_parameters():
            if key.startswith(inside) and "orm" not in key:
                parameter.normal_(0, 0.5)
    return found


def batch(found: Any, rng: Any) -> dict[str, Any]:
    """Two inputs; if they consist of words, some at the end of the second are hidden."""
    import torch

    def words() -> Any:
        return torch.from_numpy(rng.integers(3, _WORDS, (2, n)))

    n, given, config = int(rng.integers(2, 6)), found.main_input_name, found.config
    if given == "input_ids":
        hidden = torch.ones(2, n, dtype=torch.int64)
        hidden[1, int(rng.integers(1, n + 1)) :] = 0
        inputs = {"input_ids": words()}
        inputs |= {"attention_mask": hidden} if rng.integers(2) else {}
        if hasattr(config, "vision_config"):
            inputs["pixel_values"] = torch.from_numpy(rng.normal(size=(2, 3, 8, 8)))
    else:
        shape: tuple[int, ...] = {
            "pixel_values": (3, 8, 8), "input_features": (16, 8), "input_values": (40,),
        }[given]  # fmt: skip
        shape = (16, 8) if config.model_type == "audio-spectrogram-transformer" else shape
        shape = (8, 64) if config.model_type == "whisper" else shape
        inputs = {given: torch.from_numpy(rng.normal(size=(2, *shape)))}
    if getattr(config, "is_encoder_decoder", False):
        inputs["decoder_input_ids"] = words()
    kind = next(found.parameters()).dtype
    return {key: x.to(kind) if x.is_floating_point() else x for key, x in inputs.items()}


def recorded(
    name: str, seed: int, folder: Path, kind: str = "float64", **options: Any
) -> tuple[Recording, list[StoredLayer]]:
    """A case: inputs and outputs of a layer of the model, and the layer from the module and the
    file."""
    import torch

    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    if name == TORCH:
        return _torch_case(rng, options)
    found = model(name, kind, **options)
    found.save_pretrained(folder)
    prefix = str(rng.choice(_layers(found.state_dict())))
    layer = found.get_submodule(prefix)
    with record(layer) as taken, torch.no_grad():
        found(**batch(found, rng))
    return taken, [Weights.from_torch(layer), _stored(folder, found, prefix)]


def _layers(names: Any) -> list[str]:
    shown = sorted(place.label for place in places(list(names), NAMINGS))
    return [x for x in shown if "pooler" not in x and "head" not in x]


def _stored(folder: Path, found: Any, prefix: str) -> StoredLayer:
    """The layer read from the file, where the names may differ but their order does not."""
    from safetensors import safe_open

    with safe_open(folder / "model.safetensors", framework="numpy") as file:
        names = _layers(file.keys())
    prefix = names[_layers(found.state_dict()).index(prefix)]
    return load_weights(folder, prefix=prefix, heads=_HEADS)


def _torch_case(rng: Any, options: dict[str, Any]) -> tuple[Recording, list[StoredLayer]]:
    import torch

    layer = torch.nn.MultiheadAttention(_WIDTH, _HEADS, batch_first=True, **options).double().eval()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.normal_(0, 0.5)
    n = int(rng.integers(2, 6))
    x = torch.from_numpy(rng.normal(size=(2, n, _WIDTH)))
    hidden = torch.ones(n, n, dtype=torch.bool).triu(1) if rng.integers(2) else None
    with record(layer) as taken, torch.no_grad():
        layer(x, x, x, attn_mask=hidden)
    return taken, [Weights.from_torch(layer)]


def difference(taken: Recording, weights: StoredLayer) -> float:
    """The largest difference between the recorded outputs and those of the layer as read, relative
    to the largest output."""
    largest = np.abs(taken.outputs).max()
    return float(np.abs(gaps(weights, taken.data)).max() / largest)
