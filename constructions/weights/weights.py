"""Weights as users ask for them: of a file, or of a PyTorch module in memory."""

from __future__ import annotations

import os
from typing import Any

from attncert.constructions.errors import InputError
from attncert.constructions.network.network import Network
from attncert.constructions.weights.load import load_weights
from attncert.constructions.weights.modules import of_module
from attncert.constructions.weights.stored import StoredLayer


class Weights(StoredLayer):
    """An attention layer from elsewhere, exactly as it is stored (`StoredLayer`).

    Arithmetic: exact, floats as the rationals they are; `unit` and `scale` are of the logits.
    Raises InputError. Source: docs/models-and-layers.md.

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

        module: torch.nn.MultiheadAttention, or one of transformers, of a type listed in
        docs/models-and-layers.md. format: "hf" for any other module with query, key, value and
        output projections, fused or not: then it is assumed that nothing else acts. prefix: of the
        layer, where the module has several. heads: where no attribute of the module says. Raises
        InputError.
        """
        return cls(**vars(of_module(module, heads, prefix, format)))

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
