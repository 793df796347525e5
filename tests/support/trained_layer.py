"""A layer as in the paper, trained by gradient descent in plain NumPy; it is not a construction.

It uses hand-written gradients (softmax attention of one query, linear readout), Adam, float64 and a
seed. It also has the plain forward pass with which the audit is compared.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Arrays = dict[str, Any]


def forward(contexts: Any, queries: Any, layer: Arrays, mask: Any = None) -> tuple[Any, Any, Any]:
    """Outputs (T, m), softmax weights (H, T, n), features (H, T, d); base e, no scale."""
    asked = np.einsum("td,hda,hea->hte", queries, layer["query"], layer["key"])
    logits = np.einsum("tnd,htd->htn", contexts, asked)
    if mask is not None:
        logits = np.where(mask, logits, -np.inf)
    weights = np.exp(logits - logits.max(axis=2, keepdims=True))
    weights /= weights.sum(axis=2, keepdims=True)
    features = np.einsum("htn,tnd->htd", weights, contexts)
    return (
        np.einsum("htd,hdv,hvm->tm", features, layer["value"], layer["output"]),
        weights,
        features,
    )


def gradients(contexts: Any, queries: Any, labels: Any, layer: Arrays) -> tuple[float, Arrays]:
    """Half of the squared error, and its derivatives."""
    outputs, weights, features = forward(contexts, queries, layer)
    error = outputs - labels
    back = np.einsum("tm,hvm->htv", error, layer["output"])
    to_features = np.einsum("htv,hdv->htd", back, layer["value"])
    to_weights = np.einsum("htd,tnd->htn", to_features, contexts)
    to_logits = weights * (to_weights - (weights * to_weights).sum(axis=2, keepdims=True))
    pulled = np.einsum("htn,tnd->htd", to_logits, contexts)
    values = np.einsum("htd,hdv->htv", features, layer["value"])
    return float((error**2).sum() / 2), {
        "query": np.einsum("td,hte,hea->hda", queries, pulled, layer["key"]),
        "key": np.einsum("hte,td,hda->hea", pulled, queries, layer["query"]),
        "value": np.einsum("htd,htv->hdv", features, back),
        "output": np.einsum("htv,tm->hvm", values, error),
    }


def trained(
    contexts: Any, queries: Any, labels: Any, *, heads: int, width: int, steps: int, seed: int = 0
) -> Arrays:
    """query, key (H, d, width), value (H, d, m), output (H, m, m) after `steps` of Adam."""
    rng = np.random.default_rng(seed)
    d, m = queries.shape[1], labels.shape[1]
    shapes = {"query": (d, width), "key": (d, width), "value": (d, m), "output": (m, m)}
    layer = {name: rng.normal(size=(heads, *shape)) / 2 for name, shape in shapes.items()}
    first = {name: np.zeros_like(x) for name, x in layer.items()}
    second = {name: np.zeros_like(x) for name, x in layer.items()}
    for step in range(1, steps + 1):
        _, slopes = gradients(contexts, queries, labels, layer)
        for name, slope in slopes.items():
            first[name] = 0.9 * first[name] + 0.1 * slope
            second[name] = 0.999 * second[name] + 0.001 * slope**2
            mean, spread = first[name] / (1 - 0.9**step), second[name] / (1 - 0.999**step)
            layer[name] -= 0.02 * mean / (np.sqrt(spread) + 1e-9)
    return layer
