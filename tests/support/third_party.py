"""Random attention layers as libraries store them, and what they output, in plain NumPy.

It is written from the definitions of these libraries, independently of the code under test: W (out,
in) maps x to Wx + b, heads follow one another, and logits are divided by √d_h.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.weights.stored import StoredLayer
from attncert.verify.features.attention import Attention

State = dict[str, Any]
SEPARATE = {
    "q_proj out_proj": ("q_proj", "k_proj", "v_proj", "out_proj"),
    "q_proj o_proj": ("q_proj", "k_proj", "v_proj", "o_proj"),
    "bert": ("self.query", "self.key", "self.value", "output.dense"),
    "vit": ("attention.query", "attention.key", "attention.value", "output.dense"),
    "distilbert": ("q_lin", "k_lin", "v_lin", "out_lin"),
    "diffusers": ("to_q", "to_k", "to_v", "to_out.0"),
}
FUSED = {
    "mha": ("in_proj_weight", "in_proj_bias", "out_proj"),
    "timm": ("qkv.weight", "qkv.bias", "proj"),
    "nanogpt": ("c_attn.weight", "c_attn.bias", "c_proj"),
    "gpt2": ("c_attn.weight", "c_attn.bias", "c_proj"),
}
STYLES = (*SEPARATE, *FUSED)


@dataclass(frozen=True)
class ThirdParty:
    """state: arrays by name under `prefix`. heads: H. parts: what NumPy computes with."""

    style: str
    heads: int
    state: State
    parts: dict[str, Any]

    def outputs(self, contexts: Any, queries: Any, mask: Any = None) -> Any:
        """(T, m), float64: contexts (T, n, d), queries (T, d), mask (T, n), True where seen."""
        w = {name: np.asarray(x, dtype=np.float64) for name, x in self.parts.items()}
        T, n, _ = contexts.shape
        H, width = self.heads, w["q"].shape[0] // self.heads
        q = (queries @ w["q"].T + w["bq"]).reshape(T, H, width)
        k = (contexts @ w["k"].T + w["bk"]).reshape(T, n, -1, width)
        v = (contexts @ w["v"].T + w["bv"]).reshape(T, n, -1, width)
        logits = np.einsum("thc,tnhc->thn", q, k) / np.sqrt(width)
        if mask is not None:
            logits = np.where(mask[:, None, :], logits, -np.inf)
        weights = np.exp(logits - logits.max(axis=2, keepdims=True))
        weights /= weights.sum(axis=2, keepdims=True)
        mixed = np.einsum("thn,tnhc->thc", weights, v).reshape(T, H * width)
        return mixed @ w["o"].T + w["bo"]


def gaps(weights: StoredLayer, data: Dataset, **options: Any) -> Any:
    """Output minus label, (T, m), float64, as in the audit."""
    attention = Attention.of(weights, data, **options)
    outputs = [[float(x.mid()) for x in row] for row in attention.outputs().tolist()]
    labels = attention.data.label_matrix.tolist()
    return np.array(outputs) - [[int(x.p) / int(x.q) for x in row] for row in labels]


def third_party(
    style: str, rng: Any, *, d: int = 6, heads: int = 3, width: int = 2,
    biased: bool = True, dtype: Any = np.float32, prefix: str = "",
) -> ThirdParty:  # fmt: skip
    """A layer with random weights of this dtype."""
    inner = heads * width
    shapes = {"q": (inner, d), "k": (inner, d), "v": (inner, d), "o": (d, inner)}
    parts: dict[str, Any] = {}
    for name, shape in shapes.items():
        parts[name] = rng.normal(size=shape).astype(dtype)
        bias = rng.normal(size=shape[0]) if biased else np.zeros(shape[0])
        parts[f"b{name}"] = bias.astype(dtype)
    state: State = {}
    if style in SEPARATE:
        for module, name in zip(SEPARATE[style], "qkvo", strict=True):
            state |= {f"{module}.weight": parts[name], f"{module}.bias": parts[f"b{name}"]}
    else:
        weight, bias, out = FUSED[style]
        state[weight] = np.concatenate([parts[x] for x in "qkv"])
        state[bias] = np.concatenate([parts[f"b{x}"] for x in "qkv"])
        state |= {f"{out}.weight": parts["o"], f"{out}.bias": parts["bo"]}
        if style == "gpt2":  # Conv1D
            turned = {key: x.T.copy() for key, x in state.items() if x.ndim == 2}
            state |= turned
    if not biased:
        state = {key: x for key, x in state.items() if not key.endswith("bias")}
    return ThirdParty(style, heads, {prefix + key: x for key, x in state.items()}, parts)
