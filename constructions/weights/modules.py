"""Weights of a PyTorch module in memory. PyTorch is not imported: modules describe themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attncert.constructions.arrays import AnyArray
from attncert.constructions.errors import InputError, whole
from attncert.constructions.weights.files import Choose, of_tensor
from attncert.constructions.weights.load import Asked, of_state
from attncert.constructions.weights.stored import StoredLayer

_HEADS = ("num_heads", "num_attention_heads", "n_heads", "n_head")


def of_module(module: Any, heads: int | None = None, prefix: str | None = None) -> StoredLayer:
    """`Weights.from_torch`."""
    if not hasattr(module, "state_dict"):
        raise InputError("module", "a PyTorch module", f"of type {type(module).__name__}")
    state = module.state_dict()
    inner = module.get_submodule(prefix) if prefix and hasattr(module, "get_submodule") else module
    if getattr(inner, "add_zero_attn", False):
        raise InputError("module", "one that attends to its context alone", "with add_zero_attn")

    def read(choose: Choose) -> dict[str, AnyArray]:
        return {name: of_tensor(state[name], name) for name in choose(list(state))}

    asked = Asked("auto", prefix, heads if heads is not None else heads_of(inner))
    return of_state(read, type(module).__name__, "module", asked)


def heads_of(module: Any) -> int | None:
    """What the module, its parts or its configuration say of the number of heads; None: nothing."""
    children: Sequence[Any] = list(module.children()) if hasattr(module, "children") else []
    for one in (module, getattr(module, "config", None), *children):
        for name in _HEADS:
            if whole(found := getattr(one, name, None)):
                return found
    return None
