"""Weights of a PyTorch module in memory. PyTorch is not imported: modules describe themselves."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from attncert.constructions.arrays import AnyArray
from attncert.constructions.errors import InputError, whole
from attncert.constructions.weights.files import Choose, of_tensor
from attncert.constructions.weights.load import Asked, of_state
from attncert.constructions.weights.model_types import TORCH
from attncert.constructions.weights.stored import StoredLayer

_HEADS = ("num_heads", "num_attention_heads", "n_heads", "n_head")
_CAPS = ("attn_logit_softcapping", "softcap")  # c: logits x become c tanh(x / c); Gemma 2
_WAY_OUT = 'format="hf"'


def of_module(
    module: Any, heads: int | None = None, prefix: str | None = None, format: str = "auto"
) -> StoredLayer:
    """`Weights.from_torch`."""
    if not hasattr(module, "state_dict"):
        raise InputError("module", "a PyTorch module", f"of type {type(module).__name__}")
    state = module.state_dict()
    inner = module.get_submodule(prefix) if prefix and hasattr(module, "get_submodule") else module
    config = None
    if format == "auto":
        config = _configuration(inner) or _configuration(module)
        config = config or {"model_type": f"of type {type(inner).__name__}"}

    def read(choose: Choose) -> dict[str, AnyArray]:
        return {name: of_tensor(state[name], name) for name in choose(list(state))}

    heads = heads if heads is not None else heads_of(inner)
    asked = Asked(format, prefix, heads, config, "module", _WAY_OUT)
    stored = of_state(read, type(module).__name__, "module", asked)
    return stored if stored.type else replace(stored, scale=_scale(inner, stored))


def _configuration(module: Any) -> dict[str, Any] | None:
    """Of torch.nn.MultiheadAttention itself, and of what a module of transformers, or one in it,
    says of its model; None: nothing."""
    kind = type(module)
    if (kind.__module__, kind.__name__) == ("torch.nn.modules.activation", "MultiheadAttention"):
        return {"model_type": TORCH, **{name: getattr(module, name) for name in _OF_TORCH}}
    for part in module.modules() if hasattr(module, "modules") else ():
        config = getattr(part, "config", None)
        known = type(part).__module__.startswith("transformers.models.")
        if known and config is not None and hasattr(config, "to_dict"):
            return dict(config.to_dict())
    return None


_OF_TORCH = ("num_heads", "add_zero_attn")


def _scale(module: Any, stored: StoredLayer) -> str:
    """The format's, unless the module or a part of it multiplies its logits by 1 (`scaling`, or
    `scale`, as libraries call it). Raises InputError for any other factor, and for a cap."""
    for part in _parts(module):
        for name in _CAPS:
            if isinstance(cap := getattr(part, name, None), int | float) and cap:
                must = "one whose logits are not capped by a tanh"
                raise InputError("module", must, f"one with {name} = {cap}")
        for name in ("scaling", "scale"):
            factor = getattr(part, name, None)
            if not isinstance(factor, float) or stored.scale == "none":
                continue
            if factor == 1:
                return "none"
            if not math.isclose(factor**2 * stored.layer.head_width, 1, rel_tol=1e-6):
                must = "one that divides its logits by √d_h or leaves them as they are"
                raise InputError("module", must, f"one with {name} = {factor}")
    return stored.scale


def _parts(module: Any) -> list[Any]:
    """The module and those directly in it."""
    return [module, *(module.children() if hasattr(module, "children") else ())]


def heads_of(module: Any) -> int | None:
    """What the module, its parts or its configuration say of the number of heads; None: nothing."""
    module, *children = _parts(module)
    for one in (module, getattr(module, "config", None), *children):
        for name in _HEADS:
            if whole(number := getattr(one, name, None)):
                return number
    return None
