"""Layers and networks from files, and from modules and models in memory: the public functions."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from attncert.constructions.arrays import AnyArray
from attncert.constructions.data.conversion import on_host
from attncert.constructions.errors import InputError, whole
from attncert.constructions.network.network import Network
from attncert.constructions.weights.files import Choose, of_tensor, require_module
from attncert.constructions.weights.libraries import TRACR
from attncert.constructions.weights.load import (
    Selection,
    load_weights,
    network_of_state,
    of_state,
)
from attncert.constructions.weights.model_types import HEADS, TORCH
from attncert.constructions.weights.stored import StoredLayer

_OF_TORCH = ("num_heads", "add_zero_attn")
_OURS = ("transformers.models.", "transformer_lens.")
_LIBRARIES = ("transformers.", "torch.nn.", "transformer_lens.")
_WAY_OUT = 'format="hf"'
_HAIKU = {"w": "weight", "b": "bias"}


class Weights(StoredLayer):
    """A third-party attention layer, exactly as stored (`StoredLayer`).

    Arithmetic: exact, with floats as rationals; `unit` and `scale` are those of the logits. Raises
    InputError. Source: docs/models-and-layers.md.

    >>> weights = Weights.load("examples/trained/after.npz", heads=3)
    >>> weights.format, weights.dtype, len(weights.layer.heads)
    ('hf', 'float32', 3)
    """

    @classmethod
    def from_torch(
        cls,
        module: Any,
        heads: int | None = None,
        prefix: str | None = None,
        format: str = "auto",
    ) -> Weights:
        """The attention weights of a PyTorch module.

        module: torch.nn.MultiheadAttention, or a module of transformers of a type listed in
        docs/models-and-layers.md. format: "hf" for any other module with query, key, value and
        output projections, fused or not; it is then assumed that the module does nothing else.
        prefix: selects the layer if the module has several. heads: needed if no attribute of the
        module states it. Raises InputError.
        """
        require_module(module)
        state = module.state_dict()
        within = prefix and hasattr(module, "get_submodule")
        inner = module.get_submodule(prefix) if within else module
        config = None
        if format == "auto":
            config = configuration(inner) or {"model_type": f"of type {type(inner).__name__}"}

        def read(choose: Choose) -> dict[str, AnyArray]:
            return {name: of_tensor(state[name], name) for name in choose(list(state))}

        heads = heads if heads is not None else heads_of(inner)
        selection = Selection(format, prefix, heads, config, "module", _WAY_OUT)
        return cls(**vars(of_state(read, type(module).__name__, "module", selection)))

    @classmethod
    def load(
        cls,
        source: str | os.PathLike[str],
        format: str = "auto",
        prefix: str | None = None,
        heads: int | None = None,
    ) -> Weights:
        """The layer in a file, as `attncert layer` reads it. Raises InputError."""
        stored = load_weights(source, format, prefix, heads)
        if isinstance(stored, Network):
            raise InputError(str(source), "the weights of one layer", "a network of other blocks")
        return cls(**vars(stored))


def configuration(module: Any) -> dict[str, Any] | None:
    """The options of torch.nn.MultiheadAttention, or of a module of transformers or
    TransformerLens; None if a class in it comes from elsewhere and may compute differently."""
    kind = type(module)
    if (kind.__module__, kind.__name__) == ("torch.nn.modules.activation", "MultiheadAttention"):
        return {"model_type": TORCH, **{name: getattr(module, name) for name in _OF_TORCH}}
    parts = list(module.modules()) if hasattr(module, "modules") else []
    foreign = [x for x in parts if not type(x).__module__.startswith(_LIBRARIES)]
    if foreign or not kind.__module__.startswith(_OURS):
        return None
    configs: list[Any] = [getattr(x, y, None) for x in parts for y in ("config", "cfg")]
    return next((dict(x.to_dict()) for x in configs if hasattr(x, "to_dict")), None)


def heads_of(module: Any) -> int | None:
    """The number of heads that the module, its parts or its configuration state, if any."""
    children = module.children() if hasattr(module, "children") else ()
    for part in (module, getattr(module, "config", None), *children):
        for name in HEADS:
            if whole(number := getattr(part, name, None)):
                return number
    return None


def network_of(
    source: Any, config: Mapping[str, Any] | None = None, *, prefix: str = ""
) -> Network:
    """The network that a transformer from another library computes, or a part of it, selected by
    `prefix`.

    source: a module of transformers, of a type that docs/models-and-layers.md lists; a module of
    TransformerLens; a model that tracr compiled; arrays by name, with the options in `config`; or a
    model's folder. A network with a table of tokens takes one-hot rows.

    Arithmetic: exact, with floats as rationals. Raises InputError for a type, an option or an array
    that is not understood, and for a module in training mode. Source: docs/models-and-layers.md.

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
    """The arrays and options of a PyTorch module. Its arrays include tied maps."""
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
