"""Transformers of other libraries as networks: from modules, compiled models, arrays and files."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from attncert.constructions.arrays import AnyArray
from attncert.constructions.data.conversion import on_host
from attncert.constructions.errors import InputError
from attncert.constructions.network.network import Network
from attncert.constructions.weights.files import Choose, of_tensor, require_module
from attncert.constructions.weights.libraries import ACTIVATIONS, ENCODER, TRACR
from attncert.constructions.weights.load import load_weights, network_of_state
from attncert.constructions.weights.weights import configuration

_ENCODERS = ("TransformerEncoderLayer", "TransformerEncoder")


def network_of(
    source: Any,
    config: Mapping[str, Any] | None = None,
    *,
    prefix: str = "",
    causal: bool = False,
) -> Network:
    """The network that a transformer of another library computes, or a part of it.

    source: a module of transformers, of a type that docs/models-and-layers.md lists; a module of
    TransformerLens; torch.nn.TransformerEncoder or a layer of it; a model that tracr compiled;
    arrays by name, with the options in `config`; or a model's folder. prefix: selects a layer or
    its attention; by default all that is there is read. causal: whether each token sees only those
    up to itself, for torch.nn alone, where every call says so.

    The network maps states to states. One with a table of tokens takes rows of 0 with a single 1.
    Arithmetic: exact, floats as the rationals they are. Raises InputError for a type, an option or
    an array that is not understood, and for a module in training mode. Source:
    docs/models-and-layers.md.

    >>> network_of({}, {"model_type": "gptj"})
    Traceback (most recent call last):
    attncert.InputError: config: model_type: must be one of gpt2, bert, llama, mistral, qwen2, \
qwen3, transformer-lens, torch.nn.TransformerEncoderLayer, tracr, not gptj
    """
    if isinstance(source, str | os.PathLike):
        found = load_weights(source, prefix=prefix)
        if not isinstance(found, Network):
            raise InputError("prefix", "that of a model or a layer", f"of attention: {prefix!r}")
        return found
    arrays, told = source, config
    if hasattr(source, "model_config"):
        arrays, told = _compiled(source)
    elif not isinstance(source, Mapping):
        arrays, told = _module(source, causal)
    told = told or {}

    def read(choose: Choose) -> dict[str, AnyArray]:
        return {name: _array(arrays[name], name) for name in choose(list(arrays))}

    return network_of_state(read, told, prefix, "config")


def _array(array: Any, name: str) -> AnyArray:
    return of_tensor(array, name) if hasattr(array, "layout") else on_host(array, name)


def _module(module: Any, causal: bool) -> tuple[Mapping[str, Any], dict[str, Any]]:
    """The arrays and options of a PyTorch module. A map that is tied is among its arrays."""
    require_module(module)
    if getattr(module, "training", False):
        must = "in eval mode: dropout is not part of a network"
        raise InputError("the model", must, "in training mode")
    kind = type(module)
    config = configuration(module) or {"model_type": f"of type {kind.__name__}"}
    if kind.__module__ == "torch.nn.modules.transformer" and kind.__name__ in _ENCODERS:
        config = _encoder(module, causal)
    config.pop("architectures", None)
    return module.state_dict(), config


def _encoder(module: Any, causal: bool) -> dict[str, Any]:
    """The options of torch.nn.TransformerEncoder, or of a layer, which are those of all layers."""
    layers = list(getattr(module, "layers", [module]))
    every = [
        {
            "model_type": ENCODER,
            "num_heads": layer.self_attn.num_heads,
            "activation": _named(layer.activation, "torch", "nn", "functional"),
            "eps": layer.norm1.eps,
            "post": not layer.norm_first,
            "causal": causal,
            "num_layers": len(layers) if layers[0] is not module else None,
        }
        for layer in layers
    ]
    if any(one != every[0] for one in every):
        raise InputError("layers", "with equal options", "others")
    return every[0]


def _compiled(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays and options of a model that tracr compiled. Its maps are stored (in, out)."""
    arrays = {}
    for module, parameters in model.params.items():
        for name, array in parameters.items():
            where = module.replace("/", ".")
            array = np.asarray(array)
            arrays[f"{where}.{_HAIKU.get(name, name)}"] = array.T if name == "w" else array
    config = {**vars(model.model_config), "model_type": TRACR}
    config["activation_function"] = _named(config["activation_function"], "jax", "nn")
    return arrays, config


_HAIKU = {"w": "weight", "b": "bias"}


def _named(function: Any, *place: str) -> str:
    """The name of this activation in its library; what it is, for another."""
    library: Any = sys.modules.get(place[0])
    for part in place[1:]:
        library = getattr(library, part, None)
    for name in ACTIVATIONS:
        if getattr(library, name, None) is function:
            return name
    return str(function)
