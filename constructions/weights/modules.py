"""Weights of a PyTorch module in memory. PyTorch is not imported: modules describe themselves."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from attncert.constructions.arrays import AnyArray
from attncert.constructions.errors import InputError, whole
from attncert.constructions.weights.files import Choose, of_tensor
from attncert.constructions.weights.load import Asked, of_state
from attncert.constructions.weights.stored import StoredLayer

_HEADS = ("num_heads", "num_attention_heads", "n_heads", "n_head")
_CAPS = ("attn_logit_softcapping", "softcap")  # c: logits x become c tanh(x / c); Gemma 2


def of_module(module: Any, heads: int | None = None, prefix: str | None = None) -> StoredLayer:
    """`Weights.from_torch`."""
    if not hasattr(module, "state_dict"):
        raise InputError("module", "a PyTorch module", f"of type {type(module).__name__}")
    state = module.state_dict()
    inner = module.get_submodule(prefix) if prefix and hasattr(module, "get_submodule") else module
    if getattr(inner, "add_zero_attn", False):
        raise InputError("module", "one that attends to its context alone", "with add_zero_attn")

    for part in _parts(inner):
        for name in _CAPS:
            if isinstance(cap := getattr(part, name, None), int | float) and cap:
                must = "one whose logits are not capped by a tanh"
                raise InputError("module", must, f"one with {name} = {cap}")

    def read(choose: Choose) -> dict[str, AnyArray]:
        return {name: of_tensor(state[name], name) for name in choose(list(state))}

    asked = Asked("auto", prefix, heads if heads is not None else heads_of(inner))
    stored = of_state(read, type(module).__name__, "module", asked)
    return replace(stored, scale=_scale(inner, stored))


def _scale(module: Any, stored: StoredLayer) -> str:
    """The format's, unless the module or a part of it multiplies its logits by 1 (`scaling`, or
    `scale`, as libraries call it). Raises InputError for any other factor."""
    for part in _parts(module):
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
            if whole(found := getattr(one, name, None)):
                return found
    return None
