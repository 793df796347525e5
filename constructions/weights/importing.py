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
from attncert.constructions.weights.libraries import TRACR
from attncert.constructions.weights.load import load_weights, network_of_state
from attncert.constructions.weights.weights import configuration

_HAIKU = {"w": "weight", "b": "bias"}


def network_of(
    source: Any, config: Mapping[str, Any] | None = None, *, prefix: str = ""
) -> Network:
    """The network that a transformer of another library computes, or a part of it.

    source: a module of transformers, of a type that docs/models-and-layers.md lists; a module of
    TransformerLens; a model that tracr compiled; arrays by name, with the options in `config`; or a
    model's folder. prefix: selects a layer or its attention; by default everything is read.

    The network maps states to states. One with a table of tokens takes rows of 0 with a single 1.
    Arithmetic: exact, floats as the rationals they are. Raises InputError for a type, an option or
    an array that is not understood, and for a module in training mode. Source:
    docs/models-and-layers.md.

    >>> network_of({}, {"model_type": "gptj"})
    Traceback (most recent call last):
    attncert.InputError: config: model_type: must be one of gpt2, bert, llama, mistral, qwen2, \
qwen3, transformer-lens, tracr, not gptj
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
        arrays, told = _module(source)
    told = told or {}

    def read(choose: Choose) -> dict[str, AnyArray]:
        return {name: _array(arrays[name], name) for name in choose(list(arrays))}

    return network_of_state(read, told, prefix, "config")


def _array(array: Any, name: str) -> AnyArray:
    return of_tensor(array, name) if hasattr(array, "layout") else on_host(array, name)


def _module(module: Any) -> tuple[Mapping[str, Any], dict[str, Any]]:
    """The arrays and options of a PyTorch module. Tied maps are among its arrays."""
    require_module(module)
    if getattr(module, "training", False):
        must = "in eval mode: dropout is not part of a network"
        raise InputError("the model", must, "in training mode")
    config = configuration(module) or {"model_type": f"of type {type(module).__name__}"}
    config.pop("architectures", None)
    return module.state_dict(), config


def _compiled(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays and options of a model that tracr compiled. Its maps are stored (in, out)."""
    arrays = {}
    for module, parameters in model.params.items():
        for name, array in parameters.items():
            where = f"{module.replace('/', '.')}.{_HAIKU.get(name, name)}"
            arrays[where] = np.asarray(array).T if name == "w" else np.asarray(array)
    config = {**vars(model.model_config), "model_type": TRACR}
    function, jax = config["activation_function"], sys.modules.get("jax")
    if jax and function is jax.nn.relu:
        config["activation_function"] = "relu"
    return arrays, config
